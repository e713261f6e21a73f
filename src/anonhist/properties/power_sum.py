"""Power sums of any order, of the sample or with unseen labels, and unbiased power sums of whole order."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.numeric.arrays import Floats, Ints
from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.estimate import Bounds, Estimate, Holds, Statement, largest_mean, undersampling_warning
from anonhist.properties.estimator import LinearStatistic, Point, Resimulated, Sample, apply, multiplied
from anonhist.properties.sampling import Weights, sampling_error

# Beyond this order, powers of 1/2⁶³ underflow.
_MOST = 12


@dataclass(frozen=True)
class OrderSum:
    """An estimate of the power sum of order q, accurate near q = 1, where it is 1 for every distribution.

    ``total`` is M > 0, and ``tsallis`` is ``T = (M − 1)/(1 − q) ≥ 0``, at q = 1 its limit, the Shannon entropy in nats.
    ``weights`` are the derivatives of T with respect to φ_j, up to multiples of j, since n is fixed.
    """

    order: float
    total: float
    tsallis: float
    weights: Weights
    warnings: tuple[str, ...]

    def as_power_sum(self) -> Point:
        """Return M."""
        return Point(self.total, multiplied(self.weights, 1.0 - self.order), warnings=self.warnings)

    def as_tsallis(self) -> Point:
        """Return T."""
        return Point(self.tsallis, self.weights, warnings=self.warnings)

    def as_renyi(self) -> Point:
        """Return ``ln(M)/(1 − q)`` in nats, at q = 1 the Shannon entropy."""
        return Point(self._renyi(), multiplied(self.weights, 1 / self.total), warnings=self.warnings)

    def as_hill(self) -> Point:
        """Return ``M^(1/(1−q))``, the exponential of the Rényi entropy."""
        shift = 1.0 - self.order
        # At q = 0 this is exactly the number of labels.
        value = self.total ** (1 / shift) if abs(shift) > 0.5 else math.exp(self._renyi())
        return Point(value, multiplied(self.weights, value / self.total), warnings=self.warnings)

    def _renyi(self) -> float:
        shift = 1.0 - self.order
        if not shift:
            return self.tsallis
        # ln M without cancellation if M is near 1.
        near = abs(shift * self.tsallis) < 0.5
        return (math.log1p(shift * self.tsallis) if near else math.log(self.total)) / shift


@dataclass(frozen=True)
class SumEstimator(ABC):
    """A way to estimate the power sum of an order q from 0 to 12, reported on a scale of :class:`OrderSum`."""

    order: float
    scale: Callable[[OrderSum], Point] = OrderSum.as_hill
    name: ClassVar[str]
    assumes: ClassVar[str]

    @abstractmethod
    def sum_of(self, profile: Profile) -> OrderSum:
        """Estimate the sum from a profile with at least one item."""

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        return self.scale(self.sum_of(profile))


def check_order(order: object) -> float:
    """Return q; refuse everything except a number from 0 to 12."""
    if isinstance(order, bool) or not isinstance(order, int | float) or not 0 <= order <= _MOST:
        raise UsageError(f"`order` must be a number from 0 to {_MOST}, such as 2, not {order!r:.80}.")
    return float(order)


# From here on, Stirling's series with the terms below is exact to the last digit.
_LARGE = 16
# B_2m/(2m(2m−1)), the coefficients of 1/x, 1/x³, 1/x⁵, …
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def log_rise(x: Floats, shift: float) -> Floats:
    """Return ``ln(Γ(x+s)/Γ(x))/s``, which is ψ(x) for s = 0; x > 0 and x + s > 0.

    It uses Stirling's series, written so that nothing cancels for large x or small s; for x below 16, recurrence.
    """
    steps = np.maximum(np.ceil(_LARGE + max(-shift, 0.0) - x), 0.0)
    total = _log_rise_of_large(x + steps, shift)
    small = np.flatnonzero(steps)
    if small.size:
        step, most = np.arange(steps.max()), steps[small, np.newaxis]
        each = at_zero(np.log1p, shift, 1 / (x[small, np.newaxis] + step))
        total[small] -= np.where(step < most, each, 0.0).sum(axis=1)
    return total


def _log_rise_of_large(x: Floats, shift: float) -> Floats:
    inverse = 1 / x
    growth = at_zero(np.log1p, shift, inverse)
    total = (x - 0.5) * growth + np.log(x + shift) - 1.0
    power, square = inverse, inverse**2
    for index, coefficient in enumerate(_STIRLING):
        total += coefficient * power * at_zero(np.expm1, shift, -(2 * index + 1) * growth)
        power = power * square
    return total


def at_zero(function: np.ufunc, shift: float, x: Floats) -> Floats:
    """Return ``f(s·x)/s`` for a function with f(0) = 0 and f'(0) = 1; its limit x if s is 0."""
    return np.asarray(function(shift * x) / shift) if shift else x


