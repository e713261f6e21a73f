"""A curve as CSV, as a page, as lines and as a table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

import click

from anonhist.cli.tables import console_on, table_of
from anonhist.cli.targets import STDOUT

if TYPE_CHECKING:
    from rich.console import Console

    from anonhist.properties.curve import Curve
    from anonhist.report.frame import Sheet

_WIDEST = 110


def write_curve(curve: Curve, target: str | None, sheet: Sheet | None, *, force: bool, quiet: bool) -> None:
    """Print and write; a pipe, whose reader may go at any time, comes last."""
    if target not in (None, STDOUT):
        from anonhist.formats.atomic import write_whole
        from anonhist.formats.tables import csv_text

        write_whole(target, csv_text(curve).encode(), overwrite=force)
    if sheet is not None:
        from anonhist.report.curve.page import write_curve as write_page

        write_page(curve, sheet)
    told = sys.stderr if target == STDOUT else sys.stdout
    if not quiet and (told is sys.stdout or told.isatty()):
        _say(curve, told, has_table=target != STDOUT)
        for written in (target, sheet and sheet.path):
            if written not in (None, STDOUT):
                click.echo(f"Wrote {written}.", file=told)
    if target == STDOUT:
        from anonhist.cli.output import print_whole
        from anonhist.formats.tables import csv_text

        print_whole(csv_text(curve))


def _say(curve: Curve, stream: TextIO, *, has_table: bool) -> None:
    """Tell a person: some of the points, and what they rest on."""
    from rich.text import Text

    from anonhist.report.curve.wording import facts, notes, view_of

    console = console_on(stream, widest=_WIDEST)
    console.print(Text(view_of(curve).subtitle, style="bold"))
    if has_table:
        console.print()
        _table(curve, console)
        console.print()
    for warning in notes(curve):
        console.print(Text(f"Warning: {warning}"), style="red")
    for name, sentence in facts(curve):
        console.print(Text(f"{name}: {sentence}"), style="dim")


def _table(curve: Curve, console: Console) -> None:
    from rich.text import Text

    from anonhist.report.curve.wording import (
        band_name,
        interval_text,
        shown_kinds,
        shown_points,
        value_text,
        view_of,
        x_text,
    )

    view, kinds = view_of(curve), shown_kinds(curve)
    heads = (view.x_label, view.value_label, band_name(curve), *(["kind"] if kinds else []))
    rows = [
        [*map(Text, (x_text(curve, at), value_text(curve, at), interval_text(curve, at), *kinds[at : at + 1]))]
        for at in shown_points(curve)
    ]
    console.print(table_of(heads, rows, console, texts=[3] if kinds else []))
