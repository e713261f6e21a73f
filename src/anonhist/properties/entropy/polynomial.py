"""The entropy of Wu and Yang: the best polynomial for small probabilities, the plug-in for large ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.numeric import best_polynomial, read_only
from anonhist.privacy import parse_whole_number
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.properties.entropy.plug_in import PlugIn
from anonhist.properties.estimator import Point
from anonhist.properties.linear import LinearStatistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile

_ALL_SEEN = "Without an alphabet size, the value assumes that all labels have been seen."
_DIGITS = 40
_MUCH = 0.01
_MOST_DEGREE, _MOST_THRESHOLD = 100, 10_000


@dataclass(frozen=True)
class Polynomial:
    """Best polynomial entropy ``H = Σ_{j≥0} w(j)·φ_j`` with ``φ_0 = k − S_obs``, clipped to [0, ln k], in nats.

    ``w(j) = (1/n)·(M·Σ_{m≤L} a_m·j^(m)/M^m + j·ln(n/M))`` for j ≤ N, with ``j^(m) = j·(j−1)⋯(j−m+1)``, and
    ``−(j/n)·ln(j/n) + 1/(2n)`` for j > N (Wu and Yang 2016). The a_m are the coefficients of the
    polynomial of degree L nearest to x·ln(1/x) on [0, 1]. Scaled to [0, M/n], its error is M/n times as large, and
    ``j^(m)/n^m`` is an unbiased estimate of ``p^m``.

    Before clipping, it is ``w(n) + (k−1)·w(0)`` for one label and ``n·w(1) + (k−n)·w(0)`` for n singletons, with
    ``w(0) = M·E_L/n``. For ``k = 1``, L, M and N are 0, and so is the entropy. An M above n is allowed.

    Attributes
    ----------
    alphabet_size
        k, the number of possible labels; by default the number of labels seen.
    degree
        L ≥ 0; ``⌊1.6·ln k⌋`` if left out.
    interval
        M > 0: the polynomial is the best one for probabilities up to M/n; ``3.5·ln k`` if left out.
    threshold
        N ≥ 0, the largest count that the polynomial is used for; ``⌊1.6·ln k⌋`` if left out.

    References
    ----------
    .. [1] Y. Wu, P. Yang, "Minimax rates of entropy estimation on large alphabets via best polynomial approximation",
           IEEE Transactions on Information Theory 62 (2016), 3702–3720.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> found = Polynomial(alphabet_size=10**5).point(Profile.from_prevalences({1: 2910, 2: 45}))
    >>> round(found.value / math.log(2), 5)
    15.79499
    """

    name: ClassVar[str] = "polynomial"
    assumes: ClassVar[str] = "there are about as many labels as the alphabet has, and n is well above k/ln k"

    alphabet_size: int | None = None
    degree: int | None = None
    interval: float | None = None
    threshold: int | None = None

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        known = self.alphabet_size is not None
        chosen = self if known else replace(self, alphabet_size=profile.num_labels)
        statistic, most = chosen.statistic(profile.n), math.log(chosen.alphabet_size or 1)
        value = min(max(0.0, statistic.of(profile)), most)
        if known:
            return Point(value, statistic.weights, warnings=_warnings(self.bias(profile.n), most))

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.where(counts > 0, statistic.weights(counts), 0.0)

        return Point(value, weights, warnings=(_ALL_SEEN,))

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items and a known alphabet, without clipping.

        Raises
        ------
        UsageError
            If a number is not in its range.

        Examples
        --------
        >>> statistic = Polynomial(1000).statistic(1000)
        >>> statistic.head, statistic.weights(np.array([0, 1, 12])).round(6).tolist()
        (12, [4.5e-05, 0.0086, 0.053574])
        """
        size, degree, end = self._parameters()
        threshold = math.floor(1.6 * math.log(size)) if self.threshold is None else self.threshold
        threshold = parse_whole_number(threshold, name="threshold", least=0, most=_MOST_THRESHOLD)
        head, large = np.zeros(threshold + 1), PlugIn().statistic(n).weights
        if end > 0:
            head += (end * _head(degree, end, threshold) + np.arange(threshold + 1) * math.log(n / end)) / n

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.where(counts <= threshold, head[np.minimum(counts, threshold)], large(counts) + 0.5 / n)

        return LinearStatistic(weights, head=threshold + 1, alphabet_size=size)

    def bias(self, n: int) -> float:
        """Return ``k·(M/n)·E_L``, in nats: a bound on the bias if probabilities are below M/n and counts at most N.

        Examples
        --------
        >>> round(Polynomial(1000).bias(1000), 4)
        0.0452
        """
        size, degree, end = self._parameters()
        return size * end / n * float(best_polynomial(degree).error)

    def _parameters(self) -> tuple[int, int, float]:
        """Return k, L and M, checked, with defaults filled in."""
        size = parse_whole_number(self.alphabet_size, name="alphabet_size", most=MAX_ITEMS)
        degree = math.floor(1.6 * math.log(size)) if self.degree is None else self.degree
        degree = parse_whole_number(degree, name="degree", least=0, most=_MOST_DEGREE)
        interval = self.interval
        if interval is None:
            return size, degree, 3.5 * math.log(size)
        if isinstance(interval, bool) or not isinstance(interval, int | float) or not 0 < interval < math.inf:
            raise UsageError(f"interval must be a number above 0, such as 3.5·ln k, not {interval!r:.80}.")
        return size, degree, float(interval)


@lru_cache(maxsize=1024)
def _head(degree: int, end: float, threshold: int) -> NDArray[np.float64]:
    """Return ``Σ_m a_m·j^(m)/M^m`` for j = 0 … N: the a_m are large and alternate in sign, so floats are too short."""
    coefficients = best_polynomial(degree).coefficients
    found = []
    with localcontext(prec=_DIGITS + degree):
        for j in range(threshold + 1):
            total = Decimal(0)
            for m in range(min(j, degree), -1, -1):
                total = coefficients[m] + total * (j - m) / Decimal(end)
            found.append(float(total))
    return read_only(np.array(found))


def _warnings(bias: float, most: float) -> tuple[str, ...]:
    if not most or bias <= _MUCH * most:
        return ()
    share = min(100.0, 100 * bias / most)
    return (f"Few items for so large an alphabet: the interval does not cover the bias, up to {share:.0f} % of ln k.",)
