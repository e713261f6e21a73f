"""Mechanisms side by side on data that may be looked at."""
