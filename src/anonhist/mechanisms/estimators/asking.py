"""Private estimates from keywords, and conversion from nats to other units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, SupportsIndex

from anonhist.accounting.recording import Price, recording
from anonhist.mechanisms.basis.setting import check_profile
from anonhist.privacy import parse_whole_number
from anonhist.properties.estimate import check_level
from anonhist.releases.content import estimates_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.accounting.recording import Account
    from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
    from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.randomness import RandomSource


@dataclass(frozen=True)
class Asked:
    """Options of all private estimates, as given."""

    epsilon: EpsilonLike
    unit: PrivacyUnit | None
    relation: NeighboringRelation
    known_items: int | None
    level: float
    source: RandomSource | None
    account: Account | None

    def of(self, profile: Profile, mechanism: Callable[..., StatisticMechanism], **own: Any) -> Estimate:
        """Make the estimate; by default, the unit is the profile's own."""
        check_profile(profile)
        unit = profile.unit if self.unit is None else self.unit
        made = mechanism(self.epsilon, unit, self.relation, known_items=self.known_items, **own)
        made.check_unit_of(profile)
        check_level(self.level)
        price = Price(made.guarantee, f"private estimate of {made.quantity}", made.parameters)
        with recording(self.account, lambda: price) as recorded:
            recorded.keep()
            estimate = made.estimate(profile, level=self.level, source=self.source)
            recorded.complete(lambda: estimates_digest([(made.quantity, estimate)]))
        return estimate


def in_unit(estimate: Estimate, unit: str, scale: float) -> Estimate:
    """Convert an estimate in nats to another unit."""
    low, high = estimate.interval
    return replace(
        estimate,
        value=scale * estimate.value,
        standard_error=scale * estimate.standard_error,
        interval=(scale * low, scale * high),
        parts=tuple((cause, scale * error) for cause, error in estimate.parts),
        unit=unit,
    )


def public_size(alphabet_size: SupportsIndex | None) -> int | None:
    """Return k, or None if it is not known.

    Raises
    ------
    UsageError
        If k is not a whole number from 1 to 2⁶².

    Examples
    --------
    >>> public_size(26)
    26
    """
    return None if alphabet_size is None else parse_whole_number(alphabet_size, name="alphabet_size")
