"""The Frobenius mechanism: noise on the rows of a diagram, and the posterior of what they were."""
