"""Smooth legs: the posterior of the first columns of a diagram whose steps vary about a curve, given released ones."""
