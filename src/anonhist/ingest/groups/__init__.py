"""Profiles of several groups: which groups, which rows are in them, and how units are bounded across them."""
