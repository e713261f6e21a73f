"""What a profile says of the distribution behind it: profile in, number with interval out. No privacy inside."""

from anonhist.properties.entropy import ENTROPY_METHODS, entropy
from anonhist.properties.estimate import Estimate
from anonhist.properties.guessing import covered_share, evenly_spread
from anonhist.properties.linear import LinearStatistic
from anonhist.properties.support_size import SUPPORT_SIZE_METHODS, support_size

__all__ = [
    "ENTROPY_METHODS",
    "SUPPORT_SIZE_METHODS",
    "Estimate",
    "LinearStatistic",
    "covered_share",
    "entropy",
    "evenly_spread",
    "support_size",
]
