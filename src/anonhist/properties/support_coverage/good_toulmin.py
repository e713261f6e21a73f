"""Support coverage by the alternating series of Good and Toulmin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.support_coverage.series import (
    LONGEST,
    log_poisson_tails,
    reach,
    series,
    series_point,
    series_value,
)

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Point
    from anonhist.properties.linear import LinearStatistic

# Mean of the Poisson variable whose tail terms fade out by: of counts up to 9 all digits stay.
_SURE = 48.0


@dataclass(frozen=True)
class GoodToulmin:
    """``S_m = S_obs − Σ_{j≥1} (−t)^j·φ_j`` with t = (m − n)/n (Good and Toulmin 1956, eq. 24).

    Nearly unbiased, and of small error up to t = 1; beyond, its error grows as t^j with the counts j. Up to t = 1 terms
    fade out around counts of 48, by the tail of a Poisson variable: a label expected so often is sure to be seen, and
    its terms of equal size and turning signs would be noise alone. Beyond t = 1 those of counts above 4,096 are left
    out. The value is kept between the labels seen and one more for each draw beyond the sample. Of one
    label seen n times it is 1 − (−t)^n, kept so, of singletons n·(1 + t).

    Attributes
    ----------
    draws
        m ≥ 1; up to n this is rarefaction.

    References
    ----------
    .. [1] I. J. Good, G. H. Toulmin, "The number of new species, and the increase in population coverage, when a sample
           is increased", Biometrika 43 (1956), 45–63, eq. 24.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> GoodToulmin(6).point(Profile.from_counts([2, 1, 1])).value
    3.75
    """

    draws: int

    name: ClassVar[str] = "good-toulmin"
    assumes: ClassVar[str] = "items drawn independently, at most twice as many draws as items"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        point = series_point(profile, self.draws, good_toulmin)
        if self.draws <= 2 * profile.n:
            return point
        warning = "Beyond 2n draws, this series diverges: choose a smoothed one."
        return replace(point, warnings=(*point.warnings, warning))

    def value(self, profile: Profile) -> float:
        """Return the number alone, without its error."""
        return series_value(profile, self.draws, good_toulmin)


def good_toulmin(*, n: int, draws: int) -> LinearStatistic:
    """Return the statistic for n items and m > n draws.

    Examples
    --------
    >>> good_toulmin(n=100, draws=150).weights(np.arange(4)).tolist()
    [0.0, 1.5, 0.75, 1.125]
    """
    beyond = reach(n=n, draws=draws)
    return series(beyond, log_poisson_tails(_SURE) if beyond <= 1 else np.zeros(LONGEST + 1))
