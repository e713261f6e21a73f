"""One self-contained HTML page about the released degrees of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.graphs.degree_data import DegreeData, DegreeSource, released_policy
from anonhist.graphs.statistics import degree_statistics
from anonhist.privacy import short_decimal
from anonhist.releases import Release
from anonhist.report.degree import wording
from anonhist.report.degree.figures import ccdf_figure, ccdf_hover, comparable
from anonhist.report.figures import prevalences_figure
from anonhist.report.frame import Sheet, template
from anonhist.report.kinds import ReleaseView
from anonhist.report.points import Points
from anonhist.report.promise import for_one_person, plain_promise
from anonhist.report.sections import DRAWN_AGAIN, card, html, notes_html, promised, released_parts, text_rows
from anonhist.report.svg import inline_svg
from anonhist.report.wording import (
    bars_text,
    expected_error,
    interval,
    no_intervals,
    runs_text,
    share_of_items,
    with_interval,
)

if TYPE_CHECKING:
    from anonhist.graphs.statistics import DegreeStatistics


def write_degrees(release: Release, sheet: Sheet, truth: DegreeSource | None) -> None:
    """Write the page of released degrees; with the truth beside them it is not private, and says so loudly.

    Raises
    ------
    UsageError
        If what is given as the truth is a release, or has no degrees, or nothing can be written at the path.
    """
    sheet.check()
    if isinstance(truth, Release):
        raise UsageError("`not_private_truth` must be the true degrees, such as a Graph or a Profile, not a release.")
    true_degrees = None if truth is None else DegreeData.of(truth)
    sheet.write(
        _main(release, sheet.command, true_degrees),
        headline="How many edges nodes have, without saying which",
        subtitle="Differentially private degrees of a graph: how many nodes have one edge, two, and so on.",
        banner="" if truth is None else wording.NOT_PRIVATE,
        version=release.library_version,
    )


def _main(release: Release, command: str | None, truth: DegreeData | None) -> str:
    guarantee = release.guarantee
    statistics, is_private = degree_statistics(release), truth is None
    words = {
        "bars": bars_text(release.error, none="that number from none"),
        "counted": wording.counted_nodes(comparable(release, truth)[0]),
        "truth": "" if is_private else f" {wording.NOT_PRIVATE}, dashed.",
        "tail": wording.tail_text(statistics),
        "policy": str(released_policy(release)),
        "runs": " ".join(filter(None, (runs_text(release, of="degrees"), no_intervals(release.error)))),
    }
    return template("degree.html").substitute(
        {name: html(text) for name, text in words.items()},
        **released_parts(release, command, again=DRAWN_AGAIN, noun="degrees", file="degrees.csv"),
        cards="".join(card(*each) for each in _cards(release, statistics)),
        notes=notes_html(wording.notes(release, statistics)),
        promised=promised(
            guarantee,
            sentence=plain_promise(guarantee, result="result" if is_private else "released number"),
            meaning=for_one_person(guarantee) if is_private else for_one_person(guarantee, stays=wording.NOT_THIS_PAGE),
            not_covered=wording.degree_exclusions(release, is_private=is_private),
        ),
        ccdf=inline_svg(
            lambda: ccdf_figure(release, not_private_truth=truth),
            name="ccdf",
            description="Share of nodes with at least a given degree, both on log scales, with a 95 % band"
            + ("" if is_private else f". {wording.NOT_PRIVATE}"),
            hover=ccdf_hover(release, not_private_truth=truth),
        ),
        degrees=inline_svg(
            lambda: prevalences_figure(release),
            name="degrees",
            description="Nodes with exactly a given degree, both on log scales, with 95 % intervals",
            hover=Points.exactly(release).hover,
        ),
        statistic_rows=text_rows(
            (name, wording.number_text(number), wording.ends_text(number)) for name, number in statistics.by_name()
        ),
    )


def _cards(release: Release, statistics: DegreeStatistics) -> list[tuple[str, str]]:
    """Return the numbers that are told first, each with what it is."""
    nodes, edges, guarantee = statistics.nodes_with_edges, statistics.edges, release.guarantee
    reached = with_interval(interval(*nodes.interval))
    error = "expected ℓ1 error of the sorted list of degrees, and its range"
    return [
        (wording.number_text(nodes), f"nodes with an edge; {reached}{_isolated_text(statistics)}"),
        (wording.number_text(edges), f"edges between them; {with_interval(wording.ends_text(edges))}"),
        (f"ε = {short_decimal(guarantee.epsilon)}", f"the whole privacy budget, for {guarantee.unit}"),
        (expected_error(release.error), f"{error}{share_of_items(release)}"),
    ]


def _isolated_text(statistics: DegreeStatistics) -> str:
    if statistics.isolated is None:
        return ""
    return f"; {wording.number_text(statistics.isolated)} more without ({interval(*statistics.isolated.interval)})"


VIEW = ReleaseView(ccdf_figure, write_degrees, lambda release: [("Edges", str(released_policy(release)))])
