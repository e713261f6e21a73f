"""What pages and terminals say of a release besides its numbers and its promise, where there is something to say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonhist.privacy import is_in_groups
from anonhist.releases import Release
from anonhist.releases.grouped import GroupedRelease
from anonhist.report.wording import interval, many, no_intervals

if TYPE_CHECKING:
    from anonhist.outward import Tabular
    from anonhist.releases import Excess

_HAD = {"item": "had more items", "group": "were in more groups"}
_HOW_TO_ASK = "A release with an excess share of 0.05 estimates that, for 5 % of its epsilon."


def remarks(release: Release) -> list[tuple[str, str]]:
    """Return names and sentences: one line for each thing that a release may say, in the order they are shown.

    Examples
    --------
    >>> from anonhist.mechanisms import release
    >>> from anonhist.privacy import PrivacyUnit
    >>> from anonhist.profiles import Profile
    >>> user = PrivacyUnit.user(max_items=2)
    >>> [name for name, _ in remarks(release(Profile.from_counts([8, 8, 3]), epsilon=1, unit=user))]
    ['Bound']
    """
    missing = no_intervals(release.error)
    return [*([("Intervals", missing)] if missing else []), *bound_of(release)]


def bound_of(value: Tabular) -> list[tuple[str, str]]:
    """Return the line that says what intervals leave out where units were bounded; none where they were not.

    Parameters
    ----------
    value
        A release of any kind, or what was made from one.

    Examples
    --------
    >>> from anonhist.mechanisms import FrobeniusMechanism
    >>> from anonhist.privacy import PrivacyUnit
    >>> from anonhist.profiles import Profile
    >>> bound_of(FrobeniusMechanism(1, PrivacyUnit.user(max_items=5)).release(Profile.from_counts([20, 10])))
    [('Bound', 'At most 5 items of each user are counted in the whole release. Errors and intervals do not cover what
    this leaves out.')]
    """
    if not value.left_out:
        return []
    said, key = [value.left_out], getattr(value, "order_key", None)
    if key is not None:
        said.append(f"What is counted was chosen with the order key {key}.")
    if isinstance(value, Release | GroupedRelease):
        if value.excess is not None:
            said.append(describe_excess(value.excess))
        elif _could_tell(value):
            said.append(_HOW_TO_ASK)
    return [("Bound", " ".join(said))]


def _could_tell(release: Release | GroupedRelease) -> bool:
    """Return whether a release like this could have told what was left out: where it was chosen, or is of counts."""
    unit = release.guarantee.unit
    if isinstance(release, GroupedRelease):
        # Where there are no more groups than the bound keeps, it leaves out none.
        bounds_groups = unit.groups > 1 or unit.max_count is not None
        return release.order_key is not None and not (bounds_groups and len(release) <= unit.groups)
    # One group of several has no excess of its own.
    return not is_in_groups(unit) and (release.order_key is not None or unit.max_count is not None)


def describe_excess(excess: Excess) -> str:
    """Say what a bound on users or labels left out, as far as a release tells it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.privacy import NeighboringRelation
    >>> from anonhist.profiles import Bounded
    >>> from anonhist.releases import Excess
    >>> spent = (NeighboringRelation.ADD_OR_REMOVE, Fraction(1, 80), Fraction(3, 80))
    >>> describe_excess(Excess(3, 30, *spent, 8_000, 2_000, 20_000))
    'The bound of 3 items per user left out at least 17,603 items (95 % confidence), of 1,760 to 2,240 users, 17 to 23 %
    of all (95 % intervals); the other numbers do not include them. No more than 30 of each user were counted, so there
    may be more.'
    >>> describe_excess(Excess(3, 30, *spent, 8_000, 12, -20, Bounded.GROUPS_OF_LABELS))
    'What the bound of 3 groups per label left out is indistinguishable from nothing: 0 to 252 labels were in more
    groups (95 % interval). A larger share of epsilon, or a cap below 30, would show more.'
    >>> describe_excess(Excess(3, 2, *spent, 8_000, 2_000, 3_000, Bounded.GROUPS_OF_LABELS, groups=5))
    'The bound of 3 groups per label left out 2,803 to 3,160 pairs of a label and a group, of 1,760 to 2,240 labels, 17
    to 23 % of all (95 % intervals); the other numbers do not include them.'
    """
    units, share, of = excess.units.interval, excess.share_of_units.interval, excess.of
    bound = f"the bound of {many(excess.bound, of.part)} per {of.unit}"
    amount = "items" if of.part == "item" else f"pairs of a {of.unit} and a group"
    least, most = excess.amount.interval
    if not least:
        also, cap, s = "", "", ""
        if excess.counts_all:
            also, s = f", and up to {most:,.0f} {amount} were left out", "s"
        elif excess.cap > 1:
            cap = f", or a cap below {excess.cap:,},"
        return (
            f"What {bound} left out is indistinguishable from nothing: {interval(*units)} {of.unit}s {_HAD[of.part]}"
            f"{also} (95 % interval{s}). A larger share of epsilon{cap} would show more."
        )
    # What was left out is of some units, at most C counted of each, whatever the noise on those says.
    many_units = max(units[1], math.ceil(least / excess.cap))
    number = interval(units[0], many_units) if units[0] else f"up to {many_units:,.0f}"
    percents = interval(100 * share[0], 100 * share[1]) if share[0] else f"up to {max(1, math.ceil(100 * share[1]))}"
    told = f"at least {least:,.0f} {amount} (95 % confidence)"
    more = f" No more than {excess.cap:,} of each {of.unit} were counted, so there may be more."
    if excess.counts_all:
        told, more = f"{interval(least, most)} {amount}", ""
    return (
        f"T{bound[1:]} left out {told}, of {number} {of.unit}s, {percents} % of all (95 % intervals); the other "
        f"numbers do not include them.{more}"
    )
