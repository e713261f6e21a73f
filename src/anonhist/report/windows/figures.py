"""The curves of a release of cumulative windows, one for each threshold, over the days."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.report.curve.figures import mark_names
from anonhist.report.figures import SERIES, add_legend, canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from anonhist.releases.cumulative import CumulativeRelease

# More curves than that nobody tells apart.
MOST_CURVES = 6
_MOST_MARKS = 4
_SMALL_TEXT = 7.0
_DASHES = ("-", "--", "-.", ":")


def drawn_thresholds(release: CumulativeRelease) -> list[int]:
    """Return at most six of the thresholds, spread evenly, the first and the last among them."""
    number = len(release.thresholds)
    places = np.unique(np.round(np.linspace(0, number - 1, min(MOST_CURVES, number))).astype(int))
    return [release.thresholds[at] for at in places.tolist()]


def windows_figure(
    release: CumulativeRelease, *, size: tuple[float, float] | None = None, top: float | None = None
) -> Figure:
    """Draw how many labels have reached each threshold, against the days, with 95 % bands.

    Parameters
    ----------
    release
        What is drawn.
    size
        Inches of a small figure, one of several: with fewer marks, and without the name of its axis.
    top
        The largest number, where several figures share their scale.
    """
    from matplotlib.ticker import FixedLocator, MaxNLocator

    figure, axes = canvas("labels so far", "") if size is None else canvas("", "", size=size)
    most = _MOST_MARKS if size is None else 2
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
    top = float(max(1, release.highs.max() if top is None else top))
    axes.set_ylim(0, 1.05 * top)
    marks = np.asarray(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(0, top))
    axes.yaxis.set_major_locator(FixedLocator(marks.tolist()))
    axes.yaxis.set_ticklabels(mark_names(marks))
    named = np.unique(np.round(np.linspace(0, at[-1], min(most, at.size))).astype(int)).tolist()
    axes.set_xticks(named, [release.days[place] for place in named])
    if size is None:
        add_legend(axes, handle_length=2.2)
    else:
        axes.tick_params(which="both", labelsize=_SMALL_TEXT)
        add_legend(axes, handle_length=1.2, size=_SMALL_TEXT)
    return figure
