"""Estimates of power sums of any order: of the sample, and with unseen labels."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.properties.estimate import undersampling_warning
from anonhist.properties.estimator import Point, multiplied

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.sampling import Weights

# Beyond, powers of 1/2⁶³ underflow.
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
    """Return q; refuse anything but a number from 0 to 12."""
    if isinstance(order, bool) or not isinstance(order, int | float) or not 0 <= order <= _MOST:
        raise UsageError(f"`order` must be a number from 0 to {_MOST}, such as 2, not {order!r:.80}.")
    return float(order)


# From here on, Stirling's series with the terms below is exact to the last digit.
_LARGE = 16
# B_2m/(2m(2m−1)), the coefficients of 1/x, 1/x³, 1/x⁵, …
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def log_rise(x: NDArray[np.float64], shift: float) -> NDArray[np.float64]:
    """Return ``ln(Γ(x+s)/Γ(x))/s``, which is ψ(x) for s = 0; x > 0 and x + s > 0.

    By Stirling's series, written so that nothing cancels for large x or small s; for x below 16, by recurrence.
    """
    steps = np.maximum(np.ceil(_LARGE + max(-shift, 0.0) - x), 0.0)
    total = _log_rise_of_large(x + steps, shift)
    small = np.flatnonzero(steps)
    if small.size:
        step, most = np.arange(steps.max()), steps[small, np.newaxis]
        each = at_zero(np.log1p, shift, 1 / (x[small, np.newaxis] + step))
        total[small] -= np.where(step < most, each, 0.0).sum(axis=1)
    return total


def _log_rise_of_large(x: NDArray[np.float64], shift: float) -> NDArray[np.float64]:
    inverse = 1 / x
    growth = at_zero(np.log1p, shift, inverse)
    total = (x - 0.5) * growth + np.log(x + shift) - 1.0
    power, square = inverse, inverse**2
    for index, coefficient in enumerate(_STIRLING):
        total += coefficient * power * at_zero(np.expm1, shift, -(2 * index + 1) * growth)
        power = power * square
    return total


def at_zero(function: np.ufunc, shift: float, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``f(s·x)/s`` for a function with f(0) = 0 and f'(0) = 1; its limit x if s is 0."""
    return np.asarray(function(shift * x) / shift) if shift else x


def falling_share(counts: NDArray[np.int64], n: int, order: float) -> NDArray[np.float64]:
    """Return ``x^(q)/n^(q) = Π_{y=x+1}^n (y−q)/y`` for counts x ≥ 0, also beyond n, and q from 0 to n.

    For whole orders it is 0 for x < q, otherwise the probability that q items drawn without replacement are all among
    x. For other orders it may be negative for x < q.
    """
    if order.is_integer():
        shares = np.ones(counts.shape)
        for step in range(int(order)):
            shares *= np.maximum(counts - step, 0) / float(n - step)
        return shares
    # Below the first whole number past q factors change sign, so step down from there.
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

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
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

        def shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            # No count is above n.
            return np.where(counts > 0, falling_share(np.minimum(counts, n), n, order), 0.0)

        def weights_above_zero(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            if order >= 2:
                return np.asarray(shares(counts) / shift)
            held = np.clip(counts, 1, n).astype(np.float64)
            rise = rise_of_all - log_rise(held, shift)
            # A part proportional to the count is fixed with n: without it, nothing cancels near q = 1.
            return np.asarray((counts > 0) * held / n * at_zero(np.expm1, shift, rise))

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
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
        # A jumps with the first label seen twice: no derivative is taken.
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
