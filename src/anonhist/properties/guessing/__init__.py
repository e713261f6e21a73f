"""How well guessing goes: the share that the most frequent labels cover, and what guesses cost."""

from anonhist.properties.guessing.covered import covered_share, evenly_spread

__all__ = ["covered_share", "evenly_spread"]
