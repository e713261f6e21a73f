"""Mechanisms that add noise to each number of a list and fit a profile to it."""
