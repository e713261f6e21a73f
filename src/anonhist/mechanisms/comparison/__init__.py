"""Comparison of mechanisms on data that need no protection."""
