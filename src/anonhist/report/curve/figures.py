"""The figure of a curve: its band, solid where it is of the data, dashed where it goes beyond them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.report.curve.wording import band_name, is_empty, ring_of, view_of
from anonhist.report.figures import (
    BAND,
    BLUE,
    INK,
    add_legend,
    canvas,
    mark_shares,
    name_marks,
    say_empty,
    scale_across,
    scale_of_counts,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from anonhist.properties.curve import Curve

# Values that fall by more than this factor are drawn on a log scale: else half of the curve lies at the foot.
_FAR = 30


def curve_figure(curve: Curve) -> Figure:
    """Draw a curve with its band: solid up to the data, which a ring marks, and dashed beyond.

    Guesses are on a log scale, and so are Hill numbers that fall far.
    """
    view = view_of(curve)
    figure, axes = canvas(view.value_label, view.x_label)
    if is_empty(curve):
        say_empty(axes, "the profile is empty")
        return figure
    floor = _scale_values(curve, axes)
    low, high = np.maximum(curve.low, floor), np.maximum(curve.high, floor)
    if curve.why_unknown:
        pass  # A band that is all there can be would be taken for one.
    elif len(curve) > 1:
        axes.fill_between(curve.x, low, high, color=BAND, linewidth=0, label=band_name(curve))
    else:
        axes.vlines(curve.x, low, high, color=BAND, linewidth=3, label=band_name(curve))
    _lines(curve, axes)
    _scale_x(curve, axes)
    add_legend(axes)
    return figure


def _lines(curve: Curve, axes: Axes) -> None:
    kinds = np.array(curve.kinds)
    beyond = np.flatnonzero(kinds == "extrapolated")
    within = np.flatnonzero(kinds != "extrapolated")
    at = ring_of(curve)
    if within.size > 1 or at is None:
        name = "interpolated" if "interpolated" in curve.kinds else "estimated"
        mark = "-" if within.size > 1 else "o"
        axes.plot(curve.x[within], curve.value[within], mark, color=BLUE, linewidth=1.6, label=name)
    if beyond.size:
        # From the last point of the data on, so that there is no gap.
        beyond = np.append(within[-1:], beyond)
        axes.plot(curve.x[beyond], curve.value[beyond], "--", color=BLUE, linewidth=1.6, label="extrapolated")
    if at is not None:
        axes.plot(
            curve.x[at],
            curve.value[at],
            "o",
            label="observed",
            markersize=7,
            markeredgewidth=1.6,
            markerfacecolor="none",
            markeredgecolor=INK,
        )


def _scale_values(curve: Curve, axes: Axes) -> float:
    """Set the scale of the values, and return the least value that is shown."""
    view = view_of(curve)
    top = float((curve.value if curve.why_unknown else curve.high).max())
    if view.is_share:
        mark_shares(axes)
        return 0.0
    if curve.x_name == "orders" and top > _FAR * float(curve.value.min()):
        floor = max(1.0, float(curve.value.min()) / 3)
        axes.set_yscale("log")
        axes.set_ylabel(f"{view.value_label} (log scale)")
        scale_of_counts(axes.yaxis, top * 1.5)
        axes.set_ylim(floor / 1.1, top * 1.5)
        return floor
    axes.set_ylim(0, top * 1.05)
    name_marks(axes.yaxis, top)
    return 0.0


def _scale_x(curve: Curve, axes: Axes) -> None:
    last = float(curve.x[-1])
    if view_of(curve).has_log_x:
        scale_across(axes, max(2.5, last * 1.25))
        return
    first = min(0.0, float(curve.x[0]))
    room = 0.02 * (last - first) or 1.0
    axes.set_xlim(first, last + room)
    name_marks(axes.xaxis, last)
