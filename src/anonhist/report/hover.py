"""What a page tells whoever points at a figure, without any script."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

# Pixels of the drawing: nobody points at less.
_LEAST_STRIP = 2.5


@dataclass(frozen=True)
class Hover:
    """What is told at each place of a figure to whoever points there.

    Attributes
    ----------
    at
        Places along the axis, in its own numbers, ascending.
    texts
        One for each.
    axis
        ``"x"`` for upright strips, ``"y"`` for rows.
    """

    at: Sequence[float]
    texts: Sequence[str]
    axis: str = "x"

    def strips(self, figure: Figure) -> str:
        """Return invisible strips over a figure that was drawn, each with the text that a browser shows at it."""
        if not len(self.at):
            return ""
        is_upright = self.axis == "x"
        # In the pixels of the drawing, 72 an inch, from its upper left corner.
        axes, (width, height) = figure.axes[0], 72 * figure.get_size_inches()
        box = axes.get_position()
        left, top, right, bottom = (width * box.x0, height * (1 - box.y1), width * box.x1, height * (1 - box.y0))
        places = np.asarray(self.at, dtype=np.float64)
        points = np.column_stack((places, np.ones(places.size)) if is_upright else (np.ones(places.size), places))
        within = axes.transAxes.inverted().transform(axes.transData.transform(points))
        shares = np.clip(within, 0, 1)
        along = left + (right - left) * shares[:, 0] if is_upright else bottom - (bottom - top) * shares[:, 1]
        first, last = (left, right) if is_upright else (top, bottom)
        kept = [0]
        for place in range(1, along.size):
            if along[place] - along[kept[-1]] >= _LEAST_STRIP:
                kept.append(place)
        middles = [(along[one] + along[other]) / 2 for one, other in pairwise(kept)]
        drawn = []
        for place, start, end in zip(kept, [first, *middles], [*middles, last], strict=True):
            x, y, wide, high = (
                (start, top, end - start, bottom - top) if is_upright else (left, start, right - left, end - start)
            )
            size = f'x="{x:.1f}" y="{y:.1f}" width="{max(0.0, wide):.1f}" height="{max(0.0, high):.1f}"'
            drawn.append(f"<rect {size}><title>{escape(self.texts[place])}</title></rect>")
        return f'<g class="hover">{"".join(drawn)}</g>'
