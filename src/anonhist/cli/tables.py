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
