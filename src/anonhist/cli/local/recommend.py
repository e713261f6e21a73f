"""``anonhist local recommend``: which mechanism to use."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from anonhist.cli.arguments import whole_number
from anonhist.cli.options import csv_output_option, force_option, quiet_option
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.tables import console_on, csv_of, table_of, write_csv
from anonhist.cli.targets import csv_target

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADER = ("mechanism", "standard_error", "mean_squared_error", "report_bytes", "decode_cost", "note")
_EXAMPLES = """
anonhist local recommend --alphabet-size 1000 --epsilon 1 --users 1e6
anonhist local recommend --alphabet-size 22000 --epsilon 5 --users 1e4 --max-bytes 4
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@click.option("--alphabet-size", required=True, metavar="K", help="Number of possible values.")
@click.option("--epsilon", required=True, metavar="E", help="Privacy budget of one report, such as 1.")
@click.option("--users", required=True, metavar="N", help="Number of people who will report, such as 1e6.")
@click.option("--max-bytes", metavar="B", help="Largest size of a report in bytes.")
@csv_output_option
@force_option
@quiet_option
def recommend(
    *,
    alphabet_size: str,
    epsilon: str,
    users: str,
    max_bytes: str | None,
    output: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Recommend a mechanism by error and size of reports."""
    size = whole_number(alphabet_size, name="--alphabet-size") or 0
    people = whole_number(users, name="--users") or 0
    most = whole_number(max_bytes, name="--max-bytes")
    target = csv_target(output, what="A recommendation is", force=force)
    from anonhist.local.catalogue import recommend

    found = recommend(alphabet_size=size, epsilon=epsilon, users=people, max_bytes=most)
    write_csv(_csv(found.rows), target, lambda: _say(found), force=force, quiet=quiet)


def _csv(recommended: Sequence[Any]) -> str:
    rows = []
    for row in recommended:
        numbers = (f"{row.standard_error:.10g}", f"{row.mean_squared_error:.10g}")
        rows.append((row.mechanism, *numbers, row.report_bytes, row.decode_cost, row.note))
    return csv_of(HEADER, rows)


def _say(found: Any) -> None:
    from rich.text import Text

    console = console_on(sys.stdout, widest=110)
    console.print(Text(f"Use {found.best}.", style="bold"), Text(found.reason))
    console.print()
    rows = []
    for row in found.rows:
        style = "bold" if row.mechanism == found.best else ""
        cells = (row.mechanism, f"{100 * row.standard_error:.3g} %", f"{row.report_bytes:,}", row.decode_cost, row.note)
        rows.append([Text(cell, style=style) for cell in cells])
    heads = ("mechanism", "± of a share", "bytes", "decoding", "note")
    shown = len(heads) if any(row.note for row in found.rows) else len(heads) - 1
    console.print(table_of(heads[:shown], [row[:shown] for row in rows], console, texts=[0, 3, 4][: shown - 2]))
