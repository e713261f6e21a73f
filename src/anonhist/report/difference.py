"""Two releases beside each other: what differs beyond noise, in words, in figures and on a page."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.privacy import short_decimal, warning
from anonhist.properties.estimate import Holds, format_number
from anonhist.properties.most_frequent import covered_share, log_grid
from anonhist.releases.difference import WHOLE
from anonhist.report.figures import (
    BLUE,
    SERIES,
    Hover,
    Points,
    add_legend,
    canvas,
    fitting,
    frame_log_log,
    inline_svg,
    mark_shares,
    say_empty,
    scale_across,
)
from anonhist.report.notebook import Cell
from anonhist.report.shown import Sheet, download, promised
from anonhist.report.wording import bound_of, many, plain_promise, promise_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from anonhist.properties.estimate import Estimate
    from anonhist.releases.difference import NumberDifference, ReleaseDifference

MARK = "*"
_SHARES = ("guessing", "simpson", "sample-coverage")
# Color and dashes each tell the two apart.
_STYLES: tuple[dict[str, Any], ...] = (
    {"color": BLUE, "linestyle": "-"},
    {"color": SERIES[2], "linestyle": (0, (5, 1.6))},
)
_BAND_ALPHA = 0.25
_POINTS = 300
_ABOUT = {"data": "The two data sets", "distribution": "The sources of the two samples"}
_NAMES = {
    "simpson": "chance that two items have one {label}",
    "entropy": "entropy, nats",
    "guessing": "share of the top {at}",
}
_OPTIONS = {
    "support-coverage": "{:,} draws",
    "work-factor": "share {}",
    "guesswork": "share {}",
    **dict.fromkeys(("hill-number", "renyi-entropy", "tsallis-entropy", "power-sum"), "q = {}"),
}
_OF_DATA = {"work-factor": "{labels} that hold half of the {total}"}


@dataclass(frozen=True)
class Row:
    """One number as people read it: texts, and whether it differs beyond noise."""

    what: str
    name: str
    first: str
    second: str
    difference: str
    ends: str
    together: str
    differs: bool

    @property
    def cells(self) -> tuple[str, ...]:
        """The texts, with a mark if the number differs."""
        mark = f" {MARK}" if self.differs else ""
        return self.name, self.first, self.second, self.difference, self.ends, f"{self.together}{mark}"

    @property
    def short_cells(self) -> tuple[str, ...]:
        """The same without the interval that holds with all others."""
        return *self.cells[:4], f"{self.ends}{f' {MARK}' if self.differs else ''}"


def heads(found: ReleaseDifference) -> tuple[str, ...]:
    """Return the headings of a table of rows."""
    return "number", *found.names, "difference", "95% interval", "95%, all at once"


def rows_of(found: ReleaseDifference) -> list[Row]:
    """Write all numbers."""
    return [_row(found, row) for row in found.rows]


def _row(found: ReleaseDifference, row: NumberDifference) -> Row:
    write = _number_text(row)
    value = write(row.difference.value)
    return Row(
        row.key.what,
        title_of(found, row),
        write(row.first.value),
        write(row.second.value),
        value if value.startswith("−") or row.difference.value == 0 else f"+{value}",
        _ends_text(row, row.difference.interval),
        _ends_text(row, row.together),
        row.differs,
    )


def title_of(found: ReleaseDifference, row: NumberDifference) -> str:
    """Name one number."""
    words, (what, at) = found.first.words, row.key
    if what == "zeros":
        return words.exactly.format(0)
    if what in ("k-plus", "prevalence"):
        text = words.at_least if what == "k-plus" else words.exactly
        return text.format(f"{at:,.0f}").replace(" 1 items", " 1 item")
    if what in ("items", "labels"):
        return words.total if what == "items" else words.labels
    told = {"label": words.label, "labels": words.labels, "total": words.total, "at": f"{at or 0:,.0f}"}
    named = {**_NAMES, **(_OF_DATA if found.of == "data" else {})}
    if what in named:
        return named[what].format(**told)
    # As the table of all estimates names them.
    return what if at is None else f"{what}, {_OPTIONS.get(what, '{}').format(at)}"


def _number_text(row: NumberDifference) -> Callable[[float], str]:
    """Return how to write a number of this row: whole, in percent, or with the digits that its interval leaves."""
    if row.key.what in WHOLE or (row.key.what == "work-factor" and row.first.unit == "labels"):
        return lambda value: _signed(f"{value:,.0f}")
    scale, unit = (100.0, "%") if row.key.what in _SHARES else (1.0, "")
    low, high = row.difference.interval
    width = scale * (high - low)
    places = min(max(1 - math.floor(math.log10(width)), 1), 9) if 0 < width < math.inf else None
    if places is not None and row.differs:
        # An end beside 0 must not be written as 0.
        nearest = scale * min(map(abs, row.together))
        places = min(max(places, -math.floor(math.log10(nearest))), 12)

    def write(value: float) -> str:
        if places is None:
            return _signed(format_number(scale * value, digits=4)) + unit
        return _signed(f"{scale * value:,.{places}f}") + unit

    return write


def _signed(text: str) -> str:
    return f"−{text[1:]}" if text.startswith("-") and text.strip("-0.,%") else text.removeprefix("-")


def _ends_text(row: NumberDifference, ends: tuple[float, float]) -> str:
    """Write those ends that hold."""
    holds = row.difference.statement.holds
    if holds is Holds.NONE:
        return "none"
    write = _number_text(row)
    low, high = map(write, ends)
    if holds is Holds.BOTH:
        return f"{low} to {high}"
    return f"{holds.value} {low if holds is Holds.AT_LEAST else high}"


def groups_of(found: ReleaseDifference) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Return the rows for a page, those of one kind together under a title, with short names."""
    words = found.first.words
    titles = {
        "k-plus": f"{words.labels} with this {words.count} or a larger one",
        "prevalence": f"{words.labels} with exactly this {words.count}",
        "guessing": f"share of all {words.total} that so many most frequent {words.labels} hold",
    }
    listed: dict[str, list[tuple[str, ...]]] = {}
    for row, shown in zip(found.rows, rows_of(found), strict=True):
        at = f"{row.key.at or 0:,.0f}"
        name = f"{at} or more" if row.key.what == "k-plus" else at if row.key.what in titles else shown.name
        what = "sizes" if row.key.what in ("items", "labels", "zeros") else "properties"
        listed.setdefault(titles.get(row.key.what, what), []).append((name, *shown.cells[1:]))
    return list(listed.items())


