"""What a release of groups says in words and numbers; everything here is plain text."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from anonhist.catalogue.levels import Levels
from anonhist.privacy import short_decimal
from anonhist.privacy.guarantee import round_up
from anonhist.report.groups.active import active_person
from anonhist.report.promise import exclusions
from anonhist.report.remarks import bound_of
from anonhist.report.sections import LEVELS
from anonhist.report.wording import expected_error, interval, no_intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.profiles.grouped import Group
    from anonhist.releases import Release, ReleaseError
    from anonhist.releases.grouped import GroupedRelease

# Columns of k+ counts that a phone can still scroll through.
_MOST_LEVELS = 4
MISSING = "(missing)"
ALL = "(all)"
NOISY = "*"
ALL_TOGETHER = "result for all groups together"


def names_of(group: Group) -> list[str]:
    """Return the names of a group, one for each grouping column.

    Examples
    --------
    >>> names_of(("spring", None))
    ['spring', '(missing)']
    """
    return [MISSING if name is None else name for name in group]


def row_names(group: Group, release: GroupedRelease) -> list[str]:
    """Return a name for each grouping column, also of a total.

    Examples
    --------
    >>> import anonhist as ah
    >>> from anonhist.profiles.grouped import GroupedProfile
    >>> profiles = {("CA", "Napa"): ah.Profile.from_counts([3, 1])}
    >>> grouped = GroupedProfile(("state", "county"), profiles, unit=ah.PrivacyUnit.item())
    >>> row_names(("CA",), ah.release_groups(grouped, epsilon=1))
    ['CA', '(all)']
    """
    return names_of(group) + [ALL] * (len(release.by) - len(group))


def levels_for(release: GroupedRelease) -> list[int]:
    """Return a few thresholds above 1 that suit all groups: at least half of the groups have such counts.

    Where counts were capped the cap is the last.

    Examples
    --------
    >>> import anonhist as ah
    >>> from anonhist.profiles.grouped import GroupedProfile
    >>> profiles = {("DE",): ah.Profile.from_counts([300, 100]), ("FR",): ah.Profile.from_counts([200, 100])}
    >>> made = ah.release_groups(GroupedProfile(("country",), profiles, unit=ah.PrivacyUnit.item()), epsilon=20)
    >>> levels_for(made)
    [2, 5, 20, 100]
    """
    cap = release.guarantee.unit.max_count
    largest = cap or median(int(each.profile.counts[-1]) if len(each.profile) else 1 for each in release.values())
    levels = sorted({level for level in (*LEVELS, cap or 1) if 1 < level <= largest})
    if len(levels) <= _MOST_LEVELS:
        return levels
    return [levels[round(at * (len(levels) - 1) / (_MOST_LEVELS - 1))] for at in range(_MOST_LEVELS)]


def cells_of(release: Release, levels: Sequence[int]) -> list[tuple[str, str]]:
    """Return the numbers of a group, with intervals: items, labels, labels at the levels, and the expected error."""
    noisy = f"{NOISY} " if release.mostly_noise else ""
    expected = release.error.sorted_l1
    return [
        (f"{noisy}{release.n:,}", interval(*release.num_items().interval)),
        *((f"{found.value:,.0f}", interval(*found.interval)) for found in map(release.k_plus, (1, *levels))),
        ("–" if expected is None else f"{expected.value:,.0f}", ""),
    ]


def how_found(release: GroupedRelease) -> str:
    """Say how the groups came about, where they were found in the data; empty for a public list."""
    if release.found_with is None:
        return ""
    epsilon, delta = release.found_with
    units = release.guarantee.unit.people or "items"
    return (
        f"The groups were found in the data, privately, with ε = {short_decimal(epsilon)} and δ ≤ {round_up(delta)} of "
        f"the whole budget. Only groups of many {units} are found: small groups are missing, and whether a group near "
        "the limit is here is a matter of chance."
    )


def how_added(release: GroupedRelease) -> str:
    """Say what totals count, where there are any; empty where there are none."""
    if release.levels is None:
        return ""
    words = next(iter(release.values())).words
    if release.levels is Levels.NESTED:
        return (
            f"Totals are sums of the released groups, at no cost: all levels agree, and a {words.label} of several "
            "groups counts in each of them."
        )
    return (
        f"Each level was released on its own, with a part of the budget: a {words.label} of several groups counts once "
        "in a total, and totals differ from the sums of their groups, also by noise."
    )


def level_name(by: Sequence[str]) -> str:
    """Return the heading of a level, by its grouping columns.

    Examples
    --------
    >>> level_name(()), level_name(("state", "county"))
    ('Everything together', 'By state, county')
    """
    return f"By {', '.join(by)}" if by else "Everything together"


def not_covered(release: GroupedRelease) -> list[str]:
    """Say what the promise does not cover."""
    unit = release.guarantee.unit
    first, *others = exclusions(unit)
    before = [first]
    if release.order_key is None and unit.max_count is not None:
        before.append(f"A label in more than {unit.groups:,} groups: the data must have been limited to that before.")
    elif release.order_key is not None and unit.max_items is not None:
        # This program limited them itself: whatever a user did is protected.
        before = []
    public = [] if release.found_with else ["Which groups there are: the list of groups is public."]
    together = f"What all {unit.people or 'items'} of a small group have in common: the promise is for one {unit.kind}."
    return [*before, *public, together, *others]


def cards_of(release: GroupedRelease) -> list[tuple[str, str]]:
    """Return the numbers that are told first, each with what it is."""
    guarantee, words = release.guarantee, next(iter(release.values())).words
    listed = "from a public list" if release.found_with is None else "found privately in the data"
    cards = [
        (f"{len(release):,}", f"{'group' if len(release) == 1 else 'groups'} by {', '.join(release.by)}, {listed}"),
        (
            f"ε = {short_decimal(guarantee.epsilon)}",
            f"the whole privacy budget, for all groups together and for {guarantee.unit}",
        ),
    ]
    known = [
        (error.value, at) for at, each in enumerate(release.values()) if (error := each.error.sorted_l1) is not None
    ]
    if known:
        _, middle = sorted(known)[len(known) // 2]
        typical = list(release.values())[middle]
        noisy = sum(each.mostly_noise for each in release.values())
        cards += [
            (
                expected_error(typical.error),
                f"{words.total}: expected error of the profile of a typical group (sorted ℓ1), and its range",
            ),
            (
                f"{noisy:,} of {len(release):,}",
                f"groups are mostly noise: at least a third of their {words.total} are expected to be wrong",
            ),
        ]
    return cards


def remarks_of(release: GroupedRelease, error: ReleaseError) -> list[str]:
    """Return sentences on what the numbers leave out, where they do; ``error`` is that of a group."""
    bound = [sentence for _, sentence in bound_of(release)]
    return [each for each in (no_intervals(error), *bound, active_person(release)) if each]


def runs_of(release: GroupedRelease) -> str:
    """Say what errors come from, or that there are none."""
    runs = sorted({each.error.simulations for each in release.values()})
    if not runs[-1]:
        return "No errors were simulated (0 simulations), so there is no expected error and no interval based on one."
    number = f"{runs[0]:,}" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,}"
    return (
        f"Errors come from {number} new runs of the mechanism on the released profile of each group, which costs no "
        "privacy."
    )
