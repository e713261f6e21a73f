"""anonhist: how often things occur, released with differential privacy."""

__version__ = "0.1.0"
