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
    how_added,
    how_found,
    level_name,
    levels_for,
    not_covered,
    remarks_of,
    row_names,
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
    name_cells,
    paragraphs,
    promised,
    reproduce,
    scrolled,
)
from anonhist.report.wording import bars_text, many, parameters_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from anonhist.profiles.grouped import Group
    from anonhist.releases import Release
    from anonhist.releases.grouped import GroupedRelease

# So many groups are drawn, and listed; files have all of them.
_MOST_DRAWN, _MOST_LISTED = 24, 2_000


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
    drawn = dict(islice(release.everything.items(), _MOST_DRAWN))
    named = [", ".join(row_names(group, release)) for group in drawn]
    words = {
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
            also=paragraphs(filter(None, [how_found(release), how_added(release)])),
            not_covered=not_covered(release),
        ),
        remarks=paragraphs(remarks_of(release, first.error)),
        tables=_tables(release),
        download=_download(release),
        panels="".join(
            f"<figure><figcaption><span>{html(name)}</span></figcaption>{svg}</figure>"
            for name, svg in zip(named, panels([*drawn.values()], named), strict=True)
        ),
        parameters=folded("Its parameters", f"<p>{html(parameters_text(first))}</p>"),
        reproduce=reproduce(command, DRAWN_AGAIN),
    )


def _tables(release: GroupedRelease) -> str:
    """Return a table of groups; with levels one for each, everything together first."""
    levels = levels_for(release)
    if release.levels is None:
        return _table(release, release.level(len(release.by)), release.by, levels)
    return "".join(
        f"<h4>{html(level_name(release.by[:depth]))}</h4>"
        + _table(release, release.level(depth), release.by[: max(depth, 1)], levels)
        for depth in range(len(release.by) + 1)
    )


def _table(release: GroupedRelease, groups: Mapping[Group, Release], by: Sequence[str], levels: Sequence[int]) -> str:
    """Return a table: grouping columns, items, labels, labels at a few thresholds, and the error."""
    words = _first(release).words
    above = '<th scope="col" rowspan="2">{}</th>'.format
    heads = (
        name_cells(by, 'scope="col" rowspan="2"')
        + above(escape(words.total))
        + f'<th scope="colgroup" colspan="{1 + len(levels)}">{escape(words.labels)}</th>'
        + above("expected<br>error")
        + "</tr><tr>"
        + "".join(f'<th scope="col">{head}</th>' for head in ("all", *(f"{level:,} or more" for level in levels)))
    )
    rows = "".join(
        _row(row_names(group, release)[: len(by)], cells_of(each, levels))
        for group, each in islice(groups.items(), _MOST_LISTED)
    )
    table = f'<table class="groups"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    return scrolled(table, label=level_name(by)) + _left_out(groups)


def _row(names: Sequence[str], cells: Iterable[tuple[str, str]]) -> str:
    numbers = "".join(
        f"<td>{escape(value)}{f'<span>{escape(ends)}</span>' if ends else ''}</td>" for value, ends in cells
    )
    told = name_cells(names, 'scope="row"')
    return f"<tr>{told}{numbers}</tr>"


def _left_out(groups: Mapping[Group, Release]) -> str:
    more = len(groups) - _MOST_LISTED
    if more <= 0:
        return ""
    return f'<p class="quiet">And {many(more, "more group")}, which files of the release have.</p>'


def _drawn(release: GroupedRelease) -> str:
    more = len(release.everything) - _MOST_DRAWN
    if more <= 0:
        return ""
    return f"These are the first {_MOST_DRAWN} groups, in the order of the table, which has {more:,} more."


def _noisy(release: GroupedRelease) -> str:
    if not any(each.mostly_noise for each in release.everything.values()):
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
        link = download(release, rows=sum(len(each.profile) for each in release.everything.values()), name="groups.csv")
    return link or paragraphs(["The numbers of all counts are in the files of the release."])
