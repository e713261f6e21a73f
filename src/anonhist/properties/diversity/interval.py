"""Intervals for Hill numbers, Rényi and Tsallis entropies, for all methods."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.properties.diversity.order_sum import OrderSum
from anonhist.properties.diversity.plug_in import PlugInSum
from anonhist.properties.diversity.power_sum import PowerSumInterval
from anonhist.properties.entropy.interval import EntropyInterval
from anonhist.properties.intervals import LowerEnd
from anonhist.properties.statement import Bounds
from anonhist.properties.support_size.interval import AtLeastLabels

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.properties.estimator import Point
    from anonhist.properties.intervals import Interval, NormalInterval
    from anonhist.properties.sample import Sample

_ONLY_LEAST = "labels too rare to be seen may add any amount at orders below 2"


def order_interval(order: float, scale: Callable[[OrderSum], Point], ends: NormalInterval) -> Interval:
    """Return the interval of an order on a scale: the same for all methods.

    From order 2 on it is that of the unbiased power sum; at q = 0 that of the support size, at q = 1 that of the
    entropy. Otherwise it has only a lower end, that of ``plug-in``, which is too low on average for every distribution,
    because Tsallis entropies are concave in the probabilities.

    Parameters
    ----------
    order
        q ≥ 0.
    scale
        One of the scales of :class:`~anonhist.properties.diversity.order_sum.OrderSum`.
    ends
        Range of the property on that scale.

    Examples
    --------
    >>> from anonhist.properties.intervals import NormalInterval
    >>> order_interval(2.0, OrderSum.as_hill, NormalInterval(1.0)).of_nothing()
    (1.0, inf)
    """
    if order >= 2:
        return PowerSumInterval(order, _of_number(order)[scale], *ends.of_nothing())
    if order == 1:
        return ExponentialInterval(EntropyInterval()) if scale is OrderSum.as_hill else EntropyInterval()
    if order == 0 and scale is OrderSum.as_hill:
        return AtLeastLabels()
    return LowerEnd(PlugInSum(order, scale), _ONLY_LEAST, ends)


def _of_number(order: float) -> dict[Callable[[OrderSum], Point], Callable[[float], float]]:
    """Return each scale as a function of the Hill number."""
    return {
        OrderSum.as_hill: lambda number: number,
        OrderSum.as_renyi: math.log,
        OrderSum.as_tsallis: lambda number: (1.0 - number ** (1.0 - order)) / (order - 1.0),
    }


@dataclass(frozen=True)
class ExponentialInterval:
    """The exponential of another interval: for the Hill number of order 1, from that of the entropy.

    Attributes
    ----------
    of_logarithm
        The interval of the logarithm.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.sample import Sample
    >>> found = ExponentialInterval(EntropyInterval(2)).of(Sample(Profile.from_counts([500, 500])), 2.0, 0.0)
    >>> round(found.low, 4), round(found.high, 4)
    (2.0, 2.0)
    """

    of_logarithm: Interval

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        found = self.of_logarithm.of(sample, math.log(value), error / value)
        return Bounds(math.exp(found.low), math.exp(found.high), found.statement).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""
        low, high = self.of_logarithm.of_nothing()
        return math.exp(low), math.exp(high)
