"""The entropy of Wu and Yang: small probabilities by the best polynomial, large ones by the sample."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.numeric import best_polynomial, read_only
from anonhist.privacy import parse_whole_number
from anonhist.profiles.whole import MAX_ITEMS
from anonhist.properties.entropy.plug_in import plug_in_statistic
from anonhist.properties.estimator import Point
from anonhist.properties.linear import LinearStatistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile

_DIGITS = 40
_MUCH = 0.01
_MOST_DEGREE, _MOST_THRESHOLD = 100, 10_000


@dataclass(frozen=True)
class Polynomial:
    """Best polynomial entropy ``H = Σ_{j≥0} w(j)·φ_j`` with ``φ_0 = k − S_obs``, cut to [0, ln k], in nats.

    ``w(j) = (1/n)·(M·Σ_{m≤L} a_m·j^(m)/M^m + j·ln(n/M))`` for j ≤ N, with ``j^(m) = j·(j−1)⋯(j−m+1)``, and
    ``−(j/n)·ln(j/n) + 1/(2n)`` for j > N (Wu and Yang 2016, section IV). The a_m are those of the polynomial of degree
    L nearest to x·ln(1/x) on [0, 1]: drawn out to [0, M/n] it is off by M/n times as much, and ``j^(m)/n^m`` estimates
    ``p^m`` without bias.

    Before it is cut, it is ``w(n) + (k−1)·w(0)`` of one label and ``n·w(1) + (k−n)·w(0)`` of n singletons, with
    ``w(0) = M·E_L/n``. With ``k = 1`` L, M and N are 0, and so is the entropy. An M above n is allowed: the polynomial
    is then good for more than all probabilities.

    Attributes
    ----------
    alphabet_size
        k, the number of possible labels. Without it no others are assumed than those seen.
    degree
        L ≥ 0; ``⌊1.6·ln k⌋`` if left out.
    interval
        M > 0: the polynomial is the best for probabilities up to M/n; ``3.5·ln k`` if left out.
    threshold
        N ≥ 0, the largest count that the polynomial is used for; ``⌊1.6·ln k⌋`` if left out.

    References
    ----------
    .. [1] Y. Wu, P. Yang, "Minimax rates of entropy estimation on large alphabets via best polynomial approximation",
           IEEE Transactions on Information Theory 62 (2016), 3702–3720, section IV.

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
        size = self.alphabet_size or profile.num_labels
        statistic = polynomial_statistic(
            profile.n, alphabet_size=size, degree=self.degree, interval=self.interval, threshold=self.threshold
        )

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.where(counts > 0, statistic.weights(counts), 0.0)

        value = min(max(0.0, statistic.of(profile)), math.log(size))
        bias = polynomial_bias(profile.n, alphabet_size=size, degree=self.degree, interval=self.interval)
        return Point(value, statistic.weights if known else weights, warnings=_warnings(bias, size, known=known))


def polynomial_statistic(
    n: int,
    *,
    alphabet_size: int,
    degree: int | None = None,
    interval: float | None = None,
    threshold: int | None = None,
) -> LinearStatistic:
    """Return the best polynomial entropy of n ≥ 1 items as a linear statistic: not cut to what entropies can be.

    Parameters
    ----------
    n
        Number of items.
    alphabet_size, degree, interval, threshold
        k ≥ 1, L ≥ 0, M > 0 and N ≥ 0 as for :class:`Polynomial`.

    Raises
    ------
    UsageError
        If a number is not in its range.

    Examples
    --------
    >>> statistic = polynomial_statistic(1000, alphabet_size=1000)
    >>> statistic.head, statistic.weights(np.array([0, 1, 12])).round(6).tolist()
    (12, [4.5e-05, 0.0086, 0.053574])
    """
    size, degree, end = _parameters(alphabet_size, degree, interval)
    if threshold is None:
        threshold = math.floor(1.6 * math.log(size))
    threshold = parse_whole_number(threshold, name="threshold", least=0, most=_MOST_THRESHOLD)
    head, large = np.zeros(threshold + 1), plug_in_statistic(n).weights
    if end > 0:
        head += (end * _head(degree, end, threshold) + np.arange(threshold + 1) * math.log(n / end)) / n

    def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(counts <= threshold, head[np.minimum(counts, threshold)], large(counts) + 0.5 / n)

    return LinearStatistic(weights, head=threshold + 1, alphabet_size=size)


def polynomial_bias(n: int, *, alphabet_size: int, degree: int | None = None, interval: float | None = None) -> float:
    """Return ``k·(M/n)·E_L``, which bounds the bias if all labels have probabilities below M/n and counts up to N.

    In nats; the parameters are those of :func:`polynomial_statistic`.

    Examples
    --------
    >>> round(polynomial_bias(1000, alphabet_size=1000), 4)
    0.0452
    """
    size, degree, end = _parameters(alphabet_size, degree, interval)
    return size * end / n * float(best_polynomial(degree).error)


def _parameters(alphabet_size: int, degree: int | None, interval: float | None) -> tuple[int, int, float]:
    """Return k, L and M, checked, with what is left out filled in."""
    size = parse_whole_number(alphabet_size, name="alphabet_size", most=MAX_ITEMS)
    degree = math.floor(1.6 * math.log(size)) if degree is None else degree
    degree = parse_whole_number(degree, name="degree", least=0, most=_MOST_DEGREE)
    if interval is None:
        return size, degree, 3.5 * math.log(size)
    if isinstance(interval, bool) or not isinstance(interval, int | float) or not 0 < interval < math.inf:
        message = f"interval must be a number above 0, such as 3.5·ln k, not {interval!r:.80}."
        raise UsageError(message)
    return size, degree, float(interval)


@lru_cache(maxsize=1024)
def _head(degree: int, end: float, threshold: int) -> NDArray[np.float64]:
    """Return ``Σ_m a_m·j^(m)/M^m`` for j = 0 … N: a_m are large and turn signs, so it takes more digits than floats."""
    coefficients = best_polynomial(degree).coefficients
    found = []
    with localcontext(prec=_DIGITS + degree):
        for j in range(threshold + 1):
            total = Decimal(0)
            for m in range(min(j, degree), -1, -1):
                total = coefficients[m] + total * (j - m) / Decimal(end)
            found.append(float(total))
    return read_only(np.array(found))


def _warnings(bias: float, size: int, *, known: bool) -> tuple[str, ...]:
    if not known:
        return ("Without an alphabet size, the value assumes that all labels have been seen.",)
    if size == 1 or bias <= _MUCH * math.log(size):
        return ()
    share = min(100.0, 100 * bias / math.log(size))
    return (f"Few items for so large an alphabet: the interval does not cover the bias, up to {share:.0f} % of ln k.",)
