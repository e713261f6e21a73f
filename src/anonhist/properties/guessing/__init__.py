"""How well guessing goes: the share that the most frequent labels cover, and what guesses cost."""

from anonhist.properties.guessing.covered import covered_share, evenly_spread
from anonhist.properties.guessing.guesswork import guesswork
from anonhist.properties.guessing.success import guessing_success
from anonhist.properties.guessing.work_factor import work_factor

__all__ = ["covered_share", "evenly_spread", "guessing_success", "guesswork", "work_factor"]
