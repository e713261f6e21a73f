"""What a profile says of the distribution behind it: profile in, number with interval out. No privacy inside.

The estimators are in the rooms within, loaded when asked for: a release needs none of them.
"""

from anonhist.properties.estimate import Estimate
from anonhist.properties.guessing.covered import covered_share, evenly_spread
from anonhist.properties.linear import LinearStatistic

__all__ = ["Estimate", "LinearStatistic", "covered_share", "evenly_spread"]