def falling_share(counts: Ints, n: int, order: float) -> Floats:
    """Return ``x^(q)/n^(q) = Π_{y=x+1}^n (y−q)/y`` for counts x ≥ 0, also beyond n, and q from 0 to n.

    For whole orders it is 0 for x < q, otherwise the probability that q items drawn without replacement are all among
    x. For other orders it may be negative for x < q.
    """
    if order.is_integer():
        shares = np.ones(counts.shape)
        for step in range(int(order)):
            shares *= np.maximum(counts - step, 0) / float(n - step)
        return shares
    # Below the first whole number beyond q, factors change sign, so step down from there.
    first = math.ceil(order)
    shift = 1.0 - order
    large = np.maximum(counts, first).astype(np.float64)
    shares = large / n * np.exp(shift * (log_rise(np.array([float(n)]), shift) - log_rise(large, shift)))
    below = np.cumprod([(y - order) / y for y in range(first, 0, -1)])
    return np.where(counts < first, shares * below[np.clip(first - 1 - counts, 0, first - 1)], shares)


def least_share(n: int, order: float) -> float:
    """Return ``1/C(n, q)``, the share of a count of q: for whole orders, the least value above 0."""
    shift = 1.0 - order
    rise = float(log_rise(np.array([float(n)]), shift)[0])
    return math.exp(math.lgamma(order + 1) + shift * rise) / n


@dataclass(frozen=True)
class PlugInSum(SumEstimator):
    """``M = Σ_r (r/n)^q·φ_r`` (Hill 1973).

    For one label it is 1, for n singletons ``n^(1−q)``: their Hill numbers are 1 and n.
    """

    name: ClassVar[str] = "plug-in"
    assumes: ClassVar[str] = "nearly all labels have been seen, many times each"

    def sum_of(self, profile: Profile) -> OrderSum:
        """Estimate the sum from a profile with at least one item."""
        n, order, shift = float(profile.n), self.order, 1.0 - self.order

        def weights(counts: Ints) -> Floats:
            held = np.minimum(counts, n)
            if order >= 2:
                return np.asarray((held / n) ** order / shift)
            surprise = np.log(n / np.maximum(held, 1))
            # A part proportional to the count is fixed with n: without it, nothing cancels near q = 1.
            return held / n * at_zero(np.expm1, shift, surprise)

        total = float((profile.counts / n) ** order @ profile.prevalences)
        of_linear = 1 / shift if order >= 2 else 0.0
        tsallis = max(float(weights(profile.counts) @ profile.prevalences) - of_linear, 0.0)
        return OrderSum(order, total, tsallis, weights, undersampling_warning(profile))


# Step and upper end of the integral over ln y: the error falls as e^(−π²/step).
_STEP = 0.25
_END = math.log(50.0)
# How far below the scale of A the integral over ln y starts.
_BELOW = 40.0
# For fractional orders the formula may give 0 or less; this close to 0, only rounding decides.
_POSITIVE = 1e-6
_FEW = ("There are fewer items than the order: the value is that of the sample itself, which is too low.",)
_UNKNOWN = (
    "Too few items share a label to estimate this order: the value is the largest that this many items can show.",
)


