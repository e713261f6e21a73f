"""One self-contained HTML page about a grouped release."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Any

from anonhist.catalogue import Levels
from anonhist.privacy import is_in_groups, short_decimal
from anonhist.privacy.parameters import with_power
from anonhist.releases.relations import Design
from anonhist.report.figures import (
    PANEL,
    PANEL_TEXT,
    Points,
    canvas,
    draw_k_plus,
    frame_log_log,
    inline_svg,
    legend_alone,
    say_empty,
    small_multiples,
    spread,
)
from anonhist.report.shown import LEVELS, Sheet, download, promised
from anonhist.report.wording import (
    bars_text,
    bound_of,
    exclusions,
    expected_error,
    interval,
    many,
    named_error,
    no_intervals,
    number_and_ends,
    promise_of,
    runs_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from anonhist.profiles.grouped import Group
    from anonhist.releases import Release, ReleaseError
    from anonhist.releases.grouped import GroupedRelease


@dataclass(frozen=True, eq=False)
class _Panels:
    """The k+ counts of several releases, and the scales that all panels share."""

    points: list[Points]
    right: float
    top: float
    # Low enough that the marks 0 and 1 stay apart in a small figure.
    floor: float

    @classmethod
    def of(cls, releases: Iterable[Release]) -> _Panels:
        """Take the points from the releases."""
        points = [Points.at_least(each) for each in releases]
        right = max((1.25 * float(each.at[-1]) for each in points if each.at.size), default=1.0)
        top = max((float(each.high.max(initial=1)) for each in points), default=1.0)
        return cls(points, right, top, min(0.4, top**-0.17))

    @property
    def has_lines(self) -> bool:
        """Whether there is anything to draw."""
        return any(each.at.size for each in self.points)

    def draw(self, axes: Axes, at: int) -> None:
        """Draw one release."""
        if not self.points[at].at.size:
            say_empty(axes, "no labels released")
            return
        draw_k_plus(axes, self.points[at], floor=self.floor)
        frame_log_log(axes, right=self.right, top=self.top, floor=self.floor)

    def panel(self, at: int) -> Figure:
        """Draw one release as a figure of its own; :meth:`key` names its lines."""
        figure, axes = canvas("", "", size=PANEL)
        axes.tick_params(which="both", labelsize=PANEL_TEXT)
        self.draw(axes, at)
        return figure

    def key(self) -> Figure:
        """Draw the legend of all panels."""
        first = next((at for at, each in enumerate(self.points) if each.at.size), 0)
        return legend_alone(lambda axes: self.draw(axes, first))


def groups_figure(release: GroupedRelease) -> Figure:
    """Draw how many labels occur at least k times in each group, to one scale: at most 24 groups, in their order."""
    (names, panels), words = _drawn(release), release.first.words
    return small_multiples(
        names,
        panels.draw,
        y_label=f"{words.labels} with at least this {words.count}",
        x_label=with_number(words.count, groups=len(release.everything)),
    )


def _drawn(release: GroupedRelease) -> tuple[list[str], _Panels]:
    """Return the names of the groups that are drawn, and their panels."""
    first = dict(islice(release.everything.items(), MOST_DRAWN))
    return [", ".join(row_names(group, release)) for group in first], _Panels.of(first.values())


def with_number(label: str, *, groups: int) -> str:
    """Return the name of the axis that all groups share and, if not all groups are drawn, how many are."""
    return label if groups <= MOST_DRAWN else f"{label} (the first {MOST_DRAWN} of {groups:,} groups)"


# The name of a grouping column of dates shows this, or its values do.
_NAMED = re.compile(r"(day|week|month)\(.+\)")
_VALUES = {"day": re.compile(r"\d{4}-\d{2}-\d{2}"), "month": re.compile(r"\d{4}-\d{2}")}


def active_person(release: GroupedRelease) -> str:
    """Say what the release costs somebody who is in every period; empty if no column has periods."""
    found = _periods(release)
    if found is None:
        return ""
    period, number = found
    unit, epsilon = release.guarantee.unit, release.guarantee.epsilon
    if unit.max_items is None and unit.max_count is None:
        return (
            f"The promise is for one item: somebody with an item {'on' if period == 'day' else 'in'} each of the "
            f"{many(number, period)} pays ε = {short_decimal(epsilon * number)} for these."
        )
    if unit.max_items is not None and not is_in_groups(unit):
        kept = f"with at most {many(unit.max_items, 'item')} in all groups together"
    else:
        kept = f"in at most {many(unit.groups, 'group')}"
    is_user = unit.max_items is not None
    one = f"{unit.one[0].upper()}{unit.one[1:]}"
    whose, it = (f"{one} who is active", "they count") if is_user else (f"{one} that occurs", "it counts")
    return (
        f"{whose} every {period} pays ε = {short_decimal(epsilon)} once, for the whole release, and not for each "
        f"{period}; {it} {kept}."
    )


def _periods(release: GroupedRelease) -> tuple[str, int] | None:
    """Return the period of the first grouping column with two periods or more, and their number; None without one."""
    for at, column in enumerate(release.by):
        names = {group[at] for group in release if group[at] is not None}
        said = _NAMED.fullmatch(column)
        alike = [period for period, form in _VALUES.items() if all(form.fullmatch(name or "") for name in names)]
        if len(names) > 1 and (said or alike):
            return (said[1] if said else alike[0]), len(names)
    return None


# As many columns of k+ counts as a phone can still scroll through.
_MOST_LEVELS = 4
MISSING = "(missing)"
ALL = "(all)"
NOISY = "*"
ALL_TOGETHER = "result for all groups together"


def names_of(group: Group) -> list[str]:
    """Return the names of a group, one for each grouping column."""
    return [MISSING if name is None else name for name in group]


def row_names(group: Group, release: GroupedRelease) -> list[str]:
    """Return a name for each grouping column, also for a total."""
    return names_of(group) + [ALL] * (len(release.by) - len(group))


def levels_for(release: GroupedRelease) -> list[int]:
    """Return a few thresholds above 1 that suit all groups: at least half of the groups have such counts.

    If counts were capped, the last threshold is the cap.
    """
    cap = release.guarantee.unit.max_count
    largest = cap or median(int(each.profile.counts[-1]) if len(each.profile) else 1 for each in release.values())
    levels = sorted({level for level in (*LEVELS, cap or 1) if 1 < level <= largest})
    return [levels[at] for at in spread(len(levels), _MOST_LEVELS)]


def cells_of(release: Release, levels: Sequence[int]) -> list[tuple[str, str]]:
    """Return a group's numbers, with intervals: items, labels, labels at the levels, and the expected error."""
    noisy = f"{NOISY} " if release.mostly_noise else ""
    return [
        (f"{noisy}{release.n:,}", interval(*release.num_items().interval)),
        *(number_and_ends(release.k_plus(k)) for k in (1, *levels)),
        (_error_of(release.error, vague=release.error_is_vague), ""),
    ]


