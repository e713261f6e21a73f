"""``anonhist local estimate``: a tally in, shares with their uncertainty out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.cli.arguments import whole_number
from anonhist.cli.tables import console_on
from anonhist.cli.targets import STDOUT, check_report, check_target, keep_plots_quiet, published_command
from anonhist.cli.text_lines import labels_in
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from anonhist.local.surveys.estimate import FrequencyEstimate
    from anonhist.privacy import Guarantee

_WIDEST = 110


def run_estimate(
    *,
    survey: str,
    tally: str,
    candidates: str | None,
    shuffled_users: str | None,
    delta: str | None,
    top: str,
    output: str | None,
    report: str | None,
    force: bool,
    quiet: bool,
    **choices: Any,
) -> None:
    """Check everything that can be checked, then estimate, print and write."""
    shown = whole_number(top, name="--top") or 0
    mixed = whole_number(shuffled_users, name="--shuffled-users")
    if mixed is not None and delta is None:
        raise UsageError("--shuffled-users needs --delta D: how much the promise may miss, such as 1e-9.")
    target = output if output is not None else (None if sys.stdout.isatty() else STDOUT)
    from anonhist.formats.surveys import read_survey
    from anonhist.formats.tallies import read_tally

    _check_outputs((survey, tally, *([candidates] if candidates else [])), target, report, force=force)
    made_by, counted = read_survey(survey), read_tally(tally)
    central = None if delta is None else made_by.shuffled_guarantee(mixed or counted.users, delta)
    listed = None if candidates is None else labels_in(candidates, what="the values to estimate")
    estimate = made_by.estimate(
        counted, candidates=listed, **{name: choice for name, choice in choices.items() if choice is not None}
    )
    _write(estimate, central, target, report, shown=shown, force=force, quiet=quiet)


def run_rappor(
    *,
    params: str,
    counts: str,
    candidates: str,
    top: str,
    output: str | None,
    report: str | None,
    force: bool,
    quiet: bool,
    **choices: Any,
) -> None:
    """Check everything that can be checked, then decode google/rappor's files, print and write."""
    shown = whole_number(top, name="--top") or 0
    target = output if output is not None else (None if sys.stdout.isatty() else STDOUT)
    from anonhist.formats.rappor_files import read_rappor

    _check_outputs((params, counts, candidates), target, report, force=force)
    collected, listed = read_rappor(params, counts, candidates)
    estimate = collected.estimate(listed, **{name: choice for name, choice in choices.items() if choice is not None})
    _write(estimate, None, target, report, shown=shown, force=force, quiet=quiet)


def _check_outputs(inputs: tuple[str, ...], target: str | None, report: str | None, *, force: bool) -> None:
    if target not in (None, STDOUT):
        from anonhist.formats.writing import check_ending

        check_ending(target, endings=(".csv", ".json"), what="An estimate is")
        for source in inputs:
            check_target(source, target, force=force)
    if report is not None:
        for source in inputs:
            check_report(source, report, force=force)


def _write(
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
        from anonhist.report.frame import Sheet
        from anonhist.report.local.page import write_frequencies

        keep_plots_quiet()
        sheet = Sheet(report, command=published_command(), overwrite=force)
        write_frequencies(estimate, sheet, shuffled=central)
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
