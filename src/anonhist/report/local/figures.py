"""The figure of an estimate of frequencies: a bar and an interval for each of the most frequent values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.report.figures import BAND, BLUE, GRID, INK, add_legend, canvas, say_empty
from anonhist.report.local.wording import label_text, most_frequent, shown_shares

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from anonhist.local.surveys.estimate import FrequencyEstimate

_MOST = 30
# How many values that are perhaps zero are drawn beside others: they show how large the noise is.
_MOST_PERHAPS_ZERO = 5
_LONGEST_NAME = 24


def drawn(estimate: FrequencyEstimate) -> list[int]:
    """Return the places of the values to draw: at most 30; if some are significant, at most 5 of the others."""
    found = int(estimate.significant.sum())
    return most_frequent(estimate, min(_MOST, found + _MOST_PERHAPS_ZERO) if found else _MOST)


def frequencies_figure(estimate: FrequencyEstimate) -> Figure:
    """Draw the most frequent values, those significantly above zero first: shares as bars, intervals as lines."""
    places = np.array(drawn(estimate), dtype=np.int64)
    figure, axes = canvas("", "share of the people", size=(4.6, max(1.6, 1.0 + 0.24 * places.size)))
    if not places.size:
        say_empty(axes, "there are no values")
        return figure
    rows, shares = np.arange(places.size), 100 * shown_shares(estimate)[places]
    for is_found, color, name in ((True, BLUE, "significantly above zero"), (False, BAND, "perhaps zero")):
        at = estimate.significant[places] == is_found
        if at.any():
            axes.barh(rows[at], shares[at], height=0.62, color=color, label=name)
    low, high = 100 * estimate.intervals[places].T
    name = f"{100 * estimate.level:g} % interval"
    axes.hlines(rows, low, high, color=INK, linewidth=1.3, label=name)
    axes.plot(np.concatenate((low, high)), np.tile(rows, 2), "|", color=INK, markersize=4, markeredgewidth=1.3)
    names = [label_text(estimate.labels[place]) for place in places.tolist()]
    # Labels may contain dollar signs, which are not formulas here.
    axes.set_yticks(rows, [_short(each) for each in names], fontsize=9, parse_math=False)
    axes.set_ylim(places.size - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x", color=GRID, linewidth=0.8)
    axes.tick_params(axis="y", length=0)
    right = 1.04 * max(float(high.max()), float(shares.max()), 1e-9)
    axes.set_xlim(0, right)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g} %")
    add_legend(axes)
    return figure


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
