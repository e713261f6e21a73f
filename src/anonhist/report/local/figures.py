"""The figure of an estimate of frequencies: a bar and an interval for each of the most frequent values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import numpy as np

from anonhist.report.figures import BAND, BLUE, GRID, INK, add_legend, canvas, say_empty, short
from anonhist.report.local.wording import label_text, most_frequent, shown_shares

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from anonhist.local.surveys.estimate import FrequencyEstimate

_MOST = 30
# How many values that are perhaps zero are drawn beside others: they show how large the noise is.
_MOST_PERHAPS_ZERO = 5
# Inches: of a row, of all rows at least, and of what is below them.
_ROW, _LEAST, _BELOW = 0.24, 1.2, 0.45
_LONGEST_NAME = 24
# Points: as wide as a name may be, of the 331 that the figure has.
_WIDEST_NAME = 125
_NAME_SIZE = 9


def drawn(estimate: FrequencyEstimate) -> list[int]:
    """Return the places of the values to draw: at most 30; if some are significant, at most 5 of the others."""
    found = int(estimate.significant.sum())
    return most_frequent(estimate, min(_MOST, found + _MOST_PERHAPS_ZERO) if found else _MOST)


def frequencies_figure(estimate: FrequencyEstimate) -> Figure:
    """Draw the most frequent values, those significantly above zero first: shares as bars, intervals as lines."""
    places = np.array(drawn(estimate), dtype=np.int64)
    tall = max(_LEAST, _ROW * places.size)
    figure, axes = canvas("", "share of the people", size=(4.6, tall + _BELOW))
    if not places.size:
        say_empty(axes, "there are no values")
        return figure
    # Few bars are no thicker than many are.
    thick = 0.62 * _ROW * places.size / tall
    rows, shares = np.arange(places.size), 100 * shown_shares(estimate)[places]
    for is_found, color, name in ((True, BLUE, "significantly above zero"), (False, BAND, "perhaps zero")):
        at = estimate.significant[places] == is_found
        if at.any():
            axes.barh(rows[at], shares[at], height=thick, color=color, label=name)
    low, high = 100 * estimate.intervals[places].T
    name = f"{100 * estimate.level:g} % interval"
    axes.hlines(rows, low, high, color=INK, linewidth=1.3, label=name)
    axes.plot(np.concatenate((low, high)), np.tile(rows, 2), "|", color=INK, markersize=4, markeredgewidth=1.3)
    names = [label_text(estimate.labels[place]) for place in places.tolist()]
    # Labels may contain dollar signs, which are not formulas here.
    axes.set_yticks(rows, [_fitting(each) for each in names], fontsize=_NAME_SIZE, parse_math=False)
    axes.set_ylim(places.size - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x", color=GRID, linewidth=0.8)
    axes.tick_params(axis="y", length=0)
    right = 1.04 * max(float(high.max()), float(shares.max()), 1e-9)
    axes.set_xlim(0, right)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g} %")
    add_legend(axes)
    return figure


def _fitting(name: str) -> str:
    """Cut a name until it has room."""
    cut = short(name, _LONGEST_NAME)
    while _width(cut) > _WIDEST_NAME:
        cut = short(name, len(cut) - 1)
    return cut


def _width(name: str) -> float:
    """Return how wide a name is, in points: signs that are not in the font are drawn by the browser, in full width."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    wide = sum(east_asian_width(sign) in "WF" for sign in name)
    known = "".join(sign for sign in name if east_asian_width(sign) not in "WF")
    # Matplotlib has no types for it.
    measure: Any = text_to_path.get_text_width_height_descent
    return float(measure(known, FontProperties(size=_NAME_SIZE), ismath=False)[0]) + _NAME_SIZE * wide
