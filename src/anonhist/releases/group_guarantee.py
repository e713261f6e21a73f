"""The guarantee of groups that are released together, from those of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.privacy import short_decimal
from anonhist.privacy.guarantee import round_up

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from anonhist.privacy import Guarantee
    from anonhist.profiles.grouped import Group
    from anonhist.releases.protocols import Mechanism
    from anonhist.releases.release import Release

EVERYTHING = "everything together"


def guarantee_of(
    levels: Sequence[tuple[tuple[str, ...], Mapping[Group, Release]]], *, found_with: tuple[Fraction, Fraction] | None
) -> Guarantee:
    """Return what holds for all releases together.

    Parameters
    ----------
    levels
        For each level that was released on its own, the grouping columns and the release of each group; the level of
        all columns is the last.
    found_with
        ε and δ that were spent on finding the groups, if they were not listed.

    Raises
    ------
    UsageError
        If the releases of a level differ in their mechanism.
    """
    # How many groups were found is a result, and δ must hold for every result.
    costs = [_level_guarantee(releases, is_public=found_with is None) for _, releases in levels]
    whole = costs[-1]
    steps = [
        (f"groups by {', '.join(by)}" if by else EVERYTHING, each.epsilon)
        for (by, _), each in zip(levels, costs, strict=True)
    ]
    delta = sum((each.delta for each in costs), start=whole.delta * 0)
    if found_with is not None:
        own = steps if len(steps) > 1 else [("their profiles", whole.epsilon)]
        steps = [("finding the groups", found_with[0]), *own]
        delta += found_with[1]
    if len(steps) == 1:
        return whole
    epsilon = sum((spent for _, spent in steps), start=whole.epsilon * 0)
    return replace(whole, epsilon=epsilon, delta=delta, spending=tuple(steps))


def on_condition(release: Release, found_with: tuple[Fraction, Fraction] | None) -> Release:
    """Return the release of one group with the condition under which it alone keeps its promise, if there is one."""
    if found_with is None or release.guarantee.conditions:
        return release
    epsilon, delta = found_with
    condition = (
        "nobody learns from it which groups there are: finding them cost an epsilon of "
        f"{short_decimal(epsilon)} and a δ of {round_up(delta)} more"
    )
    return replace(release, guarantee=replace(release.guarantee, conditions=(condition,)))


def _level_guarantee(releases: Mapping[Group, Release], *, is_public: bool) -> Guarantee:
    first = next(iter(releases.values()))
    for each in releases.values():
        if (each.mechanism, each.reason, each.order_key) != (first.mechanism, first.reason, first.order_key):
            raise UsageError("The releases of all groups must be made by one mechanism, in one step.")
    delta = total_delta(first.mechanism, len(releases) if is_public else None)
    return replace(first.mechanism.guarantee, delta=delta)


def total_delta(mechanism: Mechanism, groups: int | None) -> Fraction:
    """Return δ of so many groups together: a unit changes at most ``l1_sensitivity`` of them. None: of any number.

    Examples
    --------
    >>> from anonhist.mechanisms import PartitionMechanism
    >>> partition = PartitionMechanism(2)
    >>> total_delta(partition, 100) == partition.delta, total_delta(partition, 1) == partition.delta
    (True, True)
    """
    one: Fraction = mechanism.guarantee.delta
    unit, relation = mechanism.guarantee.unit, mechanism.guarantee.relation
    most = unit.max_distance * relation.distance
    return one * (most if groups is None else min(most, groups))
