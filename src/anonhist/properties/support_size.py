"""The number of labels, seen or not, by a choice of methods, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from anonhist.errors import UsageError
from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.estimate import Bounds, Estimate, Holds, Statement, largest_mean
from anonhist.properties.estimator import LinearStatistic, Point, Resimulated, apply, check_alphabet, check_method
from anonhist.properties.pml import PmlSupportSize
from anonhist.properties.support_size_estimators import (
    Ace,
    Chao1,
    Chao1Inext,
    ChaoLee,
    Jackknife1,
    Jackknife2,
    Observed,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.numeric.arrays import Floats
    from anonhist.properties.estimator import Estimator, Interval, Sample

# The largest weight whose square, multiplied by the number of labels, does not overflow.
_LARGEST = 1e100
_LARGE_BIAS = 0.5


@dataclass(frozen=True)
class Chebyshev:
    """``S = Σ_{r≥1} w(r)·φ_r``, clipped to [S_obs, k] (Wu and Yang 2019).

    The weights are those of a shifted Chebyshev polynomial. Among polynomials of degree L that do not count labels of
    probability 0, it has the smallest worst-case bias for probabilities from 1/k, the least one, to M/n. By default L
    is ``⌊0.45·ln k⌋`` and the interval M > 0 is ``0.5·ln k``. For one label seen often it is 1, for n singletons
    ``n·w(1)``, at most k.
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
        value = max(min(statistic.of(profile), float(self.alphabet_size)), float(profile.num_labels))
        return Point(value, statistic.weights, warnings=self._warnings(profile.n))

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items, without clipping; it is public if n is.

        With ``λ = n/k``, ``A = (M + λ)/(M − λ)``, ``s = 2/(M − λ)`` and b_j the coefficients of ``T_L(y − A)``,
        ``w(j) = 1 − (b_j/b_0)·j!·s^j`` for 1 ≤ j ≤ L, ``w(0) = 0`` and 1 beyond. If ``λ ≥ M`` all but ``w(0)`` are 1.
        """
        degree, interval = self._degree_and_interval
        least = n / self.alphabet_size
        table = np.ones(degree + 2)
        table[0] = 0.0
        if degree and least < interval:
            signs = np.where(np.arange(degree) % 2 == 0, 1.0, -1.0)
            table[1:-1] += signs * np.cumprod(_ratios(degree, interval, least))
        return LinearStatistic(lambda counts: table[np.minimum(counts, degree + 1)], head=degree + 1)

    def bias(self, n: int) -> float:
        """Return ``1/T_L(A)``, a bound on the bias, relative to the expected number of unseen labels.

        For independent Poisson counts with means from λ to M: there ``|E w(N) − 1| ≤ P(N = 0)/T_L(A)``, with
        ``T_L(A) = cosh(2L·artanh(sqrt(λ/M)))``.
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
            f"Few items for so large an alphabet: the number of labels not seen may be wrong by {100 * bias:.0f}%.",
        )

    @property
    def _degree_and_interval(self) -> tuple[int, float]:
        size = math.log(self.alphabet_size)
        degree = math.floor(0.45 * size) if self.degree is None else self.degree
        return degree, 0.5 * size if self.interval is None else self.interval


def _ratios(degree: int, interval: float, least: float) -> Floats:
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


NO_END = "any number of labels may be too rare to be seen"
_SMALLEST = "the interval allows for the largest possible bias if no label is rarer than assumed"


