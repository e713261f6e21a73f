"""From the keywords of a private estimate to its mechanism, and from nats to other units."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

from anonhist.mechanisms.basis.setting import check_profile
from anonhist.privacy import parse_epsilon, parse_whole_number

if TYPE_CHECKING:
    from anonhist.mechanisms.estimators.mechanism import StatisticMechanism
    from anonhist.privacy import PrivacyUnit
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate

_Made = TypeVar("_Made", bound="StatisticMechanism")


def made(mechanism: type[_Made], profile: Profile, *, unit: PrivacyUnit | None, **settings: Any) -> _Made:
    """Make a mechanism for a profile: it protects whom the profile names, where nothing else is said."""
    check_profile(profile)
    epsilon, relation = settings.pop("epsilon"), settings.pop("relation")
    return mechanism(parse_epsilon(epsilon), profile.unit if unit is None else unit, relation, **settings)


def in_unit(estimate: Estimate, unit: str, scale: float) -> Estimate:
    """Return an estimate in nats in another unit."""
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
    """Return k, or None where it is not known.

    Raises
    ------
    UsageError
        If it is not a whole number from 1 to 2^62.

    Examples
    --------
    >>> public_size(26)
    26
    """
    return None if alphabet_size is None else parse_whole_number(alphabet_size, name="alphabet_size")