@dataclass(frozen=True)
class ChaoJostSum(SumEstimator):
    """``M = Σ_r r^(q)/n^(q)·φ_r + (φ_1/n)·Σ_{s≥0} C(q−1, n+s)·(−1)^(n+s)·(1−A)^(s+1)`` (Chao and Jost 2015).

    The first part, with ``x^(q) = Γ(x+1)/Γ(x−q+1)``, depends on the sample alone; it is their double sum in closed
    form. The second part extrapolates to larger samples as if unseen labels were as frequent as those seen once, with
    ``A = 2φ_2/((n−1)φ_1 + 2φ_2)``, or ``2/((n−1)(φ_1−1) + 2)`` if no label was seen twice. At q = 0 the Hill number is
    Chao1 in iNEXT's form, at q = 1 the exponential of the entropy of (Chao and others 2013). At q = 2, 3, … the second
    part is 0, and M is unbiased.

    For one label M is 1. For n singletons the Hill number of order 0 is ``n + (n−1)²/2``. From q = 2 on the formula may
    give 0 or less; M is then the smaller of its plug-in value and ``1/C(n, q)``, the value for a single group of q
    equal items. So the Hill number of order 2 of n singletons is ``n(n−1)/2``, or n if that is more. With fewer items
    than the order, M is the plug-in value.
    """

    name: ClassVar[str] = "chao-jost"
    assumes: ClassVar[str] = "labels not seen are about as frequent as those seen once; otherwise the value is too low"

    def sum_of(self, profile: Profile) -> OrderSum:
        """Estimate the sum from a profile with at least one item."""
        n, order, shift = profile.n, self.order, 1.0 - self.order
        if order > n:
            return replace(PlugInSum(order).sum_of(profile), warnings=_FEW)
        tail, by_once, by_twice = _tail(profile, order)
        rise_of_all = log_rise(np.array([float(n)]), shift)

        def shares(counts: Ints) -> Floats:
            # No count is above n.
            return np.where(counts > 0, falling_share(np.minimum(counts, n), n, order), 0.0)

        def weights_above_zero(counts: Ints) -> Floats:
            if order >= 2:
                return np.asarray(shares(counts) / shift)
            held = np.clip(counts, 1, n).astype(np.float64)
            rise = rise_of_all - log_rise(held, shift)
            # A part proportional to the count is fixed with n: without it, nothing cancels near q = 1.
            return np.asarray((counts > 0) * held / n * at_zero(np.expm1, shift, rise))

        def weights(counts: Ints) -> Floats:
            return np.asarray(weights_above_zero(counts) + by_once * (counts == 1) + by_twice * (counts == 2))

        total = float(shares(profile.counts) @ profile.prevalences) + shift * tail
        if order < 2:
            tsallis = max(float(weights_above_zero(profile.counts) @ profile.prevalences) + tail, 0.0)
            return OrderSum(order, total, tsallis, weights, _rests_on_singletons(profile))
        least = min(least_share(n, order), PlugInSum(order).sum_of(profile).total)
        known = total > _POSITIVE * least
        warnings = () if known else _UNKNOWN
        total = min(total, 1.0) if known else least
        return OrderSum(order, total, (1.0 - total) / (order - 1.0), weights, warnings)


def _rests_on_singletons(profile: Profile) -> tuple[str, ...]:
    if profile.prevalence(2) or profile.prevalence(1) < 2:
        return ()
    return ("No label was seen twice: the number of labels not seen is a guess with unknown error.",)