def _error_of(error: ReleaseError, *, vague: bool) -> str:
    """Write an expected error; its range, if it is vague; a dash, if nothing was simulated."""
    if error.sorted_l1 is None or error.expected_range is None:
        return "–"
    return interval(*error.expected_range) if vague else f"{error.sorted_l1.value:,.0f}"


def heads_of(release: GroupedRelease) -> tuple[str, ...]:
    """Return the headings of a small table of groups."""
    words = release.first.words
    return *release.by, words.total, "95% interval", words.labels, "95% interval"


def row_of(group: Group, release: GroupedRelease, found: Release) -> list[str]:
    """Return a group's row in that table: how many items and labels it has."""
    return [*row_names(group, release), *number_and_ends(found.num_items()), *number_and_ends(found.k_plus(1))]


def how_found(release: GroupedRelease) -> str:
    """Say how the groups were found, if they were found in the data; empty for a public list."""
    if release.found_with is None:
        return ""
    epsilon, delta = release.found_with
    units = release.guarantee.unit.many
    return (
        f"The groups were found in the data, privately, with ε = {short_decimal(epsilon)} and δ ≤ {with_power(delta)} "
        f"of the whole budget. Only groups of many {units} are found: small groups are missing, and whether a group "
        "near the limit is here is a matter of chance."
    )


def how_added(release: GroupedRelease) -> str:
    """Say what totals count; empty if there are none."""
    if release.levels is None:
        return ""
    words = release.first.words
    if release.levels is Levels.NESTED:
        return (
            f"Totals are sums of the released groups, at no cost: all levels agree, and a {words.label} of several "
            "groups counts in each of them."
        )
    told = (
        f"Each level was released on its own, with a part of the budget: a {words.label} of several groups counts once "
        "in a total, and totals differ from the sums of their groups"
    )
    if not release.is_consistent:
        return f"{told}, also by noise."
    where = f"everything has at least as many {words.labels} as each group, and at most as many as all together"
    if Design(release.groups, release.guarantee.unit).has_one_table:
        where = "each total is at least each of its groups, and has as many items as these together"
    return (
        f"{told}. Then numbers were adjusted, at no cost, so that {where}. Intervals are those from before, stretched "
        "to hold the adjusted numbers."
    )


