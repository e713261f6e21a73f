"""How several groups are released and found: a budget covers a unit in all of them together."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property, partial
from typing import Literal, SupportsIndex

from anonhist.accounting import Ledger
from anonhist.accounting.recording import Account, Price, account_of
from anonhist.catalogue import Levels
from anonhist.errors import DataError, UsageError
from anonhist.frozen import Checked, Converted, converted, frozen, named
from anonhist.mechanisms.bound_choosing import largest_unit
from anonhist.mechanisms.excess import ExcessMechanism, refuse_nothing
from anonhist.mechanisms.group_planning import PreparedGroups, parse_level_shares, prepare_groups
from anonhist.mechanisms.releasing import AskedRelease
from anonhist.mechanisms.setting import check_relation, without_sizes
from anonhist.mechanisms.skeletons import CentralMechanism, Released
from anonhist.numeric.arrays import Bools, Ints
from anonhist.privacy import (
    EpsilonLike,
    Guarantee,
    NeighboringRelation,
    PrivacyUnit,
    parse_epsilon,
    parse_whole_number,
    short_decimal,
)
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.profiles.grouped import Group, GroupedProfile, prefixes_of
from anonhist.randomness import RandomSource, discrete_laplace
from anonhist.releases import Evidence, Excess
from anonhist.releases.content import charged
from anonhist.releases.grouped import CrossingTotals, GroupedRelease, NestedTotals


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
    consistent: bool = True,
    simulations: int | None = None,
    source: RandomSource | None = None,
    progress: Callable[[float], None] | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> GroupedRelease:
    """Release the profiles of several groups under one joint guarantee with one budget.

    Each group is released separately, by a mechanism calibrated to how far a unit that is added or removed can move the
    profiles of all groups together: 1 for an item; m for a user with at most m items, or m·g with at most m items in
    each of g groups; for a label in at most g groups, g prevalences. (Twice that if units are replaced.) So the budget
    is not divided by the number of groups.

    Parameters
    ----------
    grouped
        The private data, as :func:`read_groups` returns them. Which groups there are must be public.
    epsilon
        The whole budget, for all groups together, > 0. If groups were found in the data, that cost is added: the
        guarantee of the result has the sum.
    unit
        The unit to protect; by default that for which the data were read. A smaller unit is refused.
    relation
        Neighbors differ by a unit added or removed (default) or replaced by another.
    mechanism
        ``"auto"``, ``"frobenius"``, ``"partition"`` or ``"prevalence"``: those with a loss that is linear in the
        distance.
    public_cap
        For ``"prevalence"`` and items or users: a public number that no count exceeds.
    level_shares
        For crossing levels: the share of ε of each, everything together first, then by the first grouping column, and
        so on. They must add up to one; by default they are equal.
    excess_share
        For groups read with ``count_units=True``: the share of ε, at least 0 and below 1, for an estimate of what the
        bound left out in all groups together, :attr:`GroupedRelease.excess`; 0 by default. With a bound on groups, the
        estimate counts the groups beyond the bound of users or labels, otherwise items of users. The share is taken
        from the profiles: ``epsilon`` remains the total.
    excess_cap
        With ``excess_share``: the largest number beyond the bound m that counts for each user or label, ≥ 1; 10·m by
        default. It is public, and the noise grows with it. If groups are bounded it is at most G − m, with G the number
        of groups: no unit has more beyond m, and the excess then has an upper end, too.
    consistent
        Whether the numbers of crossing levels are moved until totals and groups agree, where they must, as
        :meth:`GroupedRelease.consistent` does: True by default. It costs nothing, and intervals hold the moved numbers,
        too. The drawn release of a group remains its :attr:`Release.unadjusted`.
    simulations
        Number of runs behind the errors of each group, as for :func:`release`.
    source
        Privacy randomness; the operating system's by default.
    progress
        Receives the share of groups released, in (0, 1].
    ledger, dataset, purpose, run_id
        The ledger to charge before any group is released, as for :func:`release`. The cost of finding groups is charged
        with it, unless :func:`read_groups` has charged it: then both charges must be to the same data set of one
        ledger. If that charged everything, for a chosen bound, one release completes that charge.

    Returns
    -------
    GroupedRelease
        A release for each group, including groups without data.

    Raises
    ------
    UsageError
        If ε is impossible, the unit protects less than the data were read for, the mechanism is none of these, or
        ``excess_share`` is given but there are so few groups that nothing can be left out.
    DataError
        If a group is too large for the mechanism, or nested groups have more than 2⁶³ − 1 items together; this is
        raised before any noise is drawn.

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
    options = {"public_cap": public_cap}
    prepared = prepare_groups(
        AskedRelease(epsilon, unit, relation, mechanism, options, None, excess_share, excess_cap, simulations),
        grouped.unit,
        shares=parse_level_shares(level_shares, grouped.levels, columns=len(grouped.by)),
        bounded=None if grouped.units is None else (grouped.units.of, grouped.units.bound),
        choice=grouped.choice,
    )
    if prepared.excess is not None:
        refuse_nothing(prepared.excess.of, prepared.excess.bound, len(grouped))
    # The found groups are a result, not part of the request.
    listed = [*grouped] if grouped.finding is None else None
    own: dict[str, object] = {
        "by": grouped.by,
        "groups": listed,
        "levels": grouped.levels,
        "level_shares": prepared.epsilons,
        "where": grouped.where,
    }
    if prepared.excess is not None:
        own |= {"excess_share": excess_share, "excess_cap": excess_cap}
    if not consistent:
        own["consistent"] = False
    account = account_of(ledger, dataset, purpose, run_id, settings=own)
    charge = prepared
    if grouped.choice is not None:
        charge = replace(prepared, unit=largest_unit(grouped.choice, grouped.unit, unit))
    return charged(
        account,
        lambda: charge.price(_unpaid(grouped, account)),
        lambda receipt: release_prepared(
            grouped, prepared, consistent=consistent, source=source, progress=progress
        ).with_receipt(receipt),
        earlier=None if grouped.choice is None else grouped.receipt,
    )


