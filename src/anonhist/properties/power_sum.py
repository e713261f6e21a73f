"""Unbiased power sums of whole order: the probability that several items have the same label."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.apply import apply
from anonhist.properties.estimate import Bounds, Estimate, Holds, Statement, largest_mean
from anonhist.properties.estimator import LinearStatistic, Point, Resimulated, multiplied
from anonhist.properties.order_sums import ChaoJostSum, OrderSum, falling_share, least_share
from anonhist.properties.sampling import sampling_error

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from anonhist.properties.estimator import Sample

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

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return falling_share(counts, items, float(whole))

        return LinearStatistic(weights, head=0)


class UnbiasedSum(ChaoJostSum):
    """The same power sum (Simpson 1949) on any scale; if no items are alike, as for one group of a equal items."""

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
    """Return a; refuse anything but a whole number from 2 to 12."""
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
    # Missed labels may have a share of z²/n in all: they would lower the sum by the share q·z²/n.
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
    0.218182 (95 % interval 0 to 0.832855)
    """
    whole = whole_order(order)
    interval = PowerSumInterval(whole, lambda number: number ** (1 - whole), 0.0, 1.0)
    return apply(data, PowerSum(whole), interval, level=level)


def simpson(data: Profile | Resimulated, *, level: float = 0.95) -> Estimate:
    """Estimate ``D = Σ_x p_x²`` without bias: the probability that two items have the same label (Simpson 1949).

    scikit-bio calls it dominance. There, and for many ecologists, Simpson's index is 1 − D: :func:`gini_simpson`.
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

    Also known as Gini impurity and as the probability of interspecific encounter (Hurlbert 1971). It is the Tsallis
    entropy of order 2.

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
