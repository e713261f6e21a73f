"""Power sums with unseen labels: the asymptotic estimator of Chao and Jost, which iNEXT and SpadeR report."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.diversity.falling import at_zero, falling_share, least_share, log_rise
from anonhist.properties.diversity.order_sum import OrderSum, SumEstimator
from anonhist.properties.diversity.plug_in import PlugInSum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile

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
    """``M = Σ_r r^(q)/n^(q)·φ_r + (φ_1/n)·Σ_{s≥0} C(q−1, n+s)·(−1)^(n+s)·(1−A)^(s+1)``.

    The first part, with ``x^(q) = Γ(x+1)/Γ(x−q+1)``, depends on the sample alone; it is the double sum of Chao and Jost
    (2015) in closed form. The second part extrapolates to larger samples as if unseen labels were as frequent as those
    seen once, with ``A = 2φ_2/((n−1)φ_1 + 2φ_2)``, or ``2/((n−1)(φ_1−1) + 2)`` if no label was seen twice. At q = 0 the
    Hill number is Chao1 in iNEXT's form, at q = 1 the exponential of the entropy of Chao, Wang and Jost (2013). At
    q = 2, 3, … the second part is 0, and M is unbiased.

    For one label M is 1. For n singletons the Hill number of order 0 is ``n + (n−1)²/2``. From q = 2 on the formula may
    give 0 or less; M is then the smaller of its plug-in value and ``1/C(n, q)``, the value for a single group of q
    equal items. So the Hill number of order 2 of n singletons is ``n(n−1)/2``, or n if that is more. With fewer items
    than the order, M is the plug-in value.

    References
    ----------
    .. [1] A. Chao, L. Jost, "Estimating diversity and entropy profiles via discovery rates of new species", Methods in
           Ecology and Evolution 6 (2015), 873–882.
    .. [2] A. Chao, Y. T. Wang, L. Jost, "Entropy and the species accumulation curve: a novel estimator of entropy via
           discovery rates of new species", Methods in Ecology and Evolution 4 (2013), 1091–1100.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> ChaoJostSum(0.0).sum_of(Profile.from_counts([4, 2, 1, 1])).total
    5.75
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
