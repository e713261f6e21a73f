"""A power sum ``M = Σ_x p_x^q`` and the scales on which it is reported."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.errors import UsageError
from anonhist.properties.estimator import Point, multiplied

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Weights

# Beyond, powers of 1/2⁶³ underflow.
_MOST = 12


@dataclass(frozen=True)
class OrderSum:
    """An estimate of the power sum of order q, accurate near q = 1, where it is 1 for every distribution.

    Attributes
    ----------
    order
        q ≥ 0.
    total
        M > 0.
    tsallis
        ``T = (M − 1)/(1 − q) ≥ 0``; at q = 1 its limit, the Shannon entropy in nats.
    weights
        Derivatives of T with respect to φ_j, up to multiples of j, since n is fixed.
    warnings
        Sentences about assumptions that visibly fail.
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
    """A way to estimate the power sum of an order, reported on a scale.

    Attributes
    ----------
    order
        q, from 0 to 12.
    scale
        One of the scales of :class:`OrderSum`.
    """

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
    """Return q; refuse anything but a number from 0 to 12.

    Examples
    --------
    >>> check_order(2)
    2.0
    """
    if isinstance(order, bool) or not isinstance(order, int | float) or not 0 <= order <= _MOST:
        raise UsageError(f"`order` must be a number from 0 to {_MOST}, such as 2, not {order!r:.80}.")
    return float(order)
