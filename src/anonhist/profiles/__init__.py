"""Profiles, which are sparse, exact and immutable; their coordinates and distances."""

from anonhist.profiles.distances import FrobeniusCoordinates, sorted_l1, sorted_l2, sorted_l2_squared, sorted_linf
from anonhist.profiles.profile import Bounded, BoundedUnits, Profile

__all__ = [
    "Bounded",
    "BoundedUnits",
    "FrobeniusCoordinates",
    "Profile",
    "sorted_l1",
    "sorted_l2",
    "sorted_l2_squared",
    "sorted_linf",
]