def _unpaid(grouped: GroupedProfile, account: Account | None) -> tuple[Fraction, Fraction] | None:
    """Return ε and δ of finding the groups, if this was done and not charged; refuse another account."""
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
    consistent: bool = True,
    source: RandomSource | None = None,
    progress: Callable[[float], None] | None = None,
) -> GroupedRelease:
    """Spend the budget once on all groups.

    If there are so few groups that nothing can be left out, nothing is spent on the excess.
    """
    levels = [*grouped.above, grouped]
    made = [
        prepared.made(epsilon, prepared.unit.in_at_most(len(level)) if level is not grouped else prepared.unit)
        for epsilon, level in zip(prepared.epsilons, levels, strict=True)
    ]
    _check(grouped, made[-1].mechanism, prepared.excess)
    # Refused before any noise is drawn, for all groups alike.
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
    whole = GroupedRelease(grouped.by, own, found_with=_spent(grouped), totals=totals, excess=excess)
    # Relations are known for the bounds of the unit, and the data may have been read for smaller ones.
    return whole.consistent() if consistent and grouped.unit == prepared.unit else whole


def _release_excess(
    grouped: GroupedProfile, mechanism: ExcessMechanism | None, source: RandomSource | None
) -> Excess | None:
    # The number of groups is public: they were listed, or found earlier and so released.
    limited = None if mechanism is None else mechanism.in_groups(len(grouped))
    return None if limited is None or grouped.units is None else limited.release(grouped.units, source=source)