def _tail(profile: Profile, order: float) -> tuple[float, float, float]:
    """Return the second part divided by 1 − q, and its derivatives with respect to φ_1 and φ_2.

    The sum over s is ``(1 − q)·f(1)·(1 − A)·A^(q−1)·∫_0^∞ e^(−y)·(1 − (1−A)·e^(−y/n))^(−q) dy`` with
    ``f(1) = Γ(2)/Γ(2−q)·Γ(n−q+1)/Γ(n+1)``: the Taylor remainder of ``(1 − u)^(q−1)``, as an incomplete beta function.
    All terms are positive, so n and A may be of any size.
    """
    n, once, twice = float(profile.n), float(profile.prevalence(1)), float(profile.prevalence(2))
    if not once or (n - 1) * (once - 1 + twice) == 0:
        return 0.0, 0.0, 0.0
    if twice:
        whole = (n - 1) * once + 2 * twice
        alike = 2 * twice / whole
        by_once, by_twice = -alike * (n - 1) / whole, 2 * (1 - alike) / whole
        rest = (n - 1) * once / whole
    else:
        # A jumps when a first label is seen twice: no derivative is taken.
        alike = 2 / ((n - 1) * (once - 1) + 2)
        by_once, by_twice = -(alike**2) * (n - 1) / 2, 0.0
        rest = (n - 1) * (once - 1) * alike / 2
    y = np.exp(np.arange(min(math.log(n * alike), 0.0) - _BELOW, _END, _STEP))
    beyond = alike - rest * np.expm1(-y / n)
    integrand = np.exp(-y) * (alike / beyond) ** order * y * _STEP
    integral = float(integrand.sum())
    first = float(falling_share(np.ones(1, dtype=np.int64), profile.n, order)[0])
    value = once / n * rest / alike * first * integral
    slope = float((integrand * np.exp(-y / n) / beyond).sum()) / integral
    by_alike = value * ((order - 1) / alike - 1 / rest - order * slope)
    return value, value / once + by_alike * by_once, by_alike * by_twice


ANY_DRAWS = "items drawn independently; labels not seen may have any frequencies"
_TOO_FEW = Statement(Holds.NONE, "there are fewer items than the order, so the sum cannot be estimated")
_BY_COUNT = Statement(Holds.BOTH, "the interval is that of a count of groups of equal items")


@dataclass(frozen=True)
class PowerSum:
    """The unbiased ``M_a``, a ≥ 2; with fewer than a items the plug-in value ``Σ_r (r/n)^a·φ_r`` (Simpson 1949).

    For one label it is 1, for n singletons 0.
    """

    order: int
    name: ClassVar[str] = "unbiased"
    assumes: ClassVar[str] = ANY_DRAWS

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        if profile.n < self.order:
            return ChaoJostSum(self.order, OrderSum.as_power_sum).point(profile)
        statistic = self.statistic(profile.n)
        value = min(statistic.of(profile), 1.0)
        # Weights are as small as n^−a, and their squares would underflow.
        unit = max(value, least_share(profile.n, self.order))
        error = unit * sampling_error(profile, lambda counts: statistic.weights(counts) / unit)
        return Point(value, statistic.weights, error)

    def statistic(self, n: int) -> LinearStatistic:
        """Return ``M_a = Σ_j (j^(a)/n^(a))·φ_j``, falling factorials, for n ≥ a items: unbiased for ``Σ_x p_x^a``."""
        whole = whole_order(self.order)
        items = parse_whole_number(n, name="n", least=whole, most=2**63 - 1)
        return LinearStatistic(lambda counts: falling_share(counts, items, float(whole)), head=0)


class UnbiasedSum(ChaoJostSum):
    """The same power sum (Simpson 1949) on any scale; if no items are alike, that of one group of a equal items."""

    name = "unbiased"
    assumes = ANY_DRAWS


@dataclass(frozen=True)
class GiniSimpson:
    """``1 − M_2`` with the unbiased M_2 (Hurlbert 1971, eq. 5). For one label it is 0, for n singletons 1."""

    name: ClassVar[str] = "unbiased"
    assumes: ClassVar[str] = ANY_DRAWS

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        alike = PowerSum(2).point(profile)
        weights = alike.weights
        minus = None if weights is None else multiplied(weights, -1.0)
        return replace(alike, value=1.0 - alike.value, weights=minus)


def whole_order(order: object) -> int:
    """Return a; refuse everything except a whole number from 2 to 12."""
    return parse_whole_number(order, name="order", least=2, most=12)


