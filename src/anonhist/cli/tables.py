"""Results in rows: as CSV for programs, on a console for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console


def csv_of(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the rows as CSV, numbers written by the caller to the digits that they have."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def console_on(stream: TextIO, *, widest: int) -> Console:
    """Return a console as wide as the terminal, but at most ``widest``; just as wide where there is none."""
    from rich.console import Console

    console = Console(file=stream, highlight=False)
    console.width = min(console.width, widest) if stream.isatty() else widest
    return console


def print_hanging(text: str, console: Console, *, style: str = "") -> None:
    """Print a text whose further lines stand four columns in; no word is broken."""
    import textwrap

    from rich.text import Text

    whole = {"break_long_words": False, "break_on_hyphens": False}
    console.print(Text(textwrap.fill(text, console.width, subsequent_indent=" " * 4, **whole), style=style))
