"""One self-contained HTML page about a release of cumulative windows."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.privacy import short_decimal
from anonhist.properties.estimate import format_number
from anonhist.report.figures import (
    PANEL,
    PANEL_TEXT,
    SERIES,
    Hover,
    add_legend,
    canvas,
    inline_svg,
    legend_alone,
    name_marks,
    short,
    small_multiples,
    spread,
)
from anonhist.report.groups import MOST_DRAWN, MOST_LISTED, first_drawn, names_of, with_number
from anonhist.report.shown import Sheet, download, promised
from anonhist.report.wording import bound_of, exclusions, interval, many, number_and_ends, promise_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease

ALL_DAYS = "result for all days together"
ALL_TOGETHER = "result for all groups and days together"
READING = (
    "Each line is how many labels had at least so many items since the first day; its band is the 95% interval of "
    "each day. Lines never fall and never cross: where noise would make them, they are flat. Each interval is for its "
    "own number; of many numbers about one in twenty is outside of its interval."
)


def told_of(release: CumulativeRelease) -> str:
    """Say what was released, without a full stop."""
    *others, last = (f"{k:,}" for k in release.thresholds)
    named = f"{', '.join(others)} or {last}" if others else last
    ends = many(len(release.days), "day" if len(release.days[0]) > len("2026-11") else "month")
    items = "item" if named == "1" else "items"
    return f"{labels_of(release)} with {named} {items} or more since {release.days[0]}, at the end of each of {ends}"


def told_of_groups(release: GroupedCumulativeRelease) -> str:
    """Say what was released for all groups, without a full stop."""
    return f"{told_of(release.first)}, in each of {many(len(release), 'group')} by {', '.join(release.by)}"


def shown_days(release: CumulativeRelease, most: int) -> list[str]:
    """Return at most ``most`` of the days, evenly spread, including the last."""
    return [release.days[at] for at in spread(len(release.days), most)]


def _reached(release: CumulativeRelease) -> tuple[str, str]:
    """Return the noun and the pronoun for labels: they are people if a label is the unit of protection."""
    unit = release.guarantee.unit
    return (unit.many if unit.name else "people", "who") if unit.max_count is not None else ("labels", "which")


def labels_of(release: CumulativeRelease) -> str:
    """Return the noun for labels in sentences."""
    unit = release.guarantee.unit
    return unit.many if unit.max_count is not None else "labels"


def cells_of(release: CumulativeRelease, day: str) -> list[str]:
    """Return each threshold's number on a day, with its interval."""
    return ["{} ({})".format(*number_and_ends(release[day, k])) for k in release.thresholds]


def heads_of(release: CumulativeRelease) -> list[str]:
    """Return the headings of a table of days."""
    return ["day", *(f"{k:,} or more" for k in release.thresholds)]


def cards_of(release: CumulativeRelease) -> list[tuple[str, str]]:
    """Return the numbers that are shown first, each with its meaning: the last day, and the budget."""
    guarantee, last = release.guarantee, release.days[-1]
    cards = []
    for k in dict.fromkeys((release.thresholds[0], release.thresholds[-1])):
        found = release[last, k]
        items = "item" if k == 1 else "items"
        reached = f"{labels_of(release)} with {k:,} {items} or more by the end of {last}"
        told = f"{reached}; 95% interval {interval(*found.interval)}"
        cards.append((f"{found.value:,.0f}", told))
    largest = float(release.mechanism.standard_errors.max())
    return [
        *cards,
        (
            f"± {format_number(largest, digits=3)}",
            f"{labels_of(release)}: the largest standard error of a number, known before the data were read",
        ),
        (
            f"ε = {short_decimal(guarantee.epsilon)}",
            f"the whole privacy budget, for all days together and for {guarantee.unit}",
        ),
    ]


def cards_of_groups(release: GroupedCumulativeRelease) -> list[tuple[str, str]]:
    """Return the numbers that are shown first for several groups."""
    *_, largest, (budget, _) = cards_of(release.first)
    return [
        (f"{len(release):,}", f"{'group' if len(release) == 1 else 'groups'} by {', '.join(release.by)}"),
        largest,
        (budget, f"the whole privacy budget, for all groups and days together and for {release.guarantee.unit}"),
    ]


