"""The second-order jackknife of the support size."""

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
class Jackknife2:
    """``S = S_obs + ((2n − 3)/n)·φ_1 − ((n − 2)²/(n·(n − 1)))·φ_2``, not below S_obs (Burnham and Overton 1979).

    Of one label it is 1, of n ≥ 2 singletons ``3n − 3``.

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

    name: ClassVar[str] = "jackknife-2"
    assumes: ClassVar[str] = "few labels have not been seen, so the bias is small beside 1/n²"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        statistic = jackknife_2_statistic(profile.n)
        value, seen = statistic.of(profile), float(profile.num_labels)
        warnings = undersampling_warning(profile)
        if value < seen:
            warnings = (*warnings, "The jackknife is below the number of labels seen, so the value is that number.")
        return Point(max(value, seen), statistic.weights, warnings=warnings)


def jackknife_2_statistic(n: int) -> LinearStatistic:
    """Return ``w(0) = 0, w(1) = 1 + (2n − 3)/n, w(2) = 1 − (n − 2)²/(n·(n − 1))``, and 1 beyond, for n items.

    For n = 1, of which no two can be left out, all weights but the first are 1.

    Examples
    --------
    >>> jackknife_2_statistic(4).weights(np.arange(4)).round(6).tolist()
    [0.0, 2.25, 0.666667, 1.0]
    """
    more = (2 * n - 3) / n if n > 1 else 0.0
    less = (n - 2) ** 2 / (n * (n - 1)) if n > 1 else 0.0

    def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(counts == 1, 1 + more, np.where(counts == 2, 1 - less, (counts > 0) * 1.0))

    return LinearStatistic(weights, head=3)
