"""One self-contained HTML page about a release of groups."""

from __future__ import annotations

from contextlib import suppress
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.report.frame import Sheet, template
from anonhist.report.groups.figures import panels
from anonhist.report.groups.wording import (
    ALL_TOGETHER,
    NOISY,
    cards_of,
    cells_of,
    how_found,
    levels_for,
    names_of,
    not_covered,
    remarks_of,
    runs_of,
)
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
from anonhist.report.wording import bars_text, many, parameters_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anonhist.releases import Release
    from anonhist.releases.grouped import GroupedRelease

# So many groups are drawn, and listed; files have all of them.
_MOST_DRAWN, _MOST_LISTED = 24, 2_000
# Characters of a name that take more than one line.
_LONG = 28


def write_groups(release: GroupedRelease, sheet: Sheet) -> None:
    """Write the page of a release of groups; errors are computed first if they have not been yet."""
    sheet.check()
    by = ", ".join(release.by)
    sheet.write(
        _main(release, sheet.command),
        headline="How often things occur in each group, without saying which things",
        subtitle=f"A differentially private profile of {many(len(release), 'group')} by {by}, under one promise.",
        version=_first(release).library_version,
    )


def _first(release: GroupedRelease) -> Release:
    return next(iter(release.values()))


def _main(release: GroupedRelease, command: str | None) -> str:
    guarantee, first = release.guarantee, _first(release)
    drawn = dict(islice(release.items(), _MOST_DRAWN))
    names = [names_of(group) for group in drawn]
    words = {
        "left_out": _left_out(release),
        "drawn": _drawn(release),
        "bars": _how_to_read(first),
        "noisy": _noisy(release),
        "mechanism": release.mechanism.name,
        "reason": release.reason,
        "runs": runs_of(release),
    }
    return template("groups.html").substitute(
        {name: html(text) for name, text in words.items()},
        warning=epsilon_warning(guarantee),
        cards="".join(card(*each) for each in cards_of(release)),
        promised=promised(
            guarantee,
            sentence=plain_promise(guarantee, result=ALL_TOGETHER),
            also=paragraphs(filter(None, [how_found(release)])),
            not_covered=not_covered(release),
        ),
        remarks=paragraphs(remarks_of(release, first.error)),
        table=_table(release),
        download=_download(release),
        panels="".join(
            f"<figure><figcaption>{', '.join(f'<span>{html(name)}</span>' for name in each)}</figcaption>{svg}</figure>"
            for each, svg in zip(names, panels([*drawn.values()], [*map(", ".join, names)]), strict=True)
        ),
        parameters=folded("Its parameters", f"<p>{html(parameters_text(first))}</p>"),
        reproduce=reproduce(command, DRAWN_AGAIN),
    )


def _table(release: GroupedRelease) -> str:
    """Return the table of groups: grouping columns, items, labels, labels at a few thresholds, and the error."""
    levels, words = levels_for(release), _first(release).words
    above = '<th scope="col" rowspan="2">{}</th>'.format
    heads = (
        _names(release.by, 'scope="col" rowspan="2"')
        + above(escape(words.total))
        + f'<th scope="colgroup" colspan="{1 + len(levels)}">{escape(words.labels)}</th>'
        + above("expected<br>error")
        + "</tr><tr>"
        + "".join(f'<th scope="col">{head}</th>' for head in ("all", *(f"{level:,} or more" for level in levels)))
    )
    rows = "".join(
        _row(names_of(group), cells_of(each, levels)) for group, each in islice(release.items(), _MOST_LISTED)
    )
    table = f'<table class="groups"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    return scrolled(table, label="Groups")


def _row(names: Sequence[str], cells: Iterable[tuple[str, str]]) -> str:
    numbers = "".join(
        f"<td>{escape(value)}{f'<span>{escape(ends)}</span>' if ends else ''}</td>" for value, ends in cells
    )
    told = _names(names, 'scope="row"')
    return f"<tr>{told}{numbers}</tr>"


def _names(names: Sequence[str], attributes: str) -> str:
    """Return cells of names, the last of which stays in sight where the table is too wide."""
    kinds = [f"name{' long' if len(name) > _LONG else ''}" for name in names]
    kinds[-1] += " last"
    return "".join(
        f'<th {attributes} class="{kind}">{html(name)}</th>' for kind, name in zip(kinds, names, strict=True)
    )


def _left_out(release: GroupedRelease) -> str:
    more = len(release) - _MOST_LISTED
    return f"And {many(more, 'more group')}, which files of the release have." if more > 0 else ""


def _drawn(release: GroupedRelease) -> str:
    more = len(release) - _MOST_DRAWN
    if more <= 0:
        return ""
    return f"These are the first {_MOST_DRAWN} groups, in the order of the table, which has {more:,} more."


def _noisy(release: GroupedRelease) -> str:
    if not any(each.mostly_noise for each in release.values()):
        return ""
    total = _first(release).words.total
    return f" Groups marked {NOISY} are mostly noise: at least a third of their {total} are expected to be wrong."


def _how_to_read(release: Release) -> str:
    if not release.error.has_k_plus_intervals:
        return bars_text(release.error, none="")
    return (
        "Bands are 95 % intervals, as in the table. Where one reaches 0, the release cannot tell that number from "
        "none. Each is for its own number. Of many numbers about one in twenty is outside of its interval, so the "
        "largest and the smallest of many groups may be so by chance."
    )


def _download(release: GroupedRelease) -> str:
    """Return a link to the numbers, or where they are: they may be very many, and no table may hold their names."""
    link = ""
    with suppress(UsageError):
        link = download(release, rows=sum(len(each.profile) for each in release.values()), name="groups.csv")
    return link or paragraphs(["The numbers of all counts are in the files of the release."])
