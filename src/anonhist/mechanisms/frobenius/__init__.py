"""The Frobenius mechanism: noise on the rows of a diagram, and the posterior of the true rows."""
