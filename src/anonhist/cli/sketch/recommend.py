"""``anonhist sketch recommend``: how many buckets to take."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.cli.arguments import privacy_unit, whole_number
from anonhist.cli.options import csv_output_option, force_option, max_per_user_option, quiet_option, relation_option
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.sketch.unit import unit_option
from anonhist.cli.tables import console_on, csv_of, table_of
from anonhist.cli.targets import STDOUT, csv_target
from anonhist.privacy import NeighboringRelation

if TYPE_CHECKING:
    from anonhist.sketches.recommendation import BucketRecommendation

HEADER = ("buckets", "load", "bytes", "labels_error", "prevalences_error", "prevalences_error_uncertainty")
_EXAMPLES = """
anonhist sketch recommend --labels 1e6 --epsilon 1
anonhist sketch recommend --labels 1e7 --epsilon 0.5 --max-bytes 1e7
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@click.option(
    "--labels",
    required=True,
    metavar="M",
    help="About how many different labels there will be, such as 1e6: a guess that says nothing of the data.",
)
@click.option("--epsilon", required=True, metavar="E", help="What the sketch may cost in all, such as 1; no default.")
@unit_option
@max_per_user_option
@relation_option
@click.option("--max-bytes", metavar="B", help="How large the counters may be, such as 8e6.")
@csv_output_option
@force_option
@quiet_option
def recommend(
    *,
    labels: str,
    epsilon: str,
    unit: str | None,
    max_per_user: int | None,
    relation: str,
    max_bytes: str | None,
    output: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Recommend a number of buckets by expected error.

    Buckets are for labels that cannot be listed. Errors are simulated for labels with prevalences that fall as one over
    the square of the count.
    """
    number = whole_number(labels, name="--labels") or 0
    most = whole_number(max_bytes, name="--max-bytes")
    protected = privacy_unit(unit, max_per_user=max_per_user, max_count=None)
    target = csv_target("-", output, what="A recommendation is", force=force)
    from anonhist.cli.progress import progress_bars
    from anonhist.sketches.recommendation import recommend_buckets

    with progress_bars("Simulating", shown=not quiet) as bars:
        found = recommend_buckets(
            labels=number,
            epsilon=epsilon,
            unit=protected,
            relation=NeighboringRelation(relation),
            max_bytes=most,
            progress=bars.working,
        )
    if target not in (None, STDOUT):
        from anonhist.formats.atomic import write_whole

        write_whole(target, _csv(found).encode(), overwrite=force)
    if target == STDOUT:
        from anonhist.cli.output import print_whole

        print_whole(_csv(found))
    elif not quiet:
        _say(found, sys.stdout)
        if target is not None:
            click.echo(f"Wrote {target}.")


def _csv(found: BucketRecommendation) -> str:
    rows = []
    for row in found.rows:
        errors: tuple[Any, ...] = (row.labels_error, row.prevalences_error, row.uncertainty)
        rows.append((row.buckets, f"{row.load:.10g}", row.size, *(f"{error:.4g}" for error in errors)))
    return csv_of(HEADER, rows)


def _say(found: BucketRecommendation, stream: TextIO) -> None:
    from rich.text import Text

    console = console_on(stream, widest=110)
    console.print(Text(f"Take {found.best:,} buckets.", style="bold"), Text(found.reason))
    console.print()
    rows = []
    for row in found.rows:
        errors = (f"{100 * row.labels_error:.2g} %", f"{100 * row.prevalences_error:.2g} %")
        cells = (f"{row.buckets:,}", f"{row.load:.3g}", f"{row.size / 1e6:,.3g}", *errors)
        rows.append([Text(cell, style="bold" if row.buckets == found.best else "") for cell in cells])
    heads = ("buckets", "labels in each", "MB", "± of labels", "± of prevalences")
    console.print(table_of(heads, rows, console, texts=[]))
