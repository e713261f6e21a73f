"""Parts that several kinds of pages have, as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

from anonhist.formats.tables import csv_text
from anonhist.privacy import warning
from anonhist.report.promise import exclusions, for_one_person, plain_promise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anonhist.outward import Tabular
    from anonhist.privacy import Guarantee

# What a page says of the command that made it, where that draws noise.
DRAWN_AGAIN = "The same command draws new noise, and spends the budget once more."
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
    also: str = "",
) -> str:
    """Return the section on the promise: one sentence, what it means, what it leaves out, and the exact statement.

    Parameters
    ----------
    sentence, meaning, not_covered
        In other words than those that follow from the guarantee.
    also
        HTML put before what is not covered.
    """
    listed = exclusions(guarantee.unit) if not_covered is None else not_covered
    return (
        f'<h2>What was promised</h2><p class="promise">{html(sentence or plain_promise(guarantee))}</p>'
        f"<h3>What this means for one person</h3>{paragraphs(meaning or for_one_person(guarantee))}{also}"
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
