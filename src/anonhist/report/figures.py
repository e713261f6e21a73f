"""Figures of a release, drawn without global state."""

from __future__ import annotations

import io
import math
import re
import warnings
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, cast
from unicodedata import east_asian_width

import numpy as np

from anonhist.lazy import LaterModule
from anonhist.properties.estimate import format_number
from anonhist.releases import Release
from anonhist.releases.runs import levels_of
from anonhist.report.wording import interval, with_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markupsafe import Markup
    from matplotlib import figure as matplotlib_figure
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
else:
    matplotlib_figure = LaterModule("matplotlib.figure")

# In pixels of the drawing: nobody can point at less.
_LEAST_STRIP = 2.5


@dataclass(frozen=True)
class Hover:
    """The texts that a figure shows under the pointer, one for each place.

    Places are ascending, in numbers of the axis: it is ``"x"`` for vertical strips, and ``"y"`` for rows.
    """

    at: Sequence[float]
    texts: Sequence[str]
    axis: str = "x"

    def strips(self, figure: Figure) -> Markup:
        """Return invisible strips over a drawn figure, each with the text that a browser shows there."""
        from markupsafe import Markup

        if not len(self.at):
            return Markup()
        is_upright = self.axis == "x"
        # In pixels of the drawing, 72 per inch, from its upper left corner.
        axes, (width, height) = figure.axes[0], 72 * figure.get_size_inches()
        box = axes.get_position()
        left, top, right, bottom = (width * box.x0, height * (1 - box.y1), width * box.x1, height * (1 - box.y0))
        places = np.asarray(self.at, dtype=np.float64)
        points = np.column_stack((places, np.ones(places.size)) if is_upright else (np.ones(places.size), places))
        shares = np.clip(axes.transAxes.inverted().transform(axes.transData.transform(points)), 0, 1)
        along = left + (right - left) * shares[:, 0] if is_upright else bottom - (bottom - top) * shares[:, 1]
        first, last = (left, right) if is_upright else (top, bottom)
        kept = [0]
        for place in range(1, along.size):
            if along[place] - along[kept[-1]] >= _LEAST_STRIP:
                kept.append(place)
        middles = [(along[one] + along[other]) / 2 for one, other in pairwise(kept)]
        strip = Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>')
        drawn = []
        for place, start, end in zip(kept, [first, *middles], [*middles, last], strict=True):
            x, y, wide, high = (
                (start, top, end - start, bottom - top) if is_upright else (left, start, right - left, end - start)
            )
            drawn.append(strip.format(x, y, max(0.0, wide), max(0.0, high), self.texts[place]))
        return Markup('<g class="hover">{}</g>').format(Markup().join(drawn))


_POINTS = 400


@dataclass(frozen=True, eq=False)
class Points:
    """Some numbers of labels with their intervals, at ascending counts.

    The ends are the numbers themselves if nothing is known. ``told`` says which labels each number counts, with ``{}``
    for the count.
    """

    at: NDArray[np.int64]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    is_known: bool
    told: str

    @classmethod
    def exactly(cls, release: Release) -> Points:
        """Return prevalences φ_r, for large profiles some 400, evenly spread on the log scale of counts."""
        profile, error = release.profile, release.error
        chosen = thin(profile.counts)
        at, value = profile.counts[chosen], profile.prevalences[chosen].astype(float)
        ends = error.prevalence_interval(profile, at) if error.has_prevalence_intervals else (value, value)
        return cls(at, value, ends[0], ends[1], error.has_prevalence_intervals, release.words.exactly)

    @classmethod
    def at_least(cls, release: Release) -> Points:
        """Return k+ counts φ_{k+}, thinned in the same way."""
        profile, error = release.profile, release.error
        levels = levels_of(profile)
        levels = levels[thin(levels)] if len(profile) else np.zeros(0, dtype=np.int64)
        if (largest := release.guarantee.unit.max_count) is not None:
            # Larger counts were cut to it, so there are no k+ counts above it, and no errors.
            levels = levels[levels <= largest]
        value = profile.cumulative_prevalence(levels).astype(float)
        ends = error.k_plus_interval(profile, levels) if error.has_k_plus_intervals else (value, value)
        return cls(levels, value, ends[0], ends[1], error.has_k_plus_intervals, release.words.at_least)

    @property
    def hover(self) -> Hover:
        """The text of each number."""
        columns = (each.tolist() for each in (self.at, self.value, self.low, self.high))
        texts = []
        for at, value, low, high in zip(*columns, strict=True):
            ends = f"; {with_interval(interval(low, high))}" if self.is_known else ""
            told = self.told.format(f"{at:,}").replace(" 1 items", " 1 item")
            texts.append(f"{told}: {value:,.0f}{ends}")
        return Hover(self.at.tolist(), texts)


