"""The number of labels, seen or not, by a choice of methods, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.apply import apply
from anonhist.properties.chebyshev import Chebyshev
from anonhist.properties.estimate import Bounds, Estimate, Holds, Statement, largest_mean
from anonhist.properties.estimator import Resimulated, check_alphabet, check_method
from anonhist.properties.pml_plug_ins import PmlSupportSize
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

    from anonhist.properties.apply import Interval
    from anonhist.properties.estimator import Estimator, Sample

NO_END = "any number of labels may be too rare to be seen"
_SMALLEST = "the interval allows for the largest possible bias if no label is rarer than assumed"


@dataclass(frozen=True)
class AtLeastLabels:
    """A lower bound that holds for every distribution and all methods; there is no upper bound.

    For data it is the lower end of the log-normal interval of
    :class:`~anonhist.properties.support_size_estimators.Chao1`, which is a lower bound on average, by the
    Cauchy–Schwarz inequality ``E[φ_0]·E[φ_2] ≥ E[φ_1]²/2`` (Chao 1984). It is at most ``S_obs + φ_1·(φ_1 − 1)/(2u)``
    with ``u = φ_2 + z²/2 + z·sqrt(φ_2 + z²/4)``, the upper end of φ_2 as a Poisson count, because the log-normal
    distribution is far off for a φ_2 of 0 or 1. It is rounded down, because the number of missed labels is whole, and
    often 0 if less than one is expected.

    For a release it is the lower end of the number of labels in the data.

    Attributes
    ----------
    most
        Upper bound on the number of labels.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.estimator import Sample
    >>> found = AtLeastLabels().of(Sample(Profile([1, 2], [4, 2])), 8.0, 2.0)
    >>> round(found.low, 3), found.high, found.statement.holds.value
    (6.0, inf, 'at least')
    """

    most: float = math.inf

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the lower end and ``most``; the value lies between them unless it exceeds ``most``."""
        del error
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
    """From the lower end of :class:`AtLeastLabels` to the upper end of :func:`log_normal_ends`, clipped to k.

    For estimators with a bounded bias, because the least probability is known. If there are so many items that the
    estimator adds nothing to the labels seen, and b is 0, the upper end allows for :func:`most_unseen` labels instead.

    Attributes
    ----------
    most
        k, an upper bound on the number of labels; with a bias none has a probability below 1/k.
    bias
        A function of n: a bound b on the bias, relative to the expected number of unseen labels.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.estimator import Sample
    >>> found = SupportSizeInterval(12.0).of(Sample(Profile([1, 2], [4, 2])), 8.0, 2.0)
    >>> found.low, found.high
    (6.0, 12.0)
    """

    most: float = math.inf
    bias: Callable[[int], float] | None = None

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        bias = 0.0 if self.bias is None else self.bias(sample.profile.n)
        low = AtLeastLabels(self.most).of(sample, value, error).low
        _, high = log_normal_ends(sample, value, error, bias=bias)
        if self.bias is not None and not bias:
            seen, once = sample.labels[1], sample.exactly(1)[1]
            high = max(high, seen + most_unseen(once, sample.profile.n / self.most, level=sample.level))
        return Bounds(low, min(high, self.most), Statement(Holds.BOTH, _SMALLEST)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return 0 and the upper bound on the number of labels."""
        return 0.0, self.most


def most_unseen(once: float, least: float, *, level: float) -> float:
    """Return how many labels may have been missed if φ_1 were seen once and all have expected counts of at least λ.

    A label with count 0 or 1 has count 0 with probability ``1/(1 + λ_x) ≤ 1/(1 + λ)``. So the answer is the
    largest U with ``P(Bin(φ_1 + U, 1/(1 + λ)) ≥ U) = I_{1/(1+λ)}(U, φ_1 + 1) ≥ (1 − level)/2``, I the regularized
    incomplete beta function. For Poisson counts this is exact for all expected counts.

    Parameters
    ----------
    once
        φ_1 ≥ 0.
    least
        λ > 0.
    level
        Probability with which an interval of which this is one end is meant to hold.

    Examples
    --------
    >>> most_unseen(0, 3.0, level=0.95), most_unseen(8, 3.0, level=0.95)
    (2.0, 8.0)
    """
    from scipy.special import btdtria

    return float(math.floor(btdtria((1 - level) / 2, once + 1.0, 1 / (1 + least))))


def log_normal_ends(sample: Sample, value: float, error: float, *, bias: float = 0.0) -> tuple[float, float]:
    """Return the ends of a log-normal interval: the number of unseen labels, ``T = value − S_obs``, is log-normal.

    ``S_obs + T/K`` to ``S_obs + T·K`` with ``K = exp(z·sqrt(ln(1 + (error/T)²)))`` ([1]_; [2]_, eq. 13): it is never
    below S_obs. K grows far more slowly than the error, so the upper end is at least ``value + z·error``, which matters
    if the error is hundreds of times T. If T is 0, nothing seems to be missing, and the interval is ``S_obs`` to
    ``(S_obs + z·error)/(1 − P)``, with each label missed with probability ``P = exp(−n/S_obs)`` ([2]_, eq. 14; its
    lower end may lie above the value, this one does not).

    For a release, S_obs is the lower end of the number of labels in the data, since the released number is noisy.

    Parameters
    ----------
    bias
        b, a bound on the bias in either direction, relative to the number of unseen labels. The ends of T are divided
        by ``1 + b`` and ``1 − b``.

    References
    ----------
    .. [1] A. Chao, "Estimating the population size for capture–recapture data with unequal catchability", Biometrics 43
           (1987), 783–791.
    .. [2] R. K. Colwell, *EstimateS 8.2 user's guide*, 2009, appendix B, eq. 13 and 14.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.estimator import Sample
    >>> [round(end, 3) for end in log_normal_ends(Sample(Profile([2], [5])), 5.0, 0.7)]
    [5.0, 7.369]
    >>> [round(end, 3) for end in log_normal_ends(Sample(Profile([1, 2], [4, 2])), 8.0, 2.0)]
    [6.391, 16.226]
    """
    n, half, (seen, _) = sample.profile.n, sample.z * error, sample.labels
    unseen = value - seen
    # With the smallest float above 0 there is no upper end.
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
# Those without options; those that take the alphabet size are made in support_size_estimator.
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
    """Estimate the number of labels with a probability above zero: those seen and those not seen.

    Data cannot bound this number from above, since labels may be arbitrarily rare. So the estimate says "at least", and
    its lower end holds for every distribution and all methods. Only ``"chebyshev"``, which knows the smallest
    probability, has an upper end. For the number of labels in the data themselves, use ``release.k_plus(1)``.

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
        If there is no such method, a number is out of range, or one that the method needs is missing.

    References
    ----------
    .. [1] A. Chao, "Nonparametric estimation of the number of classes in a population", Scandinavian Journal of
           Statistics 11 (1984), 265–270, eq. 6.
    .. [2] A. Chao, "Species estimation and applications", *Encyclopedia of Statistical Sciences*, 2nd edition, 2005.
    .. [3] C.-H. Chiu, Y.-T. Wang, B. A. Walther, A. Chao, "An improved nonparametric lower bound of species richness
           via a modified Good–Turing frequency formula", Biometrics 70 (2014), 671–682.
    .. [4] A. Chao, W.-H. Hwang, Y.-C. Chen, C.-Y. Kuo, "Estimating the number of shared species in two communities",
           Statistica Sinica 10 (2000), 227–246, eq. 2.2.
    .. [5] K. P. Burnham, W. S. Overton, "Robust estimation of population size when capture probabilities vary among
           animals", Ecology 60 (1979), 927–936.
    .. [6] A. Chao, S.-M. Lee, "Estimating the number of classes via sample coverage", Journal of the American
           Statistical Association 87 (1992), 210–217, eq. 2.14.
    .. [7] Y. Wu, P. Yang, "Chebyshev polynomials, moment matching, and optimal estimation of the unseen", Annals of
           Statistics 47 (2019), 857–883.
    .. [8] D. S. Pavlichin, J. Jiao, T. Weissman, "Approximate profile maximum likelihood", arXiv:1712.07177 (2017).

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_counts([9, 4, 2, 2, 1, 1, 1])
    >>> print(support_size(profile))
    at least 7 labels (95 % confidence), estimate 8: any number of labels may be too rare to be seen
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
    # Methods that do not know the alphabet may exceed it, and so may the labels of a release.
    return replace(found, value=most, interval=(min(found.interval[0], most), most))


def support_size_estimator(method: str | None, alphabet_size: int | None) -> Estimator:
    """Return the estimator of this name; by default the one with the lowest error, alphabet known or not.

    Raises
    ------
    UsageError
        If there is no such method, or it needs the alphabet size.
    """
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
