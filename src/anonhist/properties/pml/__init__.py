"""Approximate profile maximum likelihood, and estimates of symmetric properties from it."""
