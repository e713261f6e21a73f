"""``anonhist local tally``: reports to counts."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from anonhist.cli.arguments import whole_number
from anonhist.cli.options import force_option, quiet_option
from anonhist.cli.output import print_whole, say_line
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.targets import STDOUT, check_target

DEFAULT_OUTPUT = "tally.json"
_EXAMPLES = """
anonhist local tally survey.json reports-1.parquet reports-2.csv.gz -o tally.json
anonhist local tally survey.json monday.json tuesday.json 'wednesday/*.ndjson' -o week.json
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@click.argument("survey")
@click.argument("sources", nargs=-1, required=True, metavar="REPORTS…")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="File to write: FILE.json, or FILE.parquet for large tallies.  [default: tally.json, or JSON on standard "
    "output in a pipe]",
)
@click.option(
    "--skip-bad",
    default="0",
    metavar="N",
    help="Skip up to N rows that are not reports of SURVEY, and say how many. By default, one such row is an error.",
)
@force_option
@quiet_option
def tally(
    *, survey: str, sources: tuple[str, ...], output: str | None, skip_bad: str, force: bool, quiet: bool
) -> None:
    """Count reports: everything an estimate needs.

    Once counted, the reports need not be kept. REPORTS are any number of files (.parquet, .csv, .ndjson, .jsonl; .gz
    and .zst too), patterns, - for JSON lines or CSV on standard input, or tallies (.json) of the same survey, which are
    added up.
    """
    allowed = 0 if skip_bad.strip() == "0" else whole_number(skip_bad, name="--skip-bad") or 0
    target = output if output is not None else (DEFAULT_OUTPUT if sys.stdout.isatty() else STDOUT)
    from anonhist.cli.progress import progress_bar
    from anonhist.formats.surveys import read_survey
    from anonhist.formats.tallies import is_tally_file, read_tally, tally_text
    from anonhist.formats.writing import check_ending, write
    from anonhist.ingest.reports import report_files, tally_reports
    from anonhist.replacing import PrivateKind

    files = report_files(sources)
    if target != STDOUT:
        check_ending(target, endings=(".json", ".parquet"), what="A tally is")
        check_target(target, survey, *files, force=force, kind=PrivateKind.TALLY)
    made_by = read_survey(survey)
    total = made_by.empty_tally()
    reports: list[str] = []
    told: list[str] = []
    for source in files:
        if source != STDOUT and is_tally_file(source) and Path(source).exists():
            counted = read_tally(source)
            made_by.check_tally(counted)
            total += counted
        else:
            reports.append(source)
    with progress_bar("Counting", shown=not quiet) as bar:
        if reports:
            total += tally_reports(
                made_by, reports, skip_bad=allowed, progress=bar, notify=None if quiet else told.append
            )
    for sentence in told:
        # Reports are private by themselves, so this may be logged.
        say_line(f"Note: {sentence}", sys.stderr)
    if target == STDOUT:
        print_whole(tally_text(total))
        return
    write(total, target, overwrite=force)
    if not quiet:
        click.echo(f"Counted the reports of {total.users:,} {'person' if total.users == 1 else 'people'}.")
        click.echo(f"Wrote {target}.")
