"""The frame of every page: one self-contained HTML file that opens offline and asks nothing of any network."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING
from urllib.parse import quote

from anonhist.errors import UsageError
from anonhist.formats.atomic import check_free, write_whole
from anonhist.formats.tables import csv_text
from anonhist.privacy import warning
from anonhist.report.wording import exclusions, for_one_person, interval, parameters_text, plain_promise
from anonhist.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from anonhist.kinds import Tabular
    from anonhist.privacy import Guarantee
    from anonhist.releases import Release

_LONGEST_TITLE = 200


def check_report_path(path: str | Path) -> None:
    """Refuse a report path that does not end in ``.html``."""
    if Path(path).suffix.lower() != ".html":
        raise UsageError(f"A report is an HTML page: end its path in .html, not {str(path)!r}.")


@dataclass(frozen=True)
class Sheet:
    """Where a page goes, and what whoever makes it has to say of it; all of that is published with the page.

    ``command`` makes such a page again.
    """

    path: str | Path
    title: str | None = None
    data_name: str | None = None
    command: str | None = None
    overwrite: bool = False

    def check(self) -> None:
        """Refuse a path that does not end in ``.html`` or exists already, and an empty or very long title."""
        check_report_path(self.path)
        check_free(self.path, overwrite=self.overwrite)
        if self.title is not None and not (self.title.strip() and len(self.title) <= _LONGEST_TITLE):
            raise UsageError(f"`title` must have between 1 and {_LONGEST_TITLE} characters, one of them visible.")

    def write(self, main: str, *, headline: str, subtitle: str, banner: str = "", version: str | None = None) -> None:
        """Write the page, whole or not at all, with ``main`` as HTML below the title.

        ``banner`` stands above everything else, and first in the title of the window. ``version`` is that of this
        package, where another made what is shown.
        """
        told = headline if self.title is None else f"{headline}. "
        page = template("frame.html").substitute(
            window=escape(" – ".join(filter(None, (banner, self.title or headline)))),
            style=_text("style.css"),
            banner=f'<p class="banner" role="alert">{escape(banner)}</p>' if banner else "",
            title=escape(self.title or headline),
            subtitle=escape(subtitle if self.title is None else told + subtitle),
            origin=escape(self._origin(version or __version__)),
            main=main,
        )
        # Arguments of a shell need not be valid text; what is not is shown escaped.
        write_whole(self.path, page.encode("utf-8", "backslashreplace"), overwrite=self.overwrite)

    def _origin(self, version: str) -> str:
        data = f"Data: {self.data_name}. " if self.data_name else ""
        return f"{data}Written on {datetime.now(UTC).date()}, made with anonhist {version}."


def template(name: str) -> Template:
    """Return a template of this folder."""
    return Template(_text(name))


def _text(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


# What a page says of the command that made it, where that draws noise.
DRAWN_AGAIN = "The same command draws new noise, and spends the budget once more."
# At which counts tables say how many labels have as many or more, and how many single counts they list.
LEVELS = (1, 2, 3, 5, 10, 20, 50, 100, 1_000, 10_000, 100_000, 1_000_000)
_ROWS = 12
# Characters of a name that takes more than one line.
LONG_NAME = 28
# Rows. What would be larger than the rest of the page stays in the files of those who made it.
_MOST_DOWNLOADED = 5_000


def html(text: str) -> str:
    """Write text as HTML, no percent sign apart from its number."""
    return escape(text).replace(" %", "&nbsp;%")


def card(number: str, told: str) -> str:
    """Return a number that is told first, with what it is."""
    return f"<div><b>{html(number)}</b><span>{html(told)}</span></div>"


def paragraphs(said: Iterable[str]) -> str:
    """Return each text as a paragraph."""
    return "".join(f"<p>{html(each)}</p>" for each in said)


def folded(summary: str, inside: str) -> str:
    """Return HTML that is read by those who ask for it."""
    return f"<details><summary>{html(summary)}</summary>{inside}</details>" if inside else ""


def table_of(heads: Sequence[str], rows: Iterable[Sequence[str]], *, write: Callable[[str], str] = html) -> str:
    """Return a table of text, of which the first cell of each row says what the row is about."""
    titles = "".join(f'<th scope="col"{long_class(head)}>{write(head)}</th>' for head in heads)
    first = f"<thead><tr>{titles}</tr></thead>" if heads else ""
    body = "".join(
        f'<tr><th scope="row">{write(name)}</th>{"".join(f"<td>{write(text)}</td>" for text in texts)}</tr>'
        for name, *texts in rows
    )
    return f"<table>{first}<tbody>{body}</tbody></table>"


def long_class(name: str) -> str:
    """Return the attribute of a cell whose name is broken where there is little room."""
    return ' class="long"' if len(name) > LONG_NAME else ""


def name_cells(names: Sequence[str], attributes: str) -> str:
    """Return cells of names, the last of which stays in sight where the table is too wide; long ones are broken."""
    last = len(names) - 1
    return "".join(
        f'<th {attributes} class="name{" long" * (len(name) > LONG_NAME)}{" last" * (at == last)}">{html(name)}</th>'
        for at, name in enumerate(names)
    )


def interval_rows(listed: Iterable[tuple[str, str, tuple[float, float]]], *, places: int = 0, unit: str = "") -> str:
    """Write rows of a name, a number and the ends of its interval."""
    return text_rows((name, value, interval(*ends, places=places) + unit) for name, value, ends in listed)


def text_rows(listed: Iterable[tuple[str, str, str]]) -> str:
    """Write rows of a name, a number and its interval, all plain text."""
    # A narrow window may break an interval before its upper end, but no number.
    return "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td><td>{_breakable(ends)}</td></tr>'
        for name, value, ends in listed
    )


def _breakable(ends: str) -> str:
    low, to, high = escape(ends).partition(" to ")
    return f"{low} <span>to {high}</span>" if to else low


def notes_html(notes: Iterable[str]) -> str:
    """Return what a reader must know before the numbers."""
    return "".join(f"<p><b>Note.</b> {html(each)}</p>" for each in notes)


def released_parts(release: Release, command: str | None, *, again: str, noun: str, file: str) -> dict[str, str]:
    """Return the parts that the pages of all releases have, as HTML.

    ``again`` is what running the command again does, ``noun`` what the released numbers belong to: counts or degrees.
    """
    profile, limit = release.profile, release.guarantee.unit.max_count
    largest = int(profile.counts[-1]) if len(profile) else 1
    most = largest if limit is None else limit
    levels = sorted({level for level in (*LEVELS, most if limit else 1) if level <= most})
    shown = profile.counts[:_ROWS].tolist()
    return {
        "warning": epsilon_warning(release.guarantee),
        "mechanism": html(release.mechanism.name),
        "reason": html(release.reason),
        "parameters": folded("Its parameters", f"<p>{html(parameters_text(release))}</p>"),
        "k_plus_rows": interval_rows(
            (f"{k:,} or more", f"{profile.k_plus(k):,}", release.error.k_plus(profile, k).interval) for k in levels
        ),
        "prevalence_rows": interval_rows(
            (f"{r:,} or more" if r == limit else f"{r:,}", f"{profile.prevalence(r):,}", release.prevalence(r).interval)
            for r in shown
        ),
        "more": f"The first {_ROWS} of {len(profile):,} released {noun}." if len(profile) > _ROWS else "",
        "download": download(release, rows=len(profile), name=file),
        "reproduce": reproduce(command, again),
    }


def scrolled(table: str, *, label: str) -> str:
    """Return a table that is scrolled by itself where it is too wide, and shows that it can be."""
    return f'<div class="scrolled" tabindex="0" role="region" aria-label="{escape(label)}">{table}</div>'


def warning_box(sentence: str) -> str:
    """Return a warning for the top of a page, or nothing where there is none."""
    return f'<p class="warning" role="alert"><b>Warning.</b> {escape(sentence)}</p>' if sentence else ""


def epsilon_warning(guarantee: Guarantee) -> str:
    """Return the warning of an epsilon that protects nobody."""
    return warning_box(warning(guarantee.epsilon))


def promised(
    guarantee: Guarantee,
    *,
    sentence: str | None = None,
    meaning: Sequence[str] | None = None,
    not_covered: Sequence[str] | None = None,
    whom: str = "",
    also: str = "",
) -> str:
    """Return the section on the promise: one sentence, what it means, what it leaves out, and the exact statement.

    ``whom`` is whom it is promised to, if not what the unit is called; ``also`` is HTML put before what is not covered.
    """
    listed = exclusions(guarantee.unit) if not_covered is None else not_covered
    means = paragraphs(meaning or for_one_person(guarantee))
    return (
        f'<h2>What was promised</h2><p class="promise">{html(sentence or plain_promise(guarantee))}</p>'
        f"<h3>What this means for one {whom or guarantee.unit.kind}</h3>{means}{also}"
        f"<p>Not covered:</p><ul>{''.join(f'<li>{html(each)}</li>' for each in listed)}</ul>"
        + folded("The exact statement", f"<p>{html(str(guarantee))}</p>")
    )


def download(shown: Tabular, *, rows: int, name: str) -> str:
    """Return a link that saves a value as CSV, which the page itself holds; nothing where it has very many rows."""
    if not 0 < rows <= _MOST_DOWNLOADED:
        return ""
    # A label need not be valid text.
    text = quote(csv_text(shown), safe=",.:/+-_()", errors="backslashreplace")
    link = f'download="{escape(name)}" href="data:text/csv;charset=utf-8,{text}"'
    return f"<p><a {link}>Download the numbers (CSV)</a></p>"


def reproduce(command: str | None, note: str) -> str:
    """Return the section that repeats a command, or nothing where there was none."""
    if command is None:
        return ""
    return f"<h2>Make one like it</h2><p>{escape(note)}</p><pre>{escape(command)}</pre>"
