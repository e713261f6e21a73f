"""Destinations of results: files, pages, standard output and the terminal."""

from __future__ import annotations

import os
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeVar

import click

from anonhist.errors import UsageError, mask
from anonhist.kinds import Saved
from anonhist.terminal.decorators import command_to_publish, options_of
from anonhist.terminal.output import print_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from anonhist.replacing import PrivateKind
    from anonhist.report.shown import Sheet

STDOUT = "-"
T = TypeVar("T")


def check_target(target: str, *sources: str, force: bool, kind: PrivateKind | None = None) -> None:
    """Refuse a file that is unwritable, exists already, is an input, or must not be lost.

    ``kind`` is the kind of the written file, if it is private; ``sources`` are the command's inputs.
    """
    from anonhist.formats.atomic import check_free

    _check_not_used(target, sources)
    check_free(target, overwrite=force, kind=kind)


class AskedPage(NamedTuple):
    """A requested page: its path and its title."""

    path: str
    title: str | None

    @classmethod
    def of(cls, report: str | None, title: str | None) -> AskedPage | None:
        """Return the page that the two options request, or None."""
        if report is None:
            if title is not None:
                raise UsageError("--title requires --report FILE.html, the page to which it gives a title.")
            return None
        return cls(report, title)


def check_report(report: AskedPage | None, source: str, *others: str, force: bool) -> Sheet | None:
    """Return the page of data from a source, to be written later, or refuse it; ``others`` are read, too."""
    if report is None:
        return None
    from anonhist.report.shown import Sheet, check_report_path

    check_report_path(report.path)
    _check_not_used(report.path, (source, *others))

    # The command as typed, without secrets, and only the name of the data, because folders name machines and people.
    context = click.get_current_context()
    command = command_to_publish(context.find_root().obj)
    # A column is public if somebody typed its name; a name from a first line may be somebody's row.
    sheet = Sheet(report.path, report.title, data_name(source), command, force, context.params.get("label"))
    sheet.check()
    keep_plots_quiet()
    return sheet


def data_name(source: str) -> str | None:
    """Return a name for the data: the last part of the path or address, without secrets."""
    if source == STDOUT:
        return None
    shown = mask(source)
    return PurePath(shown.partition("?")[0] if "://" in shown else shown).name or None


def keep_plots_quiet() -> None:
    """Silence the plotting library, which reports about its caches at its first run."""
    import logging

    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)


def _check_not_used(target: str, sources: tuple[str, ...]) -> None:
    """Refuse to replace the ledger or an input, under any name: through patterns, links and redirections."""
    from anonhist.replacing import check_not_ledger_at, is_same

    check_not_ledger_at(target, click.get_current_context().params.get("ledger"))
    if not os.path.lexists(target):
        return
    from anonhist.ingest.files import input_files

    if any(is_same(target, path) for source in sources for path in input_files(source)):
        raise UsageError(f"{target!r} is the input: what is written would replace it; name another output.")


_DEFAULT_RELEASE = "release.json"


class Outputs(NamedTuple):
    """The options under "Output", as typed."""

    output: str | None
    page: AskedPage | None
    force: bool
    quiet: bool

    @classmethod
    def of(
        cls,
        *,
        output: str | None,
        force: bool,
        quiet: bool = False,
        report: str | None = None,
        title: str | None = None,
    ) -> Outputs:
        """Return the outputs that the options request; some commands lack some of them."""
        return cls(output, AskedPage.of(report, title), force, quiet)

    def target(self, default: T) -> str | T:
        """Return where a result goes: by default, to the given file on a terminal, otherwise to standard output."""
        return self.output if self.output is not None else (default if sys.stdout.isatty() else STDOUT)

    def for_table(self, *sources: str, what: str) -> Destination:
        """Return where a table goes, or refuse outputs that could not be written, before any data are read."""
        target = self.target(None)
        if target not in (None, STDOUT) and not target.lower().endswith(".csv"):
            message = f"{what} written as CSV: end the path in .csv, not {target!r}."
            if target.lower().endswith(".html") and "--report" in options_of(click.get_current_context().command):
                message += " For an HTML page, use --report."
            raise UsageError(message)
        return self._to(target, *sources)

    def for_printed_table(self, *sources: str, what: str) -> Destination:
        """Return the same for a small table, which a pipe gets in the form for people; ``-o -`` writes it as CSV."""
        return self.for_table(*sources, what=what)._replace(target=self.output)

    def for_release(self, *sources: str) -> Destination:
        """Return where a release goes, or refuse outputs that could not be written, before any budget is spent."""
        target = self.target(_DEFAULT_RELEASE)
        if target not in (None, STDOUT):
            from anonhist.formats.files import check_ending

            if target.lower().endswith(".html"):
                raise UsageError("For an HTML page, use --report FILE.html; -o takes .json, .csv, .parquet or -.")
            check_ending(target)
        return self._to(target, *sources)

    def for_estimate(self, *sources: str, what: str = "An estimate is") -> Destination:
        """Return where an estimate of frequencies goes, or refuse outputs that could not be written."""
        target = self.target(None)
        if target not in (None, STDOUT):
            from anonhist.formats.files import check_ending

            check_ending(target, endings=(".csv", ".json"), what=what)
        return self._to(target, *sources)

    def _to(self, target: str | None, *sources: str) -> Destination:
        if target not in (None, STDOUT):
            check_target(target, *sources, force=self.force)
        return Destination(target, check_report(self.page, *sources, force=self.force), self.force, self.quiet)


