"""The Good–Turing estimate of the sample coverage, and the error of Esty."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.properties.estimator import Point
from anonhist.properties.linear import LinearEstimator, LinearStatistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


class GoodTuring(LinearEstimator):
    """``C = 1 − φ_1/n`` (Good 1953), with the error of Esty (1983).

    For one label it is 1; for singletons, even one, it is 0.

    References
    ----------
    .. [1] I. J. Good, "The population frequencies of species and the estimation of population parameters", Biometrika
           40 (1953), 237–264.
    .. [2] W. W. Esty, "A normal limit law for a nonparametric estimator of the coverage of a random sample", Annals of
           Statistics 11 (1983), 905–912.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> GoodTuring().point(Profile.from_counts([2, 1, 1])).value
    0.5
    """

    name = "good-turing"
    assumes = "items are drawn independently"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        # Exact up to the division.
        value = (profile.n - profile.prevalence(1)) / profile.n
        warnings = zero_error_warning(profile)
        return Point(value, self.statistic(profile.n).weights, esty_error(profile), warnings)

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items: ``w(j) = j/n`` for j ≥ 2, and 0 below."""

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.where(counts > 1, counts / n, 0.0)

        return LinearStatistic(weights, head=2)


def esty_error(profile: Profile) -> float:
    """Return ``sqrt((φ_1·(n − φ_1) + 2n·φ_2)/n³)`` (Esty 1983), from exact integers.

    This is the error relative to the coverage of this sample, which is itself random: it exceeds the sampling error of
    φ_1/n.

    References
    ----------
    .. [1] W. W. Esty, "A normal limit law for a nonparametric estimator of the coverage of a random sample", Annals of
           Statistics 11 (1983), 905–912.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(esty_error(Profile.from_counts([4, 3, 2, 1, 1])), 6)
    0.173357
    """
    n, once, twice = profile.n, profile.prevalence(1), profile.prevalence(2)
    return math.sqrt((once * (n - once) + 2 * n * twice) / n**3)


def zero_error_warning(profile: Profile) -> tuple[str, ...]:
    """Warn if the error is 0 only because the sample does not show it.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> zero_error_warning(Profile.from_counts([3, 1])), len(zero_error_warning(Profile.from_counts([3, 3])))
    ((), 1)
    """
    if profile.prevalence(1) == profile.n:
        return ("Every label was seen once: the coverage is small, but how small cannot be estimated.",)
    if profile.prevalence(1) or profile.prevalence(2):
        return ()
    return ("No label was seen once or twice: the coverage is close to 1, but how close cannot be estimated.",)
