"""Errors of mechanisms against epsilon, both on log scales."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from anonhist.mechanisms import MECHANISM_NAMES
from anonhist.privacy import short_decimal
from anonhist.report.comparison.wording import scale, units
from anonhist.report.figures import SERIES, add_legend, canvas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from anonhist.mechanisms import Comparison, Metric

# Mark, dashes and color each tell mechanisms apart; auto is a ring around whatever it picked.
_MARKS = ("s", ".", "^", "D", "v", "X", "P", "*")
_DASHES = (
    *("-", (0, (5, 2)), (0, (1, 1.5)), "-."),
    *((0, (7, 1.5, 1, 1.5, 1, 1.5)), (0, (2, 3)), (0, (3, 1, 1, 1)), (0, (4, 1))),
)
_RING, _MARK_SIZE = 9.0, 5.5


def comparison_figure(comparison: Comparison, metric: Metric, *, legend: bool) -> Figure:
    """Draw the mean of a metric against epsilon, a line per mechanism, with bars of ± two standard errors.

    A mean of zero, which a log scale does not show, is drawn at the foot, marked 0.

    Parameters
    ----------
    legend
        Whether to name the lines. Every mechanism looks the same in all figures.
    """
    figure, axes = canvas(f"{metric.title}, in {units()[metric.name]}", "epsilon", size=(4.6, 4.4 if legend else 3.3))
    factor = scale(metric.name)
    rows = [row for row in comparison.rows if row.metric == metric.name]
    ends = [(factor * row.mean, 2 * factor * row.standard_error) for row in rows if row.mean > 0]
    # A bar may reach down to zero and below: it is cut where a third of its mean is left.
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
    """Return how Matplotlib draws the mechanism at this place of a list that begins with auto.

    The first eight mechanisms differ in mark, in dashes and in color; the first 64 in the pair of mark and dashes.

    Examples
    --------
    >>> line_style(1)["marker"], line_style(9)["marker"], line_style(1)["linestyle"] == line_style(9)["linestyle"]
    ('s', 's', False)
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
    """Mark powers of ten on a log axis, some six at most; where there are few, other round numbers."""
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    marks = [(10.0**power, _power_text(power)) for power in powers if power % -(-len(powers) // 6) == 0]
    if len(powers) < 2:
        marks = _digits(low, high)
    if zero is not None:
        marks = [(zero, "0"), *(mark for mark in marks if mark[0] > 1.5 * zero)]
    axis.set_ticks([mark for mark, _ in marks], [name for _, name in marks])
    axis.set_ticks([], minor=True)


def _digits(low: float, high: float) -> list[tuple[float, str]]:
    """Return numbers of one digit and zeros, or of two where there are few of one, between two close ends."""
    least = math.floor(math.log10(low))
    for digits in ((1, 2, 5), range(1, 10), [tenth / 10 for tenth in range(10, 100)]):
        marks = [digit * 10.0**power for power in (least, least + 1) for digit in digits]
        inside = [mark for mark in marks if low <= mark <= high]
        if len(inside) > 1:
            break
    return [(mark, f"{mark:,.6g}") for mark in inside]


def _power_text(power: int) -> str:
    return f"{10.0**power:,.{max(0, -power)}f}" if -3 <= power <= 3 else f"$10^{{{power}}}$"


def _mark_budgets(axes: Axes, comparison: Comparison) -> None:
    """Mark the budgets themselves."""
    budgets = sorted(comparison.epsilons)
    left, right = math.log(budgets[0]), math.log(budgets[-1])
    room = max(0.1 * (right - left), 0.3)
    axes.set_xlim(math.exp(left - room), math.exp(right + room))
    names = [short_decimal(budget) if len(short_decimal(budget)) <= 6 else f"{float(budget):.3g}" for budget in budgets]
    axes.set_xticks([float(budget) for budget in budgets], names)
    axes.set_xticks([], minor=True)
