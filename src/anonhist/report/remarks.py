"""What pages and terminals say of a release besides its numbers and its promise, where there is something to say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonhist.report.wording import interval, many, no_intervals

if TYPE_CHECKING:
    from anonhist.releases import Excess, Release

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
    listed = (
        ("Intervals", no_intervals(release.error)),
        ("Bound", what_a_bound_costs(release)),
    )
    return [(name, sentence) for name, sentence in listed if sentence]


def what_a_bound_costs(release: Release) -> str:
    """Say what errors and intervals leave out where items of users were left out: nothing for other units.

    Examples
    --------
    >>> from anonhist.mechanisms import FrobeniusMechanism
    >>> from anonhist.privacy import PrivacyUnit
    >>> from anonhist.profiles import Profile
    >>> made = FrobeniusMechanism(1, PrivacyUnit.user(max_items=5)).release(Profile.from_counts([20, 10]))
    >>> what_a_bound_costs(made)
    'Only 5 items of each user are counted. Errors and intervals cover the noise, not what was left out.'
    """
    unit = release.guarantee.unit
    if unit.max_items is None:
        return ""
    # A unit may protect users with more items than were read of each.
    bound = unit.max_items if release.excess is None else release.excess.bound
    said = f"Only {many(bound, 'item')} of each user {'is' if bound == 1 else 'are'} counted"
    where = "" if unit.sketches == 1 else " in each sketch"
    chosen = "" if release.order_key is None else f", chosen with the order key {release.order_key}"
    told = f"{said}{where}{chosen}. Errors and intervals cover the noise, not what was left out."
    if release.excess is not None:
        return f"{told} {describe_excess(release.excess)}"
    # Where items were chosen, the rest could have been counted.
    return told if release.order_key is None else f"{told} {_HOW_TO_ASK}"


def describe_excess(excess: Excess) -> str:
    """Say what a bound on the items of users left out, as far as a release tells it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.privacy import NeighboringRelation
    >>> from anonhist.releases import Excess
    >>> spent = (NeighboringRelation.ADD_OR_REMOVE, Fraction(1, 80), Fraction(3, 80))
    >>> describe_excess(Excess(3, 30, *spent, 8_000, 2_000, 20_000))
    'The bound of 3 items per user left out at least 17,603 items (95 % confidence), of 1,760 to 2,240 users, 17 to 23 %
    of all (95 % intervals); the other numbers do not include them. No more than 30 of each user were counted, so there
    may be more.'
    >>> describe_excess(Excess(3, 30, *spent, 8_000, 12, -20))
    'What the bound of 3 items per user left out is indistinguishable from nothing: 0 to 252 users had more items (95 %
    interval). A larger share of epsilon, or a cap below 30, would show more.'
    """
    users, share = excess.users.interval, excess.share_of_users.interval
    bound = f"the bound of {many(excess.bound, 'item')} per user"
    if not excess.at_least:
        cap = "" if excess.cap == 1 else f", or a cap below {excess.cap:,},"
        return (
            f"What {bound} left out is indistinguishable from nothing: {interval(*users)} users had more items (95 % "
            f"interval). A larger share of epsilon{cap} would show more."
        )
    # Items that were left out are of some users, at most C counted of each, whatever the noise on those says.
    most = max(users[1], math.ceil(excess.at_least / excess.cap))
    number = interval(users[0], most) if users[0] else f"up to {most:,.0f}"
    percents = interval(100 * share[0], 100 * share[1]) if share[0] else f"up to {max(1, math.ceil(100 * share[1]))}"
    return (
        f"T{bound[1:]} left out at least {excess.at_least:,} items (95 % confidence), of {number} users, {percents} % "
        "of all (95 % intervals); the other numbers do not include them. "
        f"No more than {excess.cap:,} of each user were counted, so there may be more."
    )