def thin(positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return at most some 400 indices of ascending positions ≥ 1, evenly spread on the log scale, with both ends."""
    size = len(positions)
    if size <= _POINTS:
        return np.arange(size)
    marks = np.geomspace(float(positions[0]), float(positions[-1]), _POINTS)
    # Take the last position up to each mark: its value holds up to the mark, however far the next position is.
    return np.unique(np.clip(np.searchsorted(positions, marks, side="right") - 1, 0, size - 1))


def spread(number: int, most: int) -> list[int]:
    """Return at most ``most`` of ``number`` places, evenly spread, including the first and the last."""
    places: list[int] = np.unique(np.round(np.linspace(0, number - 1, min(most, number))).astype(int)).tolist()
    return places


# One hue in several lightnesses, readable without color vision and in print.
INK, BLUE, BAND, GRID = "#1f2933", "#0b6e99", "#9fcfe3", "#d9e2ec"
# The color of what must not be published.
ALARM = "#b42318"
# For lines beside each other: these are hues, so figures must tell lines apart by marks and dashes as well.
SERIES = (INK, BLUE, "#c2410c", "#6d28d9", "#15803d", "#a16207", "#be185d", "#64748b", "#a21caf")
# In inches; small, so that text stays readable where a page shows the figure in a narrow window.
_SIZE = (4.4, 3.2)
# In points, for names of axes and lines: the longest name of an axis is about as long as the figure is high.
_TEXT = 9.5
_NAME_TEXT = 8.5
_MOST_COLUMNS = 3
# As a share of the width: text is a little wider in some files and on some screens than it is measured here.
_FILLED = 0.92
# The most powers of ten that are written out, and the most of them that have room.
_MOST_PLAIN, _MOST_NAMED = 8, 5
# Numbers from here on are marked in thousands, millions and so on.
_PLAIN = 100_000


def prevalences_figure(release: Release) -> matplotlib_figure.Figure:
    """Draw the released prevalences φ_r against the count r, both on log scales, with 95% intervals.

    For large profiles, it draws some 400 counts, evenly spread on the log scale and chosen by their position alone.
    """
    words = release.words
    figure, axes = canvas(f"{words.labels} with exactly this {words.count}", words.count)
    points = Points.exactly(release)
    if points.is_known:
        bottom = np.maximum(points.low, _floor(points.high))
        axes.vlines(points.at, bottom, points.high, color=BAND, linewidth=1.6, label="95% interval")
    axes.plot(points.at, points.value, ".", color=BLUE, markersize=4.5, label="released prevalence")
    _log_log(axes, points.at, points.high)
    return figure


def k_plus_figure(release: Release) -> matplotlib_figure.Figure:
    """Draw how many labels occur at least k times, φ_{k+}, on log scales with a 95% band; thinned as prevalences are.

    The 95% are meant for each count by itself, not for the whole curve at once.
    """
    words = release.words
    figure, axes = canvas(f"{words.labels} with at least this {words.count}", words.count)
    points = Points.at_least(release)
    _log_log(axes, points.at, draw_k_plus(axes, points, floor=_floor(points.high)))
    return figure


def draw_k_plus(axes: Axes, points: Points, *, floor: float) -> NDArray[np.float64]:
    """Draw k+ counts as steps in their band, values below ``floor`` at ``floor``; return the upper ends."""
    # Each value holds up to the next level, and the last one for all levels above.
    ends = np.append(points.at, _beyond(points.at))
    middle, low, high = (
        np.maximum(np.append(each, each[-1:]), floor) for each in (points.value, points.low, points.high)
    )
    if points.is_known:
        axes.fill_between(ends, low, high, step="post", color=BAND, linewidth=0, label="95% interval")
    axes.step(ends, middle, where="post", color=BLUE, linewidth=1.6, label="released k+ count")
    return high


# In inches, for a panel beside others; a phone shows two panels side by side.
PANEL = (2.2, 1.65)
_MOST_BESIDE = 4
# In points.
PANEL_TEXT = 7.0


def small_multiples(
    names: Sequence[str],
    draw: Callable[[Axes, int], None],
    *,
    y_label: str,
    x_label: str,
    handle_length: float = 1.4,
) -> matplotlib_figure.Figure:
    """Draw a panel for each name, in this order; ``draw`` draws one, to common scales. All panels share one legend."""
    from anonhist.report.picture import ApartLayout, NotebookFigure

    beside = _MOST_BESIDE if len(names) > _MOST_BESIDE else min(2, len(names))
    rows = -(-len(names) // beside)
    # A few panels together are as large as a figure.
    scale = max(1.0, _SIZE[0] / (beside * PANEL[0]))
    size = (scale * beside * PANEL[0], max(_SIZE[1], rows * (PANEL[1] + 0.25)))
    figure = NotebookFigure(figsize=size, layout=ApartLayout())
    panels = figure.subplots(rows, beside, squeeze=False).ravel().tolist()
    for at, axes in enumerate(panels):
        if at >= len(names):
            axes.remove()
            continue
        dress(axes)
        axes.tick_params(which="both", labelsize=PANEL_TEXT)
        draw(axes, at)
        name = fitting(names[at], widest=0.66 * 72 * scale * PANEL[0], size=_NAME_TEXT)
        axes.set_title(name, loc="left", color=INK, fontsize=_NAME_TEXT, parse_math=False)
    figure.supxlabel(x_label, color=INK, fontsize=_TEXT)
    figure.supylabel(y_label, color=INK, fontsize=_TEXT)
    with_lines = (axes for axes in figure.axes if axes.get_legend_handles_labels()[0])
    add_legend(next(with_lines, figure.axes[0]), handle_length=handle_length)
    return figure


def canvas(y_label: str, x_label: str, *, size: tuple[float, float] = _SIZE) -> tuple[matplotlib_figure.Figure, Axes]:
    """Return an empty figure of a size in inches, and its axes in the house style."""
    from anonhist.report.picture import ApartLayout, NotebookFigure

    figure = NotebookFigure(figsize=size, layout=ApartLayout())
    axes = figure.add_subplot()
    axes.set_xlabel(x_label, color=INK, fontsize=_TEXT)
    axes.set_ylabel(y_label, color=INK, fontsize=_TEXT)
    dress(axes)
    return figure, axes


def dress(axes: Axes) -> None:
    """Give axes the house style."""
    axes.grid(visible=True, which="major", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", colors=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(INK)


def say_empty(axes: Axes, text: str = "the released profile is empty") -> None:
    """Say that there is nothing to draw."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, color=INK)


def add_legend(axes: Axes, *, handle_length: float = 1.4) -> None:
    """Add a legend above the axes: none of their corners is free in every release; the figure grows as needed."""
    figure = cast("matplotlib_figure.Figure", axes.figure)
    handles, names = axes.get_legend_handles_labels()
    if not handles:
        return
    for columns in range(min(len(names), _MOST_COLUMNS), 0, -1):
        legend = figure.legend(
            handles,
            names,
            loc="outside upper left",
            borderpad=0,
            borderaxespad=0.3,
            ncols=columns,
            frameon=False,
            labelcolor=INK,
            fontsize=_TEXT,
            columnspacing=1.2,
            handlelength=handle_length,
        )
        box = legend.get_window_extent()
        if columns == 1 or box.width <= _FILLED * figure.bbox.width:
            break
        legend.remove()
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + box.height / figure.dpi)


