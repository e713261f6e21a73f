"""Output of commands about a release: sentences everywhere, a table and a plot on a terminal."""

from __future__ import annotations

import math
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.report.page import facts, how_made, rows
from anonhist.report.wording import bound_of, number_and_ends
from anonhist.terminal.charging import write_charged
from anonhist.terminal.destinations import Destination, console_on, print_table
from anonhist.terminal.output import say_line, tell_of_epsilon

if TYPE_CHECKING:
    from anonhist.accounting.recording import Recorded, Unrecorded
    from anonhist.releases import Release
    from anonhist.releases.content import AnyRelease

MOST_COLUMNS, FEWEST_COLUMNS, MOST_ROWS = 72, 16, 13
_POINT = "•"


def terminal_plot(release: Release, *, width: int) -> str:
    """Draw how many labels have each count, in at most ``width`` columns if that leaves room to draw at all.

    A cell is marked if any released count falls into it. Both axes begin at 1 and end at the largest value, but at
    least at 2.
    """
    profile = release.profile
    if not len(profile):
        return "The released profile is empty."
    counts, prevalences = profile.counts.tolist(), profile.prevalences.tolist()
    right, top = max(2, counts[-1]), max(2, *prevalences)
    margin = max(len(short_number(mark)) for mark in ticks(top, most=4)) + 1
    columns = max(FEWEST_COLUMNS, min(MOST_COLUMNS, width - margin - 2))
    rows = min(MOST_ROWS, 5 + 4 * round(math.log10(top)))
    cells = [[" "] * columns for _ in range(rows)]
    for count, prevalence in zip(counts, prevalences, strict=True):
        cells[_place(prevalence, top, rows)][_place(count, right, columns)] = _POINT
    marked = {_place(mark, top, rows): short_number(mark) for mark in ticks(top, most=4)}
    words = release.words
    lines = [words.labels]
    for row in reversed(range(rows)):
        axis = "┤" if row in marked else "│"
        lines.append(f"{marked.get(row, ''):>{margin}} {axis}{''.join(cells[row])}".rstrip())
    title = f"{words.count} of a {words.label} (both scales logarithmic)"
    return "\n".join([*lines, *_below(right, columns, margin, title)])


def _below(right: int, columns: int, margin: int, title: str) -> list[str]:
    """Return the horizontal axis, its marks, and what it counts."""
    line, names = ["─"] * columns, [" "] * columns
    taken = -1
    for mark in ticks(right, most=max(2, columns // 8)):
        at, name = _place(mark, right, columns), short_number(mark)
        line[at] = "┴"
        start = max(0, min(at - len(name) // 2, columns - len(name)))
        if start > taken:
            names[start : start + len(name)] = name
            taken = start + len(name)
    edge = f"{'':>{margin}} "
    return [
        f"{edge}└{''.join(line)}",
        f"{edge} {''.join(names).rstrip()}",
        f"{edge} {title:>{columns}}",
    ]


def ticks(largest: int, *, most: int) -> list[int]:
    """Return at most about ``most`` round numbers from 1 to ``largest``, evenly spread on a log scale."""
    decades = len(str(largest))  # of the marks 1, 10, …
    if decades <= 2:
        return [mark for mark in (1, 2, 5, 10, 20, 50) if mark <= largest]
    return [10**power for power in range(0, decades, math.ceil(decades / most))]


def short_number(value: int) -> str:
    """Write a power of ten, or one digit and zeros, in few characters."""
    thousands = (len(str(value)) - 1) // 3
    unit = ("", " k", " M", " G", " T", " P", " E")[thousands]
    return f"{value // 1000**thousands}{unit}"


def _place(value: int, largest: int, cells: int) -> int:
    return round(math.log(value) / math.log(largest) * (cells - 1))


def write_release(
    released: Release, destination: Destination, recorded: Recorded | Unrecorded, *, not_private_truth: Any = None
) -> None:
    """Write a release, complete its charge, and report both."""
    write_charged(
        released,
        destination,
        recorded,
        say=partial(show_summary, released),
        log=partial(log, released),
        not_private_truth=not_private_truth,
    )


def log(released: AnyRelease, stream: TextIO) -> None:
    """Print on standard error what other outputs omit: a large epsilon, and an excess, which CSV cannot hold."""
    tell_of_epsilon(released.guarantee)
    if getattr(released, "excess", None) is not None:
        for name, sentence in bound_of(released):
            say_line(f"{name}: {sentence}", stream)


def show_summary(release: Release, stream: TextIO) -> None:
    """Print the release and its guarantee and, below the numbers, how it was made.

    The numbers are a table if the stream holds nothing else; a terminal also gets a small plot.
    """
    below = how_made(release)
    above = facts(release)[: -len(below)]
    _say(above, stream)
    if stream is not sys.stderr:
        cells = [(name, *number_and_ends(estimate)) for name, estimate in rows(release)]
        click.echo(file=stream)
        print_table(("number of", "released", "95% interval"), cells, stream, texts=[0])
        if stream.isatty():
            _plot(release, stream)
        click.echo(file=stream)
    _say(below, stream)


def _say(told: list[tuple[str, str]], stream: TextIO) -> None:
    """Print names and sentences: in columns on a terminal that holds nothing else, otherwise one line each."""
    if stream is sys.stderr or not stream.isatty():
        for name, sentence in told:
            say_line(f"{name}: {sentence}", stream)
        return
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for name, sentence in told:
        grid.add_row(name, Text(sentence))
    console_on(stream, widest=100).print(grid)


def _plot(release: Release, stream: TextIO) -> None:
    from rich.text import Text

    console = console_on(stream, widest=100)
    if len(release.profile):
        console.print()
        plot = Text(terminal_plot(release, width=console.width), no_wrap=True)
        plot.highlight_regex("•+", "cyan")
        console.print(plot)
