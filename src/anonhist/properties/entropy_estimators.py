"""Estimators of the entropy."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.numeric import arrays, best_polynomial, read_only
from anonhist.privacy import parse_whole_number
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.properties.estimate import undersampling_warning
from anonhist.properties.estimator import LinearEstimator, LinearStatistic, Point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


class PlugIn(LinearEstimator):
    """``H = Σ_r φ_r·w(r)`` with ``w(r) = −(r/n)·ln(r/n)``, in nats.

    Too low by about (S − 1)/(2n), where S is the support size. For one label it is 0, for n singletons ln n.

    References
    ----------
    .. [1] C. E. Shannon, "A mathematical theory of communication", Bell System Technical Journal 27 (1948), 379–423.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(PlugIn().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.039721
    """

    name = "plug-in"
    assumes = "nearly all labels have been seen, many times each"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items."""
        size = float(n)

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            share = np.minimum(counts / size, 1.0)
            return share * -arrays.log(np.where(share > 0, share, 1.0))

        return LinearStatistic(weights, head=0)


class MillerMadow(LinearEstimator):
    """``H = H_plug-in + (S_obs − 1)/(2n)``, in nats (Miller 1955).

    For one label it is 0, for n singletons ``ln n + (n − 1)/(2n)``.

    References
    ----------
    .. [1] G. A. Miller, "Note on the bias of information estimates", in H. Quastler (ed.), *Information Theory in
           Psychology*, 1955, 95–100.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(MillerMadow().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.289721
    """

    name = "miller-madow"
    assumes = "nearly all labels have been seen"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items: ``−1/(2n)`` is ``−Σ_j φ_j·j/(2n²)``."""
        of_sample, correction = PlugIn().statistic(n).weights, 0.5 / n

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return of_sample(counts) + correction * ((counts > 0) - counts / float(n))

        return LinearStatistic(weights, head=0)


class Jackknife(LinearEstimator):
    """``n·H − ((n−1)/n)·Σ_x n_x·H(sample without one x)``, H the plug-in entropy, in nats (Zahl 1977).

    With ``g(r) = r·ln r − (r−1)·ln(r−1)`` this is ``Σ_r φ_r·(r/n)·(g(n) − g(r))``: linear. For one label or one item it
    is 0, for n singletons ``g(n)``, about ``ln n + 1``.

    References
    ----------
    .. [1] S. Zahl, "Jackknifing an index of diversity", Ecology 58 (1977), 907–913.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(Jackknife().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.556193
    """

    name = "jackknife"
    assumes = "nearly all labels have been seen"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items."""
        size = float(n)
        of_all = float(_gain(np.array([size]))[0])

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return counts / size * (of_all - _gain(np.maximum(counts, 1).astype(np.float64)))

        return LinearStatistic(weights, head=0)


def _gain(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``g(r) = ln r + (r−1)·ln(r/(r−1))``: without the difference of large numbers, which loses digits."""
    before = counts - 1
    return arrays.log(counts) + before * arrays.log1p(1 / np.maximum(before, 1.0))


@dataclass(frozen=True)
class Grassberger:
    """``H = Σ_r φ_r·(r/n)·(ln n − G(r))``, at least 0, in nats (Grassberger 2003, eq. 35).

    ``G(r) = ψ(r) + ½·(−1)^r·(ψ((r+1)/2) − ψ(r/2)) = ψ(⌊r/2⌋ + ½) + ln 2``, ψ the digamma function. For n items of
    one label it is ``max(ln n − G(n), 0)``: about 1/n for odd n, 1.27 for a single item. For n singletons it is
    ``ln n + γ + ln 2``, γ Euler's constant.

    The steps of its weights alternate in sign with each count.

    References
    ----------
    .. [1] P. Grassberger, "Entropy estimates from insufficient samplings", arXiv:physics/0307138 (2003), eq. 35.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(Grassberger().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.656657
    """

    name: ClassVar[str] = "grassberger"
    assumes: ClassVar[str] = "nearly all labels have been seen"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        n = float(profile.n)

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return counts / n * (math.log(n) - _logarithm(counts))

        value = float(weights(profile.counts) @ profile.prevalences)
        return Point(max(0.0, value), weights, warnings=undersampling_warning(profile))


def _logarithm(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return G, in the closed form of the recursion ``G(2m+1) = G(2m) = G(2m−2) + 2/(2m−1)``: no alternating signs."""
    from scipy.special import psi

    found: NDArray[np.float64] = psi(counts // 2 + 0.5) + math.log(2)
    return found


@dataclass(frozen=True)
class Zhang:
    """``H_Z = Σ_r φ_r·(r/n)·(ψ(n) − ψ(r))`` in nats, ψ the digamma function (Zhang 2012, closed form of Schürmann).

    Its mean is ``Σ_x p_x·Σ_{1≤s<n} (1 − p_x)^s/s``, the truncated series of ``−ln p_x``. So its bias is exactly
    ``−Σ_x p_x·Σ_{s≥n} (1 − p_x)^s/s``, never positive, and due to labels that may be missed; intervals are therefore
    computed from it. For one label it is 0, for n singletons ``ψ(n) + γ``, γ Euler's constant.

    References
    ----------
    .. [1] Z. Zhang, "Entropy estimation in Turing's perspective", Neural Computation 24 (2012), 1368–1389.
    .. [2] T. Schürmann, "A note on entropy estimation", Neural Computation 27 (2015), 2097–2106.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(Zhang().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.333333
    """

    name: ClassVar[str] = "zhang"
    assumes: ClassVar[str] = "items drawn independently; the value is too low by the contribution of labels not seen"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        from scipy.special import psi

        n = float(profile.n)
        of_all = float(psi(n))

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.asarray(counts / n * (of_all - psi(np.maximum(counts, 1))))

        return Point(max(0.0, float(weights(profile.counts) @ profile.prevalences)), weights)


@dataclass(frozen=True)
class ChaoShen:
    """``H = Σ_r φ_r·h(C·r/n)`` with ``h(q) = −q·ln q / (1 − (1−q)^n)``, in nats (Chao and Shen 2003).

    ``C = 1 − φ_1/n`` is the Good–Turing sample coverage, and the denominator of h is the probability that a label of
    probability q was seen. For n ≥ 2 singletons C would be 0; as is usual, it is set to 1/n, as if φ_1 were n − 1, and
    the entropy is about 2·ln n. For one label or one item, the entropy is 0.

    The weights include the derivative through C: ``w(r) = h(C·r/n) − [r = 1]·H′(C)/n``.

    References
    ----------
    .. [1] A. Chao, T.-J. Shen, "Nonparametric estimation of Shannon's index of diversity when there are unseen species
           in sample", Environmental and Ecological Statistics 10 (2003), 429–443.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(ChaoShen().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.76324
    """

    name: ClassVar[str] = "chao-shen"
    assumes: ClassVar[str] = "labels not seen are about as frequent as those seen once"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        n = float(profile.n)
        # In integers: as floats, n − 1 may round to n, and the coverage to 0.
        covered = profile.n - min(profile.prevalence(1), profile.n - 1)
        coverage = covered / profile.n
        share, labels = profile.counts / n, profile.prevalences.astype(np.float64)
        of_coverage = float((share * _slope(coverage * share, n)) @ labels)

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            whole = _term(np.minimum(coverage * counts / n, 1.0), n)
            return whole - np.where(counts == 1, of_coverage / n, 0.0)

        warnings: tuple[str, ...] = ()
        if profile.prevalence(1) == profile.n > 1:
            warnings = ("Every label was seen only once: the data say next to nothing about labels not seen.",)
        return Point(float(_term(coverage * share, n) @ labels), weights, warnings=warnings)


def _inclusion_probability(q: NDArray[np.float64], n: float) -> NDArray[np.float64]:
    """Return ``1 − (1−q)^n``, the inclusion probability of a label of probability q (Horvitz–Thompson)."""
    with np.errstate(divide="ignore"):
        return -np.expm1(n * np.log1p(-q))


def _term(q: NDArray[np.float64], n: float) -> NDArray[np.float64]:
    """Return ``h(q) = −q·ln q/(1 − (1−q)^n)``, a term of the sum of Chao and Shen (2003); 0 at 0."""
    inside = np.where(q > 0, q, 1.0)
    return -inside * np.log(inside) / _inclusion_probability(inside, n)


def _slope(q: NDArray[np.float64], n: float) -> NDArray[np.float64]:
    """Return ``h′(q) = −(ln q + 1)/s + q·ln q·s′/s²``, s the inclusion probability, for q > 0."""
    seen = _inclusion_probability(q, n)
    with np.errstate(divide="ignore"):
        more = n * np.exp((n - 1) * np.log1p(-np.minimum(q, 1.0 - 1e-16)))
    return -(np.log(q) + 1) / seen + q * np.log(q) * more / seen**2


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
