"""Stable arithmetic that knows nothing of privacy."""

from anonhist.numeric.isotonic import decreasing_fit

__all__ = ["decreasing_fit"]
