"""The figures of INSPECTRE, drawn from the experiments as they were run here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.report.figures import BLUE, INK, SERIES, dress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from anonhist.mechanisms.estimators.inspectre import ErrorRow

_ORANGE, _VIOLET, _GREEN, _GREY = SERIES[2], SERIES[3], SERIES[4], SERIES[7]


@dataclass(frozen=True)
class _Line:
    """One line: an estimator at a budget, and what it looks like."""

    estimator: str
    epsilon: float
    title: str
    colour: str
    dashes: str = "-"
    mark: str = "o"


_LINES = {
    "entropy": (
        _Line("plug-in", 0, "plug-in", _GREY, ":", "s"),
        _Line("Miller–Madow", 0, "Miller–Madow", _GREY, "--", "D"),
        _Line("polynomial", 0, "polynomial", INK),
        _Line("private polynomial, published noise", 1, "private, published noise, ε = 1", _ORANGE, "--", "^"),
        _Line("private polynomial", 1, "private, ε = 1", BLUE, "-", "v"),
        _Line("private polynomial, recommended", 1, "private, parameters recommended, ε = 1", _GREEN, "-.", "x"),
    ),
    "coverage": (
        _Line("smoothed Good–Toulmin", 0, "smoothed Good–Toulmin", INK),
        _Line("private, published noise", 1, "private, published noise, ε = 1", _ORANGE, "--", "^"),
        _Line("private", 1, "private, ε = 1", BLUE, "-", "v"),
        _Line("private", 10, "private, ε = 10", _VIOLET, ":", "s"),
        _Line("private, recommended", 1, "private, smoothing recommended, ε = 1", _GREEN, "-.", "x"),
    ),
    "texts": (
        _Line("smoothed Good–Toulmin", 0, "smoothed Good–Toulmin", INK),
        _Line("private, published noise", 0.5, "private, published noise, ε = 0.5", _ORANGE, "--", "^"),
        _Line("private", 0.5, "private, ε = 0.5", BLUE, "-", "v"),
        _Line("private, recommended", 0.5, "private, smoothing recommended, ε = 0.5", _GREEN, "-.", "x"),
    ),
}
_LABELS = {
    "entropy": ("items", "root mean squared error in bits"),
    "coverage": ("further draws, in samples (t)", "root mean squared error / (n·t)"),
    "texts": ("share of the text that was seen", "root mean squared error in labels"),
}
_LOGARITHMIC = ("entropy", "texts")


def inspectre_figure(experiment: str, rows: Sequence[ErrorRow]) -> Figure:
    """Draw one experiment, ``"entropy"``, ``"coverage"`` or ``"texts"``: a panel per distribution or text.

    Bars are two standard errors of a root mean squared error to either side.

    Examples
    --------
    >>> from anonhist.mechanisms.estimators.inspectre import ErrorRow
    >>> row = ErrorRow("texts", "hamlet", 0.1, "private", 0.5, 100.0, 5.0, 10.0, 20)
    >>> inspectre_figure("texts", [row]).axes[0].get_title()
    'Hamlet'
    """
    from matplotlib.figure import Figure

    shown = [row for row in rows if row.experiment == experiment]
    names = list(dict.fromkeys(row.data for row in shown))
    columns = min(3, len(names))
    height = -(-len(names) // columns)
    figure = Figure(figsize=(3.6 * columns + 0.6, 2.9 * height + 0.9), layout="constrained")
    panels = figure.subplots(height, columns, squeeze=False, sharex=True, sharey=experiment == "entropy")
    for axes, name in zip(panels.flat, names, strict=False):
        _panel(axes, experiment, [row for row in shown if row.data == name])
        axes.set_title(name[0].upper() + name[1:], color=INK, fontsize="medium")
    x_label, y_label = _LABELS[experiment]
    figure.supxlabel(x_label, color=INK, fontsize="medium")
    figure.supylabel(y_label, color=INK, fontsize="medium")
    handles, titles = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, titles, loc="outside upper center", ncols=min(3, len(titles)), frameon=False, labelcolor=INK)
    return figure


def _panel(axes: Axes, experiment: str, rows: Sequence[ErrorRow]) -> None:
    dress(axes)
    for line in _LINES[experiment]:
        points = sorted(
            (row.x, row.rmse, 2 * row.standard_error)
            for row in rows
            if row.estimator == line.estimator and row.epsilon == line.epsilon
        )
        if not points:
            continue
        x, y, bars = zip(*points, strict=True)
        axes.errorbar(
            x,
            y,
            yerr=bars,
            color=line.colour,
            linestyle=line.dashes,
            marker=line.mark,
            markersize=4,
            linewidth=1.4,
            elinewidth=0.8,
            label=line.title,
        )
    if experiment in _LOGARITHMIC:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
