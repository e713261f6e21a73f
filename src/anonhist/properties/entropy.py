"""The entropy of the unknown distribution, by a choice of methods."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from anonhist.errors import UsageError
from anonhist.numeric import arrays, best_polynomial, read_only
from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.properties.estimate import Bounds, Estimate, Holds, Statement, largest_mean, undersampling_warning
from anonhist.properties.estimator import (
    LinearEstimator,
    LinearStatistic,
    Point,
    Resimulated,
    apply,
    check_alphabet,
    check_method,
)
from anonhist.properties.pml import PmlEntropy

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats, Ints
    from anonhist.properties.estimator import Estimator, Sample


class PlugIn(LinearEstimator):
    """``H = Σ_r φ_r·w(r)`` with ``w(r) = −(r/n)·ln(r/n)``, in nats (Shannon 1948).

    Too low by about (S − 1)/(2n), where S is the support size. For one label it is 0, for n singletons ln n.
    """

    name = "plug-in"
    assumes = "nearly all labels have been seen, many times each"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items."""
        size = float(n)

        def weights(counts: Ints) -> Floats:
            share = np.minimum(counts / size, 1.0)
            return share * -arrays.log(np.where(share > 0, share, 1.0))

        return LinearStatistic(weights, head=0)


class MillerMadow(LinearEstimator):
    """``H = H_plug-in + (S_obs − 1)/(2n)``, in nats (Miller 1955).

    For one label it is 0, for n singletons ``ln n + (n − 1)/(2n)``.
    """

    name = "miller-madow"
    assumes = "nearly all labels have been seen"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items: ``−1/(2n)`` is ``−Σ_j φ_j·j/(2n²)``."""
        of_sample, correction = PlugIn().statistic(n).weights, 0.5 / n
        return LinearStatistic(
            lambda counts: of_sample(counts) + correction * ((counts > 0) - counts / float(n)), head=0
        )


class Jackknife(LinearEstimator):
    """``n·H − ((n−1)/n)·Σ_x n_x·H(sample without one x)``, H the plug-in entropy, in nats (Zahl 1977).

    With ``g(r) = r·ln r − (r−1)·ln(r−1)`` this is ``Σ_r φ_r·(r/n)·(g(n) − g(r))``: linear. For one label or one item it
    is 0, for n singletons ``g(n)``, about ``ln n + 1``.
    """

    name = "jackknife"
    assumes = "nearly all labels have been seen"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items."""
        size = float(n)
        of_all = float(_gain(np.array([size]))[0])
        return LinearStatistic(
            lambda counts: counts / size * (of_all - _gain(np.maximum(counts, 1).astype(np.float64))), head=0
        )


def _gain(counts: Floats) -> Floats:
    """Return ``g(r) = ln r + (r−1)·ln(r/(r−1))``: without the difference of large numbers, which loses digits."""
    before = counts - 1
    return arrays.log(counts) + before * arrays.log1p(1 / np.maximum(before, 1.0))


@dataclass(frozen=True)
class Grassberger:
    """``H = Σ_r φ_r·(r/n)·(ln n − G(r))``, at least 0, in nats (Grassberger 2003, eq. 35).

    ``G(r) = ψ(r) + ½·(−1)^r·(ψ((r+1)/2) − ψ(r/2)) = ψ(⌊r/2⌋ + ½) + ln 2``, ψ the digamma function. For n items of one
    label it is ``max(ln n − G(n), 0)``: about 1/n for odd n, 1.27 for a single item. For n singletons it is
    ``ln n + γ + ln 2``, γ Euler's constant. The steps of its weights alternate in sign with each count.
    """

    name: ClassVar[str] = "grassberger"
    assumes: ClassVar[str] = "nearly all labels have been seen"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        n = float(profile.n)

        def weights(counts: Ints) -> Floats:
            return counts / n * (math.log(n) - _logarithm(counts))

        value = float(weights(profile.counts) @ profile.prevalences)
        return Point(max(0.0, value), weights, warnings=undersampling_warning(profile))


