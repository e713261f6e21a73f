"""The jackknife entropy: its bias is estimated by leaving out each item in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.numeric import pointwise
from anonhist.properties.estimator import Point
from anonhist.properties.linear import LinearStatistic
from anonhist.properties.unseen import undersampling_warning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True)
class Jackknife:
    """``n·H − ((n−1)/n)·Σ_x n_x·H(sample without one x)``, H the plug-in entropy, in nats (Zahl 1977).

    With ``g(r) = r·ln r − (r−1)·ln(r−1)`` this is ``Σ_r φ_r·(r/n)·(g(n) − g(r))``: linear. Of one label it is 0, of one
    item too (where there is nothing to leave out), of n singletons ``g(n)``, about ``ln n + 1``.

    References
    ----------
    .. [1] S. Zahl, "Jackknifing an index of diversity", Ecology 58 (1977), 907–913.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(Jackknife().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.556193
    """

    name: ClassVar[str] = "jackknife"
    assumes: ClassVar[str] = "nearly all labels have been seen"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        statistic = jackknife_statistic(profile.n)
        return Point(statistic.of(profile), statistic.weights, warnings=undersampling_warning(profile))


def jackknife_statistic(n: int) -> LinearStatistic:
    """Return the jackknife entropy of n ≥ 1 items as a linear statistic.

    Examples
    --------
    >>> jackknife_statistic(4).weights(np.array([0, 1, 2, 4])).round(4).tolist()
    [0.0, 0.5623, 0.4315, 0.0]
    """
    size = float(n)
    of_all = float(_gain(np.array([size]))[0])

    def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return counts / size * (of_all - _gain(np.maximum(counts, 1).astype(np.float64)))

    return LinearStatistic(weights, head=0)


def _gain(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``g(r) = ln r + (r−1)·ln(r/(r−1))``: no difference of large numbers, which would be rounding."""
    before = counts - 1
    return pointwise.log(counts) + before * pointwise.log1p(1 / np.maximum(before, 1.0))
