"""Figures of experiments: a panel each, a line per series with bars of two standard errors, formulas dashed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.report.figures import GRID, INK, SERIES, dress

if TYPE_CHECKING:
    from collections.abc import Sequence

    import matplotlib.axes
    from matplotlib.figure import Figure

    from anonhist_papers.experiment import Experiment, Point

_MARKS = "osv^DXP*<>"
_FORMULA = SERIES[7]
_DASHES = ("--", ":", "-.")
# From this ratio of ends on, powers of ten are enough marks; below it, so many marks fit.
_LONG, _MOST_MARKS = 100, 6
_SQUARE = 4


def experiment_figure(experiment: Experiment, points: Sequence[Point]) -> Figure:
    """Draw all points of an experiment.

    Examples
    --------
    >>> from anonhist_papers.experiment import Point
    >>> from anonhist_papers.inspectre import FIGURE_2
    >>> points = [Point("Uniform", "plug-in", items, 1 / items, 0.0001, 5) for items in (100, 1000)]
    >>> [axes.get_title() for axes in experiment_figure(FIGURE_2, points).axes]
    ['Uniform']
    """
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(point.panel for point in points))
    series = list(dict.fromkeys(point.series for point in points))
    columns = 2 if len(panels) == _SQUARE else min(3, len(panels))
    rows = -(-len(panels) // columns)
    width = 5.6 if columns == 1 else 3.5 * columns + 0.4
    names_per_row = min(len(series), 3 if columns == 3 else 2)
    height = 2.9 * rows + 0.45 * -(-len(series) // names_per_row) + (0.9 if columns == 1 else 0.3)
    figure = Figure(figsize=(width, height), layout="constrained")
    drawn = figure.subplots(rows, columns, squeeze=False)
    for axes, panel in zip(drawn.flat, panels, strict=False):
        _draw_panel(axes, experiment, [point for point in points if point.panel == panel], series)
        axes.set_title(panel, color=INK, fontsize="medium")
    for axes in drawn.flat[len(panels) :]:
        axes.remove()
    figure.supxlabel(experiment.axes.x, color=INK, fontsize="medium")
    figure.supylabel(experiment.axes.y, color=INK, fontsize="medium")
    named = {
        title: handle
        for axes in drawn.flat[: len(panels)]
        for handle, title in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        [named[title] for title in series],
        series,
        loc="outside upper center",
        ncols=names_per_row,
        frameon=False,
        labelcolor=INK,
        fontsize=9,
    )
    return figure


def _draw_panel(
    axes: matplotlib.axes.Axes, experiment: Experiment, points: Sequence[Point], series: Sequence[str]
) -> None:
    dress(axes)
    axes.grid(visible=True, which="major", color=GRID)
    measured = list(dict.fromkeys(point.series for point in points if point.runs))
    for place, name in enumerate(series):
        line = sorted((point for point in points if point.series == name), key=lambda point: point.x)
        if not line:
            continue
        x, y = [point.x for point in line], [point.mean for point in line]
        if name in measured:
            axes.errorbar(
                x,
                y,
                yerr=[2 * point.standard_error for point in line],
                color=SERIES[place % 7],
                marker=_MARKS[place % len(_MARKS)],
                markersize=4,
                linewidth=1.4,
                elinewidth=0.8,
                label=name,
            )
        else:
            axes.plot(x, y, color=_FORMULA, linestyle=_DASHES[place % len(_DASHES)], linewidth=1.2, label=name)
    if experiment.axes.log_x:
        axes.set_xscale("log")
        _mark(axes, sorted({point.x for point in points}))
    if experiment.axes.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))


def _mark(axes: matplotlib.axes.Axes, places: Sequence[float]) -> None:
    """Mark a short logarithmic axis at the points themselves, which powers of ten would not; no mark meets another."""
    from matplotlib.ticker import NullFormatter

    axes.xaxis.set_minor_formatter(NullFormatter())
    if not places or places[-1] >= _LONG * places[0]:
        return
    marked = [places[0]]
    for place in places[1:]:
        if place >= marked[-1] * (places[-1] / places[0]) ** (1 / _MOST_MARKS):
            marked.append(place)
    axes.set_xticks(marked, [f"{place:.3g}" for place in marked])
    axes.set_xticks([], minor=True)
