"""Private sample coverage: Good–Turing under noise."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from anonhist.accounting import Ledger
from anonhist.accounting.recording import account_of
from anonhist.frozen import frozen
from anonhist.mechanisms.estimators.asking import Asked
from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate
from anonhist.properties.estimator import LinearStatistic
from anonhist.properties.sample_coverage import GoodTuring
from anonhist.randomness import RandomSource


@frozen
class SampleCoverageMechanism(StatisticMechanism):
    """Private ``C = 1 − φ_1/n``, clipped to [0, 1]: the probability that the next item has a label seen before.

    Replacing one item changes it by at most 2/n.

    Parameters
    ----------
    epsilon, unit, relation, known_items
        See :class:`~anonhist.mechanisms.estimators.statistic_mechanism.StatisticMechanism`, which has the guarantee.

    Examples
    --------
    >>> round(SampleCoverageMechanism(1, relation=NeighboringRelation.SUBSTITUTE).scale(1000), 5)
    0.002
    """

    quantity: ClassVar[str] = "the sample coverage"
    estimator: ClassVar[type[GoodTuring]] = GoodTuring

    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights of φ_1/n."""
        return LinearStatistic(lambda counts: np.where(counts == 1, 1.0 / items, 0.0), head=2)

    def ends(self, items: int) -> tuple[float, float]:
        """Return 0 and 1."""
        return 0.0, 1.0

    def finish(self, statistic: float, items: int) -> float:
        """Return one minus the statistic."""
        return 1.0 - statistic


def sample_coverage(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
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
    """Estimate with differential privacy the probability that the next item has a label seen before.

    Parameters
    ----------
    profile, epsilon, unit, relation, known_items, level, source, ledger, dataset, purpose, run_id
        As for :func:`~anonhist.mechanisms.estimators.entropy.entropy`.

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
    asked = Asked(epsilon, unit, relation, known_items, level, source, account_of(ledger, dataset, purpose, run_id))
    return asked.of(profile, SampleCoverageMechanism)
