"""A power sum ``M = Σ_x p_x^q`` and the three scales on which it is reported."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.errors import UsageError
from anonhist.properties.estimator import Point

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Weights

# Beyond, sums of powers of 1/2^63 would leave the floats.
_MOST = 12


@dataclass(frozen=True)
class OrderSum:
    """An estimate of the power sum of order q, accurate near q = 1, where it is 1 whatever the distribution.

    Attributes
    ----------
    order
        q ≥ 0.
    total
        M > 0.
    tsallis
        ``T = (M − 1)/(1 − q) ≥ 0``; at q = 1 its limit, the Shannon entropy in nats.
    weights
        Derivatives of T with respect to φ_j; of anything proportional to j they are free, since n is fixed.
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
        return Point(self.total, _times(self.weights, 1.0 - self.order), warnings=self.warnings)

    def as_tsallis(self) -> Point:
        """Return T."""
        return Point(self.tsallis, self.weights, warnings=self.warnings)

    def as_renyi(self) -> Point:
        """Return ``ln(M)/(1 − q)`` in nats, at q = 1 the Shannon entropy."""
        return Point(self._renyi(), _times(self.weights, 1 / self.total), warnings=self.warnings)

    def as_hill(self) -> Point:
        """Return ``M^(1/(1−q))``, the exponential of the Rényi entropy."""
        shift = 1.0 - self.order
        # Exactly the number of labels at q = 0.
        value = self.total ** (1 / shift) if abs(shift) > 0.5 else math.exp(self._renyi())
        return Point(value, _times(self.weights, value / self.total), warnings=self.warnings)

    def _renyi(self) -> float:
        shift = 1.0 - self.order
        if not shift:
            return self.tsallis
        # ln M where M is near 1, without cancellation.
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


def _times(weights: Weights, factor: float) -> Weights:
    def scale(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return factor * weights(counts)

    return scale


def check_order(order: object, *, least: int = 0) -> float:
    """Return q, refusing what is no number from ``least`` to 12.

    Examples
    --------
    >>> check_order(2)
    2.0
    """
    if isinstance(order, bool) or not isinstance(order, int | float) or not least <= order <= _MOST:
        message = f"`order` must be a number from {least} to {_MOST}, such as 2, not {order!r:.80}."
        raise UsageError(message)
    return float(order)
