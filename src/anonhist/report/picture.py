"""Figures that a notebook shows without pyplot, whatever was run before, and how text finds room in them."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox

# Dots per inch: two for each pixel of the width it is shown with, as fine screens have them.
_DPI, _SHOWN_DPI = 192, 96


class NotebookFigure(Figure):
    """A figure that is its own picture: the last expression of a cell shows it once.

    IPython draws figures itself only where pyplot was loaded with its inline backend; then that is what is shown.
    """

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """Return the picture, on white paper so that its ink is legible in dark notebooks too, and its size."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=_DPI, facecolor="white")
        width, height = (round(float(inches) * _SHOWN_DPI) for inches in self.get_size_inches())
        return buffer.getvalue(), {"width": width, "height": height}


class ApartLayout(ConstrainedLayoutEngine):
    """Matplotlib's layout, in which no name of a mark runs into another: what has no room is not named."""

    def execute(self, fig: Figure) -> None:
        """Give the axes of a figure their places, then leave out names that have no room there."""
        axes = [axis for each in fig.axes for axis in (each.xaxis, each.yaxis)]
        for axis in axes:
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                tick.label1.set_visible(True)
        super().execute(fig)
        for axis in axes:
            _keep_apart(axis)


def _keep_apart(axis: Axis) -> None:
    """Hide each name of a mark that touches one before it; names between the main marks come after those."""
    low, high = sorted(axis.get_view_interval())
    shown: list[Bbox] = []
    for ticks in (axis.get_major_ticks(), axis.get_minor_ticks()):
        for tick in ticks:
            if tick.label1.get_text() and low <= tick.get_loc() <= high:
                # A little wider, so that there is space between two.
                box = tick.label1.get_window_extent().padded(1.5)
                if any(box.overlaps(each) for each in shown):
                    tick.label1.set_visible(False)
                else:
                    shown.append(box)
