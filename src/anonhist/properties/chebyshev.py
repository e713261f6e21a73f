"""The Chebyshev estimate of Wu and Yang: best polynomial weights if no probability is below 1/k."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.privacy import parse_whole_number
from anonhist.properties.estimator import LinearStatistic, Point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile

# The largest weight whose square, times the number of labels, does not overflow.
_LARGEST = 1e100
_LARGE_BIAS = 0.5


@dataclass(frozen=True)
class Chebyshev:
    """``S = Σ_{r≥1} w(r)·φ_r``, clipped to [S_obs, k] (Wu and Yang 2019).

    The weights are those of a shifted Chebyshev polynomial. Among polynomials of degree L that do not count labels of
    probability 0, it has the smallest worst-case bias for probabilities from 1/k to M/n. For one label seen often it is
    1, for n singletons ``n·w(1)``, at most k.

    Attributes
    ----------
    alphabet_size
        k, the number of possible labels; ``1/k`` is the least probability.
    degree
        L, ``⌊0.45·ln k⌋`` unless given.
    interval
        M, ``0.5·ln k`` unless given: above 0.

    Raises
    ------
    UsageError
        If a number is out of range, or degree and interval make weights too large.

    References
    ----------
    .. [1] Y. Wu, P. Yang, "Chebyshev polynomials, moment matching, and optimal estimation of the unseen", Annals of
           Statistics 47 (2019), 857–883.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(Chebyshev(10**5).point(Profile.from_prevalences({1: 2910, 2: 45})).value, 5)
    23722.43554
    """

    alphabet_size: int
    degree: int | None = None
    interval: float | None = None

    name: ClassVar[str] = "chebyshev"
    assumes: ClassVar[str] = "no label has a probability below 1/k, k the alphabet size"

    def __post_init__(self) -> None:
        """Check the parameters, and that weights stay in range for all n."""
        parse_whole_number(self.alphabet_size, name="alphabet_size")
        if self.degree is not None:
            parse_whole_number(self.degree, name="degree", least=0, most=10**4)
        if self.interval is not None and not 0 < self.interval < math.inf:
            raise UsageError(f"The interval must be a number above 0, such as 5.76, not {self.interval!r:.80}.")
        # The products below are largest where n·p_min is 0.
        degree, interval = self._degree_and_interval
        log_weights = np.cumsum(np.log(_ratios(degree, interval, 0.0))) if degree else np.zeros(1)
        if float(log_weights.max()) > math.log(_LARGEST):
            raise UsageError(
                "The weights of so high a degree on so short an interval are too large to use: lower the degree."
            )

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        statistic = self.statistic(profile.n)
        seen = float(profile.num_labels)
        value = max(min(statistic.of(profile), float(self.alphabet_size)), seen)
        return Point(value, statistic.weights, warnings=self._warnings(profile.n))

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items, without clipping; it is public if n is.

        With ``λ = n/k``, ``A = (M + λ)/(M − λ)``, ``s = 2/(M − λ)`` and b_j the coefficients of ``T_L(y − A)``,
        ``w(j) = 1 − (b_j/b_0)·j!·s^j`` for 1 ≤ j ≤ L, ``w(0) = 0`` and 1 beyond. If ``λ ≥ M`` all but ``w(0)`` are 1.

        Examples
        --------
        >>> Chebyshev(10**5).statistic(3000).weights(np.arange(7)).round(4).tolist()
        [0.0, 8.4461, -19.0163, 29.7863, -21.6749, 8.8372, 1.0]
        """
        degree, interval = self._degree_and_interval
        least = n / self.alphabet_size
        table = np.ones(degree + 2)
        table[0] = 0.0
        if degree and least < interval:
            signs = np.where(np.arange(degree) % 2 == 0, 1.0, -1.0)
            table[1:-1] += signs * np.cumprod(_ratios(degree, interval, least))

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return table[np.minimum(counts, degree + 1)]

        return LinearStatistic(weights, head=degree + 1)

    def bias(self, n: int) -> float:
        """Return ``1/T_L(A)``, a bound on the bias, relative to the expected number of unseen labels.

        For independent Poisson counts with means from λ to M: there ``|E w(N) − 1| ≤ P(N = 0)/T_L(A)``, with
        ``T_L(A) = cosh(2L·artanh(sqrt(λ/M)))``.

        Examples
        --------
        >>> round(Chebyshev(10**5).bias(3000), 3), round(Chebyshev(10**5).bias(10**5), 5)
        (0.785, 0.02363)
        """
        degree, interval = self._degree_and_interval
        least = n / self.alphabet_size
        if least >= interval:
            return 0.0
        return 1 / math.cosh(min(2 * degree * math.atanh(math.sqrt(least / interval)), 700.0))

    def _warnings(self, n: int) -> tuple[str, ...]:
        bias = self.bias(n)
        if bias < _LARGE_BIAS:
            return ()
        return (
            f"Few items for so large an alphabet: the number of labels not seen may be wrong by {100 * bias:.0f} %.",
        )

    @property
    def _degree_and_interval(self) -> tuple[int, float]:
        size = math.log(self.alphabet_size)
        degree = math.floor(0.45 * size) if self.degree is None else self.degree
        return degree, 0.5 * size if self.interval is None else self.interval


def _ratios(degree: int, interval: float, least: float) -> NDArray[np.float64]:
    """Return ``z_{j+1}/z_j`` for 0 ≤ j < L, where ``z_j = s^j·T_L^(j)(A) = (−1)^(L−j)·j!·s^j·b_j``.

    Differentiating ``(1 − x²)T'' − xT' + L²T = 0`` j times at A gives
    ``(L² − j²)·z_j = M·λ·z_{j+2} + (2j + 1)·((M + λ)/2)·z_{j+1}``: all terms are positive from j = L down, so no digit
    is lost for any degree, while the coefficients themselves alternate and cancel.
    """
    ratios = np.zeros(degree + 1)
    for j in range(degree - 1, -1, -1):
        step = interval * least * ratios[j + 1] + (2 * j + 1) * (interval + least) / 2
        ratios[j] = (degree - j) * (degree + j) / step
    return ratios[:-1]
