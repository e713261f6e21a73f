"""Results in rows: as CSV for programs, on a console for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

import click

from anonhist.cli.output import print_whole
from anonhist.cli.targets import STDOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_GAP, _LEAST_TEXT = 2, 8


def csv_of(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the rows as CSV, numbers written by the caller to the digits that they have."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def write_csv(text: str, target: str | None, show: Callable[[], None], *, force: bool, quiet: bool) -> None:
    """Write a CSV to standard output, or show a table to people, besides the CSV if it goes to a file."""
    if target == STDOUT:
        print_whole(text)
        return
    if target is not None:
        from anonhist.formats.atomic import write_whole

        write_whole(target, text.encode(), overwrite=force)
    if not quiet:
        show()
        if target is not None:
            click.echo(f"Wrote {target}.")


def console_on(stream: TextIO, *, widest: int) -> Console:
    """Return a console as wide as the terminal, but at most ``widest``; just as wide where there is none."""
    from rich.console import Console

    console = Console(file=stream, highlight=False)
    console.width = min(console.width, widest) if stream.isatty() else widest
    return console


def table_of(heads: Sequence[str], rows: Sequence[Sequence[Text]], console: Console, *, texts: Sequence[int]) -> Table:
    """Return a table that fits a console: numbers stay whole, names of columns and texts break between words.

    Parameters
    ----------
    heads
        The name of each column.
    rows
        A cell for each column.
    console
        Where it goes.
    texts
        The places of columns that hold words. They stand to the left; the last of them is the one that gives way where
        there is no room, and a single word of it may be broken then.
    """
    from rich.table import Table

    columns = [[row[place] for row in rows] for place in range(len(heads))]
    wanted = [max([len(head), *(cell.cell_len for cell in cells)]) for head, cells in zip(heads, columns, strict=True)]
    widths = _least_widths(heads, rows, texts)
    spare = console.width - sum(widths) - _GAP * (len(heads) - 1)
    if spare < 0 and texts:
        widths[texts[-1]] = max(_LEAST_TEXT, widths[texts[-1]] + spare)
    for place in sorted(range(len(heads)), key=lambda place: place in texts):
        more = min(max(spare, 0), wanted[place] - widths[place])
        widths[place], spare = widths[place] + more, spare - more
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, _GAP, 0, 0))
    for place, (head, width) in enumerate(zip(heads, widths, strict=True)):
        table.add_column(head, justify="left" if place in texts else "right", width=width, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def table_fits(heads: Sequence[str], rows: Sequence[Sequence[Text]], console: Console, *, texts: Sequence[int]) -> bool:
    """Whether such a table breaks no number, and no word outside of its last text."""
    widths = _least_widths(heads, rows, texts)
    widths[texts[-1]] = min(_LEAST_TEXT, widths[texts[-1]])
    return sum(widths) + _GAP * (len(heads) - 1) <= console.width


def _least_widths(heads: Sequence[str], rows: Sequence[Sequence[Text]], texts: Sequence[int]) -> list[int]:
    """Return how wide each column is at least, if no number and no word is broken."""
    columns = [[row[place] for row in rows] for place in range(len(heads))]
    return [
        max(_longest_word(head), *(_longest_word(cell.plain) if place in texts else cell.cell_len for cell in cells), 0)
        for place, (head, cells) in enumerate(zip(heads, columns, strict=True))
    ]


def _longest_word(text: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, text.split()), default=0)


def print_hanging(text: str, console: Console, *, style: str = "") -> None:
    """Print a text whose further lines stand four columns in; no word is broken."""
    import textwrap

    from rich.text import Text

    lines = textwrap.TextWrapper(
        console.width, subsequent_indent=" " * 4, break_long_words=False, break_on_hyphens=False
    )
    console.print(Text(lines.fill(text), style=style))
