"""A comparison as CSV, as a page, and as tables."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

import click

from anonhist.cli.spelling import as_typed
from anonhist.cli.tables import console_on
from anonhist.cli.targets import STDOUT
from anonhist.privacy import short_decimal

if TYPE_CHECKING:
    from rich.console import Console

    from anonhist.mechanisms import Comparison, Metric
    from anonhist.report.frame import Sheet


def show_comparison(
    comparison: Comparison, target: str | None, sheet: Sheet | None, *, force: bool, quiet: bool
) -> None:
    """Print and write; a pipe, whose reader may go at any time, comes last."""
    told = sys.stderr if target == STDOUT else sys.stdout
    if target not in (None, STDOUT):
        from anonhist.formats.atomic import write_whole
        from anonhist.formats.tables import csv_text

        write_whole(target, csv_text(comparison).encode(), overwrite=force)
    if sheet is not None:
        from anonhist.report.comparison.page import write_comparison

        write_comparison(comparison, sheet)
    if not quiet:
        _say(comparison, told, tables=target != STDOUT)
        for written in (target, sheet and sheet.path):
            if written not in (None, STDOUT):
                click.echo(f"Wrote {written}.", file=told)
    if target == STDOUT:
        from anonhist.cli.output import print_whole
        from anonhist.formats.tables import csv_text

        print_whole(csv_text(comparison))


def _say(comparison: Comparison, stream: TextIO, *, tables: bool) -> None:
    """Say what was compared, in tables too where standard output is not for the CSV."""
    from anonhist.mechanisms import METRICS
    from anonhist.report.comparison.wording import HOW_TO_READ, advice, basis, notes

    console = console_on(stream, widest=100)
    for sentence in (advice(comparison), basis(comparison), *map(as_typed, notes(comparison))):
        # Beside CSV a sentence is a line, as with other commands.
        console.print(sentence, markup=False, soft_wrap=not tables and not stream.isatty())
    if tables:
        for metric in METRICS:
            _table(comparison, metric, console)
        console.print()
        console.print(HOW_TO_READ, style="dim")


def _table(comparison: Comparison, metric: Metric, console: Console) -> None:
    """Print one metric, a row per mechanism; as many budgets side by side as there is room for."""
    from rich.table import Table
    from rich.text import Text

    from anonhist.report.comparison.wording import MARK, cell, units

    names, epsilons = comparison.mechanisms, comparison.epsilons
    texts = {(name, epsilon): cell(comparison, name, epsilon, metric.name) for name in names for epsilon in epsilons}
    # Marks stand beside the numbers, which stay in line.
    texts = {place: text if text.endswith(MARK) else text + " " * len(MARK) for place, text in texts.items()}
    heads = {epsilon: f"ε = {short_decimal(epsilon)}" + " " * len(MARK) for epsilon in epsilons}
    width = max(map(len, [*texts.values(), *heads.values()]))
    most = max(1, (console.width - max(map(len, names))) // (width + 2))
    side_by_side = -(-len(epsilons) // -(-len(epsilons) // most))
    console.print()
    console.print(Text(f"{metric.title}, in {units()[metric.name]}", style="bold"))
    for start in range(0, len(epsilons), side_by_side):
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("mechanism", no_wrap=True, min_width=max(map(len, names)))
        shown = epsilons[start : start + side_by_side]
        for epsilon in shown:
            table.add_column(heads[epsilon], justify="right", no_wrap=True, min_width=width)
        for name in names:
            cells = [texts[name, epsilon] for epsilon in shown]
            table.add_row(name, *(Text(text, style="bold green" if text.endswith(MARK) else "") for text in cells))
        if start:
            console.print()
        console.print(table)
