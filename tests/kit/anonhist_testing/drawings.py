"""Faults of a drawn figure: text that is cut off or overlaps other text, and axes without room."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from anonhist.report import picture

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.transforms import BboxBase

# As a share of the figure's width and of its height.
LEAST_ROOM = 0.55
# In pixels: text is drawn at whole pixels.
_ROUNDING = 1.0


def faults(figure: Figure) -> list[str]:
    """Draw a figure and return what is wrong with it, a sentence for each fault.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> _ = figure.text(0.1, 0.99, "cut off"), figure.text(0.1, 0.5, "over it"), figure.text(0.1, 0.51, "under it")
    >>> faults(figure)
    ["'cut off' is cut off", "'over it' and 'under it' overlap"]
    """
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    legends = _legends(figure)
    parts = [text for legend in legends for text in legend.get_texts()]
    texts = [(text.get_text(), text.get_window_extent()) for text in _visible(figure)]
    others = [(text.get_text(), text.get_window_extent()) for text in _visible(figure) if text not in parts]
    boxes = [("the legend", legend.get_window_extent()) for legend in legends]
    named = [*texts, *boxes]
    found = [f"{text!r} is cut off" for text, box in named if not _inside(box, figure.bbox)]
    found += [
        f"{one!r} and {other!r} overlap"
        for (one, first), (other, second) in (*combinations(texts, 2), *product(boxes, others))
        if _overlap(first, second)
    ]
    for axes in figure.axes:
        place, grid = axes.get_position(), axes.get_subplotspec()
        beside, rows = (1, 1) if grid is None else (grid.get_gridspec().ncols, grid.get_gridspec().nrows)
        found += [
            f"the axes have {share:.0%} of the {side}"
            for side, share in (("width", beside * place.width), ("height", rows * place.height))
            if share < LEAST_ROOM
        ]
        inner = {each.get_text() for each in axes.texts}
        found += [
            f"{text!r} lies over the axes" for text, box in named if text not in inner and _overlap(box, axes.bbox)
        ]
    return found


def record(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """Return a list to which every figure drawn from now on is added."""
    drawn: list[Figure] = []

    class Recorded(picture.NotebookFigure):
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            drawn.append(self)

    monkeypatch.setattr(picture, "NotebookFigure", Recorded)
    return drawn


def _visible(figure: Figure) -> Iterator[Text]:
    """Yield every text that is drawn: tick labels outside of the axes' limits are not."""
    beyond = {text for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for text in _beyond(axis)}
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        if text.get_visible() and text.get_text().strip() and text not in beyond:
            yield text


def _beyond(axis: Axis) -> Iterator[Text]:
    low, high = sorted(axis.get_view_interval())
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        if not low <= tick.get_loc() <= high:
            yield from (tick.label1, tick.label2)


def _legends(figure: Figure) -> list[Any]:
    return [*figure.legends, *(legend for axes in figure.axes if (legend := axes.get_legend()) is not None)]


def _inside(box: BboxBase, frame: BboxBase) -> bool:
    return bool(
        box.x0 >= frame.x0 - _ROUNDING
        and box.y0 >= frame.y0 - _ROUNDING
        and box.x1 <= frame.x1 + _ROUNDING
        and box.y1 <= frame.y1 + _ROUNDING
    )


def _overlap(one: BboxBase, other: BboxBase) -> bool:
    across = min(one.x1, other.x1) - max(one.x0, other.x0)
    up = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(across > _ROUNDING and up > _ROUNDING)
