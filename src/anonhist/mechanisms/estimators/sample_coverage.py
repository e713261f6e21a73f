"""Private sample coverage: Good and Turing's, under noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.frozen import frozen
from anonhist.mechanisms.estimators.asking import Asked
from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
from anonhist.privacy import NeighboringRelation
from anonhist.properties.linear import LinearStatistic
from anonhist.properties.sample_coverage.good_turing import GoodTuring

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.privacy import EpsilonLike, PrivacyUnit
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.randomness import RandomSource


@frozen
class SampleCoverageMechanism(StatisticMechanism):
    """Private ``C = 1 − φ_1/n``, clipped to [0, 1]: the probability that the next item has a label seen before.

    One item replaced changes it by 2/n at most.

    Parameters
    ----------
    epsilon, unit, relation, public_items
        See :class:`~anonhist.mechanisms.estimators.statistic_mechanism.StatisticMechanism`, which has the guarantee.

    Examples
    --------
    >>> round(SampleCoverageMechanism(1, relation=NeighboringRelation.SUBSTITUTE).scale(1000), 5)
    0.002
    """

    quantity: ClassVar[str] = "the sample coverage"

    @property
    def assumes(self) -> str:
        """What the interval assumes."""
        return GoodTuring.assumes

    def method_for(self, items: int) -> str:
        """Return the method."""
        del items
        return GoodTuring.name

    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights of φ_1/n."""

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.where(counts == 1, 1.0 / items, 0.0)

        return LinearStatistic(weights, head=2)

    def ends(self, items: int) -> tuple[float, float]:
        """Return 0 and 1."""
        del items
        return 0.0, 1.0

    def finish(self, statistic: float, items: int) -> float:
        """Return what is left to 1."""
        del items
        return 1.0 - statistic


def sample_coverage(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    public_items: int | None = None,
    level: float = 0.95,
    source: RandomSource | None = None,
) -> Estimate:
    """Estimate with differential privacy the probability that the next item has a label seen before.

    Parameters
    ----------
    profile, epsilon, unit, relation, public_items, level, source
        As of :func:`~anonhist.mechanisms.estimators.entropy.entropy`.

    Raises
    ------
    UsageError
        If a parameter is impossible, or the unit protects less than the profile's. Nothing is spent then.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> 0.5 < sample_coverage(Profile.from_labels("abracadabra" * 50), epsilon=1).value <= 1
    True
    """
    asked = Asked(epsilon, unit, relation, public_items, level, source)
    return asked.of(profile, SampleCoverageMechanism)
