"""The figure of released degrees: which share of the nodes has at least a degree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.graphs.degree_data import DegreeData
from anonhist.graphs.degree_numbers import degree_ccdf, falls
from anonhist.report.degree.wording import NOT_PRIVATE
from anonhist.report.figures import ALARM, BAND, BLUE, add_legend, canvas, say_empty, scale_across
from anonhist.report.hover import Hover
from anonhist.report.points import thin
from anonhist.report.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from anonhist.releases import Release

_MOST_MARKS = 7


def ccdf_figure(release: Release, *, not_private_truth: DegreeData | None = None) -> Figure:
    """Draw ``P(D ≥ r)`` against the degree r, both on log scales, with a 95 % band.

    Steps: each value holds up to the next degree that is drawn. Nodes without an edge count among all nodes where they
    are known, of the truth too where it is drawn. Large profiles are drawn at some 400 degrees, evenly spread on the
    log scale. The 95 % are meant at each degree for itself, not for the whole curve at once.

    Parameters
    ----------
    not_private_truth
        The degrees that the release was made from, to be drawn beside it. The figure is not private then, and says so.
    """
    figure, axes = canvas("share of nodes with at least this degree", "degree")
    data, truth = comparable(release, not_private_truth)
    if truth is not None:
        # Said before anything else, and first to be seen.
        axes.set_title(NOT_PRIVATE, loc="left", color=ALARM, weight="bold", fontsize="medium")
    drawn = [each for each in (data, truth) if each is not None and len(each.profile)]
    if not drawn:
        say_empty(axes)
        return figure
    foot = 0.5 / max(each.num_nodes for each in drawn)
    right = max(2.5, *(_right(each) for each in drawn))
    if len(data.profile):
        levels = _levels(data)
        curve = degree_ccdf(data, at=levels)
        ends = np.append(curve.x, _right(data))
        low, value, high = (_up_to(ends, each, foot) for each in (curve.low, curve.value, curve.high))
        axes.fill_between(ends, low, high, step="post", color=BAND, linewidth=0, label="95 % interval")
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
    """Return what the released curve says at each degree that is drawn."""
    data, _ = comparable(release, not_private_truth)
    if not len(data.profile):
        return Hover((), ())
    curve = degree_ccdf(data, at=_levels(data))
    columns, texts = (curve.x, curve.value, curve.low, curve.high), []
    for degree, *shares in zip(*(each.tolist() for each in columns), strict=True):
        value, low, high = map(percent, shares)
        texts.append(f"degree {degree:,.0f} or more: {value} of the nodes; 95 % interval {low} to {high}")
    return Hover(curve.x.tolist(), texts)


def comparable(release: Release, truth: DegreeData | None) -> tuple[DegreeData, DegreeData | None]:
    """Return what is drawn: both with the nodes that have no edge, or both without them."""
    data = DegreeData.of(release)
    if truth is None:
        return data, None
    if data.zeros is None or truth.zeros is None:
        return data.with_edges, truth.with_edges
    return data, truth


def _levels(data: DegreeData) -> NDArray[np.int64]:
    levels = falls(data)
    if data.error is not None and not data.why_no_band:
        # The band may change where the curve does not.
        steps = data.band.ends
        levels = np.union1d(levels, steps[steps < levels[-1]].astype(np.int64) + 1)
    return levels[thin(levels)]


def _right(data: DegreeData) -> float:
    """Return where the last step ends: beyond a bound on degrees nothing was released."""
    last = float(_levels(data)[-1])
    return max(2.5, 1.25 * last) if data.max_degree is None else last + 1


def _up_to(ends: NDArray[np.float64], values: NDArray[np.float64], foot: float) -> NDArray[np.float64]:
    """Return what holds from each end on, zero at the foot of the log scale."""
    return np.maximum(np.append(values, values[-1:])[: ends.size], foot)


def _mark_shares(axes: Axes, foot: float) -> None:
    """Mark 100 %, 10 %, … above the foot, and the foot as none."""
    least = math.ceil(math.log10(2 * foot))
    every = -(-(1 - least) // _MOST_MARKS)
    powers = range(0, least - 1, -every)
    marks = [(foot, "0"), *((10.0**power, f"{100 * 10.0**power:g} %") for power in powers if 10.0**power > 3 * foot)]
    axes.set_yticks([mark for mark, _ in marks], [name for _, name in marks])
    between = [digit * 10.0**power for power in range(least - 1, 0) for digit in range(2, 10)] if every == 1 else []
    axes.set_yticks([mark for mark in between if mark > foot], [""] * sum(mark > foot for mark in between), minor=True)