def not_covered(release: GroupedRelease) -> list[str]:
    """Return what the promise does not cover."""
    unit = release.guarantee.unit
    first, *others = exclusions(unit)
    before = [first]
    if release.order_key is None and unit.max_count is not None:
        before.append(f"A label in more than {unit.groups:,} groups: the data must have been limited to that before.")
    elif release.order_key is not None and unit.max_items is not None:
        # This program itself limited users: whatever they did is protected.
        before = []
    public = [] if release.found_with else ["Which groups there are: the list of groups is public."]
    together = f"What all {unit.many} of a small group have in common: the promise is for one {unit.called}."
    return [*before, *public, together, *others]


def cards_of(release: GroupedRelease) -> list[tuple[str, str]]:
    """Return the numbers that are shown first, each with its meaning."""
    guarantee, words = release.guarantee, release.first.words
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
                expected_error(typical),
                f"{words.total}: {named_error(typical, 'error of the profile of a typical group (sorted ℓ1)')}",
            ),
            (
                f"{noisy:,} of {len(release):,}",
                f"groups are mostly noise: at least a third of their {words.total} are expected to be wrong",
            ),
        ]
    return cards


def remarks_of(release: GroupedRelease, error: ReleaseError) -> list[str]:
    """Return sentences on what the numbers leave out, if anything; ``error`` is the error of a group."""
    bound = [sentence for _, sentence in bound_of(release)]
    return [each for each in (no_intervals(error), *bound, active_person(release)) if each]


# The most groups in a figure, and the most in a table; files have all groups.
MOST_DRAWN, MOST_LISTED = 24, 2_000


def write_groups(release: GroupedRelease, sheet: Sheet) -> None:
    """Write the page of a grouped release; errors are computed first if need be."""
    by = ", ".join(release.by)
    guarantee, first = release.guarantee, release.first
    named, panels = _drawn(release)
    depths = [len(release.by)] if release.levels is None else range(len(release.by) + 1)
    sheet.write_release(
        "anonhist.report/groups.html",
        release,
        headline="How often things occur in each group, without saying which things",
        subtitle=f"These are differentially private profiles of {many(len(release), 'group')} by {by}, under "
        "one promise.",
        cards=cards_of(release),
        promise=promised(
            guarantee,
            meaning=promise_of(release, result=ALL_TOGETHER),
            not_covered=not_covered(release),
        ),
        how=filter(None, [how_found(release), how_added(release)]),
        remarks=remarks_of(release, first.error),
        noisy=_noisy(release),
        words=first.words,
        levels=[f"{level:,}" for level in levels_for(release)],
        tables=[_table(release, depth) for depth in depths],
        download=download(release, rows=sum(len(each.profile) for each in release.everything.values())),
        drawn=first_drawn(len(release.everything)),
        key=inline_svg(panels.key, name="key", description="What lines and bands are") if panels.has_lines else "",
        panels=[(name, _panel(panels, at, name)) for at, name in enumerate(named)],
        bars=_how_to_read(first),
        runs=runs_text(*release.values(), of="profile of each group"),
    )


def _panel(panels: _Panels, at: int, name: str) -> Markup:
    return inline_svg(
        partial(panels.panel, at),
        name=f"group-{at}",
        description=f"Labels with at least a given count in {name}, both on log scales, with a 95% band",
        hover=panels.points[at].hover,
    )


def _table(release: GroupedRelease, depth: int) -> dict[str, Any]:
    """Return the table of the level with ``depth`` grouping columns: rows of names and numbers, and what it omits."""
    groups, levels = release.level(depth), levels_for(release)
    by = release.by[: max(depth, 1)]
    more = len(groups) - MOST_LISTED
    return {
        "title": f"By {', '.join(by)}" if depth else "Everything together",
        "by": by,
        "rows": [
            (row_names(group, release)[: len(by)], cells_of(each, levels))
            for group, each in islice(groups.items(), MOST_LISTED)
        ],
        "more": many(more, "more group") if more > 0 else "",
    }


def first_drawn(groups: int) -> str:
    """Say which groups are drawn, if not all are."""
    if groups <= MOST_DRAWN:
        return ""
    more = groups - MOST_DRAWN
    return f"These are the first {MOST_DRAWN} groups, in the order of the table, which has {more:,} more."


def _noisy(release: GroupedRelease) -> str:
    if not any(each.mostly_noise for each in release.everything.values()):
        return ""
    total = release.first.words.total
    return f" Groups marked {NOISY} are mostly noise: at least a third of their {total} are expected to be wrong."


def _how_to_read(release: Release) -> str:
    if not release.error.has_k_plus_intervals:
        return bars_text(release.error, none="")
    return (
        "Bands are 95% intervals, as in the table. Where one reaches 0, the release cannot tell that number from "
        "none. Each is for its own number. Of many numbers about one in twenty is outside of its interval, so the "
        "largest and the smallest of many groups may be chance."
    )