def _check(grouped: GroupedProfile, mechanism: CentralMechanism, excess: ExcessMechanism | None) -> None:
    """Refuse data that were read for another guarantee."""
    if excess is not None and grouped.units is not None:
        excess.check(grouped.units)
    unit, finding = mechanism.unit, grouped.finding
    if unit.max_count is not None and grouped.unit.max_count is None:
        raise UsageError("Labels may be in many groups: to protect them, read the data with `max_groups_per_label`.")
    # A unit with m items in each of g groups has m·g in their total, unless the reader bounded that, too.
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
    """Return what the noisy values of all groups show about each total."""
    parts: dict[Group, list[Released]] = {prefix: [] for prefix in prefixes_of(found)}
    for group, each in found.items():
        for depth in range(len(group)):
            parts[group[:depth]].append(each)
    return {prefix: mechanism.sum_evidence(each) for prefix, each in parts.items()}


NAME = "finding groups"
_DIGITS = 60
_LARGEST_THRESHOLD = 2**40


def _delta(given: EpsilonLike) -> Fraction:
    found = parse_epsilon(given, name="delta")
    if found >= 1:
        raise UsageError(f"`delta` must be below 1, such as 1e-9, not {short_decimal(found)}.")
    return found


@frozen
class FindGroups:
    """Asks for groups to be found in the data, with their own budget, instead of a list.

    Groups with few units are left out: :class:`GroupSelection` gives the probability that a group with n units is
    found.

    Parameters
    ----------
    epsilon, delta
        The budget for finding groups: ε > 0 and 0 < δ < 1. It adds to that of the release.
    relation
        Which data sets are neighbors, as in the release.

    Examples
    --------
    >>> FindGroups("0.1", "1e-9").epsilon
    Fraction(1, 10)
    """

    epsilon: Converted[EpsilonLike, Fraction] = converted(parse_epsilon)
    delta: Converted[EpsilonLike, Fraction] = converted(_delta)
    relation: Checked[NeighboringRelation] = converted(check_relation, default=NeighboringRelation.ADD_OR_REMOVE)

    def selection(self, unit: PrivacyUnit) -> GroupSelection:
        """Return the selection for units that are in a bounded number of groups.

        Examples
        --------
        >>> from anonhist.privacy import PrivacyUnit
        >>> FindGroups(1, "1e-9").selection(PrivacyUnit.user(max_items=5)).groups
        5
        >>> FindGroups(1, "1e-9").selection(PrivacyUnit.user(max_items=5, groups=2)).groups
        2
        """
        of_one = unit.groups if unit.max_items is None or unit.groups > 1 else unit.max_distance
        return GroupSelection(self.epsilon, self.delta, of_one * self.relation.distance)

    def price(self, unit: PrivacyUnit) -> Price:
        """Return the cost of finding groups, whatever is found.

        Examples
        --------
        >>> from anonhist.privacy import PrivacyUnit
        >>> print(FindGroups(1, "1e-9").price(PrivacyUnit.item()).guarantee)
        1-differentially private (δ ≤ 10⁻⁹) when one item is added or removed; noise is drawn exactly.
        """
        made = self.selection(unit)
        told = Guarantee(unit, self.relation, self.epsilon, self.delta, arithmetic="noise is drawn exactly")
        return Price(told, NAME, {"groups": made.groups, "threshold": made.threshold})


