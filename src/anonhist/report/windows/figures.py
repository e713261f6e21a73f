"""The curves of a release of cumulative windows, one for each threshold, over the days."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.report.figures import SERIES, add_legend, canvas, name_marks, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from anonhist.releases.cumulative import CumulativeRelease

# More curves than that nobody tells apart.
MOST_CURVES = 6
_DASHES = ("-", "--", "-.", ":")
# Inches of one of several figures: a phone shows two side by side.
_PANEL = (2.2, 1.65)
_PANEL_TEXT = 7.0
# Names of days are cut to the length of a date with its time; so many characters have room across.
_LONGEST_DAY, _ACROSS = 19, 40


def drawn_thresholds(release: CumulativeRelease) -> list[int]:
    """Return at most six of the thresholds, spread evenly, the first and the last among them."""
    number = len(release.thresholds)
    places = np.unique(np.round(np.linspace(0, number - 1, min(MOST_CURVES, number))).astype(int))
    return [release.thresholds[at] for at in places.tolist()]


def windows_figure(release: CumulativeRelease) -> Figure:
    """Draw how many labels have reached each threshold, against the days, with 95 % bands."""
    figure, axes = canvas("labels so far", "")
    _draw(axes, release, top=int(release.highs.max()), across=_ACROSS)
    add_legend(axes, handle_length=2.2)
    return figure


def windows_panel(release: CumulativeRelease, *, top: int) -> Figure:
    """Draw the same small, as one of several figures that share a scale up to ``top``; :func:`windows_key` names it."""
    figure, axes = canvas("", "", size=_PANEL)
    _draw(axes, release, top=top, across=_ACROSS // 2)
    axes.tick_params(which="both", labelsize=_PANEL_TEXT)
    return figure


def windows_key(release: CumulativeRelease) -> Figure:
    """Name the lines that all panels have: a figure without axes."""
    figure, axes = canvas("", "", size=(4.4, 0.05))
    _draw(axes, release, top=1, across=0)
    add_legend(axes, handle_length=2.2)
    # There is nothing to lay out.
    figure.set_layout_engine("none")
    axes.remove()
    return figure


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
    most = max(2, across // max(map(len, days)))
    named = np.unique(np.round(np.linspace(0, at[-1], min(most, at.size))).astype(int)).tolist()
    axes.set_xticks(named, [days[place] for place in named], parse_math=False)
