"""One self-contained HTML page about the released degrees of a graph."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.graphs.statistics import degree_statistics
from anonhist.graphs.statistics.degree_data import DegreeData, DegreeSource, released_policy
from anonhist.privacy import short_decimal, warning
from anonhist.releases import Release
from anonhist.report.degree.figures import ccdf_figure, comparable
from anonhist.report.degree.wording import (
    NOT_PRIVATE,
    counted_nodes,
    degree_exclusions,
    ends_text,
    notes,
    number_text,
    promise_text,
    tail_text,
)
from anonhist.report.figures import prevalences_figure
from anonhist.report.frame import DRAWN_AGAIN, check_page, reproduce, template, warning_box, write_page
from anonhist.report.kinds import ReleaseView
from anonhist.report.remarks import remarks
from anonhist.report.rows import LEVELS, rows, text_rows
from anonhist.report.svg import inline_svg
from anonhist.report.wording import (
    bars_text,
    expected_error,
    interval,
    runs_text,
    share_of_items,
    with_interval,
)

if TYPE_CHECKING:
    from pathlib import Path

    from anonhist.graphs.statistics import DegreeStatistics

_ROWS = 12
_TITLE = "Degrees of a graph, released by anonhist"


def write_degrees(
    release: Release,
    path: str | Path,
    *,
    command: str | None,
    overwrite: bool,
    truth: DegreeSource | None,
) -> None:
    """Write the page of released degrees; with the truth beside them it is not private, and says so loudly.

    Raises
    ------
    UsageError
        If what is given as the truth is a release, or has no degrees, or nothing can be written at the path.
    """
    check_page(path, overwrite=overwrite)
    if isinstance(truth, Release):
        raise UsageError("`not_private_truth` must be the true degrees, such as a Graph or a Profile, not a release.")
    true_degrees = None if truth is None else DegreeData.of(truth)
    title = _TITLE if truth is None else f"{NOT_PRIVATE} – {_TITLE}"
    write_page(path, _main(release, command, true_degrees), title=title, overwrite=overwrite)


def _main(release: Release, command: str | None, truth: DegreeData | None) -> str:
    profile, error, guarantee = release.profile, release.error, release.guarantee
    statistics, is_private = degree_statistics(release), truth is None
    words = {
        "nodes": number_text(statistics.nodes_with_edges),
        "nodes_interval": with_interval(interval(*statistics.nodes_with_edges.interval)),
        "isolated": _isolated_text(statistics),
        "edges": number_text(statistics.edges),
        "edges_interval": with_interval(ends_text(statistics.edges)),
        "bars": bars_text(error, none="that number from none"),
        "epsilon": short_decimal(guarantee.epsilon),
        "unit": str(guarantee.unit),
        "l1": expected_error(error),
        "relative": share_of_items(release),
        "guarantee": guarantee.sentence,
        "counted": counted_nodes(comparable(release, truth)[0]),
        "truth": "" if is_private else f" {NOT_PRIVATE}, dashed.",
        "tail": tail_text(statistics),
        "policy": str(released_policy(release)),
        "mechanism": release.mechanism.name,
        "reason": release.reason,
        "parameters": ", ".join(f"{name} = {value}" for name, value in release.mechanism.parameters.items()),
        "runs": " ".join((runs_text(release, of="degrees"), *(told for _, told in remarks(release)))),
        "more": f"The first {_ROWS} of {len(profile):,} released degrees." if len(profile) > _ROWS else "",
        "version": release.library_version,
    }
    return template("degree.html").substitute(
        {name: _html(text) for name, text in words.items()},
        banner="" if is_private else f'<p class="banner" role="alert">{NOT_PRIVATE}</p>\n',
        warning=warning_box(warning(guarantee.epsilon)),
        notes="".join(f"<p><b>Note.</b> {_html(each)}</p>" for each in notes(release, statistics)),
        promise="".join(f"<p>{_html(each)}</p>" for each in promise_text(release, is_private=is_private)),
        not_covered="".join(f"<li>{_html(each)}</li>" for each in degree_exclusions(release, is_private=is_private)),
        ccdf=inline_svg(
            lambda: ccdf_figure(release, not_private_truth=truth),
            name="ccdf",
            description="Share of nodes with at least a given degree, both on log scales, with a 95 % band"
            + ("" if is_private else f". {NOT_PRIVATE}"),
        ),
        degrees=inline_svg(
            lambda: prevalences_figure(release),
            name="degrees",
            description="Nodes with exactly a given degree, both on log scales, with 95 % intervals",
        ),
        statistic_rows=text_rows(
            (name, number_text(number), ends_text(number)) for name, number in statistics.by_name()
        ),
        prevalence_rows=rows(
            (f"{r:,}", f"{profile.prevalence(r):,}", release.prevalence(r).interval)
            for r in profile.counts[:_ROWS].tolist()
        ),
        k_plus_rows=rows(
            (f"{k:,} or more", f"{profile.k_plus(k):,}", error.k_plus(profile, k).interval)
            for k in _shown_levels(release)
        ),
        reproduce=reproduce(command, DRAWN_AGAIN),
    )


def _html(text: str) -> str:
    """Write text as HTML, no percent sign apart from its number."""
    return escape(text).replace(" %", "&nbsp;%")


def _isolated_text(statistics: DegreeStatistics) -> str:
    if statistics.isolated is None:
        return ""
    return f"; {number_text(statistics.isolated)} more without ({interval(*statistics.isolated.interval)})"


def _shown_levels(release: Release) -> list[int]:
    largest = int(release.profile.counts[-1]) if len(release.profile) else 1
    return [level for level in LEVELS if level <= largest]


def _facts(release: Release) -> list[tuple[str, str]]:
    return [("Edges", str(released_policy(release)))]


VIEW = ReleaseView(ccdf_figure, write_degrees, _facts)