@frozen
class GroupSelection:
    """Keep each group with many units, decided with noise: a group without units is never kept.

    A group with n units is kept if ``n + G > k``, with ``P(G = j) ∝ exp(−γ|j|)`` for ``|j| ≤ k``, γ = ε/κ, independent
    for each group. The numbers of units of neighbors differ in at most κ groups, by one each. k is the smallest for
    which ``P(G = k) ≤ δ/κ``, and at most 2⁴⁰: then a group with one unit is kept with probability δ/κ at most. No
    selection with the same guarantee keeps a group of any n more often, up to the rounding of k, if a unit is in one
    group (κ = 1; Desfontaines and others 2022, Theorem 2).

    The set of kept groups is ``(epsilon, delta)``-differentially private, with ε and δ for all groups together. Draws
    are exact; k is computed with bounds on either side, so floating point costs nothing. Proof: docs/proofs/groups.md.
    """

    epsilon: Converted[EpsilonLike, Fraction] = converted(parse_epsilon)
    delta: Converted[EpsilonLike, Fraction] = converted(_delta)
    groups: Converted[SupportsIndex, int] = named(parse_whole_number, default=1)

    def __post_init__(self) -> None:
        if self.threshold > _LARGEST_THRESHOLD:
            raise UsageError("`epsilon` or `delta` of a selection of groups is too small: give larger numbers.")

    @property
    def rate(self) -> Fraction:
        """γ, the rate of the noise of one group."""
        return self.epsilon / self.groups

    @cached_property
    def threshold(self) -> int:
        """The threshold k."""
        # P(G = k) = p^k (1 − p)/(1 + p − 2p^(k+1)), p = exp(−γ), falls with k.
        return 1 + bisect_left(
            range(1, 2 * _LARGEST_THRESHOLD), True, key=partial(self._is_rare, self.delta / self.groups)
        )

    def _is_rare(self, share: Fraction, k: int) -> bool:
        """Return whether P(G = k) is certainly at most a share: p^k (1 − p + 2·share·p) ≤ share·(1 + p)."""
        up, down = Context(prec=_DIGITS, rounding=ROUND_CEILING), Context(prec=_DIGITS, rounding=ROUND_FLOOR)
        rate = (Decimal(-self.rate.numerator), Decimal(self.rate.denominator))
        # An exponential is rounded to the nearest number: one step further, it is a bound.
        p_low = down.next_minus(down.exp(down.divide(*rate)))
        p_high = up.next_plus(up.exp(up.divide(*rate)))
        power = up.next_plus(up.exp(up.divide(up.multiply(rate[0], Decimal(k)), rate[1])))
        shared = up.divide(Decimal(share.numerator), Decimal(share.denominator))
        left = up.multiply(
            power, up.add(up.subtract(Decimal(1), p_low), up.multiply(Decimal(2), up.multiply(shared, p_high)))
        )
        right = down.multiply(
            down.divide(Decimal(share.numerator), Decimal(share.denominator)), down.add(Decimal(1), p_low)
        )
        return left <= right

    def select(self, units: Ints, *, source: RandomSource) -> Bools:
        """Return which groups are kept, given the number of units of each.

        Parameters
        ----------
        units
            The number of units of each group, shape (g,), ≥ 0.
        source
            Privacy randomness.
        """
        # n + G could wrap; k − n cannot: k is at most 2⁴⁰, and n is from 0 to 2⁶³ − 1.
        return self._noise(units.size, source) > self.threshold - units

    def _noise(self, size: int, source: RandomSource) -> Ints:
        """Draw noise again if it is beyond k: how often this happens does not depend on the data."""
        noise = discrete_laplace(self.rate, size, source=source)
        while (beyond := (noise > self.threshold) | (noise < -self.threshold)).any():
            noise[beyond] = discrete_laplace(self.rate, int(beyond.sum()), source=source)
        return noise

    def probability(self, units: int) -> float:
        """Return the probability that a group with this many units is kept.

        Examples
        --------
        >>> GroupSelection(2, "1e-6", 2).probability(1) <= 1e-6 / 2
        True
        """
        if units > self.threshold:
            # The noise is symmetric: the group is left out if the noise is at most k − n.
            return 1.0 - self.probability(2 * self.threshold + 1 - units)
        # Σ_{j=a}^{b} p^j = p^a (1 − p^(b−a+1)) / (1 − p), p = exp(−γ); k may be far too large to list all j.
        rate, most = float(self.rate), self.threshold
        above = math.exp(-rate * (most - units + 1)) * -math.expm1(-rate * max(units, 0))
        return above / (1.0 + math.exp(-rate) * (1.0 - 2.0 * math.exp(-rate * most)))
