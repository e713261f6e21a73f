"""Support coverage by the series of Good and Toulmin, its terms weighted by Poisson or by binomial tails."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.errors import UsageError
from anonhist.privacy import parse_whole_number
from anonhist.properties.support_coverage.series import (
    LARGEST_RATE,
    LONGEST,
    SmoothedSeries,
    inside_logarithm,
    log_binomial_tails,
    log_poisson_tails,
    reach,
    series,
)

if TYPE_CHECKING:
    from anonhist.properties.linear import LinearStatistic


@dataclass(frozen=True)
class SmoothedPoisson(SmoothedSeries):
    """``S_m = S_obs − Σ_{j≥1} (−t)^j·P(Z ≥ j)·φ_j``, Z ~ Poisson(r), t = (m − n)/n.

    By default ``r = ln(n·(t+1)²/(t−1))/(2t)``: then its mean squared error, relative to the squared number of new
    draws, is at most about n^{−1/t} (Orlitsky, Suresh, Wu 2016). In the logarithm t is at least 1.001. The value is
    clipped to between the number of labels seen and one more for each draw beyond the sample. For one label seen often
    it is 1, for singletons ``n·(1 + t·(1 − e^{−r}))``.

    Attributes
    ----------
    draws
        m ≥ 1; up to n this is rarefaction.
    rate
        r, in (0, 1000]; None for the default.

    References
    ----------
    .. [1] A. Orlitsky, A. T. Suresh, Y. Wu, "Optimal prediction of the number of unseen species", Proceedings of the
           National Academy of Sciences 113 (2016), 13283–13288.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(SmoothedPoisson(300).point(Profile([1, 2], [60, 20])).value, 6)
    137.535866
    """

    rate: float | None = None
    name = "smoothed-poisson"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n items, below the number of draws.

        Raises
        ------
        UsageError
            If the rate is not a number in (0, 1000].

        Examples
        --------
        >>> import numpy as np
        >>> SmoothedPoisson(300, 2.0).statistic(100).weights(np.arange(4)).round(6).tolist()
        [0.0, 2.729329, -1.375977, 3.586589]
        """
        beyond = reach(n=n, draws=self.draws)
        rate = poisson_rate(n, beyond) if self.rate is None else self.rate
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 < rate <= LARGEST_RATE:
            raise UsageError(f"rate must be a number above 0, {LARGEST_RATE:g} at most, not {rate!r:.80}.")
        return series(beyond, log_poisson_tails(rate))


def poisson_rate(n: int, beyond: float) -> float:
    """Return the default r for n items and t·n further draws.

    Examples
    --------
    >>> round(poisson_rate(1000, 2.0), 4)
    2.2762
    """
    t = inside_logarithm(beyond)
    return min((math.log(n) + 2 * math.log1p(t) - math.log(t - 1)) / (2 * beyond), LARGEST_RATE)


@dataclass(frozen=True)
class _SmoothedBinomial(SmoothedSeries):
    """``S_m = S_obs − Σ_{j≥1} (−t)^j·P(Z ≥ j)·φ_j``, Z ~ Binomial(K, (b − 1)/(b − 1 + t)), b = 2 or 3."""

    trials: int | None = None
    base: ClassVar[int]

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n items, below the number of draws.

        Raises
        ------
        UsageError
            If ``trials`` is not a whole number from 1 to 4,096.

        Examples
        --------
        >>> import numpy as np
        >>> SmoothedBinomialB(300, trials=1).statistic(100).weights(np.arange(3)).round(6).tolist()
        [0.0, 2.0, 1.0]
        """
        beyond = reach(n=n, draws=self.draws)
        usual = usual_trials(n, beyond, base=self.base)
        trials = usual if self.trials is None else parse_whole_number(self.trials, name="trials", most=LONGEST)
        return series(beyond, log_binomial_tails(trials, beyond / (self.base - 1)))


class SmoothedBinomialA(_SmoothedBinomial):
    """``S_m = S_obs − Σ_{j≥1} (−t)^j·P(Z ≥ j)·φ_j``, Z ~ Binomial(K, 1/(1 + t)), t = (m − n)/n.

    Known as the Euler transform of Efron and Thisted (1976). By default ``K = ⌈½·log2(n·t²/(t−1))⌉``, t in the
    logarithm at least 1.001 (Orlitsky, Suresh, Wu 2016). The value is clipped to between the number of labels seen and
    one more for each draw beyond the sample. For one label seen often it is 1, for singletons
    ``n·(1 + t·(1 − (t/(1+t))^K))``.

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
           National Academy of Sciences 113 (2016), 13283–13288.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(SmoothedBinomialA(300).point(Profile([1, 2], [60, 20])).value, 6)
    141.069959
    """

    name = "smoothed-binomial-a"
    base = 2


class SmoothedBinomialB(_SmoothedBinomial):
    """The same with Z ~ Binomial(K, 2/(2 + t)) and by default ``K = ⌈½·log3(n·t²/(t−1))⌉``.

    Its guarantee is the best of the three smoothings (Orlitsky, Suresh, Wu 2016).

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

    name = "smoothed-binomial-b"
    base = 3


def usual_trials(n: int, beyond: float, *, base: int) -> int:
    """Return the default K for n items and t·n further draws; base 2 for A, 3 for B.

    Examples
    --------
    >>> usual_trials(1000, 2.0, base=2)
    6
    """
    t = inside_logarithm(beyond)
    return math.ceil((math.log(n) + 2 * math.log(t) - math.log(t - 1)) / (2 * math.log(base)))
