"""The release of several groups, by one mechanism whose budget is for a unit in all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.mechanisms.releasing import prepare
from anonhist.privacy import NeighboringRelation
from anonhist.profiles.grouped import GroupedProfile
from anonhist.releases.grouped import GroupedRelease

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from anonhist.mechanisms.releasing import PreparedRelease
    from anonhist.privacy import EpsilonLike, PrivacyUnit
    from anonhist.randomness import RandomSource

# Whose loss is at most ε/Δ for each unit of distance, so that losses of groups add up to ε: docs/proofs/groups.md.
FOR_GROUPS = ("auto", "frobenius", "partition", "prevalence")


def release_groups(
    grouped: GroupedProfile,
    *,
    epsilon: EpsilonLike,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    mechanism: Literal["auto", "frobenius", "partition", "prevalence"] = "auto",
    public_cap: int | None = None,
    simulations: int | None = None,
    source: RandomSource | None = None,
    progress: Callable[[float], None] | None = None,
) -> GroupedRelease:
    """Release the profile of each of several groups, under one guarantee with one budget.

    Each group is released on its own, by a mechanism calibrated to the sum over all groups of how far their profiles
    can move when a unit is added or removed: 1 for an item; m for a user with at most m items, or m·g with at most m
    items in each of g groups; for a label in at most g groups, g prevalences. (Twice that if units are replaced.) So
    the budget is not divided by the number of groups.

    Parameters
    ----------
    grouped
        The private data, as :func:`read_groups` returns them. Which groups there are must be public.
    epsilon
        The whole budget, for all groups together, > 0. If groups were found in the data, what that cost comes on top:
        the guarantee of the result has the sum.
    unit
        The unit to protect; by default that for which the data were read. A smaller unit is refused.
    relation
        Neighbors differ by a unit added or removed (default) or replaced by another.
    mechanism
        ``"auto"``, ``"frobenius"``, ``"partition"`` or ``"prevalence"``: those whose loss is linear in the distance.
    public_cap
        For ``"prevalence"`` and items or users: a public number that no count exceeds.
    simulations
        Number of runs behind the errors of each group, as for :func:`release`.
    source
        Privacy randomness; the operating system's by default.
    progress
        Receives the share of groups released, in (0, 1].

    Returns
    -------
    GroupedRelease
        A release for each group, also for those without data.

    Raises
    ------
    UsageError
        If ε is impossible, the unit protects less than the data were read for, or the mechanism is none of these.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> from anonhist.profiles import Profile
    >>> profiles = {("Mon",): Profile.from_counts([3, 1]), ("Tue",): Profile.from_counts([2])}
    >>> unit = PrivacyUnit.label(max_count=5, groups=2)
    >>> release = release_groups(GroupedProfile(("day",), profiles, unit=unit), epsilon=1)
    >>> print(release.guarantee.sentence.partition(";")[0])
    1-differentially private (δ = 0) when one label with all its items in at most 2 groups (counts of 5 or more in a
    group are taken together) is added or removed
    """
    if not isinstance(grouped, GroupedProfile):
        raise UsageError(f"Groups are needed, such as read_groups(data, by=…) returns, not a {type(grouped).__name__}.")
    prepared = prepare_groups(
        epsilon=epsilon,
        unit=unit,
        relation=relation,
        mechanism=mechanism,
        public_cap=public_cap,
        simulations=simulations,
        read_for=grouped.unit,
    )
    return release_prepared(grouped, prepared, source=source, progress=progress)


def prepare_groups(
    *,
    epsilon: EpsilonLike,
    unit: PrivacyUnit | None,
    relation: NeighboringRelation,
    mechanism: str,
    public_cap: int | None,
    simulations: int | None,
    read_for: PrivacyUnit,
) -> PreparedRelease:
    """Check the options of a release of groups before the data are read, and make its mechanism.

    Raises
    ------
    UsageError
        As for :func:`release_groups`, whatever the data.
    """
    if mechanism not in FOR_GROUPS:
        raise UsageError(
            f"`mechanism` of a release of groups must be one of {', '.join(FOR_GROUPS)}, not {mechanism!r}."
        )
    return prepare(
        epsilon=epsilon,
        unit=unit,
        relation=relation,
        mechanism=mechanism,
        expected_items=None,
        options={"public_cap": public_cap},
        excess_share=None,
        excess_cap=None,
        simulations=simulations,
        read_for=read_for,
        users_bound=None,
    )


def release_prepared(
    grouped: GroupedProfile,
    prepared: PreparedRelease,
    *,
    source: RandomSource | None = None,
    progress: Callable[[float], None] | None = None,
) -> GroupedRelease:
    """Spend the budget once on all groups."""
    unit, finding = prepared.mechanism.unit, grouped.finding
    if unit.max_count is not None and grouped.unit.max_count is None:
        raise UsageError("Labels may be in many groups: to protect them, read the data with `max_groups_per_label`.")
    if finding is not None and finding.relation is not prepared.mechanism.relation:
        raise UsageError("The groups were found for another relation: give the same to FindGroups and to the release.")
    if finding is not None and unit != grouped.unit:
        raise UsageError(f"The groups were found for {grouped.unit}: release them for the same, and leave `unit` out.")
    # Refused before any noise is drawn, and of all groups alike.
    for profile in grouped.values():
        prepared.mechanism.admit(profile)
    releases = {}
    for done, (group, profile) in enumerate(grouped.items(), 1):
        releases[group] = prepared.release(profile, source=source)
        if progress is not None:
            progress(done / len(grouped))
    spent = None if finding is None else (finding.epsilon, finding.delta)
    return GroupedRelease(grouped.by, releases, found_with=spent)
