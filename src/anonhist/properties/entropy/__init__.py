"""Entropy, by seven methods."""

from anonhist.properties.entropy.entropy import ENTROPY_METHODS, entropy

__all__ = ["ENTROPY_METHODS", "entropy"]
