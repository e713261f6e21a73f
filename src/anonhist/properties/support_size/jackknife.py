"""The jackknife of the support size, of the first and of the second order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anonhist.properties.linear import LinearEstimator, LinearStatistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Point


class Jackknife1(LinearEstimator):
    """``S = S_obs + ((n − 1)/n)·φ_1`` (Burnham and Overton 1979).

    At most twice the number of labels seen. For one label it is 1, for n singletons ``2n − 1``.

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

    name = "jackknife-1"
    assumes = "few labels have not been seen, so the bias is small beside 1/n"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items: ``w(1) = 1 + (n − 1)/n``, and 1 for larger counts."""
        once = 1 + (n - 1) / n

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.where(counts == 1, once, (counts > 0) * 1.0)

        return LinearStatistic(weights, head=2)


class Jackknife2(LinearEstimator):
    """``S = S_obs + ((2n − 3)/n)·φ_1 − ((n − 2)²/(n·(n − 1)))·φ_2``, at least S_obs (Burnham and Overton 1979).

    For one label it is 1, for n ≥ 2 singletons ``3n − 3``.

    References
    ----------
    .. [1] K. P. Burnham, W. S. Overton, "Robust estimation of population size when capture probabilities vary among
           animals", Ecology 60 (1979), 927–936.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(Jackknife2().point(Profile.from_counts([2, 1, 1])).value, 6)
    5.166667
    """

    name = "jackknife-2"
    assumes = "few labels have not been seen, so the bias is small beside 1/n²"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        point, seen = super().point(profile), float(profile.num_labels)
        if point.value >= seen:
            return point
        why = "The jackknife is below the number of labels seen, so the value is that number."
        return replace(point, value=seen, warnings=(*point.warnings, why))

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n items: ``w(1) = 1 + (2n − 3)/n``, ``w(2) = 1 − (n − 2)²/(n·(n − 1))``, 1 beyond.

        For n = 1, where two items cannot be left out, all weights except ``w(0) = 0`` are 1.
        """
        more = (2 * n - 3) / n if n > 1 else 0.0
        less = (n - 2) ** 2 / (n * (n - 1)) if n > 1 else 0.0

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.where(counts == 1, 1 + more, np.where(counts == 2, 1 - less, (counts > 0) * 1.0))

        return LinearStatistic(weights, head=3)
