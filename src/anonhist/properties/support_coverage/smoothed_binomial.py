"""Support coverage by the series of Good and Toulmin, its terms weighted by binomial tails."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from anonhist.privacy import parse_whole_number
from anonhist.properties.support_coverage.series import (
    LONGEST,
    inside_logarithm,
    log_binomial_tails,
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
class SmoothedBinomialA:
    """``S_m = S_obs − Σ_{j≥1} (−t)^j·P(Z ≥ j)·φ_j``, Z ~ Binomial(K, 1/(1 + t)), t = (m − n)/n.

    Known as the Euler transform of Efron and Thisted (1976). By default ``K = ⌈½·log2(n·t²/(t−1))⌉``, t in the
    logarithm at least 1.001 (Orlitsky, Suresh, Wu 2016, Theorem 3). It is kept between the labels seen and one more for
    each draw beyond the sample; of one label seen often it is 1, of singletons ``n·(1 + t·(1 − (t/(1+t))^K))``.

    Attributes
    ----------
    draws
        m ≥ 1; up to n this is rarefaction.
    trials
        K, from 1 to 4,096; None for the default.

    References
    ----------
    .. [1] B. Efron, R. Thisted, "Estimating the number of unseen species: how many words did Shakespeare know?",
           Biometrika 63 (1976), 435–447.
    .. [2] A. Orlitsky, A. T. Suresh, Y. Wu, "Optimal prediction of the number of unseen species", Proceedings of the
           National Academy of Sciences 113 (2016), 13283–13288, theorem 3.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(SmoothedBinomialA(300).point(Profile([1, 2], [60, 20])).value, 6)
    141.069959
    """

    draws: int
    trials: int | None = None

    name: ClassVar[str] = "smoothed-binomial-a"
    assumes: ClassVar[str] = "items drawn independently, draws up to about ln n times the items"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        return smoothed_point(profile, self.draws, partial(smoothed_binomial_a, trials=self.trials))

    def value(self, profile: Profile) -> float:
        """Return the number alone, without its error."""
        return series_value(profile, self.draws, partial(smoothed_binomial_a, trials=self.trials))


@dataclass(frozen=True)
class SmoothedBinomialB:
    """The same with Z ~ Binomial(K, 2/(2 + t)) and by default ``K = ⌈½·log3(n·t²/(t−1))⌉``.

    Its guarantee is the best of the three smoothings (Orlitsky, Suresh, Wu 2016, Theorem 4).

    Attributes
    ----------
    draws
        m ≥ 1; up to n this is rarefaction.
    trials
        K, from 1 to 4,096; None for the default.

    References
    ----------
    .. [1] A. Orlitsky, A. T. Suresh, Y. Wu, "Optimal prediction of the number of unseen species", Proceedings of the
           National Academy of Sciences 113 (2016), 13283–13288.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(SmoothedBinomialB(300).point(Profile([1, 2], [60, 20])).value, 6)
    145.0
    """

    draws: int
    trials: int | None = None

    name: ClassVar[str] = "smoothed-binomial-b"
    assumes: ClassVar[str] = "items drawn independently, draws up to about ln n times the items"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        return smoothed_point(profile, self.draws, partial(smoothed_binomial_b, trials=self.trials))

    def value(self, profile: Profile) -> float:
        """Return the number alone, without its error."""
        return series_value(profile, self.draws, partial(smoothed_binomial_b, trials=self.trials))


def smoothed_binomial_a(*, n: int, draws: int, trials: int | None = None) -> LinearStatistic:
    """Return the statistic of :class:`SmoothedBinomialA` for n items and m > n draws.

    Raises
    ------
    UsageError
        If ``trials`` is no whole number from 1 to 4,096.

    Examples
    --------
    >>> import numpy as np
    >>> smoothed_binomial_a(n=100, draws=300, trials=1).weights(np.arange(3)).round(6).tolist()
    [0.0, 1.666667, 1.0]
    """
    beyond = reach(n=n, draws=draws)
    return series(beyond, log_binomial_tails(_check(trials) or usual_trials(n, beyond, base=2), beyond))


def smoothed_binomial_b(*, n: int, draws: int, trials: int | None = None) -> LinearStatistic:
    """Return the statistic of :class:`SmoothedBinomialB` for n items and m > n draws.

    Raises
    ------
    UsageError
        If ``trials`` is no whole number from 1 to 4,096.

    Examples
    --------
    >>> import numpy as np
    >>> smoothed_binomial_b(n=100, draws=300, trials=1).weights(np.arange(3)).round(6).tolist()
    [0.0, 2.0, 1.0]
    """
    beyond = reach(n=n, draws=draws)
    return series(beyond, log_binomial_tails(_check(trials) or usual_trials(n, beyond, base=3), beyond / 2))


def _check(trials: int | None) -> int | None:
    return None if trials is None else parse_whole_number(trials, name="trials", most=LONGEST)


def usual_trials(n: int, beyond: float, *, base: int) -> int:
    """Return the usual K for n items and t times as many draws more; base 2 for A, 3 for B.

    Examples
    --------
    >>> usual_trials(1000, 2.0, base=2)
    6
    """
    t = inside_logarithm(beyond)
    return math.ceil((math.log(n) + 2 * math.log(t) - math.log(t - 1)) / (2 * math.log(base)))
