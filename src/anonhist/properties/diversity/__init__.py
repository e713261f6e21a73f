"""Diversity: power sums and functions of them, and the distance to uniformity."""