def not_covered(release: CumulativeRelease, *, with_groups: bool = False) -> list[str]:
    """Return what the promise does not cover; ``with_groups`` if the release is one of several groups."""
    first, *others = exclusions(release.guarantee.unit)
    # This program itself limited users: whatever they did is protected.
    before = [] if release.order_key is not None else [first]
    listed = "Which groups, days and thresholds" if with_groups else "Which days and thresholds"
    public = f"{listed} there are: they are public."
    live = "A release of more days later, or of each day as it ends: this is one release, whose noise was drawn once."
    return [*before, public, live, *others]


def remarks_of(release: CumulativeRelease) -> list[str]:
    """Return sentences on what the numbers leave out, if anything."""
    return [sentence for _, sentence in bound_of(release)]


# Nobody can tell more curves apart.
MOST_CURVES = 6
_DASHES = ("-", "--", "-.", ":")
# Long enough for dashes to differ.
_HANDLE = 2.2
# Names of days are cut to the length of a date with its time; 40 characters have room across.
_LONGEST_DAY, _ACROSS = 19, 40


def drawn_thresholds(release: CumulativeRelease) -> list[int]:
    """Return at most six of the thresholds, evenly spread, including the first and the last."""
    return [release.thresholds[at] for at in spread(len(release.thresholds), MOST_CURVES)]


def windows_figure(release: CumulativeRelease) -> Figure:
    """Draw how many labels have reached each threshold, against the days, with 95% bands."""
    figure, axes = canvas(f"{labels_of(release)} so far", "")
    _draw(axes, release, top=int(release.highs.max()), across=_ACROSS)
    add_legend(axes, handle_length=_HANDLE)
    return figure


