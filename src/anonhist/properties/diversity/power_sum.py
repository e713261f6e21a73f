"""Power sums of whole order, without bias: the chance that several items have the same label."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from anonhist.privacy import parse_whole_number
from anonhist.properties.diversity.chao_jost import ChaoJostSum
from anonhist.properties.diversity.falling import falling_share, least_share
from anonhist.properties.diversity.order_sum import OrderSum, SumEstimator
from anonhist.properties.estimator import Point
from anonhist.properties.linear import LinearStatistic
from anonhist.properties.sampling import sampling_error

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from anonhist.profiles import Profile

ANY_DRAWS = "items drawn independently; labels not seen may have any frequencies"


def power_sum_statistic(n: int, order: int) -> LinearStatistic:
    """Return ``M_a = Σ_j (j^(a)/n^(a))·φ_j``, falling factorials: unbiased for ``Σ_x p_x^a`` of n independent items.

    Parameters
    ----------
    n
        Public number of items.
    order
        a, a whole number from 2 to n and at most 12.

    Raises
    ------
    UsageError
        If n or a is out of range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(power_sum_statistic(4, 2).of(Profile.from_counts([3, 1])), 12)  # half of the six pairs are alike
    0.5
    """
    whole = whole_order(order)
    items = parse_whole_number(n, name="n", least=whole, most=2**63 - 1)

    def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return falling_share(counts, items, float(whole))

    return LinearStatistic(weights, head=0)


@dataclass(frozen=True)
class PowerSum:
    """``M_a`` without bias; of fewer than a items the plug-in value ``Σ_r (r/n)^a·φ_r``.

    Of one label it is 1, of n singletons 0.

    Attributes
    ----------
    order
        a ≥ 2.

    References
    ----------
    .. [1] E. H. Simpson, "Measurement of diversity", Nature 163 (1949), 688.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> PowerSum(2).point(Profile.from_counts([2, 1, 1])).value
    0.16666666666666666
    """

    order: int
    name: ClassVar[str] = "unbiased"
    assumes: ClassVar[str] = ANY_DRAWS

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        if profile.n < self.order:
            return ChaoJostSum(self.order, OrderSum.as_power_sum).point(profile)
        statistic = power_sum_statistic(profile.n, self.order)
        value = min(statistic.of(profile), 1.0)
        # The weights are as small as n^−a, and their squares below all floats.
        unit = max(value, least_share(profile.n, self.order))
        error = unit * sampling_error(profile, lambda counts: statistic.weights(counts) / unit)
        return Point(value, statistic.weights, error)


@dataclass(frozen=True)
class UnbiasedSum(SumEstimator):
    """The same as a power sum of any scale; where none are alike, the least that a group of a equal items would give.

    References
    ----------
    .. [1] E. H. Simpson, "Measurement of diversity", Nature 163 (1949), 688.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> UnbiasedSum(2.0).point(Profile.from_counts([4, 3, 1])).value  # 18 of 56 pairs are alike
    3.1111111111111116
    """

    name: ClassVar[str] = "unbiased"
    assumes: ClassVar[str] = ANY_DRAWS

    def sum_of(self, profile: Profile) -> OrderSum:
        """Estimate the sum from a profile with at least one item, for a whole order of at least 2."""
        return ChaoJostSum(self.order).sum_of(profile)


@dataclass(frozen=True)
class GiniSimpson:
    """``1 − M_2``, M_2 without bias. Of one label it is 0, of n singletons 1.

    References
    ----------
    .. [1] E. H. Simpson, "Measurement of diversity", Nature 163 (1949), 688.
    .. [2] S. H. Hurlbert, "The nonconcept of species diversity: a critique and alternative parameters", Ecology 52
           (1971), 577–586.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> GiniSimpson().point(Profile.from_counts([1, 1])).value
    1.0
    """

    name: ClassVar[str] = "unbiased"
    assumes: ClassVar[str] = ANY_DRAWS

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        alike = PowerSum(2).point(profile)
        weights = alike.weights
        minus = None if weights is None else (lambda counts: -weights(counts))
        return replace(alike, value=1.0 - alike.value, weights=minus)


def whole_order(order: object) -> int:
    """Return a, refusing what is no whole number from 2 to 12.

    Examples
    --------
    >>> whole_order(2)
    2
    """
    return parse_whole_number(order, name="order", least=2, most=12)