def _logarithm(counts: Ints) -> Floats:
    """Return G, in the closed form of the recursion ``G(2m+1) = G(2m) = G(2m−2) + 2/(2m−1)``: no alternating signs."""
    from scipy.special import psi

    return np.asarray(psi(counts // 2 + 0.5) + math.log(2))


@dataclass(frozen=True)
class Zhang:
    """``H_Z = Σ_r φ_r·(r/n)·(ψ(n) − ψ(r))`` in nats, ψ the digamma function (Zhang 2012; closed form: Schürmann 2015).

    Its mean is ``Σ_x p_x·Σ_{1≤s<n} (1 − p_x)^s/s``, the truncated series of ``−ln p_x``. So its bias is exactly
    ``−Σ_x p_x·Σ_{s≥n} (1 − p_x)^s/s``, never positive, and due to labels that may be missed; intervals are therefore
    computed from it. For one label it is 0, for n singletons ``ψ(n) + γ``, γ Euler's constant.
    """

    name: ClassVar[str] = "zhang"
    assumes: ClassVar[str] = "items drawn independently; the value is too low by the contribution of labels not seen"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        from scipy.special import psi

        n = float(profile.n)
        of_all = float(psi(n))

        def weights(counts: Ints) -> Floats:
            return np.asarray(counts / n * (of_all - psi(np.maximum(counts, 1))))

        return Point(max(0.0, float(weights(profile.counts) @ profile.prevalences)), weights)


@dataclass(frozen=True)
class ChaoShen:
    """``H = Σ_r φ_r·h(C·r/n)`` with ``h(q) = −q·ln q / (1 − (1−q)^n)``, in nats (Chao and Shen 2003).

    ``C = 1 − φ_1/n`` is the Good–Turing sample coverage, and the denominator of h is the probability that a label of
    probability q was seen. For n ≥ 2 singletons C would be 0; as is usual, it is set to 1/n, as if φ_1 were n − 1, and
    the entropy is about 2·ln n. For one label or one item, the entropy is 0. The weights include the derivative through
    C: ``w(r) = h(C·r/n) − [r = 1]·H′(C)/n``.
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

        def weights(counts: Ints) -> Floats:
            whole = _term(np.minimum(coverage * counts / n, 1.0), n)
            return whole - np.where(counts == 1, of_coverage / n, 0.0)

        warnings: tuple[str, ...] = ()
        if profile.prevalence(1) == profile.n > 1:
            warnings = ("Every label was seen only once: the data say next to nothing about labels not seen.",)
        return Point(float(_term(coverage * share, n) @ labels), weights, warnings=warnings)


def _inclusion_probability(q: Floats, n: float) -> Floats:
    """Return ``1 − (1−q)^n``, the inclusion probability of a label of probability q (Horvitz–Thompson)."""
    with np.errstate(divide="ignore"):
        return -np.expm1(n * np.log1p(-q))


def _term(q: Floats, n: float) -> Floats:
    """Return ``h(q) = −q·ln q/(1 − (1−q)^n)``, a term of the sum of :class:`ChaoShen`; 0 at 0."""
    inside = np.where(q > 0, q, 1.0)
    return -inside * np.log(inside) / _inclusion_probability(inside, n)


def _slope(q: Floats, n: float) -> Floats:
    """Return ``h′(q) = −(ln q + 1)/s + q·ln q·s′/s²``, s the inclusion probability, for q > 0."""
    seen = _inclusion_probability(q, n)
    with np.errstate(divide="ignore"):
        more = n * np.exp((n - 1) * np.log1p(-np.minimum(q, 1.0 - 1e-16)))
    return -(np.log(q) + 1) / seen + q * np.log(q) * more / seen**2


_ALL_SEEN = "Without an alphabet size, the value assumes that all labels have been seen."
_DIGITS = 40
_MUCH_ADDED = 0.01
_MOST_DEGREE, _MOST_THRESHOLD = 100, 10_000


@dataclass(frozen=True)
class Polynomial:
    """Best polynomial entropy ``H = Σ_{j≥0} w(j)·φ_j`` with ``φ_0 = k − S_obs``, clipped to [0, ln k], in nats.

    ``w(j) = (1/n)·(M·Σ_{m≤L} a_m·j^(m)/M^m + j·ln(n/M))`` for j ≤ N, with ``j^(m) = j·(j−1)⋯(j−m+1)``, and
    ``−(j/n)·ln(j/n) + 1/(2n)`` for j > N (Wu and Yang 2016). The a_m are the coefficients of the polynomial of degree L
    nearest to x·ln(1/x) on [0, 1]. Scaled to [0, M/n], its error is M/n times as large, and ``j^(m)/n^m`` is an
    unbiased estimate of ``p^m``.

    By default k is the number of labels seen, the degree L and the threshold N are ``⌊1.6·ln k⌋``, and the interval M
    is ``3.5·ln k``; an M above n is allowed. Before clipping, H is ``w(n) + (k−1)·w(0)`` for one label and
    ``n·w(1) + (k−n)·w(0)`` for n singletons, with ``w(0) = M·E_L/n``. For ``k = 1``, L, M and N are 0, and so is the
    entropy.
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
        return Point(value, lambda counts: np.where(counts > 0, statistic.weights(counts), 0.0), warnings=(_ALL_SEEN,))

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items and a known alphabet, without clipping."""
        size, degree, end = self._parameters()
        threshold = math.floor(1.6 * math.log(size)) if self.threshold is None else self.threshold
        threshold = parse_whole_number(threshold, name="threshold", least=0, most=_MOST_THRESHOLD)
        head, large = np.zeros(threshold + 1), PlugIn().statistic(n).weights
        if end > 0:
            head += (end * _head(degree, end, threshold) + np.arange(threshold + 1) * math.log(n / end)) / n
        return LinearStatistic(
            lambda counts: np.where(counts <= threshold, head[np.minimum(counts, threshold)], large(counts) + 0.5 / n),
            head=threshold + 1,
            alphabet_size=size,
        )

    def bias(self, n: int) -> float:
        """Return ``k·(M/n)·E_L``, in nats: a bound on the bias if probabilities are below M/n and counts at most N."""
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
def _head(degree: int, end: float, threshold: int) -> Floats:
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
    if not most or bias <= _MUCH_ADDED * most:
        return ()
    share = min(100.0, 100 * bias / most)
    return (f"Few items for so large an alphabet: the interval does not cover the bias, up to {share:.0f}% of ln k.",)


# If no alphabet size is given, up to this many labels may be missing.
_ANY = 2.0**64
# An upper end that must allow for a larger share of the entropy is useless.
_MUCH = 0.1
_KNOWN = "the upper end allows for all labels of the alphabet not seen"
_ANY_AMOUNT = "labels too rare to be seen may add any amount"
_ALLOWED = "the upper end allows for up to 2^64 labels that were not seen"


@dataclass(frozen=True)
class EntropyInterval:
    """From ``H_Z − z·error`` to ``H_Z + z·error + (F_1/n)·ln(1 + F_0/F_1)``, in nats.

    H_Z is :class:`~anonhist.properties.entropy.Zhang`, which is never too high on average, so the lower end
    holds for every distribution. It is too low by ``Σ_x p_x·Σ_{s≥n} (1 − p_x)^s/s``; for Poisson counts with means
    ``λ_x = n·p_x`` that is ``(1/n)·Σ_x λ_x·E_1(λ_x)``, E_1 the exponential integral. By ``E_1(λ) ≤ e^(−λ)·ln(1 + 1/λ)``
    and Jensen's inequality it is at most ``(F_1/n)·ln(1 + F_0/F_1)``, where ``F_0 = Σ_x e^(−λ_x)`` and
    ``F_1 = Σ_x λ_x·e^(−λ_x)`` are the expected numbers of labels not seen and seen once. The bound rises with both. F_0
    is at most the number of unseen labels of the alphabet, or 2⁶⁴ without one. F_1 is at most the upper end of a
    Poisson mean with count φ_1, ``φ_1 + z²/2 + z·sqrt(φ_1 + z²/4)``.

    If no alphabet is known and the bound is more than a tenth of H_Z, there is only a lower end.
    """

    alphabet_size: int | None = None

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        n, z = float(sample.profile.n), sample.z
        (seen, _), (_, once) = sample.labels, sample.singletons
        least, spread = sample.of(Zhang())
        low, most = max(least - z * spread, 0.0), self.of_nothing()[1]
        unseen = _ANY if self.alphabet_size is None else max(self.alphabet_size - seen, 0.0)
        singles = min(largest_mean(once, z), n)
        missing = singles / n * math.log1p(unseen / singles)
        if self.alphabet_size is None and missing > _MUCH * least:
            return Bounds(low, most, Statement(Holds.AT_LEAST, _ANY_AMOUNT)).around(value)
        reason = _ALLOWED if self.alphabet_size is None else _KNOWN
        return Bounds(low, min(least + z * spread + missing, most), Statement(Holds.BOTH, reason)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return 0 and the logarithm of the size of the alphabet."""
        return 0.0, math.inf if self.alphabet_size is None else math.log(self.alphabet_size)


EntropyMethod = Literal["plug-in", "miller-madow", "jackknife", "grassberger", "chao-shen", "polynomial", "pml"]
ENTROPY_METHODS: tuple[str, ...] = get_args(EntropyMethod)
# Methods without options; those that take the alphabet size are made in entropy_estimator.
_PLAIN: dict[str, Estimator] = {
    estimator.name: estimator for estimator in (PlugIn(), MillerMadow(), Jackknife(), Grassberger(), ChaoShen())
}


def entropy(
    data: Profile | Resimulated,
    *,
    method: EntropyMethod | None = None,
    alphabet_size: int | None = None,
    base: float = math.e,
    level: float = 0.95,
) -> Estimate:
    """Estimate the Shannon entropy ``H(p) = −Σ_x p_x·ln p_x`` of the distribution that the items were drawn from.

    The interval is the same for all methods, :class:`~anonhist.properties.entropy.EntropyInterval`: it holds
    for every distribution over at most 2⁶⁴ labels, or over the alphabet. If much is missing and no alphabet is known,
    it has only a lower end.

    Source: Shannon 1948; Miller 1955; Zahl 1977; Grassberger 2003, eq. 35; Chao and Shen 2003; Wu and Yang 2016;
    Pavlichin and others 2017.

    Parameters
    ----------
    data
        A profile or a release. For a release, the interval also covers privacy noise.
    method
        ``"plug-in"``, ``"miller-madow"``, ``"jackknife"``, ``"grassberger"``, ``"chao-shen"``, ``"polynomial"`` or
        ``"pml"``. The default is ``"polynomial"`` if the alphabet size is given: its errors are half those of all
        others except ``"pml"``. Otherwise it is ``"grassberger"``, with about the error of ``"chao-shen"``
        (docs/benchmarks/estimators.md): one-sided if labels are missing, and small if none are.
    alphabet_size
        k, the number of possible labels, known without looking at the data.
    base
        Base of the logarithm, > 1: 2 for bits, e (default) for nats.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If there is no such method, or a number is out of range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(entropy(Profile.from_labels("abracadabra"), method="miller-madow", base=2))
    at least 1.53266 bits (95% confidence), estimate 2.30268: labels too rare to be seen may add any amount
    """
    chosen = entropy_estimator(method, alphabet_size)
    check_alphabet(data, alphabet_size)
    unit, scale = entropy_unit(base)
    return apply(data, chosen, EntropyInterval(alphabet_size), level=level, unit=unit, scale=scale)


def entropy_estimator(method: str | None, alphabet_size: int | None) -> Estimator:
    """Return the estimator with this name; by default, the one with the lowest error, with or without an alphabet."""
    if method is None:
        method = "grassberger" if alphabet_size is None else "polynomial"
    check_method(method, ENTROPY_METHODS, of="entropy")
    if method == PmlEntropy.name:
        return PmlEntropy(alphabet_size)
    return Polynomial(alphabet_size) if method == Polynomial.name else _PLAIN[method]


def entropy_unit(base: float) -> tuple[str, float]:
    """Return the unit of entropies with this base, and the factor from nats."""
    if isinstance(base, bool) or not isinstance(base, int | float) or not 1 < base < math.inf:
        raise UsageError(f"`base` must be a number above 1, such as 2 for bits, not {base!r:.80}.")
    names = {2: "bits", math.e: "nats", 10: "bans"}
    return names.get(base, f"units of base {base:.12g}"), 1.0 if base == math.e else 1.0 / math.log(base)
