"""Intervals for power sums of order 2 or more, and for functions of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.properties.diversity.falling import least_share
from anonhist.properties.diversity.power_sum import PowerSum
from anonhist.properties.levels import largest_mean
from anonhist.properties.statement import Bounds, Holds, Statement

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.properties.sample import Sample

_TOO_FEW = Statement(Holds.NONE, "there are fewer items than the order, so the sum cannot be estimated")
_BY_COUNT = Statement(Holds.BOTH, "the interval is that of a count of groups of equal items")


@dataclass(frozen=True)
class PowerSumInterval:
    """From ``M + z²u/2 ± z·h``, ``h = sqrt(error² + z²u²/4 + (z·q·M/n)²)``, M the unbiased power sum of order q ≥ 2.

    With ``u = 1/C(n, q)``, M is the share of all C(n, q) groups of q items whose labels are equal; where there are few
    such groups, they are a count, and none may be by chance. The last term is what labels that were missed may take
    off.

    M is as skewed as the q-th power of a count: where it is low by chance, so is its error. So the upper end is that
    of such a power if that is more: with ``e = (q·M/h)²``, the count whose q-th power has the relative error h/M, it is
    ``M·(c(e)/e)^q``, ``c(x) = x + z²/2 + z·sqrt(x + z²/4)``. And it is at least ``(c(q − 1)/n)^q``: a label of which
    q − 1 items were seen adds nothing to M, and may have been expected that often.

    Hill numbers ``D_q = M^(1/(1−q))`` fall with q: for an order that is not whole the lower end is that of the
    next order, the upper one that of the order before. With fewer items than that nothing is known.

    Attributes
    ----------
    order
        q.
    of_number
        The property as a function of D_q, rising or falling.
    least, most
        Range of the property.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.sample import Sample
    >>> sample = Sample(Profile.from_prevalences({1: 100}))
    >>> found = PowerSumInterval(2, lambda number: number, 1.0, math.inf).of(sample, 100.0, 0.0)
    >>> found.low, found.high
    (100.0, inf)
    """

    order: float
    of_number: Callable[[float], float]
    least: float
    most: float

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        del error
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
    # Of labels that were missed there may be z²/n of all: they would lower the sum by a share of q times that.
    spread = math.hypot(spread, order * total * z / sample.profile.n)
    middle, half = total + z**2 * one / 2, z * math.hypot(spread, z * one / 2)
    alone = (largest_mean(order - 1, z) / sample.profile.n) ** order
    most_alike, least_alike = max(middle + half, alone), middle - half
    if total > 0 and spread > 0:
        count = (order * total / spread) ** 2
        most_alike = max(most_alike, total * (largest_mean(count, z) / count) ** order)
    most_alike, power = min(most_alike, 1.0), 1 / (1 - order)
    return most_alike**power, least_alike**power if least_alike > 1e-12 * middle else math.inf
