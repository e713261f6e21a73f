"""``anonhist sketch recommend``: how many buckets to take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.cli.decorators import WholeNumber
from anonhist.cli.options import epsilon_option, output_options, sketch_protection_options
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.tables import console_on, csv_of, table_of
from anonhist.cli.targets import STDOUT

if TYPE_CHECKING:
    from anonhist.cli.arguments import Protection
    from anonhist.cli.destinations import Outputs
    from anonhist.sketches.recommendation import BucketRecommendation

HEADER = ("buckets", "load", "bytes", "labels_error", "prevalences_error", "prevalences_error_uncertainty")
_EXAMPLES = """
anonhist sketch recommend --labels 1e6 --epsilon 1
anonhist sketch recommend --labels 1e7 --epsilon 0.5 --max-bytes 1e7
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@click.option(
    "--labels",
    type=WholeNumber(),
    required=True,
    metavar="M",
    help="Expected number of distinct labels, such as 1e6: a guess made without the data.",
)
@epsilon_option("Total privacy budget of the sketch, such as 1.", required=True)
@sketch_protection_options
@click.option(
    "--max-bytes", type=WholeNumber(), metavar="B", help="Largest size of the counters in bytes, such as 8e6."
)
@output_options()
def recommend(*, labels: int, epsilon: str, protection: Protection, max_bytes: int | None, outputs: Outputs) -> None:
    """Recommend how many buckets a sketch of unknown labels needs.

    The recommendation rests on simulated errors. The simulated prevalences fall as 1/count².
    """
    destination = outputs.for_table(STDOUT, what="A recommendation is")
    from anonhist.cli.progress import progress_bars
    from anonhist.sketches.recommendation import recommend_buckets

    with progress_bars("Simulating", shown=not outputs.quiet) as bars:
        found = recommend_buckets(
            labels=labels,
            epsilon=epsilon,
            unit=protection.unit,
            relation=protection.relation,
            max_bytes=max_bytes,
            progress=bars.working,
        )
    destination.write(_csv(found), lambda stream: None if destination.target == STDOUT else _say(found, stream))


def _csv(found: BucketRecommendation) -> str:
    rows = []
    for row in found.rows:
        errors: tuple[Any, ...] = (row.labels_error, row.prevalences_error, row.uncertainty)
        rows.append((row.buckets, f"{row.load:.10g}", row.size, *(f"{error:.4g}" for error in errors)))
    return csv_of(HEADER, rows)


def _say(found: BucketRecommendation, stream: TextIO) -> None:
    from rich.text import Text

    console = console_on(stream, widest=110)
    console.print(Text(f"Use {found.best:,} buckets.", style="bold"), Text(found.reason))
    console.print()
    rows = []
    for row in found.rows:
        errors = (f"{100 * row.labels_error:.2g} %", f"{100 * row.prevalences_error:.2g} %")
        cells = (f"{row.buckets:,}", f"{row.load:.3g}", f"{row.size / 1e6:,.3g}", *errors)
        rows.append([Text(cell, style="bold" if row.buckets == found.best else "") for cell in cells])
    heads = ("buckets", "labels in each", "MB", "± of labels", "± of prevalences")
    console.print(table_of(heads, rows, console, texts=[]))
