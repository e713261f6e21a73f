"""What a person sees of a release: sentences everywhere, a table and a plot on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from anonhist.cli.central.plot import terminal_plot
from anonhist.cli.output import say_line
from anonhist.cli.tables import console_on, table_of
from anonhist.report.summary import facts, rows
from anonhist.report.wording import interval

if TYPE_CHECKING:
    from rich.console import Console

    from anonhist.releases import Release


def say(release: Release, stream: TextIO) -> None:
    """Print what was released, promised and done: one line each."""
    for name, sentence in facts(release):
        say_line(f"{name}: {sentence}", stream)


def show_summary(release: Release, stream: TextIO) -> None:
    """Print the same, and on a terminal a table and a small plot of the released prevalences."""
    if not stream.isatty():
        say(release, stream)
        return
    from rich.table import Table
    from rich.text import Text

    console = console_on(stream, widest=100)
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for name, sentence in facts(release):
        grid.add_row(name, Text(sentence))
    console.print(grid)
    console.print()
    _table(release, console)
    if len(release.profile):
        console.print()
        plot = Text(terminal_plot(release, width=console.width), no_wrap=True)
        plot.highlight_regex("•+", "cyan")
        console.print(plot)
    console.print()


def _table(release: Release, console: Console) -> None:
    from rich.text import Text

    cells = [(name, f"{estimate.value:,.0f}", interval(*estimate.interval)) for name, estimate in rows(release)]
    heads = ("number of", "released", "95 % interval")
    console.print(table_of(heads, [[*map(Text, each)] for each in cells], console, texts=[0]))