def summary(found: ReleaseDifference) -> str:
    """Say in one sentence whether the two differ."""
    number, of = len(found.differing), found.comparisons
    if not of:
        return "No number has an interval in both releases, so nothing can be said about a difference."
    if not number:
        return f"{_about(found)} show no difference beyond noise in any of {many(of, 'number')}."
    differ = f"differ beyond noise in {number:,} of {many(of, 'number')}"
    return f"{_about(found)} {differ}, all at once with 95% confidence."


def _about(found: ReleaseDifference) -> str:
    return "The rows, as each release counted them," if found.why_as_counted else _ABOUT[found.of]


def notes(found: ReleaseDifference) -> list[str]:
    """Say what the statement does not cover, why intervals are missing, and what else to know."""
    said = [found.caveat]
    for name, each in zip(found.names, (found.first, found.second), strict=True):
        if each.mostly_noise:
            said.append(f"{name} is mostly noise: its data may be much smaller.")
    without: dict[str, int] = {}
    for row in found.rows:
        if not row.has_interval:
            without[row.difference.statement.reason] = without.get(row.difference.statement.reason, 0) + 1
    said += [f"{many(number, 'number')} without an interval: {reason}." for reason, number in without.items()]
    pair = found.first, found.second
    if found.first.where != found.second.where:
        counted = ["all rows" if each.where is None else f"rows where {each.where}" for each in pair]
        said.append(f"{found.names[0]} counted {counted[0]}; {found.names[1]} counted {counted[1]}.")
    return said


def privacy(found: ReleaseDifference) -> str:
    """Say what both releases together promise."""
    both, each = found.guarantee, [release.guarantee for release in (found.first, found.second)]
    parts = " + ".join(short_decimal(one.epsilon) for one in each)
    delta = ", and so do their δ" if both.delta else ""
    return (
        f"For anybody in both, the budgets add up: ε = {parts} = {short_decimal(both.epsilon)}{delta}. "
        f"{plain_promise(both, result='pair of results')} Comparing costs nothing more."
    )


def facts(found: ReleaseDifference) -> list[tuple[str, str]]:
    """Return names and sentences that say what the comparison rests on."""
    how = (
        "Each difference is the second number minus the first, with a 95% interval by MOVER (Zou and Donner 2008) from "
        f"the intervals of both. {MARK} marks those that differ by wider intervals, which hold for all "
        f"{found.comparisons:,} at once."
    )
    warned = [("Warning", said) for name, said in promise_lines(found.guarantee) if name == "Warning"]
    bound = [fact for fact in bound_of(found) if fact[0] != "Rows"]
    return [("How to read it", how), ("Privacy of both", privacy(found)), *warned, *bound]


def overlay_figure(found: ReleaseDifference) -> Figure:
    """Draw how many labels of each release occur at least k times, on log scales, with 95% bands."""
    words = found.first.words
    figure, axes = canvas(f"{words.labels} with at least this {words.count}", words.count)
    points = [Points.at_least(each) for each in (found.first, found.second)]
    if not any(each.at.size for each in points):
        say_empty(axes, "both released profiles are empty")
        return figure
    top = max(float(each.high.max(initial=1)) for each in points)
    right = 1.25 * max(float(each.at.max(initial=1)) for each in points)
    floor = float(min(0.5, top**-0.09))
    for each, name, style in zip(points, found.names, _STYLES, strict=True):
        if each.at.size:
            _steps(axes, each, _short(name), style, right=right, floor=floor)
    frame_log_log(axes, right=right, top=top, floor=floor)
    add_legend(axes, handle_length=2.4)
    return figure


