"""The plug-in entropy: that of the sample itself."""

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
class PlugIn:
    """``H = Σ_r φ_r·w(r)`` with ``w(r) = −(r/n)·ln(r/n)``, in nats.

    Too low by about (S − 1)/(2n), S the number of labels there are. Of one label it is 0, of n singletons ln n.

    References
    ----------
    .. [1] C. E. Shannon, "A mathematical theory of communication", Bell System Technical Journal 27 (1948), 379–423.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(PlugIn().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.039721
    """

    name: ClassVar[str] = "plug-in"
    assumes: ClassVar[str] = "nearly all labels have been seen, many times each"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        statistic = plug_in_statistic(profile.n)
        return Point(statistic.of(profile), statistic.weights, warnings=undersampling_warning(profile))


def plug_in_statistic(n: int) -> LinearStatistic:
    """Return the plug-in entropy of n ≥ 1 items as a linear statistic.

    Examples
    --------
    >>> plug_in_statistic(4).weights(np.array([0, 1, 2, 4])).round(4).tolist()
    [-0.0, 0.3466, 0.3466, -0.0]
    """
    size = float(n)

    def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        share = np.minimum(counts / size, 1.0)
        return share * -pointwise.log(np.where(share > 0, share, 1.0))

    return LinearStatistic(weights, head=0)
