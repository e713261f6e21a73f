"""Private power sums of whole order, and the Rényi entropies that are their logarithms, under noise."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from functools import partial
from typing import TYPE_CHECKING, ClassVar, SupportsIndex

from anonhist.accounting import Ledger
from anonhist.accounting.recording import account_of
from anonhist.frozen import Converted, converted, frozen
from anonhist.mechanisms.estimators.asking import Asked, in_unit, public_size
from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit, parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.entropy import entropy_unit
from anonhist.properties.estimate import Estimate
from anonhist.properties.power_sum import PowerSum
from anonhist.randomness import RandomSource

if TYPE_CHECKING:
    from anonhist.mechanisms.estimators.whole_weights import WholeWeights
    from anonhist.properties.estimator import LinearStatistic

LARGEST_ORDER = 12


@frozen
class PowerSumMechanism(StatisticMechanism):
    """Private ``Σ_x p_x^a``, estimated by ``M_a = Σ_j (j^(a)/n^(a))·φ_j``, falling factorials, clipped to [k^(1−a), 1].

    Replacing one item changes M_a by at most a/n.

    Parameters
    ----------
    order
        a, a whole number from 2 to 12: public.
    alphabet_size
        k, the number of possible labels: public; without it the sum is clipped to [n^(1−a), 1].
    epsilon, unit, relation, known_items
        See :class:`~anonhist.mechanisms.estimators.statistic_mechanism.StatisticMechanism`, which has the guarantee.

    Examples
    --------
    >>> round(PowerSumMechanism(1, relation=NeighboringRelation.SUBSTITUTE, order=2).scale(1000), 5)
    0.002
    """

    quantity: ClassVar[str] = "the power sum"
    estimator: ClassVar[type[PowerSum]] = PowerSum

    _: KW_ONLY
    order: Converted[SupportsIndex, int] = converted(
        partial(parse_whole_number, name="order", least=2, most=LARGEST_ORDER)
    )
    alphabet_size: Converted[SupportsIndex | None, int | None] = converted(public_size, default=None)

    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights for a public number of items; fewer than a count as a."""
        return PowerSum(self.order).statistic(max(items, self.order))

    def sampling_error(self, weights: WholeWeights, value: float, scale: float) -> float:
        """Return an upper bound on the sampling error of a power sum M up to the released one plus noise.

        ``Var M_a = Σ_{c=1..a} C(a,c)·C(n−a,a−c)/C(n,a)·ζ_c`` (Hoeffding 1948, eq. 5.13) with
        ``ζ_c ≤ Σ_x p_x^(2a−c) ≤ M^((2a−c)/a)``: for small M, far below the bound for all distributions.
        """
        a, n = self.order, max(weights.items, 2 * self.order)
        most = min(max(value, 0.0) + 3 * scale, 1.0)
        shared = (math.comb(a, c) * math.comb(n - a, a - c) / math.comb(n, a) for c in range(1, a + 1))
        variance = math.fsum(chance * most ** ((2 * a - c) / a) for c, chance in enumerate(shared, start=1))
        return min(math.sqrt(variance), super().sampling_error(weights, value, scale))

    def ends(self, items: int) -> tuple[float, float]:
        """Return the smallest possible power sum, and 1."""
        return float(self.alphabet_size or max(items, 2)) ** (1 - self.order), 1.0


@frozen
class RenyiEntropyMechanism(PowerSumMechanism):
    """Private Rényi entropy ``ln(Σ_x p_x^a)/(1 − a)`` of a whole order a, in nats, from a private power sum.

    Parameters
    ----------
    order, alphabet_size, epsilon, unit, relation, known_items
        As for :class:`PowerSumMechanism`.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> mechanism = RenyiEntropyMechanism(1, order=2, alphabet_size=26)
    >>> mechanism.estimate(Profile.from_labels("abracadabra" * 50)).unit
    'nats'
    """

    quantity: ClassVar[str] = "the Rényi entropy"
    counted: ClassVar[str] = "nats"

    def finish(self, statistic: float, items: int) -> float:
        """Return the logarithm of the clipped sum, which is above zero."""
        return math.log(statistic) / (1 - self.order)


def renyi_entropy(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    order: int = 2,
    alphabet_size: int | None = None,
    base: float = math.e,
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
    """Estimate the Rényi entropy of a whole order ≥ 2 with differential privacy.

    Parameters
    ----------
    profile, epsilon, unit, relation, known_items, level, source, ledger, dataset, purpose, run_id
        As for :func:`~anonhist.mechanisms.estimators.entropy.entropy`.
    order
        a, a whole number from 2 to 12.
    alphabet_size
        k, the number of possible labels: public.
    base
        Base of the logarithm, > 1: 2 for bits, e (default) for nats.

    Raises
    ------
    UsageError
        If a parameter is impossible, or the unit protects less than the profile's. Nothing is spent then.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> renyi_entropy(Profile.from_labels("abracadabra" * 50), epsilon=1, base=2).unit
    'bits'
    """
    name, scale = entropy_unit(base)
    asked = Asked(epsilon, unit, relation, known_items, level, source, account_of(ledger, dataset, purpose, run_id))
    return in_unit(asked.of(profile, RenyiEntropyMechanism, order=order, alphabet_size=alphabet_size), name, scale)


def power_sum(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    order: int = 2,
    alphabet_size: int | None = None,
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
    """Estimate ``Σ_x p_x^a`` with differential privacy: the probability that a items all have the same label.

    Parameters
    ----------
    profile, epsilon, unit, relation, known_items, level, source, ledger, dataset, purpose, run_id
        As for :func:`~anonhist.mechanisms.estimators.entropy.entropy`.
    order
        a, a whole number from 2 to 12; 2 gives Simpson's index.
    alphabet_size
        k, the number of possible labels: public.

    Raises
    ------
    UsageError
        If a parameter is impossible, or the unit protects less than the profile's. Nothing is spent then.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> 0 < power_sum(Profile.from_labels("abracadabra" * 50), epsilon=1).value <= 1
    True
    """
    asked = Asked(epsilon, unit, relation, known_items, level, source, account_of(ledger, dataset, purpose, run_id))
    return asked.of(profile, PowerSumMechanism, order=order, alphabet_size=alphabet_size)
