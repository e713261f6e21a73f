"""The page of a paper: of each experiment its setting, what the paper says, our points, and a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.report.figures import inline_svg
from anonhist.report.shown import Sheet
from anonhist_papers.figures import experiment_figure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from anonhist_papers.experiment import Experiment, Paper, Point, Size

_WORDS = {True: "Confirmed", False: "Contradicted", None: "Not decided"}


def write_page(
    path: Path, paper: Paper, points: Sequence[Sequence[Point]], *, key: str, size: Size, overwrite: bool
) -> None:
    """Write the page of a paper, given the points of each of its experiments."""
    Sheet(path, overwrite=overwrite).write(
        "anonhist_papers/page.html",
        headline=paper.citation.partition(". ")[2].partition(". ")[0],
        subtitle="Its experiments and theorems, run again"
        + (", in a small setting." if size.value == "quick" else "."),
        warning="",
        paper=paper,
        sections=[_section(*each) for each in zip(paper.experiments, points, strict=True)],
        command=f"anonhist reproduce {key}{' --quick' if size.value == 'quick' else ''}",
    )


def _section(experiment: Experiment, points: Sequence[Point]) -> dict[str, Any]:
    verdict, points = experiment.judge(points), experiment.view(points)
    plot = inline_svg(
        lambda: experiment_figure(experiment, points),
        name=experiment.name,
        description=f"{experiment.axes.y} against {experiment.axes.x}, a line per series",
    )
    panels = dict.fromkeys(point.panel for point in points)
    return {
        "of": experiment,
        "word": _WORDS[verdict.agrees],
        "sentence": verdict.sentence,
        "plot": plot,
        "tables": [_table(experiment, panel, [each for each in points if each.panel == panel]) for panel in panels],
    }


def _table(experiment: Experiment, panel: str, points: Sequence[Point]) -> tuple[str, list[str], list[list[str]]]:
    """Return its name, its heads, and a row for each series."""
    places = sorted({point.x for point in points})
    found = {(point.series, point.x): cell(point) for point in points}
    heads = [experiment.axes.x, *(f"{x:,.6g}" for x in places)]
    rows = [
        [series, *(found.get((series, x), "") for x in places)]
        for series in dict.fromkeys(each.series for each in points)
    ]
    return panel, heads, rows


def cell(point: Point) -> str:
    """Return a mean with its standard error, or the value of a formula.

    Examples
    --------
    >>> from anonhist_papers.experiment import Point
    >>> cell(Point("", "a", 1, 1711.52, 4.51, 100)), cell(Point("", "formula", 1, 0.25))
    ('1,712 ± 4.5', '0.25')
    """
    error = f" ± {point.standard_error:,.2g}" if point.runs else ""
    return f"{point.mean:,.4g}{error}" if abs(point.mean) < 1e4 else f"{point.mean:,.0f}{error}"
