"""A curve as CSV, as a page, as lines and as a table."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, TextIO

import click

from anonhist.cli.tables import console_on, csv_of
from anonhist.cli.targets import STDOUT, keep_plots_quiet, published_command

if TYPE_CHECKING:
    from rich.console import Console

    from anonhist.properties.curve import Curve

_WIDEST = 110


def write_curve(curve: Curve, target: str | None, report: str | None, *, force: bool, quiet: bool) -> None:
    """Print and write; a pipe, whose reader may go at any time, comes last."""
    if target not in (None, STDOUT):
        from anonhist.formats.atomic import write_whole

        write_whole(target, _csv(curve).encode(), overwrite=force)
    if report is not None:
        from anonhist.report import write_report

        keep_plots_quiet()
        write_report(curve, report, command=published_command(), overwrite=force)
    told = sys.stderr if target == STDOUT else sys.stdout
    if not quiet and (told is sys.stdout or told.isatty()):
        _say(curve, told, has_table=target != STDOUT)
        for written in (target, report):
            if written not in (None, STDOUT):
                click.echo(f"Wrote {written}.", file=told)
    if target == STDOUT:
        from anonhist.cli.output import print_whole

        print_whole(_csv(curve))


def _csv(curve: Curve) -> str:
    """Write every point, what its ends hold, and its error by cause, which of data is of sampling alone."""
    header = (*curve.header, "says", "reason", "standard_error", "sampling_error", "privacy_noise_error")
    said = ("chance alone" if curve.bias else "interval", curve.bias)
    if curve.why_unknown:
        said = ("no interval", curve.why_unknown)
    parts = dict(curve.parts)
    sampling = parts.get("sampling", curve.standard_error).tolist()
    # Of data there is no privacy noise; of a release that was not simulated nobody knows how much there is.
    unknown = [0.0 if curve.guarantee is None else math.nan] * len(curve)
    noise = parts["privacy noise"].tolist() if "privacy noise" in parts else unknown
    # Where nothing is known, an error of chance would be taken for one of all.
    joined = [math.nan] * len(curve) if curve.why_unknown else curve.standard_error.tolist()
    errors = zip(joined, sampling, noise, strict=True)
    rows = []
    for (x, value, low, high, kind), each in zip(curve.rows(), errors, strict=True):
        numbers = (f"{number:.10g}" for number in (value, low, high))
        whole = f"{x:.0f}" if x.is_integer() else f"{x:.10g}"
        shown = ("" if math.isnan(error) else f"{error:.10g}" for error in each)
        rows.append((whole, *numbers, kind, *said, *shown))
    return csv_of(header, rows)


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
    from rich.table import Table

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
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for head in (view.x_label, view.value_label, band_name(curve)):
        table.add_column(head, justify="right", no_wrap=True)
    if kinds:
        table.add_column("kind", no_wrap=True)
    for at in shown_points(curve):
        table.add_row(x_text(curve, at), value_text(curve, at), interval_text(curve, at), *kinds[at : at + 1])
    console.print(table)
