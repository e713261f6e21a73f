"""One self-contained HTML page about a release of cumulative windows of groups."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.report.frame import Sheet, template
from anonhist.report.groups.wording import names_of
from anonhist.report.promise import plain_promise
from anonhist.report.sections import (
    DRAWN_AGAIN,
    card,
    download,
    epsilon_warning,
    folded,
    html,
    name_cells,
    paragraphs,
    promised,
    reproduce,
    scrolled,
)
from anonhist.report.svg import inline_svg
from anonhist.report.windows.figures import windows_key, windows_panel
from anonhist.report.windows.page import days_table, hover_of
from anonhist.report.windows.wording import (
    ALL_TOGETHER,
    READING,
    cards_of_groups,
    cells_of,
    heads_of,
    not_covered,
    remarks_of,
    told_of_groups,
)
from anonhist.report.wording import many

if TYPE_CHECKING:
    from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease

# So many groups are drawn and have a table of days, and so many are listed; files have all of them.
_MOST_DRAWN, _MOST_LISTED = 24, 2_000


def write_window_groups(release: GroupedCumulativeRelease, sheet: Sheet) -> None:
    """Write the page of a release of cumulative windows of groups."""
    sheet.check()
    sheet.write(
        _main(release, sheet.command),
        headline="How many have been reached so far in each group, day after day, without saying who",
        subtitle=f"A differentially private release of {told_of_groups(release)}.",
        version=release.first.library_version,
    )


def _main(release: GroupedCumulativeRelease, command: str | None) -> str:
    guarantee, first = release.guarantee, release.first
    parameters = ", ".join(f"{name} = {value}" for name, value in first.mechanism.parameters.items())
    drawn = [(", ".join(names_of(group)), each) for group, each in islice(release.items(), _MOST_DRAWN)]
    top = int(max(each.highs.max() for _, each in drawn))
    words = {
        "last": release.days[-1],
        "drawn": _drawn(release),
        "reading": READING,
        "mechanism": first.mechanism.name,
        "reason": first.reason,
    }
    return template("windows-groups.html").substitute(
        {name: html(text) for name, text in words.items()},
        warning=epsilon_warning(guarantee),
        cards="".join(card(*each) for each in cards_of_groups(release)),
        promised=promised(
            guarantee,
            sentence=plain_promise(guarantee, result=ALL_TOGETHER),
            not_covered=not_covered(first, with_groups=True),
        ),
        remarks=paragraphs(remarks_of(first)),
        table=_table(release),
        download=_download(release),
        key=inline_svg(partial(windows_key, first), name="key", description="The lines, one for each threshold"),
        panels="".join(_panel(at, name, each, top) for at, (name, each) in enumerate(drawn)),
        days="".join(folded(name, days_table(each)) for name, each in drawn),
        parameters=folded("Its parameters", f"<p>{html(parameters)}</p>"),
        reproduce=reproduce(command, DRAWN_AGAIN),
    )


def _panel(at: int, name: str, release: CumulativeRelease, top: int) -> str:
    svg = inline_svg(
        partial(windows_panel, release, top=top),
        name=f"group-{at}",
        description=f"Labels with so many items or more by the end of each day in {name}, with 95 % bands",
        hover=hover_of(release),
    )
    return f"<figure><figcaption><span>{html(name)}</span></figcaption>{svg}</figure>"


def _table(release: GroupedCumulativeRelease) -> str:
    """Return a table: grouping columns, and the numbers of the last day."""
    heads = name_cells(release.by, 'scope="col"')
    heads += "".join(f'<th scope="col">{escape(head)}</th>' for head in heads_of(release.first)[1:])
    rows = "".join(
        "<tr>"
        + name_cells(names_of(group), 'scope="row"')
        + "".join(f"<td>{number} <span>{ends.rstrip(')')}</span></td>" for number, ends in _cells(each))
        + "</tr>"
        for group, each in islice(release.items(), _MOST_LISTED)
    )
    table = f'<table class="groups"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    left = len(release) - _MOST_LISTED
    more = f'<p class="quiet">And {many(left, "more group")}, which files of the release have.</p>' if left > 0 else ""
    return scrolled(table, label="The last day of each group") + more


def _cells(release: CumulativeRelease) -> list[tuple[str, str]]:
    parted = (cell.partition(" (") for cell in cells_of(release, release.days[-1]))
    return [(number, ends) for number, _, ends in parted]


def _drawn(release: GroupedCumulativeRelease) -> str:
    more = len(release) - _MOST_DRAWN
    return f"These are the first {_MOST_DRAWN} groups, in the order of the table, which has {more:,} more." * (more > 0)


def _download(release: GroupedCumulativeRelease) -> str:
    """Return a link to the numbers, or where they are: they may be very many, and no table may hold their names."""
    link = ""
    with suppress(UsageError):
        link = download(release, rows=len(release) * release.first.values.size, name="reach.csv")
    return link or paragraphs(["The numbers of all days are in the files of the release."])
