"""Support coverage by the series of Good and Toulmin, its terms weighted by Poisson tails."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from anonhist.errors import UsageError
from anonhist.properties.support_coverage.series import (
    LARGEST_RATE,
    inside_logarithm,
    log_poisson_tails,
    reach,
    series,
    series_value,
    smoothed_point,
)

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Point
    from anonhist.properties.linear import LinearStatistic


@dataclass(frozen=True)
class SmoothedPoisson:
    """``S_m = S_obs − Σ_{j≥1} (−t)^j·P(Z ≥ j)·φ_j``, Z ~ Poisson(r), t = (m − n)/n.

    By default ``r = ln(n·(t+1)²/(t−1))/(2t)``: then its mean squared error, in new draws, is at most about n^{−1/t}
    (Orlitsky, Suresh, Wu 2016, Theorem 2). In the logarithm t is at least 1.001. It is kept between the labels seen and
    one more for each draw beyond the sample; of one label seen often it is 1, of singletons ``n·(1 + t·(1 − e^{−r}))``.

    Attributes
    ----------
    draws
        m ≥ 1; up to n this is rarefaction.
    rate
        r, in (0, 1000]; None for the default.

    References
    ----------
    .. [1] A. Orlitsky, A. T. Suresh, Y. Wu, "Optimal prediction of the number of unseen species", Proceedings of the
           National Academy of Sciences 113 (2016), 13283–13288, theorem 2.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(SmoothedPoisson(300).point(Profile([1, 2], [60, 20])).value, 6)
    137.535866
    """

    draws: int
    rate: float | None = None

    name: ClassVar[str] = "smoothed-poisson"
    assumes: ClassVar[str] = "items drawn independently, draws up to about ln n times the items"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        return smoothed_point(profile, self.draws, partial(smoothed_poisson, rate=self.rate))

    def value(self, profile: Profile) -> float:
        """Return the number alone, without its error."""
        return series_value(profile, self.draws, partial(smoothed_poisson, rate=self.rate))


def smoothed_poisson(*, n: int, draws: int, rate: float | None = None) -> LinearStatistic:
    """Return the statistic for n items and m > n draws.

    Raises
    ------
    UsageError
        If the rate is no number in (0, 1000].

    Examples
    --------
    >>> import numpy as np
    >>> smoothed_poisson(n=100, draws=300, rate=2.0).weights(np.arange(4)).round(6).tolist()
    [0.0, 2.729329, -1.375977, 3.586589]
    """
    beyond = reach(n=n, draws=draws)
    chosen = poisson_rate(n, beyond) if rate is None else rate
    if isinstance(chosen, bool) or not isinstance(chosen, int | float) or not 0 < chosen <= LARGEST_RATE:
        message = f"rate must be a number above 0, {LARGEST_RATE:g} at most, not {rate!r:.80}."
        raise UsageError(message)
    return series(beyond, log_poisson_tails(chosen))


def poisson_rate(n: int, beyond: float) -> float:
    """Return the usual r for n items and t times as many draws more.

    Examples
    --------
    >>> round(poisson_rate(1000, 2.0), 4)
    2.2762
    """
    t = inside_logarithm(beyond)
    return min((math.log(n) + 2 * math.log1p(t) - math.log(t - 1)) / (2 * beyond), LARGEST_RATE)
