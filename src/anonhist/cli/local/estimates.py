"""What ``anonhist local estimate`` and ``rappor`` share: how counts are decoded, and where shares go."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.cli.decorators import NameIn, all_options, as_one
from anonhist.cli.options import force_option, level_option, quiet_option
from anonhist.cli.tables import console_on
from anonhist.cli.targets import STDOUT, check_report, check_target, keep_plots_quiet, published_command

if TYPE_CHECKING:
    from rich.console import Console

    from anonhist.local.surveys.estimate import FrequencyEstimate
    from anonhist.privacy import Guarantee

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
        help="File to write: FILE.csv, FILE.json, or - for CSV on standard output (the default in a pipe).",
    ),
    click.option("--report", metavar="FILE.html", help="Also write an HTML page with a plot and how to read it."),
    force_option,
    quiet_option,
)


def check_outputs(inputs: tuple[str, ...], target: str | None, report: str | None, *, force: bool) -> None:
    """Refuse outputs that could not be written before anything is read."""
    if target not in (None, STDOUT):
        from anonhist.formats.writing import check_ending

        check_ending(target, endings=(".csv", ".json"), what="An estimate is")
        for source in inputs:
            check_target(source, target, force=force)
    if report is not None:
        for source in inputs:
            check_report(source, report, force=force)


def write_estimate(
    estimate: FrequencyEstimate,
    central: Guarantee | None,
    target: str | None,
    report: str | None,
    *,
    shown: int,
    force: bool,
    quiet: bool,
) -> None:
    """Print and write; a pipe, whose reader may go at any time, comes last."""
    if target not in (None, STDOUT):
        from anonhist.formats.writing import write

        write(estimate, target, overwrite=force)
    if report is not None:
        from anonhist.report.local.page import write_frequencies

        keep_plots_quiet()
        write_frequencies(estimate, report, command=published_command(), overwrite=force, shuffled=central)
    told = sys.stderr if target == STDOUT else sys.stdout
    if not quiet and (told is sys.stdout or told.isatty()):
        _say(estimate, central, told, shown=shown if target != STDOUT else 0)
        for written in (target, report):
            if written not in (None, STDOUT):
                click.echo(f"Wrote {written}.", file=told)
    if target == STDOUT:
        from anonhist.cli.output import print_whole
        from anonhist.formats.estimates import estimate_csv

        print_whole(estimate_csv(estimate))


def _say(estimate: FrequencyEstimate, central: Guarantee | None, stream: TextIO, *, shown: int) -> None:
    """Tell a person: the most frequent values, and what they rest on."""
    from rich.text import Text

    from anonhist.report.local.wording import facts, headline

    console = console_on(stream, widest=_WIDEST)
    console.print(Text(headline(estimate), style="bold"))
    if shown:
        console.print()
        _table(estimate, console, shown)
        console.print()
    for name, sentence in facts(estimate, central):
        console.print(Text(f"{name}: {sentence}"), style="dim")


def _table(estimate: FrequencyEstimate, console: Console, shown: int) -> None:
    from rich.table import Table
    from rich.text import Text

    from anonhist.report.local.wording import HEADS, most_frequent, row_texts

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for place, head in enumerate(HEADS):
        table.add_column(head, justify="right" if place else "left", no_wrap=bool(place), overflow="fold")
    for place in most_frequent(estimate, shown):
        # As text: a label may look like mark-up.
        table.add_row(*map(Text, row_texts(estimate, place)))
    console.print(table)
