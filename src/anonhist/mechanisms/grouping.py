"""The release of several groups, by one mechanism whose budget is for a unit in all of them together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from anonhist.accounting import Ledger
from anonhist.accounting.recording import account_of, recording
from anonhist.catalogue.levels import Levels
from anonhist.errors import DataError, UsageError
from anonhist.mechanisms.basis.setting import without_sizes
from anonhist.mechanisms.excess import refuse_nothing
from anonhist.mechanisms.group_preparing import parse_level_shares, prepare_groups
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.profiles.grouped import GroupedProfile, prefixes_of
from anonhist.randomness import RandomSource
from anonhist.releases.content import content_digest, rest_digest
from anonhist.releases.grouped import GroupedRelease
from anonhist.releases.totals import CrossingTotals, NestedTotals

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from anonhist.accounting.recording import Account
    from anonhist.mechanisms.basis.skeletons import CentralMechanism, Released
    from anonhist.mechanisms.excess import ExcessMechanism
    from anonhist.mechanisms.group_preparing import PreparedGroups
    from anonhist.profiles.grouped import Group
    from anonhist.releases import Evidence, Excess


def release_groups(
    grouped: GroupedProfile,
    *,
    epsilon: EpsilonLike,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    mechanism: Literal["auto", "frobenius", "partition", "prevalence"] = "auto",
    public_cap: int | None = None,
    level_shares: Sequence[EpsilonLike] | None = None,
    excess_share: EpsilonLike | None = None,
    excess_cap: int | None = None,
    simulations: int | None = None,
    source: RandomSource | None = None,
    progress: Callable[[float], None] | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
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
    level_shares
        For crossing levels: the share of ε of each, everything together first, then by the first grouping column, and
        so on. They must add up to one; by default they are equal.
    excess_share
        Of groups read with ``count_units=True``: the share of ε, at least 0 and below 1, that goes to an estimate of
        what the bound left out, of all groups together, :attr:`GroupedRelease.excess`; none by default. With a bound on
        groups it counts in how many groups too many users or labels were, otherwise items of users. It is taken from
        the profiles: ``epsilon`` remains the total.
    excess_cap
        With ``excess_share``: how much beyond the bound m is counted for each user or label, ≥ 1; 10·m by default.
        Public: the noise grows with it. Where groups are bounded it is at most G − m, with G the number of groups: no
        unit has more beyond m, and the excess then has an upper end, too.
    simulations
        Number of runs behind the errors of each group, as for :func:`release`.
    source
        Privacy randomness; the operating system's by default.
    progress
        Receives the share of groups released, in (0, 1].
    ledger, dataset, purpose, run_id
        The ledger to charge before any group is released, as for :func:`release`. What finding groups cost is charged
        with it, unless :func:`read_groups` has charged it: then both must be to the same data set of one ledger.

    Returns
    -------
    GroupedRelease
        A release for each group, also for those without data.

    Raises
    ------
    UsageError
        If ε is impossible, the unit protects less than the data were read for, the mechanism is none of these, or there
        are so few groups that nothing can be left out of which to release an excess.
    DataError
        If a group is beyond what the mechanism can hold, or nested groups have more than 2⁶³ − 1 items together: before
        any noise is drawn.

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
        shares=parse_level_shares(level_shares, grouped.levels, columns=len(grouped.by)),
        excess_share=excess_share,
        excess_cap=excess_cap,
        bounded=None if grouped.units is None else (grouped.units.of, grouped.units.bound),
    )
    if prepared.excess is not None:
        refuse_nothing(prepared.excess.of, prepared.excess.bound, len(grouped))
    # Which groups were found is not what was asked for.
    listed = [*grouped] if grouped.finding is None else None
    own: dict[str, object] = {
        "by": grouped.by,
        "groups": listed,
        "levels": grouped.levels,
        "level_shares": prepared.epsilons,
    }
    if prepared.excess is not None:
        own |= {"excess_share": excess_share, "excess_cap": excess_cap}
    account = account_of(ledger, dataset, purpose, run_id, settings=own)
    with recording(account, lambda: prepared.price(_unpaid(grouped, account))) as recorded:
        recorded.keep()
        released = release_prepared(grouped, prepared, source=source, progress=progress).with_receipt(recorded.receipt)
        recorded.complete(lambda: content_digest(released), lambda: rest_digest(released))
    return released


def _unpaid(grouped: GroupedProfile, account: Account | None) -> tuple[Fraction, Fraction] | None:
    """Return ε and δ of finding the groups, if they were found and that was not charged; refuse another account."""
    if grouped.receipt is None or account is None:
        return _spent(grouped)
    account.ledger.check_receipt(grouped.receipt, account.dataset)
    return None


def _spent(grouped: GroupedProfile) -> tuple[Fraction, Fraction] | None:
    return None if grouped.finding is None else (grouped.finding.epsilon, grouped.finding.delta)


def release_prepared(
    grouped: GroupedProfile,
    prepared: PreparedGroups,
    *,
    source: RandomSource | None = None,
    progress: Callable[[float], None] | None = None,
) -> GroupedRelease:
    """Spend the budget once on all groups.

    Where there are so few groups that nothing can be left out, nothing is spent on the excess.
    """
    levels = [*grouped.above, grouped]
    made = [
        prepared.made(epsilon, prepared.unit.in_at_most(len(level)) if level is not grouped else prepared.unit)
        for epsilon, level in zip(prepared.epsilons, levels, strict=True)
    ]
    _check(grouped, made[-1].mechanism, prepared.excess)
    # Refused before any noise is drawn, and of all groups alike.
    with without_sizes():
        for level, of_level in zip(levels, made, strict=True):
            items = sum(of_level.mechanism.admit(profile).n for profile in level.values())
            if grouped.levels is Levels.NESTED and items > MAX_ITEMS:
                raise DataError("The groups hold more than 2^63 − 1 items together, the most that can be counted here.")
    number, done = sum(map(len, levels)), 0
    found: list[dict[Group, Released]] = []
    for level, of_level in zip(levels, made, strict=True):
        runs: dict[int, Released] = {}
        for each in of_level.release_each([*level.values()], source=source):
            runs[each.place] = each if grouped.levels is Levels.NESTED else each._replace(noisy=None)
            done += 1
            if progress is not None:
                progress(done / number)
        found.append({group: runs[place] for place, group in enumerate(level)})
    own = {group: each.release for group, each in found[-1].items()}
    totals: NestedTotals | CrossingTotals | None = None
    if grouped.levels is Levels.NESTED:
        totals = NestedTotals(_sum_evidence(found[-1], made[-1].mechanism))
    elif grouped.levels is Levels.CROSSING:
        above = {group: each.release for level in found[:-1] for group, each in level.items()}
        totals = CrossingTotals({prefix: above[prefix] for prefix in prefixes_of(own)})
    excess = _release_excess(grouped, prepared.excess, source)
    return GroupedRelease(grouped.by, own, found_with=_spent(grouped), totals=totals, excess=excess)


def _release_excess(
    grouped: GroupedProfile, mechanism: ExcessMechanism | None, source: RandomSource | None
) -> Excess | None:
    # How many groups there are was listed, or found before and so released.
    limited = None if mechanism is None else mechanism.in_groups(len(grouped))
    return None if limited is None or grouped.units is None else limited.release(grouped.units, source=source)


def _check(grouped: GroupedProfile, mechanism: CentralMechanism, excess: ExcessMechanism | None) -> None:
    """Refuse data that were read for another promise."""
    if excess is not None and grouped.units is not None:
        excess.check(grouped.units)
    unit, finding = mechanism.unit, grouped.finding
    if unit.max_count is not None and grouped.unit.max_count is None:
        raise UsageError("Labels may be in many groups: to protect them, read the data with `max_groups_per_label`.")
    # Who has m items in each of g groups has m·g in their total, unless the reader bounded that, too.
    if grouped.levels is Levels.CROSSING and unit.groups > 1 and grouped.unit == PrivacyUnit.item():
        raise UsageError(
            "Users may have more items in a total than in a group: to protect them on each level, read the data with "
            "`user`, `max_per_user` and `max_groups_per_user`, or give a `unit` with their items in all groups."
        )
    if finding is not None and finding.relation is not mechanism.relation:
        raise UsageError("The groups were found for another relation: give the same to FindGroups and to the release.")
    if finding is not None and unit != grouped.unit:
        raise UsageError(f"The groups were found for {grouped.unit}: release them for the same, and leave `unit` out.")


def _sum_evidence(found: Mapping[Group, Released], mechanism: CentralMechanism) -> dict[Group, Evidence | None]:
    """Return what the noisy values of all groups show of each total."""
    parts: dict[Group, list[Released]] = {prefix: [] for prefix in prefixes_of(found)}
    for group, each in found.items():
        for depth in range(len(group)):
            parts[group[:depth]].append(each)
    return {prefix: mechanism.sum_evidence(each) for prefix, each in parts.items()}
