"""Support coverage by the alternating series of Good and Toulmin."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anonhist.properties.support_coverage.series import LONGEST, SeriesEstimator, log_poisson_tails, reach, series

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Point
    from anonhist.properties.linear import LinearStatistic

# Mean of the Poisson variable by whose tail terms fade out: counts up to 9 keep all digits.
_SURE = 48.0


class GoodToulmin(SeriesEstimator):
    """``S_m = S_obs − Σ_{j≥1} (−t)^j·φ_j`` with t = (m − n)/n (Good and Toulmin 1956).

    Nearly unbiased with a small error up to t = 1; beyond, its error grows as t^j with the counts j. Up to t = 1 terms
    fade out around counts of 48, by the tail of a Poisson variable: a label with such a mean is sure to be seen, and
    its terms, of equal size and alternating sign, would only add noise. Beyond t = 1, terms of counts above 4,096 are
    left out. The value is clipped to between the number of labels seen and one more for each draw beyond the sample.
    For one label seen n times it is 1 − (−t)^n, clipped; for singletons n·(1 + t).

    Attributes
    ----------
    draws
        m ≥ 1; up to n this is rarefaction.

    References
    ----------
    .. [1] I. J. Good, G. H. Toulmin, "The number of new species, and the increase in population coverage, when a sample
           is increased", Biometrika 43 (1956), 45–63.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> GoodToulmin(6).point(Profile.from_counts([2, 1, 1])).value
    3.75
    """

    name = "good-toulmin"
    assumes = "items drawn independently, at most twice as many draws as items"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        point = super().point(profile)
        if self.draws <= 2 * profile.n:
            return point
        warning = "Beyond 2n draws, this series diverges: choose a smoothed one."
        return replace(point, warnings=(*point.warnings, warning))

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n items, below the number of draws.

        Examples
        --------
        >>> GoodToulmin(150).statistic(100).weights(np.arange(4)).tolist()
        [0.0, 1.5, 0.75, 1.125]
        """
        beyond = reach(n=n, draws=self.draws)
        return series(beyond, log_poisson_tails(_SURE) if beyond <= 1 else np.zeros(LONGEST + 1))
