"""One self-contained HTML page about a release of cumulative windows."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from anonhist.report.frame import Sheet, template
from anonhist.report.hover import Hover
from anonhist.report.promise import plain_promise
from anonhist.report.sections import (
    DRAWN_AGAIN,
    card,
    download,
    epsilon_warning,
    folded,
    html,
    paragraphs,
    promised,
    reproduce,
    scrolled,
)
from anonhist.report.svg import inline_svg
from anonhist.report.windows.figures import drawn_thresholds, windows_figure
from anonhist.report.windows.wording import (
    ALL_DAYS,
    READING,
    cards_of,
    cells_of,
    heads_of,
    not_covered,
    remarks_of,
    shown_days,
    told_of,
)
from anonhist.report.wording import many

if TYPE_CHECKING:
    from anonhist.releases.cumulative import CumulativeRelease

# So many days are listed, and so many are told to whoever points; files have all of them.
_ROWS, _STRIPS = 62, 400


def write_windows(release: CumulativeRelease, sheet: Sheet) -> None:
    """Write the page of a release of cumulative windows."""
    sheet.check()
    sheet.write(
        _main(release, sheet.command),
        headline="How many have been reached so far, day after day, without saying who",
        subtitle=f"A differentially private release of {told_of(release)}.",
        version=release.library_version,
    )


def _main(release: CumulativeRelease, command: str | None) -> str:
    guarantee = release.guarantee
    drawn = drawn_thresholds(release)
    left = len(release.thresholds) - len(drawn)
    caption = "How many labels had so many items or more by the end of each day, with 95 % bands"
    parameters = ", ".join(f"{name} = {value}" for name, value in release.mechanism.parameters.items())
    words = {
        "caption": f"{caption}{f'; {left} more thresholds are in the table' if left else ''}.",
        "reading": READING,
        "mechanism": release.mechanism.name,
        "reason": release.reason,
    }
    return template("windows.html").substitute(
        {name: html(text) for name, text in words.items()},
        warning=epsilon_warning(guarantee),
        cards="".join(card(*each) for each in cards_of(release)),
        promised=promised(
            guarantee, sentence=plain_promise(guarantee, result=ALL_DAYS), not_covered=not_covered(release)
        ),
        remarks=paragraphs(remarks_of(release)),
        plot=inline_svg(
            lambda: windows_figure(release),
            name="windows",
            description=caption,
            hover=hover_of(release),
        ),
        table=days_table(release),
        download=download(release, rows=release.values.size, name="reach.csv"),
        parameters=folded("Its parameters", f"<p>{html(parameters)}</p>"),
        reproduce=reproduce(command, DRAWN_AGAIN),
    )


def hover_of(release: CumulativeRelease) -> Hover:
    """Return what is told to whoever points at a day."""
    days = shown_days(release, _STRIPS)
    return Hover(
        [release.days.index(day) for day in days], [f"{day}: {'; '.join(_told(release, day))}" for day in days]
    )


def _told(release: CumulativeRelease, day: str) -> list[str]:
    return [f"{k:,} or more: {cell}" for k, cell in zip(release.thresholds, cells_of(release, day), strict=True)]


def days_table(release: CumulativeRelease) -> str:
    """Return a table of days, and how many more there are."""
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads_of(release))
    rows = "".join(
        f'<tr><th scope="row">{escape(day)}</th>'
        + "".join(f"<td>{number} <span>{ends.rstrip(')')}</span></td>" for number, _, ends in _cells(release, day))
        + "</tr>"
        for day in shown_days(release, _ROWS)
    )
    table = f'<table class="groups"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    return scrolled(table, label="The numbers") + f'<p class="quiet">{html(_left_out(release))}</p>'


def _cells(release: CumulativeRelease, day: str) -> list[tuple[str, str, str]]:
    return [cell.partition(" (") for cell in cells_of(release, day)]


def _left_out(release: CumulativeRelease) -> str:
    more = len(release.days) - len(shown_days(release, _ROWS))
    return f"And {many(more, 'more day')}, which files of the release have." if more > 0 else ""
