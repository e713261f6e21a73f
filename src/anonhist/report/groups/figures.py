"""Small figures of k+ counts, one for each group, all on the same scales."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from anonhist.report.figures import canvas, draw_k_plus, frame_log_log, say_empty
from anonhist.report.points import Points
from anonhist.report.svg import inline_svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from anonhist.releases import Release

# Inches: a phone shows two side by side.
_SIZE = (2.2, 1.65)
_TEXT = 7.5


def panels(releases: Sequence[Release], names: Sequence[str]) -> list[str]:
    """Return an ``<svg>`` for each release: its k+ counts with their band, the scales those of all of them."""
    drawn = [Points.at_least(each) for each in releases]
    right = max((1.25 * float(each.at[-1]) for each in drawn if each.at.size), default=1.0)
    top = max((float(each.high.max(initial=1)) for each in drawn), default=1.0)
    # Low enough that the marks 0 and 1 stay apart where the figure is small.
    floor = min(0.4, top**-0.17)

    def draw(points: Points) -> Figure:
        figure, axes = canvas("", "", size=_SIZE)
        axes.tick_params(which="both", labelsize=_TEXT)
        if not points.at.size:
            say_empty(axes, "no labels released")
            return figure
        draw_k_plus(axes, points, floor=floor)
        frame_log_log(axes, right=right, top=top, floor=floor)
        return figure

    return [
        inline_svg(
            partial(draw, points),
            name=f"group-{at}",
            description=f"Labels with at least a given count in {name}, both on log scales, with a 95 % band",
            hover=points.hover,
        )
        for at, (points, name) in enumerate(zip(drawn, names, strict=True))
    ]
