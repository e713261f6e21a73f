"""The options and outputs that ``anonhist local estimate`` and ``rappor`` share."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.cli.decorators import NameIn, all_options, as_one
from anonhist.cli.options import CSV_IS_FOR_PROGRAMS, force_option, level_option, quiet_option, report_options
from anonhist.cli.tables import console_on, table_of
from anonhist.cli.targets import STDOUT, check_report, check_target

if TYPE_CHECKING:
    from anonhist.cli.targets import AskedPage
    from anonhist.local.surveys.estimate import FrequencyEstimate
    from anonhist.privacy import Guarantee
    from anonhist.report.frame import Sheet

_WIDEST = 110


def _given(**choices: Any) -> dict[str, Any]:
    return {name: choice for name, choice in choices.items() if choice is not None}


decoding_options = as_one(
    "decoding",
    click.option(
        "--decoder",
        type=NameIn(".local.decoding.names:DECODERS"),
        metavar="NAME",
        help="How raw estimates become shares: projected, normalized, unbiased, least-squares, mle or em.  [default: "
        "projected, or least-squares if values can collide]",
    ),
    click.option(
        "--correction",
        type=NameIn(".local.decoding.names:CORRECTIONS"),
        metavar="NAME",
        help="Correction for testing many values at once: holm, bonferroni or benjamini-hochberg.  [default: holm]",
    ),
    level_option("Confidence level of intervals and tests."),
    made=_given,
)
output_options = all_options(
    click.option("--top", default="20", show_default=True, metavar="N", help="Number of values to show on a terminal."),
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="File to write: FILE.csv, FILE.json, or - for CSV on standard output (the default in a pipe). "
        f"{CSV_IS_FOR_PROGRAMS}",
    ),
    report_options("Also write an HTML page with a plot and how to read it."),
    force_option,
    quiet_option,
)


def check_outputs(
    inputs: tuple[str, ...], target: str | None, report: AskedPage | None, *, force: bool
) -> Sheet | None:
    """Return the page to write; refuse outputs that cannot be written before reading anything."""
    if target not in (None, STDOUT):
        from anonhist.formats.writing import check_ending

        check_ending(target, endings=(".csv", ".json"), what="An estimate is")
        check_target(target, *inputs, force=force)
    # The second input has the counts, which the page is about.
    return check_report(report, inputs[1], *inputs, force=force)


def write_estimate(
    estimate: FrequencyEstimate,
    central: Guarantee | None,
    target: str | None,
    sheet: Sheet | None,
    *,
    shown: int,
    force: bool,
    quiet: bool,
) -> None:
    """Print and write; standard output comes last, because the reader of a pipe may close it at any time."""
    if target not in (None, STDOUT):
        from anonhist.formats.writing import write

        write(estimate, target, overwrite=force)
    if sheet is not None:
        from anonhist.report.local.page import write_frequencies

        write_frequencies(estimate, sheet, shuffled=central)
    told = sys.stderr if target == STDOUT else sys.stdout
    if not quiet and (told is sys.stdout or told.isatty()):
        _say(estimate, central, told, shown=shown if target != STDOUT else 0)
        for written in (target, sheet and sheet.path):
            if written not in (None, STDOUT):
                click.echo(f"Wrote {written}.", file=told)
    if target == STDOUT:
        from anonhist.cli.output import print_whole
        from anonhist.formats.tables import csv_text

        print_whole(csv_text(estimate))


def _say(estimate: FrequencyEstimate, central: Guarantee | None, stream: TextIO, *, shown: int) -> None:
    """Print the most frequent values, and the facts behind them."""
    from rich.text import Text

    from anonhist.report.local.wording import HEADS, facts, headline, most_frequent, row_texts

    console = console_on(stream, widest=_WIDEST)
    console.print(Text(headline(estimate), style="bold"))
    if shown:
        console.print()
        # As Text, because labels may contain markup.
        rows = [[*map(Text, row_texts(estimate, place))] for place in most_frequent(estimate, shown)]
        console.print(table_of(HEADS, rows, console, texts=[0]))
        console.print()
    for name, sentence in facts(estimate, central):
        console.print(Text(f"{name}: {sentence}"), style="dim")
