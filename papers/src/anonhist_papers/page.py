"""The page of a paper: of each experiment its setting, what the paper says, our points, and a verdict."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from anonhist.report.figures import inline_svg
from anonhist.report.frame import Sheet, folded, html, scrolled
from anonhist_papers.figures import experiment_figure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from anonhist_papers.experiment import Experiment, Paper, Point, Size, Verdict

# The overview is words. On a narrow page figures of several panels scroll instead of shrinking, and on a wide one those
# of a single panel do not grow.
_STYLE = (
    "<style>.words th, .words td { text-align: left; white-space: normal; }"
    " .wide { overflow-x: auto; } .wide svg { min-width: 44rem; } .one svg { max-width: 36rem; }</style>"
)
_WORDS = {True: "Confirmed", False: "Contradicted", None: "Not decided"}


def write_page(
    path: Path, paper: Paper, points: Sequence[Sequence[Point]], *, key: str, size: Size, overwrite: bool
) -> None:
    """Write the page of a paper, given the points of each of its experiments."""
    judged = [experiment.judge(own) for experiment, own in zip(paper.experiments, points, strict=True)]
    sections = (_section(*each) for each in zip(paper.experiments, points, judged, strict=True))
    command = f"anonhist reproduce {key}{' --quick' if size.value == 'quick' else ''}"
    left_out = "".join(f"<li>{html(each)}</li>" for each in paper.left_out)
    body = (
        f'{_STYLE}<p class="quiet">{html(paper.citation)}</p>{_overview(paper, judged)}{"".join(sections)}'
        + (f"<h2>What is not run</h2><ul>{left_out}</ul>" if left_out else "")
        + f"<h2>Run it again</h2><pre>{escape(command)}</pre>"
    )
    kind = "Its experiments and theorems, run again" + (", in a small setting." if size.value == "quick" else ".")
    sheet = Sheet(path, overwrite=overwrite)
    sheet.write(body, headline=paper.citation.partition(". ")[2].partition(". ")[0], subtitle=kind)


def _overview(paper: Paper, judged: Sequence[Verdict]) -> str:
    rows = "".join(
        f'<tr><th scope="row"><a href="#{each.name}">{html(each.place)}</a></th>'
        f"<td>{html(each.title)}</td><td>{_WORDS[verdict.agrees]}</td></tr>"
        for each, verdict in zip(paper.experiments, judged, strict=True)
    )
    head = '<thead><tr><th scope="col">in the paper</th><th scope="col">what</th><th scope="col">here</th></tr></thead>'
    return scrolled(f'<table class="words">{head}<tbody>{rows}</tbody></table>', label="All experiments")


def _section(experiment: Experiment, points: Sequence[Point], verdict: Verdict) -> str:
    points = experiment.view(points)
    size = "wide" if len({point.panel for point in points}) > 1 else "one"
    plot = inline_svg(
        lambda: experiment_figure(experiment, points),
        name=experiment.name,
        description=f"{experiment.axes.y} against {experiment.axes.x}, a line per series",
    )
    return (
        f'<h2 id="{experiment.name}">{html(experiment.place)}: {html(experiment.title)}</h2>'
        f'<p class="promise"><b>{_WORDS[verdict.agrees]}.</b> {html(verdict.sentence)}</p>'
        f"<p><b>The paper:</b> {html(experiment.says)}</p><p><b>Here:</b> {html(experiment.setting)}</p>"
        f'<figure><div class="{size}">{plot}</div>'
        "<figcaption>Bars are two standard errors to either side. Lines without marks "
        f"are formulas.</figcaption></figure>{folded('The numbers', _tables(experiment, points))}"
    )


def _tables(experiment: Experiment, points: Sequence[Point]) -> str:
    return "".join(
        _table(experiment, panel, [point for point in points if point.panel == panel])
        for panel in dict.fromkeys(point.panel for point in points)
    )


def _table(experiment: Experiment, panel: str, points: Sequence[Point]) -> str:
    places = sorted({point.x for point in points})
    found = {(point.series, point.x): cell(point) for point in points}
    heads = "".join(f'<th scope="col">{x:,.6g}</th>' for x in places)
    rows = "".join(
        f'<tr><th scope="row">{html(series)}</th>'
        + "".join(f"<td>{found.get((series, x), '')}</td>" for x in places)
        + "</tr>"
        for series in dict.fromkeys(point.series for point in points)
    )
    head = f'<thead><tr><th scope="col">{html(experiment.axes.x)}</th>{heads}</tr></thead>'
    title = f"<h3>{html(panel)}</h3>" if panel else ""
    return title + scrolled(f"<table>{head}<tbody>{rows}</tbody></table>", label=panel or experiment.title)


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
