"""The plug-in entropy: that of the sample itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point
from anonhist.properties.linear import LinearStatistic
from anonhist.properties.unseen import undersampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Weights


@dataclass(frozen=True)
class PlugIn:
    """``H = Σ_r φ_r·w(r)`` with ``w(r) = −(r/n)·ln(r/n)``, in nats.

    Too low by about (S − 1)/(2n), S the number of labels there are. Of one label it is 0, of n singletons ln n.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(PlugIn().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.039721
    """

    name: ClassVar[str] = "plug-in"
    assumes: ClassVar[str] = "nearly all labels that there are have been seen, many times each"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        value, weights = plug_in(profile)
        return Point(value, weights, warnings=undersampled(profile))


def plug_in(profile: Profile) -> tuple[float, Weights]:
    """Return the entropy of the sample, in nats, and its weights."""
    statistic = plug_in_statistic(profile.n)
    return statistic.of(profile), statistic.weights


def plug_in_statistic(items: int) -> LinearStatistic:
    """Return ``w(j) = −(j/n)·ln(j/n)`` for a number n ≥ 1 of items: its steps fall."""
    n = float(items)

    def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        share = np.minimum(counts / n, 1.0)
        return -share * np.log(np.where(share > 0, share, 1.0))

    return LinearStatistic(weights, head=0)