def _short(name: str) -> str:
    return fitting(name, widest=110.0, size=9.5, longest=28)


def _steps(axes: Axes, points: Points, name: str, style: dict[str, Any], *, right: float, floor: float) -> None:
    """Draw the steps of one release in their band; beyond its largest count there are no labels."""
    ends = np.append(points.at, right)
    middle, low, high = (
        np.maximum(np.append(each, each[-1:]), floor) for each in (points.value, points.low, points.high)
    )
    if points.is_known:
        axes.fill_between(ends, low, high, step="post", color=style["color"], alpha=_BAND_ALPHA, linewidth=0)
    axes.step(ends, middle, where="post", linewidth=1.6, label=name, **style)


def guessing_figure(found: ReleaseDifference) -> Figure:
    """Draw the share of items that the β most frequent labels hold, for both, with 95% bands."""
    words = found.first.words
    figure, axes = canvas(f"share of {words.total}", f"most frequent {words.labels}")
    rows = [row for row in found.rows if row.key.what == "guessing"]
    at = [float(row.key.at or 1) for row in rows]
    most = max(each.profile.num_labels for each in (found.first, found.second))
    marks = np.array(log_grid(max(most, 2), points=_POINTS))
    for place, (name, style) in enumerate(zip(found.names, _STYLES, strict=True)):
        release = (found.first, found.second)[place]
        numbers: list[Estimate] = [(row.first, row.second)[place] for row in rows]
        if numbers[0].statement.holds is Holds.BOTH:
            where, (low, high) = (
                (marks, release.covered_share(marks))
                if found.of == "data"
                else (at, np.array([each.interval for each in numbers]).T)
            )
            axes.fill_between(where, low, high, color=style["color"], alpha=_BAND_ALPHA, linewidth=0)
        axes.plot(marks, covered_share(release.profile, marks), linewidth=1.6, label=_short(name), **style)
    mark_shares(axes)
    scale_across(axes, max(2.5, 1.25 * float(marks[-1])))
    add_legend(axes, handle_length=2.4)
    return figure


def _hover(found: ReleaseDifference, what: str) -> Hover:
    """Return the texts of the rows of one kind, by their place."""
    rows = [row for row in found.rows if row.key.what == what]
    texts = []
    for row in rows:
        shown = _row(found, row)
        values = "; ".join(
            f"{name} {value}" for name, value in zip(found.names, (shown.first, shown.second), strict=True)
        )
        texts.append(f"{shown.name}: {values}\ndifference {shown.difference}; 95% interval {shown.ends}")
    return Hover([float(row.key.at or 1) for row in rows], texts)


def write_difference(found: ReleaseDifference, sheet: Sheet) -> None:
    """Write the page of a difference: the statement, both curves, then all numbers."""
    words = found.first.words
    first, second = found.names
    # The subtitle names the data of both.
    replace(sheet, data_name=None).write(
        "anonhist.report/difference.html",
        headline="What differs between two releases",
        subtitle=f"{second} minus {first}, beyond the noise of both.",
        warning=warning(found.guarantee.epsilon),
        statement=summary(found),
        cards=_cards(found),
        notes=notes(found),
        plots=[
            (
                inline_svg(
                    lambda: overlay_figure(found),
                    name="overlay",
                    description=f"How many {words.labels} occur at least k times in {first} and {second}, with bands",
                    hover=_hover(found, "k-plus"),
                ),
                f"{words.labels} with at least this {words.count}, in both releases.".capitalize(),
            ),
            (
                inline_svg(
                    lambda: guessing_figure(found),
                    name="guessing",
                    description=f"Share of {words.total} of the most frequent {words.labels}, in both, with bands",
                    hover=_hover(found, "guessing"),
                ),
                f"Share of all {words.total} that the most frequent {words.labels} hold.",
            ),
        ],
        heads=heads(found),
        groups=groups_of(found),
        download=download(found, rows=len(found)),
        promise=promised(found.guarantee),
        privacy=privacy(found),
        facts=[fact for fact in facts(found) if fact[0] not in ("Warning", "Privacy of both")],
    )


def _cards(found: ReleaseDifference) -> list[tuple[str, str]]:
    """Return the first two numbers with an interval, and the budgets."""
    shown = [_row(found, row) for row in found.rows if row.difference.statement.holds is Holds.BOTH][:2]
    cards = [(row.difference, f"{row.name}: {row.first} and {row.second}; 95% interval {row.ends}") for row in shown]
    return [*cards, (f"ε = {short_decimal(found.guarantee.epsilon)}", "spent on both releases together")]


def difference_cell(found: ReleaseDifference) -> Cell:
    """Return the cell of a difference."""
    return Cell(
        title=summary(found),
        head=heads(found),
        rows=[row.cells for row in rows_of(found)],
        told=[*(("Note", note) for note in notes(found)), *facts(found)],
        figure=lambda: overlay_figure(found),
    )
