"""The first-order jackknife of the support size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point
from anonhist.properties.linear import LinearStatistic
from anonhist.properties.unseen import undersampling_warning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True)
class Jackknife1:
    """``S = S_obs + ((n − 1)/n)·φ_1`` (Burnham and Overton 1979).

    Never more than twice the labels seen. Of one label it is 1, of n singletons ``2n − 1``.

    References
    ----------
    .. [1] K. P. Burnham, W. S. Overton, "Robust estimation of population size when capture probabilities vary among
           animals", Ecology 60 (1979), 927–936.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> Jackknife1().point(Profile.from_counts([2, 1, 1])).value
    4.5
    """

    name: ClassVar[str] = "jackknife-1"
    assumes: ClassVar[str] = "few labels have not been seen, so the bias is small beside 1/n"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        statistic = jackknife_1_statistic(profile.n)
        return Point(statistic.of(profile), statistic.weights, warnings=undersampling_warning(profile))


def jackknife_1_statistic(n: int) -> LinearStatistic:
    """Return ``w(0) = 0, w(1) = 1 + (n − 1)/n``, and 1 beyond, for n ≥ 1 items.

    Examples
    --------
    >>> jackknife_1_statistic(4).weights(np.arange(4)).tolist()
    [0.0, 1.75, 1.0, 1.0]
    """
    once = 1 + (n - 1) / n

    def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(counts == 1, once, (counts > 0) * 1.0)

    return LinearStatistic(weights, head=2)