@dataclass(frozen=True)
class AtLeastLabels:
    """A lower bound that holds for every distribution and all methods; the only upper bound is ``most``.

    For data it is the lower end of the log-normal interval of
    :class:`~anonhist.properties.support_size_estimators.Chao1`, which is a lower bound on average, by the
    Cauchy–Schwarz inequality ``E[φ_0]·E[φ_2] ≥ E[φ_1]²/2`` (Chao 1984). It is at most ``S_obs + φ_1·(φ_1 − 1)/(2u)``
    with ``u = φ_2 + z²/2 + z·sqrt(φ_2 + z²/4)``, the upper end of φ_2 as a Poisson count, because the log-normal
    distribution is far off for a φ_2 of 0 or 1. It is rounded down, because the number of missed labels is whole, and
    often 0 if less than one is expected.

    For a release it is the lower end of the number of labels in the data.
    """

    most: float = math.inf

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the lower end and ``most``; the value lies between them unless it exceeds ``most``."""
        low, _ = sample.labels
        if sample.release is None:
            low = max(low, float(math.floor(_lower_end(sample))))
        low = min(low, max(self.most, 0.0))
        return Bounds(min(low, value), max(self.most, low), Statement(Holds.AT_LEAST, NO_END))

    def of_nothing(self) -> tuple[float, float]:
        """Return 0 and the upper bound on the number of labels."""
        return 0.0, self.most


def _lower_end(sample: Sample) -> float:
    """Return the lower end for data."""
    low, _ = log_normal_ends(sample, *sample.of(Chao1()))
    once, twice = float(sample.profile.prevalence(1)), float(sample.profile.prevalence(2))
    return min(low, sample.profile.num_labels + once * (once - 1) / (2 * largest_mean(twice, sample.z)))


@dataclass(frozen=True)
class SupportSizeInterval:
    """From the lower end of :class:`AtLeastLabels` to the upper end of :func:`log_normal_ends`, clipped to k, ``most``.

    For estimators whose bias, relative to the expected number of unseen labels, is at most b, a function of n, because
    no label has a probability below 1/k. If there are so many items that the estimator adds nothing to the labels seen,
    and b is 0, the upper end allows for :func:`most_unseen` labels instead.
    """

    most: float = math.inf
    bias: Callable[[int], float] | None = None

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        bias = 0.0 if self.bias is None else self.bias(sample.profile.n)
        low = AtLeastLabels(self.most).of(sample, value, error).low
        _, high = log_normal_ends(sample, value, error, bias=bias)
        if self.bias is not None and not bias:
            seen, once = sample.labels[1], sample.singletons[1]
            high = max(high, seen + most_unseen(once, sample.profile.n / self.most, level=sample.level))
        return Bounds(low, min(high, self.most), Statement(Holds.BOTH, _SMALLEST)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return 0 and the upper bound on the number of labels."""
        return 0.0, self.most


def most_unseen(once: float, least: float, *, level: float) -> float:
    """Return how many labels may have been missed if φ_1 were seen once and all have expected counts of at least λ.

    A label with count 0 or 1 has count 0 with probability ``1/(1 + λ_x) ≤ 1/(1 + λ)``. So the answer is the largest U
    with ``P(Bin(φ_1 + U, 1/(1 + λ)) ≥ U) = I_{1/(1+λ)}(U, φ_1 + 1) ≥ (1 − level)/2``, I the regularized incomplete beta
    function. For Poisson counts this is exact for all expected counts.
    """
    from scipy.special import btdtria

    return float(math.floor(btdtria((1 - level) / 2, once + 1.0, 1 / (1 + least))))


def log_normal_ends(sample: Sample, value: float, error: float, *, bias: float = 0.0) -> tuple[float, float]:
    """Return the ends of an interval for which the number of unseen labels, ``T = value − S_obs``, is log-normal.

    ``S_obs + T/K`` to ``S_obs + T·K`` with ``K = exp(z·sqrt(ln(1 + (error/T)²)))``
    (Chao 1987; Colwell 2009, appendix B, eq. 13): it is never below S_obs. K grows far more slowly than the error, so
    the upper end is at least ``value + z·error``, which matters if the error is hundreds of times T. If T is 0, nothing
    seems to be missing, and the interval is ``S_obs`` to ``(S_obs + z·error)/(1 − P)``, with each label missed with
    probability ``P = exp(−n/S_obs)`` (Colwell 2009, appendix B, eq. 14; its lower end may lie above the value, this one
    does not).

    With b, a bound on the bias in either direction relative to the number of unseen labels, the ends of T are divided
    by ``1 + b`` and ``1 − b``. For a release, S_obs is the lower end of the number of labels in the data, since the
    released number is noisy.
    """
    n, half, (seen, _) = sample.profile.n, sample.z * error, sample.labels
    unseen = value - seen
    # With the smallest float above 0, there is no upper end.
    rest = max(1 - bias, 5e-324)
    if unseen <= 0:
        missed = math.exp(-n / max(value, 1.0))
        return value, max((value + half) / (1 - missed), seen + half / rest)
    ratio = math.exp(sample.z * _log_normal_error(error / unseen))
    return seen + unseen / ratio / (1 + bias), seen + max(unseen * ratio, unseen + half) / rest


