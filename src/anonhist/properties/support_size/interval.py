"""From an estimate of the support size to its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.properties.levels import largest_mean
from anonhist.properties.statement import Bounds, Holds, Statement
from anonhist.properties.support_size.chao1 import Chao1

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.properties.sample import Sample

NO_END = "any number of labels may be too rare to be seen"
_SMALLEST = "the interval allows for the largest possible bias if no label is rarer than assumed"


@dataclass(frozen=True)
class AtLeastLabels:
    """A lower bound that holds for every distribution and all methods; there is no upper bound.

    For data it is the lower end of the log-normal interval of :class:`~anonhist.properties.support_size.chao1.Chao1`,
    which is a lower bound on average, by the Cauchy–Schwarz inequality ``E[φ_0]·E[φ_2] ≥ E[φ_1]²/2`` (Chao 1984). It is
    at most ``S_obs + φ_1·(φ_1 − 1)/(2u)`` with ``u = φ_2 + z²/2 + z·sqrt(φ_2 + z²/4)``, the upper end of φ_2 as a
    Poisson count, because the log-normal distribution is far off for a φ_2 of 0 or 1. It is rounded down, because the
    number of missed labels is whole, and often 0 if less than one is expected.

    For a release it is the lower end of the number of labels in the data.

    Attributes
    ----------
    most
        Upper bound on the number of labels.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.sample import Sample
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
    >>> from anonhist.properties.sample import Sample
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
    >>> from anonhist.properties.sample import Sample
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