class Destination(NamedTuple):
    """Where a result goes; all outputs are writable."""

    target: str | None
    sheet: Sheet | None
    force: bool
    quiet: bool

    @property
    def is_piped(self) -> bool:
        """Whether the result goes to standard output."""
        return self.target == STDOUT

    def write(
        self,
        result: Any,
        say: Callable[[TextIO], None],
        *,
        log: Callable[[TextIO], None] | None = None,
        page: Callable[[Any, Sheet], None] | None = None,
        not_private_truth: Any = None,
        complete: Callable[[], None] | None = None,
    ) -> None:
        """Write a result, the file first, because making it again may be impossible.

        ``say`` prints for a person, on standard output or, if that holds the CSV, on a terminal; without a terminal,
        ``log`` prints on standard error what no other output holds (``say`` itself prints everything). ``page`` writes
        the page, if the kind of the result does not suffice for it; ``not_private_truth`` is shown on the page without
        any privacy. ``complete`` is called once the result is whole on the disk, before anybody can see it.
        """
        is_piped = self.is_piped
        stream = sys.stderr if is_piped else sys.stdout
        told = None if self.quiet else say if not is_piped or stream.isatty() else log
        if self.target is not None and not is_piped:
            _write_file(result, self.target, force=self.force, complete=complete)
        elif complete is not None:
            complete()
        if told is not None:
            told(stream)
        if told is say and self.target is not None and not is_piped:
            click.echo(f"Wrote {self.target}.")
        if self.sheet is not None:
            from anonhist.report.shown import write_sheet

            if page is None:
                write_sheet(result, self.sheet, not_private_truth=not_private_truth)
            else:
                page(result, self.sheet)
            if told is say:
                click.echo(f"Wrote {self.sheet.path}.", file=stream)
        if is_piped:
            # A reader of a pipe may leave at any time.
            from anonhist.formats.tables import csv_text

            print_whole(csv_text(result))


def _write_file(result: Any, path: str, *, force: bool, complete: Callable[[], None] | None) -> None:
    from anonhist.formats.atomic import write_whole
    from anonhist.formats.files import write_recorded
    from anonhist.formats.tables import csv_text

    if isinstance(result, Saved):
        write_recorded(result, path, overwrite=force, before_naming=complete)
    else:
        write_whole(path, csv_text(result).encode(), overwrite=force, before_naming=complete)


_GAP, _LEAST_TEXT = 2, 8


def console_on(stream: TextIO, *, widest: int) -> Console:
    """Return a console as wide as the terminal, but at most ``widest``; without a terminal, it is just as wide."""
    from rich.console import Console

    console = Console(file=stream, highlight=False)
    console.width = min(console.width, widest) if stream.isatty() else widest
    return console


def print_table(
    heads: Sequence[str], cells: Sequence[Sequence[str]], stream: TextIO, *, texts: Sequence[int], widest: int = 100
) -> None:
    """Print a table: on a terminal at its width, elsewhere as one line per row, in columns."""
    if stream.isatty():
        console = console_on(stream, widest=widest)
        console.print(table_of(heads, cells, console, texts=texts))
    else:
        from anonhist.report.plain import plain_lines

        for line in plain_lines(heads, cells, texts=texts):
            click.echo(line, file=stream)


def table_of(
    heads: Sequence[str], cells: Sequence[Sequence[str | Text]], console: Console, *, texts: Sequence[int]
) -> Table:
    """Return a table that fits a console: numbers stay whole, column names and texts break between words.

    ``texts`` are the positions of columns of words, on the left; if there is no room the last one shrinks, and a word
    in it may be broken.
    """
    from rich.table import Table
    from rich.text import Text

    # Plain text is not markup.
    rows = [[Text(cell) if isinstance(cell, str) else cell for cell in row] for row in cells]
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
    """Whether such a table breaks no number, and no word outside its last text."""
    widths = _least_widths(heads, rows, texts)
    widths[texts[-1]] = min(_LEAST_TEXT, widths[texts[-1]])
    return sum(widths) + _GAP * (len(heads) - 1) <= console.width


def _least_widths(heads: Sequence[str], rows: Sequence[Sequence[Text]], texts: Sequence[int]) -> list[int]:
    """Return the minimum width of each column, if no number and no word is broken."""
    columns = [[row[place] for row in rows] for place in range(len(heads))]
    return [
        max(_longest_word(head), *(_longest_word(cell.plain) if place in texts else cell.cell_len for cell in cells), 0)
        for place, (head, cells) in enumerate(zip(heads, columns, strict=True))
    ]


def _longest_word(text: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, text.split()), default=0)


def print_hanging(text: str, console: Console, *, style: str = "") -> None:
    """Print a text with a hanging indent of four columns; no word is broken."""
    import textwrap

    from rich.text import Text

    lines = textwrap.TextWrapper(
        console.width, subsequent_indent=" " * 4, break_long_words=False, break_on_hyphens=False
    )
    console.print(Text(lines.fill(text), style=style))