@dataclass(frozen=True)
class PowerSumInterval:
    """From ``M + z²u/2 ± z·h``, ``h = sqrt(error² + z²u²/4 + (z·q·M/n)²)``, M the unbiased power sum of order q ≥ 2.

    M is the share of the C(n, q) groups of q items that have one label, and ``u = 1/C(n, q)``. If there are few such
    groups, their number is random like a count, and may be 0 by chance. The last term allows for missed labels, which
    lower M.

    M is as skewed as the q-th power of a count: if it is low by chance, so is its error. So the upper end is at least
    that of such a power: ``M·(c(e)/e)^q`` with ``c(x) = x + z²/2 + z·sqrt(x + z²/4)`` and ``e = (q·M/h)²``, the count
    whose q-th power has the relative error h/M. It is also at least ``(c(q − 1)/n)^q``: a label that was seen q − 1
    times adds nothing to M, but its mean count may be as large as c(q − 1).

    Hill numbers ``D_q = M^(1/(1−q))`` fall with q: for a fractional order, the lower end is that of the next whole
    order and the upper end that of the previous one. With fewer items than the order there is no interval.
    ``of_number`` is the property as a monotone function of D_q.
    """

    order: float
    of_number: Callable[[float], float]
    least: float
    most: float

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        if sample.profile.n < math.ceil(self.order):
            return Bounds(self.least, self.most, _TOO_FEW).around(value)
        numbers = _numbers(sample, math.ceil(self.order))[0], _numbers(sample, math.floor(self.order))[1]
        low, high = sorted(self.of_number(number) for number in numbers)
        return Bounds(max(low, self.least), min(high, self.most), _BY_COUNT).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""
        return self.least, self.most


def _numbers(sample: Sample, order: int) -> tuple[float, float]:
    """Return the ends of the Hill number of a whole order."""
    total, spread = sample.of(PowerSum(order))
    z, one = sample.z, least_share(sample.profile.n, float(order))
    # Missed labels may have a total share of z²/n: they would lower the sum by the share q·z²/n.
    spread = math.hypot(spread, order * total * z / sample.profile.n)
    middle, half = total + z**2 * one / 2, z * math.hypot(spread, z * one / 2)
    alone = (largest_mean(order - 1, z) / sample.profile.n) ** order
    most_alike, least_alike = max(middle + half, alone), middle - half
    if total > 0 and spread > 0:
        count = (order * total / spread) ** 2
        most_alike = max(most_alike, total * (largest_mean(count, z) / count) ** order)
    most_alike, power = min(most_alike, 1.0), 1 / (1 - order)
    return most_alike**power, least_alike**power if least_alike > 1e-12 * middle else math.inf


def power_sum(data: Profile | Resimulated, *, order: int, level: float = 0.95) -> Estimate:
    """Estimate ``Σ_x p_x^a`` without bias: the probability that a items have the same label.

    Source: Simpson 1949.

    Parameters
    ----------
    data
        A profile or a release. For a release, the interval also covers privacy noise.
    order
        a, a whole number from 2 to 12.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If a number is out of range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(power_sum(Profile.from_labels("abracadabra"), order=2))
    0.218182 (95% interval 0 to 0.832855)
    """
    whole = whole_order(order)
    interval = PowerSumInterval(whole, lambda number: number ** (1 - whole), 0.0, 1.0)
    return apply(data, PowerSum(whole), interval, level=level)


def simpson(data: Profile | Resimulated, *, level: float = 0.95) -> Estimate:
    """Estimate ``D = Σ_x p_x²`` without bias: the probability that two items have the same label (Simpson 1949).

    scikit-bio calls it dominance. There, and among many ecologists, Simpson's index is 1 − D: :func:`gini_simpson`.
    ``1/D`` is the Hill number of order 2.

    Source: Simpson 1949.

    Parameters
    ----------
    data, level
        See :func:`power_sum`.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> simpson(Profile.from_counts([3, 1])).value
    0.5
    """
    return apply(data, PowerSum(2), PowerSumInterval(2, lambda number: 1 / number, 0.0, 1.0), level=level)


def gini_simpson(data: Profile | Resimulated, *, level: float = 0.95) -> Estimate:
    """Estimate ``1 − Σ_x p_x²`` without bias: the probability that two items have different labels.

    It is also known as Gini impurity and as the probability of interspecific encounter (Hurlbert 1971). It is the
    Tsallis entropy of order 2.

    Source: Simpson 1949; Hurlbert 1971, eq. 5.

    Parameters
    ----------
    data, level
        See :func:`power_sum`.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> gini_simpson(Profile.from_counts([3, 1, 1])).value
    0.7
    """
    return apply(data, GiniSimpson(), PowerSumInterval(2, lambda number: 1 - 1 / number, 0.0, 1.0), level=level)
