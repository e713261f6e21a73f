"""What a release of a profile of items remembers of its mechanism: made again from a document, and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import DataError, UsageError
from anonhist.mechanisms import CentralMechanism, PrevalenceMechanism, PrivHistMechanism
from anonhist.mechanisms.names import from_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.privacy import Guarantee
    from anonhist.profiles import Profile
    from anonhist.releases import Excess


def central_mechanism(name: str, parameters: Mapping[str, object], guarantee: Guarantee) -> CentralMechanism:
    """Make a mechanism again.

    Raises
    ------
    DataError
        If its name is unknown, the parameters are not those of such a mechanism, or it does not promise that.
    """
    mechanism = from_parameters(name, parameters)
    if (mechanism.unit, mechanism.relation) != (guarantee.unit, guarantee.relation):
        raise DataError("the guarantee and the mechanism name different units or relations")
    _check_budget(guarantee, mechanism)
    # Should a mechanism ever say this in other words, those of older versions must go on being accepted here.
    if (guarantee.delta, guarantee.arithmetic) != (mechanism.delta, mechanism.arithmetic):
        raise DataError("the guarantee's delta or arithmetic is not that of the mechanism")
    return mechanism


def with_excess(name: str, parameters: Mapping[str, object], guarantee: Guarantee, excess: Excess) -> CentralMechanism:
    """Make a mechanism again that had what an excess left of the budget.

    Raises
    ------
    DataError
        As for :func:`central_mechanism`.
    """
    mechanism = from_parameters(name, parameters)
    if excess.added_to(mechanism.guarantee) != guarantee:
        raise DataError("the guarantee is not that of the mechanism and the excess together")
    return mechanism


def check_profile(mechanism: CentralMechanism, profile: Profile, items: int | None) -> None:
    """Refuse a profile, or a number of items beside it, that the mechanism does not release.

    Raises
    ------
    DataError
        With what is wrong in one clause.
    """
    if isinstance(mechanism, PrivHistMechanism):
        _check_items(mechanism, profile, items)
    else:
        check_no_items(items)
    if isinstance(mechanism, PrevalenceMechanism) and profile.k_plus(mechanism.largest_count + 1):
        raise DataError("a count is beyond the largest that the mechanism can release")
    try:
        mechanism.admit(profile)
    except UsageError:
        raise DataError("the profile is beyond the public numbers of the mechanism") from None


def check_no_items(items: int | None) -> None:
    """Refuse a number of items where none is released on its own."""
    if items is not None:
        raise DataError("items belong to a release of PrivHist, which publishes their number, and no other")


def check_no_zeros(zeros: int | None) -> None:
    """Refuse a number of labels that never occur where none is released."""
    if zeros is not None:
        raise DataError("zeros belong to a release of degrees that counts nodes without an edge, and no other")


def _check_items(mechanism: PrivHistMechanism, profile: Profile, items: int | None) -> None:
    if items is None:
        raise DataError("items, their number as PrivHist publishes it, are missing")
    reach = 2 * items if mechanism.epsilon_per_cell <= 1 else 2**63
    if items >= 0 and ((not items and profile.n) or profile.k_plus(reach + 1)):
        raise DataError("the profile is not one that PrivHist publishes with so few items")


def _check_budget(guarantee: Guarantee, mechanism: CentralMechanism) -> None:
    """Refuse a guarantee that says another budget than the mechanism; in older files a look may have come first."""
    promised = mechanism.guarantee
    if (guarantee.epsilon, guarantee.spending) == (promised.epsilon, promised.spending):
        return
    if promised.spending:
        raise DataError("the guarantee and the mechanism name different steps or epsilons")
    if mechanism.epsilon > guarantee.epsilon or (mechanism.epsilon < guarantee.epsilon and not guarantee.spending):
        raise DataError("the guarantee and the mechanism name different epsilons")
    if guarantee.spending and mechanism.epsilon not in [spent for _, spent in guarantee.spending]:
        raise DataError("none of the guarantee's steps is what the mechanism spent")