def _log_normal_error(ratio: float) -> float:
    """Return ``sqrt(ln(1 + x²))``, the standard error of the logarithm, without overflow."""
    return math.sqrt(math.log1p(ratio**2) if ratio < 1 else 2 * math.log(math.hypot(1, ratio)))


SupportSizeMethod = Literal[
    "observed", "chao1", "chao1-inext", "ace", "jackknife-1", "jackknife-2", "chao-lee", "chebyshev", "pml"
]
SUPPORT_SIZE_METHODS: tuple[str, ...] = get_args(SupportSizeMethod)
# Methods without options; those that take the alphabet size are made in support_size_estimator.
_PLAIN: dict[str, Estimator] = {
    estimator.name: estimator
    for estimator in (Observed(), Chao1(), Chao1Inext(), Ace(), Jackknife1(), Jackknife2(), ChaoLee())
}


def support_size(
    data: Profile | Resimulated,
    *,
    method: SupportSizeMethod | None = None,
    alphabet_size: int | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate the number of labels with a probability above zero, seen or unseen.

    Data cannot bound this number from above, because labels may be arbitrarily rare. So the estimate says "at least",
    and its lower end holds for every distribution and all methods. Only ``"chebyshev"``, which knows the smallest
    probability, has an upper end. For the number of labels in the data themselves, use ``release.k_plus(1)``.

    Source: Chao 1984, eq. 6; Chao 2005; Chiu and others 2014; Chao and others 2000, eq. 2.2; Burnham and Overton 1979;
    Chao and Lee 1992, eq. 2.14; Wu and Yang 2019; Pavlichin and others 2017.

    Parameters
    ----------
    data
        A profile or a release. For a release, the lower end also covers privacy noise.
    method
        ``"observed"``, ``"chao1"``, ``"chao1-inext"``, ``"ace"``, ``"jackknife-1"``, ``"jackknife-2"``, ``"chao-lee"``,
        ``"chebyshev"`` or ``"pml"``; by default ``"chebyshev"`` with an ``alphabet_size`` and ``"chao1"`` without.
    alphabet_size
        k, known without looking at the data: there are at most k labels. ``"chebyshev"`` needs it, and assumes that no
        label has a probability below 1/k.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If there is no such method, a number is out of range, or a number that the method needs is missing.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_counts([9, 4, 2, 2, 1, 1, 1])
    >>> print(support_size(profile))
    at least 7 labels (95% confidence), estimate 8: any number of labels may be too rare to be seen
    """
    chosen = support_size_estimator(method, alphabet_size)
    size = check_alphabet(data, alphabet_size)
    most = math.inf if size is None else float(size)
    interval: Interval = AtLeastLabels(most)
    needs_counts = False
    if isinstance(chosen, Chebyshev):
        interval, needs_counts = SupportSizeInterval(most, chosen.bias), True
    found = apply(data, chosen, interval, level=level, unit="labels", needs_counts=needs_counts)
    if found.value <= most:
        return found
    # Methods that do not know the alphabet may exceed it, and so may a release's number of labels.
    return replace(found, value=most, interval=(min(found.interval[0], most), most))


def support_size_estimator(method: str | None, alphabet_size: int | None) -> Estimator:
    """Return the estimator with this name; by default, the one with the lowest error, with or without an alphabet."""
    name = method or (Chao1.name if alphabet_size is None else Chebyshev.name)
    check_method(name, SUPPORT_SIZE_METHODS, of="support size")
    if name == PmlSupportSize.name:
        return PmlSupportSize(alphabet_size)
    if name != Chebyshev.name:
        return _PLAIN[name]
    if alphabet_size is None:
        raise UsageError(
            "The method chebyshev needs `alphabet_size`: give a k such that no label is less frequent than 1/k, such "
            "as the size of the population, or choose a method that needs none, such as chao1."
        )
    return Chebyshev(alphabet_size)
