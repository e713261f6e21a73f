"""Private support coverage: how many labels so many draws would show, under noise."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.mechanisms.estimators.mechanism import StatisticMechanism, made
from anonhist.privacy import NeighboringRelation, parse_whole_number
from anonhist.properties.options import check_method
from anonhist.properties.support_coverage import SUPPORT_COVERAGE_METHODS
from anonhist.properties.support_coverage.good_toulmin import GoodToulmin, good_toulmin
from anonhist.properties.support_coverage.rarefaction import Rarefaction, rarefaction
from anonhist.properties.support_coverage.smoothed_binomial import (
    SmoothedBinomialA,
    SmoothedBinomialB,
    smoothed_binomial_a,
    smoothed_binomial_b,
)
from anonhist.properties.support_coverage.smoothed_poisson import SmoothedPoisson, smoothed_poisson
from anonhist.properties.support_coverage.support_coverage import MAX_DRAWS, usual_method

if TYPE_CHECKING:
    from anonhist.privacy import EpsilonLike, PrivacyUnit
    from anonhist.profiles import Profile
    from anonhist.properties import Estimate, LinearStatistic
    from anonhist.randomness import RandomSource

_STATISTICS = {
    GoodToulmin.name: good_toulmin,
    SmoothedPoisson.name: smoothed_poisson,
    SmoothedBinomialA.name: smoothed_binomial_a,
    SmoothedBinomialB.name: smoothed_binomial_b,
}


@dataclass(frozen=True)
class SupportCoverageMechanism(StatisticMechanism):
    """Private ``S_m = Σ_x (1 − (1 − p_x)^m)``: the expected number of distinct labels in m draws, cut to [1, m].

    The whole of S_m is noised, labels seen and labels not seen together: adding the exact number of labels seen to a
    private number of new ones would not be private.

    Parameters
    ----------
    draws
        m, from 1 to 2^64: public.
    method
        One of ``SUPPORT_COVERAGE_METHODS``; by default the usual one for m and the public number of items. Up to n
        draws every method is rarefaction: one item changes it by m/n at most, as it does the mean over batches of m
        items, than which it errs no more.
    epsilon, unit, relation, public_items
        See :class:`~anonhist.mechanisms.estimators.mechanism.StatisticMechanism`, which has the guarantee.

    Examples
    --------
    >>> SupportCoverageMechanism(1, relation=NeighboringRelation.SUBSTITUTE, draws=2000).scale(1000)
    4.0
    """

    quantity: ClassVar[str] = "the support coverage"
    counted: ClassVar[str] = "labels"

    _: KW_ONLY
    draws: int
    method: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "draws", parse_whole_number(self.draws, name="draws", most=MAX_DRAWS))
        if self.method is not None:
            check_method(self.method, SUPPORT_COVERAGE_METHODS, of="support coverage")

    def method_for(self, items: int) -> str:
        """Return the method for a public number of items."""
        if self.draws <= items:
            return Rarefaction.name
        if self.method in _STATISTICS:
            return self.method
        return usual_method(items, self.draws)

    @property
    def assumes(self) -> str:
        """What must be so for the interval to hold."""
        return SmoothedPoisson.assumes

    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights for a public number of items."""
        name = self.method_for(items)
        if name == Rarefaction.name:
            return rarefaction(n=items, draws=self.draws)
        return _STATISTICS[name](n=items, draws=self.draws)

    def ends(self, items: int) -> tuple[float, float]:
        """Return 1 and m."""
        del items
        return 1.0, float(self.draws)


def private_support_coverage(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    draws: int,
    method: str | None = None,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    public_items: int | None = None,
    level: float = 0.95,
    source: RandomSource | None = None,
) -> Estimate:
    """Estimate the expected number of distinct labels in m draws with differential privacy.

    Parameters
    ----------
    profile, epsilon, unit, relation, public_items, level, source
        As of :func:`~anonhist.mechanisms.estimators.entropy.private_entropy`.
    draws
        m, from 1 to 2^64: public.
    method
        One of ``SUPPORT_COVERAGE_METHODS``; by default the usual one for m and the public number of items.

    Raises
    ------
    UsageError
        If a parameter is impossible, or the unit protects less than the profile's. Nothing is spent then.

    References
    ----------
    Acharya, Kamath, Sun, Zhang, "INSPECTRE: Privately Estimating the Unseen", 2018, section 4.1.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> private_support_coverage(Profile.from_labels("abracadabra" * 50), epsilon=1, draws=100).unit
    'labels'
    """
    mechanism = made(
        SupportCoverageMechanism,
        profile,
        epsilon=epsilon,
        unit=unit,
        relation=relation,
        public_items=public_items,
        draws=draws,
        method=method,
    )
    return mechanism.estimate(profile, level=level, source=source)
