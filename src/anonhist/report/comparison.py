"""One self-contained HTML page about mechanisms side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from anonhist.errors import spell_out
from anonhist.mechanisms import MECHANISM_NAMES, METRICS, Comparison, ComparisonRow, Metric
from anonhist.mechanisms.comparison import NOT_PRIVATE
from anonhist.privacy import NeighboringRelation, short_decimal
from anonhist.properties.estimate import format_number
from anonhist.report.figures import SERIES, Hover, add_legend, canvas, inline_svg
from anonhist.report.shown import Sheet, download
from anonhist.report.wording import many, with_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


MARK = " *"
HOW_TO_READ = (
    "± is the standard error of the mean. * marks the lowest mean and every mean at most two "
    "standard errors of the difference above it."
)


def units() -> dict[str, str]:
    """Return the unit in which people read each metric: shares are read in percent."""
    return {metric.name: metric.unit.replace("share", "%") for metric in METRICS}


def scale(metric: str) -> float:
    """Return the factor that converts a metric to that unit."""
    return 100.0 if units()[metric].startswith("%") else 1.0


def cell(comparison: Comparison, mechanism: str, epsilon: Fraction, metric: str) -> str:
    """Write one mean with its standard error, marked if it is among the best."""
    row = comparison.row(mechanism, epsilon, metric)
    if row is None:
        return "–"
    return mean_text(row) + (MARK if mechanism in comparison.best(epsilon, metric) else "")


def mean_text(row: ComparisonRow) -> str:
    """Write a mean and its standard error in the unit in which people read it."""
    factor = scale(row.metric)
    return with_error(factor * row.mean, factor * row.standard_error)


def ranking(comparison: Comparison, epsilon: Fraction, metric: Metric) -> str:
    """Write the means at one epsilon, one per line, the lowest first."""
    rows = [row for row in comparison.rows if (row.epsilon, row.metric) == (epsilon, metric.name)]
    lines = [f"{row.mechanism}: {mean_text(row)}" for row in sorted(rows, key=lambda row: row.mean)]
    return "\n".join([f"ε = {short_decimal(epsilon)}, {metric.title}, in {units()[metric.name]}", *lines])


def advice(comparison: Comparison) -> str:
    """Say which mechanism to use: auto wherever no other errs measurably less, else the one that errs least.

    It says nothing if there is only one mechanism: it was compared with no other.
    """
    if len(comparison.mechanisms) == 1:
        return ""
    metric = METRICS[0]
    at: dict[str, list[Fraction]] = {}
    for epsilon in sorted(comparison.epsilons):
        best = comparison.best(epsilon, metric.name)
        rows = [row for row in comparison.rows if (row.epsilon, row.metric) == (epsilon, metric.name)]
        least = min(rows, key=lambda row: row.mean).mechanism
        at.setdefault("auto" if "auto" in best else least, []).append(epsilon)
    why = "its error is the lowest {} (" + metric.title[:1].lower() + metric.title[1:] + "), or not measurably higher."
    if len(at) == 1:
        return f"Use {next(iter(at))}: {why.format('at every epsilon here')}"
    each = "; ".join(f"{name} at {_list(epsilons)}" for name, epsilons in at.items())
    return f"Use {each}. For each, {why.format('there')}"


def basis(comparison: Comparison) -> str:
    """Say on which data mechanisms were compared, and how often."""
    return (
        f"Compared on {many(comparison.items, 'item')} of {many(comparison.labels, 'label')}, with "
        f"{comparison.repeats} releases per mechanism and epsilon; each protects {comparison.unit}, "
        f"{change(comparison)}."
    )


def change(comparison: Comparison) -> str:
    """Name the change that a release hides."""
    return "replaced by another" if (comparison.relation is NeighboringRelation.SUBSTITUTE) else "added or removed"


def notes(comparison: Comparison) -> list[str]:
    """Say what auto picked, what was taken from the data, and what was skipped, with parameters in backticks."""
    said = []
    picked: dict[str, list[Fraction]] = {}
    for epsilon, name in comparison.picked:
        picked.setdefault(name, []).append(epsilon)
    if picked:
        said.append(f"auto picked {'; '.join(f'{name} at {_list(at)}' for name, at in picked.items())}.")
    if comparison.taken:
        numbers = ", ".join(f"`{name}` = {number:,}" for name, number in comparison.taken)
        said.append(
            f"Taken from the data: {numbers}. For a release, use numbers that are known without looking at the data."
        )
    said.extend(f"Skipped {each.mechanism} at {_list(each.epsilons)}: {each.sentence}" for each in comparison.skipped)
    return said


def _list(epsilons: Sequence[Fraction]) -> str:
    return f"epsilon {', '.join(map(short_decimal, epsilons))}"


# Mark, dashes and color each tell mechanisms apart; auto is a ring around its pick.
_MARKS = ("s", ".", "^", "D", "v", "X", "P", "*")
_DASHES = (
    *("-", (0, (5, 2)), (0, (1, 1.5)), "-."),
    *((0, (7, 1.5, 1, 1.5, 1, 1.5)), (0, (2, 3)), (0, (3, 1, 1, 1)), (0, (4, 1))),
)
_RING, _MARK_SIZE = 9.0, 5.5


def comparison_figure(comparison: Comparison, metric: Metric = METRICS[0], *, legend: bool = True) -> Figure:
    """Draw the mean of a metric against epsilon, a line per mechanism, with bars of ± two standard errors.

    A mean of zero, which a log scale does not show, is drawn at the bottom and marked 0.
    """
    figure, axes = canvas(f"{metric.title}, in {units()[metric.name]}", "epsilon", size=(4.6, 4.4 if legend else 3.3))
    factor = scale(metric.name)
    rows = [row for row in comparison.rows if row.metric == metric.name]
    ends = [(factor * row.mean, 2 * factor * row.standard_error) for row in rows if row.mean > 0]
    # A bar can reach down to zero and below, so it is cut at a third of its mean.
    low = min((max(mean - bar, mean / 3) for mean, bar in ends), default=1.0)
    high = max((mean + bar for mean, bar in ends), default=1.0)
    foot = low / 2 if len(ends) < len(rows) else low
    axes.set_xscale("log")
    axes.set_yscale("log")
    for name in comparison.mechanisms:
        own = [row for row in rows if row.mechanism == name]
        points = sorted((float(row.epsilon), factor * row.mean, 2 * factor * row.standard_error) for row in own)
        _draw(axes, name, points, foot)
    margin = (high / foot) ** 0.06 * 1.1
    axes.set_ylim(foot / margin, high * margin)
    _mark_powers(axes.yaxis, foot / margin, high * margin, zero=foot if foot < low else None)
    _mark_budgets(axes, comparison)
    if legend:
        add_legend(axes, handle_length=3.2)
    return figure


def line_style(place: int) -> dict[str, Any]:
    """Return the style, the same in all figures, of the mechanism at this place of a list that begins with auto.

    The first eight mechanisms differ in mark, in dashes and in color; the first 64 in the pair of mark and dashes.
    """
    if place == 0:
        ring = {"marker": "o", "markersize": _RING, "markerfacecolor": "none", "markeredgewidth": 1.2}
        return {**ring, "linestyle": "", "color": SERIES[0]}
    again, turn = divmod(place - 1, len(_MARKS))
    mark, color = _MARKS[turn], SERIES[1 + (turn + again) % (len(SERIES) - 1)]
    size = 2 * _MARK_SIZE if mark == "." else _MARK_SIZE
    filled = {"marker": mark, "markersize": size, "markerfacecolor": color, "markeredgewidth": 0.0}
    return {**filled, "linestyle": _DASHES[(turn + again) % len(_DASHES)], "color": color}


def _draw(axes: Axes, name: str, points: Sequence[tuple[float, float, float]], foot: float) -> None:
    style = line_style(MECHANISM_NAMES.index(name))
    budgets = [budget for budget, _, _ in points]
    means = [max(mean, foot) for _, mean, _ in points]
    lows = [max(mean - bar, foot) for _, mean, bar in points]
    highs = [max(mean + bar, foot) for _, mean, bar in points]
    axes.vlines(budgets, lows, highs, color=style["color"], linewidth=1.0)
    axes.plot(budgets, means, linewidth=1.3, label=name, **style)


def _mark_powers(axis: Axis, low: float, high: float, *, zero: float | None) -> None:
    """Mark powers of ten on a log axis, some six at most, or other round numbers if there are few."""
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    # All are written out, or none.
    is_plain = all(abs(power) <= _MOST_ZEROS for power in powers)
    marks = [(10.0**power, _power_text(power, is_plain)) for power in powers if power % -(-len(powers) // 6) == 0]
    if len(powers) < 2:
        marks = _digits(low, high)
    if zero is not None:
        marks = [(zero, "0"), *(mark for mark in marks if mark[0] > 1.5 * zero)]
    axis.set_ticks([mark for mark, _ in marks], [name for _, name in marks])
    axis.set_ticks([], minor=True)


def _digits(low: float, high: float) -> list[tuple[float, str]]:
    """Return numbers of one digit and zeros between two close ends, or of two digits if those are few."""
    least = math.floor(math.log10(low))
    for digits in ((1, 2, 5), range(1, 10), [tenth / 10 for tenth in range(10, 100)]):
        marks = [digit * 10.0**power for power in (least, least + 1) for digit in digits]
        inside = [mark for mark in marks if low <= mark <= high]
        if len(inside) > 1:
            break
    return [(mark, format_number(mark, digits=6)) for mark in inside]


_MOST_ZEROS = 7


def _power_text(power: int, is_plain: bool) -> str:  # noqa: FBT001
    return f"{10.0**power:,.{max(0, -power)}f}" if is_plain else f"$10^{{{power}}}$"


def _mark_budgets(axes: Axes, comparison: Comparison) -> None:
    """Mark the budgets themselves."""
    budgets = sorted(comparison.epsilons)
    left, right = math.log(budgets[0]), math.log(budgets[-1])
    room = max(0.1 * (right - left), 0.3)
    axes.set_xlim(math.exp(left - room), math.exp(right + room))
    names = [
        short_decimal(budget) if len(short_decimal(budget)) <= 6 else format_number(float(budget), digits=3)
        for budget in budgets
    ]
    axes.set_xticks([float(budget) for budget in budgets], names)
    axes.set_xticks([], minor=True)


def write_comparison(comparison: Comparison, sheet: Sheet) -> None:
    """Write a page with the errors of each mechanism against ε: what to use, then plots, then numbers.

    It reveals as much about the data as the comparison does. It says so first, unless that was made from a release.
    """
    subtitle = "Real releases were compared with the data that they were made from."
    first, *others = METRICS
    sheet.write(
        "anonhist.report/comparison.html",
        headline="Mechanisms side by side",
        subtitle=subtitle,
        warning="" if comparison.of_release else NOT_PRIVATE,
        advice=advice(comparison),
        cards=_cards(comparison),
        notes=[spell_out(each, _in_words) for each in notes(comparison)],
        repeats=f"{comparison.repeats:,}",
        how_to_read=HOW_TO_READ,
        heads=[f"ε = {short_decimal(epsilon)}" for epsilon in comparison.epsilons],
        first=_metric(comparison, first, legend=True),
        others=[_metric(comparison, metric, legend=False) for metric in others],
        download=download(comparison, rows=len(comparison.rows)),
    )


def _in_words(name: str, value: str | None) -> str:
    """Write a parameter as words: a reader of the page may have typed it as an option or as a keyword."""
    return name.replace("_", " ") + ("" if value is None else f" {value}")


def _cards(comparison: Comparison) -> list[tuple[str, str]]:
    return [
        (f"{comparison.items:,}", "items in the data"),
        (f"{comparison.labels:,}", "different labels among them"),
        (f"{comparison.repeats:,}", "releases per mechanism and epsilon"),
        (str(comparison.unit), f"protected by each release, {change(comparison)}"),
    ]


def _metric(comparison: Comparison, metric: Metric, *, legend: bool) -> dict[str, Any]:
    """Return the figure and the table of a metric."""
    budgets = sorted(comparison.epsilons)
    return {
        "title": f"{metric.title}, in {units()[metric.name]}",
        "caption": f"{metric.title}: {metric.meaning}.",
        "plot": inline_svg(
            lambda: comparison_figure(comparison, metric, legend=legend),
            name=metric.name.replace("_", "-"),
            description=f"{metric.title} against epsilon, both on log scales, a line per mechanism",
            hover=Hover([float(each) for each in budgets], [ranking(comparison, each, metric) for each in budgets]),
        ),
        "rows": [
            (name, [cell(comparison, name, epsilon, metric.name) for epsilon in comparison.epsilons])
            for name in comparison.mechanisms
        ],
    }
