"""The figures of Kairouz, Bonawitz and Ramage, drawn from the experiments as they were run here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from anonhist.local.kairouz import TARGET, best, people_needed
from anonhist.local.kairouz_settings import CLOSED, OPEN, geometric
from anonhist.report.figures import BLUE, INK, SERIES, dress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from anonhist.local.kairouz import ErrorRow

KAIROUZ_FIGURES = ("closed", "open", "parameters")
_ORANGE, _VIOLET, _GREEN, _GREY = SERIES[2], SERIES[3], SERIES[4], SERIES[7]


@dataclass(frozen=True)
class _Look:
    """What a line looks like."""

    title: str
    colour: str
    dashes: str = "-"
    mark: str = "o"


_DECODERS = {
    "unbiased": _Look("unbiased", _GREY, ":", "s"),
    "normalized": _Look("normalized", _ORANGE, "--", "^"),
    "projected": _Look("projected", BLUE, "-", "o"),
    "em": _Look("EM, stopped early", _GREEN, "-.", "x"),
}
_MECHANISMS = {
    "k-RR": _Look("k-RR", _ORANGE, "-", "o"),
    "k-RAPPOR": _Look("k-RAPPOR", BLUE, "--", "^"),
    "OUE": _Look("optimized unary", _VIOLET, ":", "s"),
    "subset selection": _Look("subset selection", _GREEN, "-.", "D"),
    "projective geometry": _Look("projective geometry", INK, "-", "x"),
}
_COHORTS = {"O-RR": _Look("O-RR", _ORANGE, "-", "o"), "O-RAPPOR": _Look("O-RAPPOR", BLUE, "--", "^")}
_BY_EPSILON = (("-", "o", _ORANGE), ("--", "^", _VIOLET), ("-.", "D", BLUE), (":", "s", _GREEN))


def kairouz_figure(name: str, rows: Sequence[ErrorRow]) -> Figure:
    """Draw ``"closed"``, ``"open"`` or ``"parameters"``; bars are two standard errors to either side.

    "closed" has the error by ε with each decoder, and mechanisms beside each other; "open" O-RR beside O-RAPPOR at the
    best of the parameters tried, and how many people they need for an ℓ1 error of 0.20; "parameters" how the error goes
    with k, C and h.

    Examples
    --------
    >>> from anonhist.local.kairouz import ErrorRow
    >>> row = ErrorRow("closed", "k-RR", "closed", 4.0, 30_000, 256, 1, 1, "projected", 0.4, 0.01, 2, None)
    >>> kairouz_figure("closed", [row]).axes[0].get_title()
    'k-RR, 30,000 people'
    """
    from matplotlib.figure import Figure

    heights = {"closed": 7.0, "open": 3.8, "parameters": 8.6}
    figure = Figure(figsize=(11.4, heights[name]), layout="constrained")
    draw: Callable[[Figure, Sequence[ErrorRow]], None]
    draw = {"closed": _draw_closed, "open": _open, "parameters": _parameters}[name]
    draw(figure, rows)
    return figure


def _draw_closed(figure: Figure, rows: Sequence[ErrorRow]) -> None:
    own = [row for row in rows if row.figure == "closed"]
    numbers = sorted({row.users for row in own})
    panels = figure.subplots(len(numbers), 3, squeeze=False, sharex=True, sharey=True)
    for users, line in zip(numbers, panels, strict=True):
        here = [row for row in own if row.users == users]
        private = [row for row in here if row.epsilon]
        for axes, mechanism in zip(line, ("k-RR", "k-RAPPOR"), strict=False):
            for decoder, look in _DECODERS.items():
                chosen = [row for row in private if (row.mechanism, row.decoder) == (mechanism, decoder)]
                _line(axes, look, ((row.epsilon, row) for row in chosen))
            _finish(axes, f"{mechanism}, {users:,} people", marks=(1,))
        for mechanism, look in _MECHANISMS.items():
            chosen = [row for row in private if (row.mechanism, row.decoder) == (mechanism, "projected")]
            _line(line[2], look, ((row.epsilon, row) for row in chosen))
        _finish(line[2], f"all of them projected, {users:,} people", marks=(1,))
        people = [row.l1_mean for row in here if row.mechanism == "none"]
        for axes in line:
            for level in people:
                _level(axes, "no privacy", level, side="left")
    panels[0, 0].set_ylim(bottom=0.008, top=30)
    for axes in panels[0, 1:]:
        _name_lines(axes)
    figure.supxlabel("ε", color=INK, fontsize="medium")
    figure.supylabel("ℓ1 error", color=INK, fontsize="medium")


def _open(figure: Figure, rows: Sequence[ErrorRow]) -> None:
    panels = figure.subplots(1, 3)
    for axes, alphabet, decoder, title in (
        (panels[0], OPEN, "least-squares", "open alphabet, hashed"),
        (panels[1], CLOSED, "projected", "closed alphabet, permuted"),
    ):
        for mechanism, look in _COHORTS.items():
            curve = best(rows, mechanism, alphabet, decoder=decoder)
            most = max((row.users for row in curve), default=0)
            _line(axes, look, ((row.epsilon, row) for row in curve if row.users == most))
            style = _Look(f"{look.title}, {alphabet}", look.colour, *(("-", "o") if alphabet == OPEN else (":", "s")))
            needed = people_needed(curve)
            panels[2].plot(
                list(needed), list(needed.values()), color=style.colour, linestyle=style.dashes, marker=style.mark,
                markersize=4, linewidth=1.4, label=style.title,
            )  # fmt: skip
        _level(axes, f"ℓ1 = {TARGET:.2f}", TARGET)
        _finish(axes, title)
        axes.set_xlabel("ε", color=INK)
        _name_lines(axes)
    panels[0].set_ylabel(f"ℓ1 error after {most:,} people", color=INK)
    panels[1].sharey(panels[0])
    _finish(panels[2], f"people needed for ℓ1 = {TARGET:.2f}", errors=False)
    panels[2].set_xlabel("ε", color=INK)
    panels[2].set_ylabel("people", color=INK)
    _name_lines(panels[2])


def _parameters(figure: Figure, rows: Sequence[ErrorRow]) -> None:
    panels = figure.subplots(3, 3, sharey=True)
    for axes, varied, mechanism, alphabet, x_label in (
        (panels[0, 0], "buckets", "O-RR", OPEN, "buckets k"),
        (panels[0, 1], "cohorts", "O-RR", OPEN, "cohorts C"),
        (panels[0, 2], "cohorts", "O-RR", CLOSED, "cohorts C"),
        (panels[1, 0], "buckets", "O-RAPPOR", OPEN, "bits k"),
        (panels[1, 1], "cohorts", "O-RAPPOR", OPEN, "cohorts C"),
        (panels[1, 2], "hashes", "O-RAPPOR", OPEN, "hashes h"),
        (panels[2, 0], "cohorts", "O-RAPPOR", CLOSED, "cohorts C"),
        (panels[2, 1], "hashes", "O-RAPPOR", CLOSED, "hashes h"),
    ):
        own = [row for row in rows if (row.figure, row.mechanism, row.alphabet) == (varied, mechanism, alphabet)]
        for epsilon, style in zip(sorted({row.epsilon for row in own}), _BY_EPSILON, strict=False):
            dashes, mark, colour = style
            look = _Look(f"ε = {epsilon:g}", colour, dashes, mark)
            fitted = [row for row in own if (row.epsilon, row.decoder) == (epsilon, "least-squares")]
            _line(axes, look, ((getattr(row, varied), row) for row in fitted))
        _finish(axes, ", ".join((mechanism, alphabet, *_fixed_parameters(own))))
        axes.set_xscale("log", base=2)
        values = sorted({getattr(row, varied) for row in own})
        axes.set_xticks(values[:: 1 + len(values) // 7])
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel(x_label, color=INK)
    panels[2, 2].axis("off")
    handles, titles = panels[0, 0].get_legend_handles_labels()
    panels[2, 2].legend(handles, titles, loc="center", frameon=False, labelcolor=INK)
    numbers = sorted({row.users for row in rows if row.figure == "buckets"})
    figure.supylabel(" ".join(["ℓ1 error", *(f"after {each:,} people" for each in numbers)]), color=INK)


def _fixed_parameters(rows: Sequence[ErrorRow]) -> Iterator[str]:
    """Yield the parameters that are the same in all rows."""
    for name, letter in (("buckets", "k"), ("cohorts", "C"), ("hashes", "h")):
        values = {getattr(row, name) for row in rows}
        if len(values) == 1 and (name != "hashes" or rows[0].mechanism == "O-RAPPOR"):
            yield f"{letter} = {values.pop()}"


def _line(axes: Axes, look: _Look, points: Iterable[tuple[float, ErrorRow]]) -> None:
    found = sorted((x, row.l1_mean, 2 * row.l1_standard_error) for x, row in points)
    if not found:
        return
    x, y, bars = (np.array(each) for each in zip(*found, strict=True))
    axes.errorbar(
        x,
        y,
        # On a log scale a bar that reaches 0 would fill the panel.
        yerr=(np.minimum(bars, 0.5 * y), bars),
        color=look.colour,
        linestyle=look.dashes,
        marker=look.mark,
        markersize=4,
        linewidth=1.4,
        elinewidth=0.8,
        label=look.title,
    )


def _level(axes: Axes, title: str, level: float, *, side: Literal["left", "right"] = "right") -> None:
    """Draw an error to compare with, its name at one end."""
    axes.axhline(level, color=_GREY, linewidth=0.8, linestyle=(0, (1, 2)))
    at, apart = (0, 2) if side == "left" else (1, -2)
    axes.annotate(
        title, (at, level), xycoords=("axes fraction", "data"), xytext=(apart, 2), textcoords="offset points",
        ha=side, va="bottom", fontsize="x-small", color=_GREY,
    )  # fmt: skip


def _finish(axes: Axes, title: str, *, marks: tuple[int, ...] = (1, 2, 5), errors: bool = True) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    dress(axes)
    axes.set_yscale("log")
    if errors:
        # What no estimate should be worse than: the same share for every symbol.
        _level(axes, "uniform", float(np.abs(geometric() - 1 / geometric().size).sum()))
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_locator(LogLocator(subs=marks))
    axes.set_title(title, color=INK, fontsize="medium")


def _name_lines(axes: Axes) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, labelcolor=INK, fontsize="small")