def windows_panel(release: CumulativeRelease, *, top: int) -> Figure:
    """Draw a small version, which shares a scale up to ``top`` with others; :func:`windows_key` names its lines."""
    figure, axes = canvas("", "", size=PANEL)
    _draw(axes, release, top=top, across=_ACROSS // 2)
    axes.tick_params(which="both", labelsize=PANEL_TEXT)
    return figure


def windows_key(release: CumulativeRelease) -> Figure:
    """Draw the legend of all panels, a figure without axes."""
    return legend_alone(lambda axes: _draw(axes, release, top=1, across=0), handle_length=_HANDLE)


def window_groups_figure(release: GroupedCumulativeRelease) -> Figure:
    """Draw each group's curves, all to one scale: at most 24 groups, in their order."""
    names, shown, top = _drawn(release)
    return small_multiples(
        names,
        lambda axes, at: _draw(axes, shown[at], top=top, across=_ACROSS // 2),
        y_label=f"{labels_of(release.first)} so far",
        x_label=with_number("", groups=len(release)),
        handle_length=_HANDLE,
    )


def _drawn(release: GroupedCumulativeRelease) -> tuple[list[str], list[CumulativeRelease], int]:
    """Return the names of the drawn groups, their releases, and the largest upper end of all intervals."""
    drawn = dict(islice(release.items(), MOST_DRAWN))
    top = max(int(each.highs.max()) for each in drawn.values())
    return [", ".join(names_of(group)) for group in drawn], [*drawn.values()], top


def _draw(axes: Axes, release: CumulativeRelease, *, top: int, across: int) -> None:
    at = np.arange(len(release.days))
    for place, k in enumerate(drawn_thresholds(release)):
        row = release.thresholds.index(k)
        color, dashes = SERIES[1 + place], _DASHES[place % len(_DASHES)]
        low, high = release.lows[row], release.highs[row]
        if len(at) > 1:
            axes.fill_between(at, low, high, color=color, alpha=0.2, linewidth=0)
            axes.plot(at, release.values[row], dashes, color=color, linewidth=1.6, label=f"{k:,} or more")
        else:
            axes.vlines(at, low, high, color=color, alpha=0.4, linewidth=3)
            axes.plot(at, release.values[row], "o", color=color, label=f"{k:,} or more")
    axes.set_ylim(0, 1.05 * max(1, top))
    name_marks(axes.yaxis, max(1, top))
    days = [short(day, _LONGEST_DAY) for day in release.days]
    named = spread(at.size, max(2, across // max(map(len, days))))
    axes.set_xticks(named, [days[place] for place in named], parse_math=False)


# The most days in a table, and the most with a text under the pointer; files have all days.
_ROWS, _STRIPS = 62, 400


def write_windows(release: CumulativeRelease, sheet: Sheet) -> None:
    """Write the page of a release of cumulative windows."""
    guarantee, (people, which) = release.guarantee, _reached(release)
    left = len(release.thresholds) - len(drawn_thresholds(release))
    caption = "How many labels had so many items or more by the end of each day, with 95% bands"
    sheet.write_release(
        "anonhist.report/windows.html",
        release,
        headline=f"How many {people} have been reached so far, day after day, without saying {which}",
        subtitle=f"This differentially private release counts {told_of(release)}.",
        cards=cards_of(release),
        promise=promised(guarantee, meaning=promise_of(release, result=ALL_DAYS), not_covered=not_covered(release)),
        remarks=remarks_of(release),
        labels=labels_of(release),
        plot=inline_svg(
            lambda: windows_figure(release),
            name="windows",
            description=caption,
            hover=hover_of(release),
        ),
        caption=f"{caption}{f'; {left} more thresholds are in the table' if left else ''}.",
        reading=READING,
        heads=heads_of(release),
        **_days(release),
        download=download(release, rows=release.values.size),
    )


def hover_of(release: CumulativeRelease) -> Hover:
    """Return the texts that days show under the pointer."""
    places, texts = spread(len(release.days), _STRIPS), []
    for day in (release.days[at] for at in places):
        cells = zip(release.thresholds, cells_of(release, day), strict=True)
        texts.append(f"{day}: {'; '.join(f'{k:,} or more: {cell}' for k, cell in cells)}")
    return Hover(places, texts)


def _days(release: CumulativeRelease) -> dict[str, Any]:
    """Return rows of days and their numbers, and how many more days there are."""
    listed = shown_days(release, _ROWS)
    more = len(release.days) - len(listed)
    return {
        "days": [(day, cells_of(release, day)) for day in listed],
        "more": f"Files of the release have {many(more, 'more day')}." if more > 0 else "",
    }


def write_window_groups(release: GroupedCumulativeRelease, sheet: Sheet) -> None:
    """Write the page of a release of cumulative windows by group."""
    guarantee, first, last = release.guarantee, release.first, release.days[-1]
    people, which = _reached(first)
    names, drawn, top = _drawn(release)
    left = len(release) - MOST_LISTED
    sheet.write_release(
        "anonhist.report/windows-groups.html",
        release,
        headline=f"How many {people} have been reached so far in each group, day after day, without saying {which}",
        subtitle=f"This differentially private release counts {told_of_groups(release)}.",
        cards=cards_of_groups(release),
        promise=promised(
            guarantee,
            meaning=promise_of(release, result=ALL_TOGETHER),
            not_covered=not_covered(first, with_groups=True),
        ),
        remarks=remarks_of(first),
        labels=labels_of(first),
        last=last,
        by=release.by,
        heads=heads_of(first),
        rows=[(names_of(group), cells_of(each, last)) for group, each in islice(release.items(), MOST_LISTED)],
        left=many(left, "more group") if left > 0 else "",
        download=download(release, rows=len(release) * first.values.size),
        drawn=first_drawn(len(release)),
        key=inline_svg(partial(windows_key, first), name="key", description="The lines, one for each threshold"),
        panels=[_panel(at, name, each, top) for at, (name, each) in enumerate(zip(names, drawn, strict=True))],
        reading=READING,
    )


def _panel(at: int, name: str, release: CumulativeRelease, top: int) -> dict[str, Any]:
    plot = inline_svg(
        partial(windows_panel, release, top=top),
        name=f"group-{at}",
        description=f"Labels with so many items or more by the end of each day in {name}, with 95% bands",
        hover=hover_of(release),
    )
    return {"name": name, "plot": plot, **_days(release)}
