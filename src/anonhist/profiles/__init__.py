"""Profiles, which are sparse, exact and immutable; their coordinates and distances."""

from anonhist.profiles.bounded_units import Bounded, BoundedUnits
from anonhist.profiles.distances import sorted_l1, sorted_l2, sorted_l2_squared, sorted_linf
from anonhist.profiles.frobenius import FrobeniusCoordinates
from anonhist.profiles.profile import Profile

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
