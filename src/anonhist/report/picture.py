"""Figures that a notebook shows without pyplot, whatever ran before, and a layout that keeps their text apart."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox

# In dots per inch: a picture has two dots for each pixel of its shown width, as fine screens do.
_DPI, _SHOWN_DPI = 192, 96


class NotebookFigure(Figure):
    """A figure with a picture of its own: the last expression of a cell shows it once.

    IPython itself draws figures only if pyplot was loaded with its inline backend; then IPython's picture is shown.
    """

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """Return the picture, on white so that it is legible in dark notebooks too, and its size."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=_DPI, facecolor="white")
        width, height = (round(float(inches) * _SHOWN_DPI) for inches in self.get_size_inches())
        return buffer.getvalue(), {"width": width, "height": height}


class ApartLayout(ConstrainedLayoutEngine):
    """Matplotlib's layout without overlapping tick labels: a label without room is hidden."""

    def execute(self, fig: Figure) -> None:
        """Place the axes of a figure, then hide tick labels without room."""
        axes = [axis for each in fig.axes for axis in (each.xaxis, each.yaxis)]
        for axis in axes:
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                tick.label1.set_visible(True)
        super().execute(fig)
        for axis in axes:
            _keep_apart(axis)


def _keep_apart(axis: Axis) -> None:
    """Hide each tick label that overlaps an earlier one; minor ticks come after major ticks."""
    low, high = sorted(axis.get_view_interval())
    shown: list[Bbox] = []
    for ticks in (axis.get_major_ticks(), axis.get_minor_ticks()):
        for tick in ticks:
            if tick.label1.get_text() and low <= tick.get_loc() <= high:
                # The box is a little wider, so that there is space between two labels.
                box = tick.label1.get_window_extent().padded(1.5)
                if any(box.overlaps(each) for each in shown):
                    tick.label1.set_visible(False)
                else:
                    shown.append(box)
