"""A figure as SVG to put inside a page."""

from __future__ import annotations

import io
import re
import warnings
from html import escape
from threading import Lock
from typing import TYPE_CHECKING

from anonhist.report.figures import ALARM, BAND, BLUE, GRID, INK, SERIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from anonhist.report.hover import Hover

_COLORS = {color: f"var(--series-{place})" for place, color in enumerate(SERIES)}
_COLORS |= {INK: "var(--ink)", BLUE: "var(--accent)", BAND: "var(--band)", GRID: "var(--line)", ALARM: "var(--alarm)"}
_NAMES = re.compile(r'(\bid="|href="#|url\(#)')
# Matplotlib's settings are those of the whole process: of two threads that set and restore them, one would restore what
# the other has set, for good.
_SETTINGS = Lock()


def inline_svg(
    draw: Callable[[], Figure], *, name: str, description: str, keep_text: bool = False, hover: Hover | None = None
) -> str:
    """Draw a figure as an ``<svg>`` element that takes its colors from the page.

    Text is drawn as paths, so that it looks the same wherever the page is opened. The same figure gives the same
    bytes: no date, no random names, and no settings of the user.

    Parameters
    ----------
    draw
        Makes the figure.
    name
        Set before all names in the element, which must differ between the figures of a page.
    description
        Read out to those who cannot see it.
    keep_text
        Leave text to the browser, which has signs for more languages than the font of the figures.
    hover
        What is told to whoever points at the figure.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    defaults = {key: value for key, value in mpl.rcParamsDefault.items() if not key.startswith(("backend", "webagg"))}
    buffer = io.StringIO()
    kind = "none" if keep_text else "path"
    settings = {**defaults, "svg.hashsalt": name, "svg.fonttype": kind}
    with _SETTINGS, mpl.rc_context(settings), warnings.catch_warnings():
        if keep_text:
            warnings.filterwarnings("ignore", "Glyph", UserWarning)
        figure = draw()
        for area in (figure.patch, *(axes.patch for axes in figure.axes)):
            area.set(facecolor="none", edgecolor="none")
        # Figure.savefig would draw it twice, the first time for the layout alone.
        canvas = FigureCanvasSVG(figure)
        canvas.print_svg(buffer, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
    text = buffer.getvalue()
    text = re.sub(r"\s*(<metadata>.*?</metadata>|<!--.*?-->)", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = _NAMES.sub(rf"\g<1>{name}-", text)
    for color, variable in _COLORS.items():
        text = text.replace(color, variable)
    text = text.replace("<svg", f'<svg role="img" aria-label="{escape(description)}"', 1)
    strips = "" if hover is None else hover.strips(figure)
    return f"{text.rstrip().removesuffix('</svg>')}{strips}</svg>"
