"""What a release of cumulative windows says in words and numbers; everything here is plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.privacy import short_decimal
from anonhist.report.promise import exclusions
from anonhist.report.remarks import bound_of
from anonhist.report.wording import interval, many

if TYPE_CHECKING:
    from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease

ALL_DAYS = "result for all days together"
ALL_TOGETHER = "result for all groups and days together"
READING = (
    "Each line is how many labels had at least so many items since the first day; its band is the 95 % interval of "
    "each day. Lines never fall and never cross: where noise would make them, they are flat. Each interval is for its "
    "own number; of many numbers about one in twenty is outside of its interval."
)


def told_of(release: CumulativeRelease) -> str:
    """Say what was released, without a full stop.

    Examples
    --------
    >>> from anonhist.mechanisms.windows.release import release_cumulative
    >>> from anonhist.profiles.windows import CumulativeCounts
    >>> counts = CumulativeCounts((1, 2), ("2026-11-01", "2026-11-02"), [[40, 1], [0, 9]])
    >>> told_of(release_cumulative(counts, epsilon=1))
    'labels with 1 or 2 items or more since 2026-11-01, at the end of each of 2 days'
    """
    *others, last = (f"{k:,}" for k in release.thresholds)
    named = f"{', '.join(others)} or {last}" if others else last
    ends = many(len(release.days), "day" if len(release.days[0]) > len("2026-11") else "month")
    items = "item" if named == "1" else "items"
    return f"labels with {named} {items} or more since {release.days[0]}, at the end of each of {ends}"


def told_of_groups(release: GroupedCumulativeRelease) -> str:
    """Say what was released of all groups, without a full stop."""
    return f"{told_of(release.first)}, in each of {many(len(release), 'group')} by {', '.join(release.by)}"


def shown_days(release: CumulativeRelease, most: int) -> list[str]:
    """Return at most so many of the days, spread evenly, the last among them."""
    number = len(release.days)
    places = np.unique(np.round(np.linspace(0, number - 1, min(most, number))).astype(int))
    return [release.days[at] for at in places.tolist()]


def cells_of(release: CumulativeRelease, day: str) -> list[str]:
    """Return the number of each threshold on a day, with its interval."""
    found = (release[day, k] for k in release.thresholds)
    return [f"{each.value:,.0f} ({interval(*each.interval)})" for each in found]


def heads_of(release: CumulativeRelease) -> list[str]:
    """Return what the columns of a table of days are called."""
    return ["day", *(f"{k:,} or more" for k in release.thresholds)]


def cards_of(release: CumulativeRelease) -> list[tuple[str, str]]:
    """Return the numbers that are told first, each with what it is: the last day, and the budget."""
    guarantee, last = release.guarantee, release.days[-1]
    cards = []
    for k in dict.fromkeys((release.thresholds[0], release.thresholds[-1])):
        found = release[last, k]
        items = "item" if k == 1 else "items"
        told = f"labels with {k:,} {items} or more by the end of {last}; 95 % interval {interval(*found.interval)}"
        cards.append((f"{found.value:,.0f}", told))
    largest = float(release.mechanism.standard_errors.max())
    return [
        *cards,
        (f"± {largest:,.3g}", "labels: the largest standard error of a number, known before the data were read"),
        (
            f"ε = {short_decimal(guarantee.epsilon)}",
            f"the whole privacy budget, for all days together and for {guarantee.unit}",
        ),
    ]


def cards_of_groups(release: GroupedCumulativeRelease) -> list[tuple[str, str]]:
    """Return the numbers that are told first of several groups."""
    *_, largest, (budget, _) = cards_of(release.first)
    return [
        (f"{len(release):,}", f"{'group' if len(release) == 1 else 'groups'} by {', '.join(release.by)}"),
        largest,
        (budget, f"the whole privacy budget, for all groups and days together and for {release.guarantee.unit}"),
    ]


def not_covered(release: CumulativeRelease, *, with_groups: bool = False) -> list[str]:
    """Say what the promise does not cover; ``with_groups``, where it is one of several groups."""
    first, *others = exclusions(release.guarantee.unit)
    # This program limited users itself: whatever a user did is protected.
    before = [] if release.order_key is not None else [first]
    listed = "Which groups, days and thresholds" if with_groups else "Which days and thresholds"
    public = f"{listed} there are: they are public."
    live = "A release of more days later, or of each day as it ends: this is one release, whose noise was drawn once."
    return [*before, public, live, *others]


def remarks_of(release: CumulativeRelease) -> list[str]:
    """Return sentences on what the numbers leave out, where they do."""
    return [sentence for _, sentence in bound_of(release)]
