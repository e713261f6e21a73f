"""The Good–Turing estimate of the sample coverage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point
from anonhist.properties.linear import LinearStatistic
from anonhist.properties.sample_coverage.esty import esty_error, zero_error_warning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True)
class GoodTuring:
    """``C = 1 − φ_1/n`` (Good 1953), with the error of Esty (1983).

    Of one label it is 1, but 0 if seen once, as of any number of singletons.

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

    name: ClassVar[str] = "good-turing"
    assumes: ClassVar[str] = "items are drawn independently"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        value = (profile.n - profile.prevalence(1)) / profile.n
        weights = good_turing_statistic(profile.n).weights
        return Point(value, weights, standard_error=esty_error(profile), warnings=zero_error_warning(profile))


def good_turing_statistic(n: int) -> LinearStatistic:
    """Return ``w(j) = j/n`` for j ≥ 2 and 0 below: C as a linear statistic of n ≥ 1 items.

    Examples
    --------
    >>> good_turing_statistic(4).weights(np.arange(5)).tolist()
    [0.0, 0.0, 0.5, 0.75, 1.0]
    """

    def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(counts > 1, counts / n, 0.0)

    return LinearStatistic(weights, head=2)