def legend_alone(draw: Callable[[Axes], None], *, handle_length: float = 1.4) -> matplotlib_figure.Figure:
    """Draw only the legend: a figure without axes, for figures that are drawn alike."""
    figure, axes = canvas("", "", size=(_SIZE[0], 0.05))
    draw(axes)
    add_legend(axes, handle_length=handle_length)
    # There is nothing to lay out.
    figure.set_layout_engine("none")
    axes.remove()
    return figure


def mark_shares(axes: Axes) -> None:
    """Mark shares from 0 to 1 in percent on the vertical axis."""
    axes.set_ylim(0, 1.02)
    axes.set_yticks(np.linspace(0, 1, 6), [f"{mark}%" for mark in range(0, 101, 20)])


def scale_across(axes: Axes, right: float) -> None:
    """Make the horizontal axis a log scale of counts from 1 to ``right``."""
    axes.set_xscale("log")
    scale_of_counts(axes.xaxis, right)
    axes.set_xlim(0.8, right)


def scale_of_counts(axis: Axis, largest: float) -> None:
    """Mark the powers of ten up to ``largest`` on a log axis: all of them written out, or none."""
    powers = range(math.floor(math.log10(max(largest, 1.0))) + 1)
    is_plain = len(powers) <= _MOST_PLAIN
    every = -(-len(powers) // (_MOST_NAMED if is_plain else 10))
    marks = powers[::every]
    names = [f"{10**power:,}" if is_plain else f"$10^{{{power}}}$" for power in marks]
    between = [digit * 10.0**power for power in powers for digit in range(1, 10)] if len(powers) <= 10 else []
    axis.set_ticks([10.0**power for power in marks], names)
    # If hardly a power of ten fits, some whole numbers between are named as well.
    named = (2, 3, 4, 6, 8) if len(powers) == 1 else ()
    axis.set_ticks(between, [f"{mark:.0f}" if mark in named else "" for mark in between], minor=True)


def name_marks(axis: Axis, largest: float) -> None:
    """Name round marks of a linear axis in few characters."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    marks = np.asarray(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(0, largest))
    axis.set_major_locator(FixedLocator(marks.tolist()))
    axis.set_ticklabels(mark_names(marks))


def mark_names(marks: NDArray[np.float64]) -> list[str]:
    """Write evenly spread marks, large ones in thousands, millions and so on."""
    largest = float(marks.max(initial=0))
    if largest < _PLAIN:
        return [format_number(mark, digits=6) for mark in marks.tolist()]
    thousands = min(math.floor(math.log10(largest) / 3), 6)
    unit = ("", "k", "M", "G", "T", "P", "E")[thousands]
    return [f"{mark / 1000**thousands:g} {unit}" if mark else "0" for mark in marks.tolist()]


def short(name: str, longest: int) -> str:
    """Cut a name to at most ``longest`` characters."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


_LONGEST_NAME = 40


def fitting(name: str, *, widest: float, size: float, longest: int = _LONGEST_NAME) -> str:
    """Cut a name until it is at most ``widest`` points wide at this font size."""
    cut = short(" ".join(name.split()), longest)
    while _width(cut, size) > widest:
        cut = short(name, len(cut) - 1)
    return cut


def _width(name: str, size: float) -> float:
    """Return a name's width in points: the browser draws characters that are not in the font, in full width."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    wide = sum(east_asian_width(sign) in "WF" for sign in name)
    known = "".join(sign for sign in name if east_asian_width(sign) not in "WF")
    # Matplotlib has no types for it.
    measure: Any = text_to_path.get_text_width_height_descent
    return float(measure(known, FontProperties(size=size), ismath=False)[0]) + size * wide


def _floor(high: NDArray[np.float64]) -> float:
    """Return where a log scale marks 0 labels: below 1, by a share of the height that keeps the two marks apart."""
    return float(min(0.5, high.max(initial=1) ** -0.09))


def _beyond(levels: NDArray[np.int64]) -> NDArray[np.float64]:
    return levels[-1:].astype(np.float64) * 1.25


def _log_log(axes: Axes, x: NDArray[Any], high: NDArray[np.float64]) -> None:
    if not x.size:
        say_empty(axes)
        return
    frame_log_log(axes, right=float(_beyond(x)[0]), top=float(high.max()), floor=_floor(high))
    add_legend(axes)


def frame_log_log(axes: Axes, *, right: float, top: float, floor: float) -> None:
    """Scale axes for counts up to ``right`` and numbers of labels up to ``top``; ``floor`` is where 0 is marked."""
    axes.set_yscale("log")
    top = max(2.0, 1.6 * top)
    scale_across(axes, max(2.5, right))
    scale_of_counts(axes.yaxis, top)
    axes.set_yticks([floor, *axes.get_yticks()], ["0", *(label.get_text() for label in axes.get_yticklabels())])
    axes.set_ylim(0.9 * floor, top)


_COLORS = {color: f"var(--series-{place})" for place, color in enumerate(SERIES)}
_COLORS |= {INK: "var(--ink)", BLUE: "var(--accent)", BAND: "var(--band)", GRID: "var(--line)", ALARM: "var(--alarm)"}
_NAMES = re.compile(r'(\bid="|href="#|url\(#)')
_TAG = re.compile("<[^>]*>")
# Matplotlib's settings belong to the whole process: if two threads set and restored them, one could restore for good
# what the other had set.
_SETTINGS = Lock()


def _of_page(tag: str, name: str) -> str:
    """Return a tag with the names of this figure and the colors of its page."""
    tag = _NAMES.sub(rf"\g<1>{name}-", tag)
    for color, variable in _COLORS.items():
        tag = tag.replace(color, variable)
    return tag


def inline_svg(
    draw: Callable[[], Figure], *, name: str, description: str, keep_text: bool = False, hover: Hover | None = None
) -> Markup:
    """Draw a figure as an ``<svg>`` element that takes colors from the page; screen readers read its ``description``.

    Text is drawn as paths, so that it looks the same everywhere; with ``keep_text`` it is left to the browser, which
    has glyphs for more languages. All names in the element begin with ``name``, which must differ between the figures
    of a page. The same figure gives the same bytes: it has no date, no random names, and no settings of the user.
    """
    import matplotlib as mpl
    from markupsafe import Markup
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    defaults = {key: value for key, value in mpl.rcParamsDefault.items() if not key.startswith(("backend", "webagg"))}
    buffer = io.StringIO()
    settings = {**defaults, "svg.hashsalt": name, "svg.fonttype": "none" if keep_text else "path"}
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
    # Only tags are changed: the text between them is drawn as it is.
    text = _TAG.sub(lambda tag: _of_page(tag[0], name), text)
    drawn = Markup(text.rstrip().removeprefix("<svg").removesuffix("</svg>"))  # noqa: S704  # Matplotlib escapes text
    strips = "" if hover is None else hover.strips(figure)
    return Markup('<svg role="img" aria-label="{}"{}{}</svg>').format(description, drawn, strips)
