"""Private distance to uniformity, under noise."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import TYPE_CHECKING, ClassVar, SupportsIndex

from anonhist.accounting import Ledger
from anonhist.accounting.recording import account_of
from anonhist.frozen import Converted, converted, frozen
from anonhist.mechanisms.estimators.asking import Asked
from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit, parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate
from anonhist.properties.uniformity import DistanceToUniformity, distance_bias
from anonhist.randomness import RandomSource

if TYPE_CHECKING:
    from anonhist.properties.estimator import LinearStatistic


@frozen
class UniformityMechanism(StatisticMechanism):
    """Private ``Σ_x |p_x − 1/k|``, plug-in, clipped to [0, 2·(1 − 1/k)].

    Replacing one item changes it by at most 2/n.

    Parameters
    ----------
    alphabet_size
        k, the number of possible labels: public.
    epsilon, unit, relation, known_items
        See :class:`~anonhist.mechanisms.estimators.statistic_mechanism.StatisticMechanism`, which has the guarantee.

    Examples
    --------
    >>> UniformityMechanism(1, relation=NeighboringRelation.SUBSTITUTE, alphabet_size=10).scale(1000) < 0.00201
    True
    """

    quantity: ClassVar[str] = "the distance to uniformity"
    estimator: ClassVar[type[DistanceToUniformity]] = DistanceToUniformity

    _: KW_ONLY
    alphabet_size: Converted[SupportsIndex, int] = converted(partial(parse_whole_number, name="alphabet_size"))

    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights for a public number of items."""
        return DistanceToUniformity(self.alphabet_size).statistic(items)

    def ends(self, items: int) -> tuple[float, float]:
        """Return 0 and the distance of a single label."""
        return 0.0, 2 * (1 - 1 / self.alphabet_size)

    def bias(self, items: int) -> tuple[float, float]:
        """Return 0 and the largest positive bias."""
        return 0.0, distance_bias(items, self.alphabet_size)


def distance_to_uniformity(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    alphabet_size: int,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    known_items: int | None = None,
    level: float = 0.95,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Estimate:
    """Estimate with differential privacy how far the distribution is from the uniform one over k labels.

    Parameters
    ----------
    profile, epsilon, unit, relation, known_items, level, source, ledger, dataset, purpose, run_id
        As for :func:`~anonhist.mechanisms.estimators.entropy.entropy`.
    alphabet_size
        k, the number of possible labels: public.

    Raises
    ------
    UsageError
        If a parameter is impossible, or the unit protects less than the profile's. Nothing is spent then.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> found = distance_to_uniformity(Profile.from_counts([500, 300]), epsilon=1, alphabet_size=2)
    >>> 0 <= found.value <= 1
    True
    """
    asked = Asked(epsilon, unit, relation, known_items, level, source, account_of(ledger, dataset, purpose, run_id))
    return asked.of(profile, UniformityMechanism, alphabet_size=alphabet_size)
