"""What a person sees of a release: sentences everywhere, a table and a plot on a terminal."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from anonhist.cli.central.plot import terminal_plot
from anonhist.cli.charging import write_charged
from anonhist.cli.output import say_line, tell_of_epsilon
from anonhist.cli.tables import console_on, table_of
from anonhist.report.remarks import bound_of
from anonhist.report.summary import facts, rows
from anonhist.report.wording import interval

if TYPE_CHECKING:
    from rich.console import Console

    from anonhist.accounting.recording import Recorded, Unrecorded
    from anonhist.cli.destinations import Destination
    from anonhist.formats.registry import AnyRelease
    from anonhist.releases import Release


def write_release(
    released: Release, destination: Destination, recorded: Recorded | Unrecorded, *, not_private_truth: Any = None
) -> None:
    """Write a release, complete its charge, and tell a person of both."""
    write_charged(
        released,
        destination,
        recorded,
        say=partial(show_summary, released),
        log=partial(log, released),
        not_private_truth=not_private_truth,
    )


def log(released: AnyRelease, stream: TextIO) -> None:
    """Say on standard error what nothing else tells of: a large epsilon, and an excess, which CSV has no place for."""
    tell_of_epsilon(released.guarantee)
    if getattr(released, "excess", None) is not None:
        for name, sentence in bound_of(released):
            say_line(f"{name}: {sentence}", stream)


def say(release: Release, stream: TextIO) -> None:
    """Print what was released, promised and done: one line each."""
    for name, sentence in facts(release):
        say_line(f"{name}: {sentence}", stream)


def show_summary(release: Release, stream: TextIO) -> None:
    """Print the same, and on a terminal that holds nothing else a table and a small plot of the prevalences."""
    if stream is sys.stderr or not stream.isatty():
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
