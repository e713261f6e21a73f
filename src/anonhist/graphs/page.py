"""One self-contained HTML page about the released degrees of a graph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.graphs.degree_data import DegreeData, DegreeSource, released_policy
from anonhist.graphs.degree_numbers import DegreeStatistics, degree_ccdf, degree_statistics, falls
from anonhist.privacy import short_decimal
from anonhist.properties.estimate import Estimate, Holds, format_number, percent
from anonhist.releases import Release
from anonhist.report.figures import (
    ALARM,
    BAND,
    BLUE,
    Hover,
    Points,
    add_legend,
    canvas,
    inline_svg,
    prevalences_figure,
    say_empty,
    scale_across,
    thin,
)
from anonhist.report.notebook import NOT_PRIVATE as NOT_PRIVATE_NUMBERS
from anonhist.report.notebook import Cell
from anonhist.report.page import ReleaseView
from anonhist.report.shown import Sheet, promised, released
from anonhist.report.wording import (
    bars_text,
    bound_of,
    exclusions,
    expected_error,
    interval,
    meaning,
    named_error,
    no_intervals,
    promise_lines,
    runs_text,
    share_of_items,
    with_error,
    with_interval,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from anonhist.numeric.arrays import Floats, Ints

NOT_PRIVATE = "NOT PRIVATE: shows the true degrees"
NOT_THIS_PAGE = (
    "This is promised for the release alone. This page also shows the true degrees, which nothing protects: keep it to "
    "yourself."
)
# From here on, numbers are written as powers of ten.
_HUGE = 1e15


def notes(release: Release, statistics: DegreeStatistics) -> list[str]:
    """State what a reader must know before the numbers: what is missing, and what is mostly noise."""
    said = [sentence for _, sentence in bound_of(release)]
    named = [statistics.tail.exponent, statistics.edges]
    return said + list(dict.fromkeys(warning for each in named for warning in each.warnings))


def tail_text(statistics: DegreeStatistics) -> str:
    """State what the exponent is based on."""
    tail = statistics.tail
    if not tail.nodes:
        return ""
    nodes = f"{tail.nodes:,} released node{'' if tail.nodes == 1 else 's'}"
    intervals = (
        ""
        if tail.exponent.statement.holds is Holds.NONE
        else " Its interval covers both the noise and how much the estimate varies when each node's degree is drawn "
        "again; the other intervals cover noise alone."
    )
    return (
        f"The exponent is that of a power law, fitted to the {nodes} of degree {tail.min_degree:,} or more. The "
        f"largest distance between fit and nodes is {percent(tail.distance)}: 2% is a good fit, 10% a poor "
        f"one.{intervals}"
    )


def number_text(estimate: Estimate) -> str:
    """Write a number without digits that its error leaves open, and without fractions if it counts things.

    If the error is unknown, three digits are shown, or all digits of whole numbers. Nodes are shown as in the tables.
    """
    if abs(estimate.value) >= _HUGE:
        return _power(estimate.value)
    if not math.isfinite(estimate.standard_error):
        return f"{estimate.value:,.0f}" if estimate.unit else format_number(estimate.value, digits=3)
    if estimate.unit == "nodes" or (estimate.unit and estimate.standard_error < 10):
        return f"{estimate.value:,.0f}"
    return with_error(estimate.value, estimate.standard_error).partition(" ± ")[0]


def ends_text(estimate: Estimate) -> str:
    """Write an interval with its ends rounded outward to where the error has two digits."""
    low, high = estimate.interval
    if estimate.statement.holds is Holds.NONE:
        return "no interval"
    if low == high:
        return "exact"
    if math.isinf(high):
        return f"{format_number(low, digits=4)} to infinity"
    if max(abs(low), abs(high)) >= _HUGE:
        return f"{_power(low, math.floor)} to {_power(high, math.ceil)}"
    if estimate.unit:
        return interval(low, high)
    error = estimate.standard_error or (high - low) / 4
    return interval(low, high, places=min(max(0, 1 - math.floor(math.log10(error))), 6))


def _power(number: float, rounded: Callable[[float], int] = round) -> str:
    """Write a large number with three digits."""
    if abs(number) < _HUGE:
        return f"{number:,.0f}"
    power = math.floor(math.log10(abs(number)))
    return f"{rounded(number / 10.0 ** (power - 2)) / 100:.2f} × 10^{power}"


_MOST_MARKS = 7


def ccdf_figure(release: Release, *, not_private_truth: DegreeData | None = None) -> Figure:
    """Draw ``P(D ≥ r)`` against the degree r, both on log scales, with a 95% band.

    The curve has steps: each value holds up to the next drawn degree; large profiles are drawn at some 400 degrees.
    Nodes without an edge count if they are known. The 95% hold at each degree separately, not for the whole curve at
    once. With ``not_private_truth`` beside it, the figure is not private, and says so.
    """
    figure, axes = canvas("share of nodes with at least this degree", "degree")
    data, truth = comparable(release, not_private_truth)
    if truth is not None:
        # Said before anything else, and the first thing to be seen.
        axes.set_title(NOT_PRIVATE, loc="left", color=ALARM, weight="bold", fontsize="medium")
    drawn = [each for each in (data, truth) if each is not None and len(each.profile)]
    if not drawn:
        say_empty(axes)
        return figure
    foot = 0.5 / max(each.num_nodes for each in drawn)
    right = max(2.5, *(_right(each) for each in drawn))
    if len(data.profile):
        curve = degree_ccdf(data, at=_levels(data))
        ends = np.append(curve.x, _right(data))
        low, value, high = (_up_to(ends, each, foot) for each in (curve.low, curve.value, curve.high))
        axes.fill_between(ends, low, high, step="post", color=BAND, linewidth=0, label="95% interval")
        axes.step(ends, value, where="post", color=BLUE, linewidth=1.6, label="released")
    if truth is not None and len(truth.profile):
        exact = degree_ccdf(truth, at=_levels(truth))
        ends = np.append(exact.x, _right(truth))
        value = _up_to(ends, exact.value, foot)
        name = "true degrees (not private)"
        axes.step(ends, value, where="post", color=ALARM, linewidth=1.3, linestyle=(0, (4, 1.5)), label=name)
    axes.set_yscale("log")
    scale_across(axes, right)
    _mark_shares(axes, foot)
    axes.set_ylim(0.8 * foot, 1.6)
    add_legend(axes)
    return figure


def ccdf_hover(release: Release, *, not_private_truth: DegreeData | None = None) -> Hover:
    """Return the text of the released curve at each drawn degree."""
    data, _ = comparable(release, not_private_truth)
    if not len(data.profile):
        return Hover((), ())
    curve = degree_ccdf(data, at=_levels(data))
    columns, texts = (curve.x, curve.value, curve.low, curve.high), []
    for degree, *shares in zip(*(each.tolist() for each in columns), strict=True):
        value, low, high = map(percent, shares)
        texts.append(f"degree {degree:,.0f} or more: {value} of the nodes; 95% interval {low} to {high}")
    return Hover(curve.x.tolist(), texts)


def comparable(release: Release, truth: DegreeData | None) -> tuple[DegreeData, DegreeData | None]:
    """Return the drawn degrees: both with the nodes that have no edge, or both without them."""
    data = DegreeData.of(release)
    if truth is None:
        return data, None
    if data.zeros is None or truth.zeros is None:
        return data.with_edges, truth.with_edges
    return data, truth


def _levels(data: DegreeData) -> Ints:
    levels = falls(data)
    if data.error is not None and not data.why_no_band:
        # The band may change where the curve does not.
        steps = data.band.ends
        levels = np.union1d(levels, steps[steps < levels[-1]].astype(np.int64) + 1)
    return levels[thin(levels)]


def _right(data: DegreeData) -> float:
    """Return where the last step ends; beyond a bound on degrees nothing was released."""
    last = float(_levels(data)[-1])
    return max(2.5, 1.25 * last) if data.max_degree is None else last + 1


def _up_to(ends: Floats, values: Floats, foot: float) -> Floats:
    """Return the values that hold from each end on; zero is at the foot of the log scale."""
    return np.maximum(np.append(values, values[-1:])[: ends.size], foot)


def _mark_shares(axes: Axes, foot: float) -> None:
    """Mark 100%, 10%, … above the foot, and the foot as none."""
    least = math.ceil(math.log10(2 * foot))
    every = -(-(1 - least) // _MOST_MARKS)
    powers = range(0, least - 1, -every)
    marks = [
        (foot, "0"),
        *((10.0**power, f"{100 * 10.0**power:.{max(0, -2 - power)}f}%") for power in powers if 10.0**power > 3 * foot),
    ]
    axes.set_yticks([mark for mark, _ in marks], [name for _, name in marks])
    between = [digit * 10.0**power for power in range(least - 1, 0) for digit in range(2, 10)] if every == 1 else []
    between = [mark for mark in between if mark > foot]
    # Where there is no other power of ten, some shares between are named as well.
    named = (0.2, 0.5) if len(marks) == 2 else ()
    axes.set_yticks(between, [f"{mark:.0%}" if mark in named else "" for mark in between], minor=True)


def write_degrees(release: Release, sheet: Sheet, truth: DegreeSource | None) -> None:
    """Write the page of released degrees; with the truth beside them it is not private, and says so prominently."""
    if isinstance(truth, Release):
        raise UsageError("`not_private_truth` must be the true degrees, such as a Graph or a Profile, not a release.")
    true_degrees = None if truth is None else DegreeData.of(truth)
    guarantee = release.guarantee
    statistics, is_private = degree_statistics(release), truth is None
    sheet.write_release(
        "anonhist.graphs/degrees.html",
        release,
        headline="How many edges nodes have, without saying which",
        subtitle="Differentially private degrees of a graph: how many nodes have one edge, two, and so on.",
        banner="" if truth is None else NOT_PRIVATE,
        **released(release, noun="degrees"),
        cards=_cards(release, statistics),
        notes=notes(release, statistics),
        promise=promised(
            guarantee,
            meaning=meaning(guarantee)
            if is_private
            else meaning(guarantee, result="released number", stays=NOT_THIS_PAGE),
            not_covered=[
                *([] if is_private else ["This page, which shows the true degrees."]),
                *exclusions(guarantee.unit),
            ],
        ),
        ccdf=inline_svg(
            lambda: ccdf_figure(release, not_private_truth=true_degrees),
            name="ccdf",
            description="Share of nodes with at least a given degree, both on log scales, with a 95% band"
            + ("" if is_private else f". {NOT_PRIVATE}"),
            hover=ccdf_hover(release, not_private_truth=true_degrees),
        ),
        counted="of the nodes with an edge"
        if comparable(release, true_degrees)[0].zeros is None
        else "of all nodes, including those without an edge",
        degrees=inline_svg(
            lambda: prevalences_figure(release),
            name="degrees",
            description="Nodes with exactly a given degree, both on log scales, with 95% intervals",
            hover=Points.exactly(release).hover,
        ),
        statistics=_rows(statistics),
        bars=bars_text(release.error, none="that number from none"),
        tail=tail_text(statistics),
        policy=released_policy(release),
        runs=" ".join(filter(None, (runs_text(release, of="degrees"), no_intervals(release.error)))),
    )


def _rows(statistics: DegreeStatistics) -> list[tuple[str, str, str]]:
    return [(name, number_text(number), ends_text(number)) for name, number in statistics.by_name()]


def statistics_cell(statistics: DegreeStatistics) -> Cell:
    """Return the notebook cell of degree statistics, which need not come from a release."""
    guarantee, assumed = statistics.edges.guarantee, statistics.edges.assumes
    return Cell(
        title="Degrees in numbers" if guarantee is None else f"Private degrees in numbers, protecting {guarantee.unit}",
        head=("", "number", "95% interval"),
        rows=_rows(statistics),
        alarms=[NOT_PRIVATE_NUMBERS] if guarantee is None else (),
        told=[
            *([] if guarantee is None else promise_lines(guarantee)),
            ("Assumed", f"{assumed}." if assumed else ""),
            *bound_of(statistics),
            ("Exponent", tail_text(statistics)),
        ],
    )


def _cards(release: Release, statistics: DegreeStatistics) -> list[tuple[str, str]]:
    """Return the numbers that are shown first, each with its name."""
    nodes, edges, guarantee = statistics.nodes_with_edges, statistics.edges, release.guarantee
    reached = with_interval(interval(*nodes.interval))
    error = named_error(release, "ℓ1 error of the sorted list of degrees")
    return [
        (number_text(nodes), f"nodes with an edge; {reached}{_isolated_text(statistics)}"),
        (number_text(edges), f"edges between them; {with_interval(ends_text(edges))}"),
        (f"ε = {short_decimal(guarantee.epsilon)}", f"the whole privacy budget, for {guarantee.unit}"),
        (expected_error(release), f"{error}{share_of_items(release)}"),
    ]


def _isolated_text(statistics: DegreeStatistics) -> str:
    if statistics.isolated is None:
        return ""
    return f"; {number_text(statistics.isolated)} more without ({interval(*statistics.isolated.interval)})"


VIEW = ReleaseView(ccdf_figure, write_degrees, lambda release: [("Edges", str(released_policy(release)))])
