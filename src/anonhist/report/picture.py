"""Figures that a notebook shows without pyplot, whatever was run before."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.figure import Figure

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
