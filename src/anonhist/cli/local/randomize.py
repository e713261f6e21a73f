"""``anonhist local randomize``: values to reports."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import click

from anonhist.cli.arguments import one_character
from anonhist.cli.decorators import OneOf
from anonhist.cli.options import delimiter_option, force_option, label_option, no_header_option, quiet_option
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.targets import STDOUT, check_target

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

DEFAULT_OUTPUT = "reports.parquet"
_SECTIONS = {
    "Input": ("label", "format_", "delimiter", "no_header"),
    "Output": ("output", "force", "quiet"),
}
_EXAMPLES = """
anonhist local randomize survey.json values.csv --label word -o reports.parquet
cat values.txt | anonhist local randomize survey.json - --format labels -o - | gzip > reports.ndjson.gz
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.argument("survey")
@click.argument("source")
@label_option
@click.option(
    "--format",
    "format_",
    type=OneOf(("events", "labels")),
    help="What a row holds: an event (the default), or only a label. For standard input, give this (labels: one per "
    "line), or --label for CSV.",
)
@delimiter_option
@no_header_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="File to write: FILE.parquet, FILE.csv, FILE.ndjson, or - for JSON lines on standard output.  [default: "
    "reports.parquet, or - in a pipe]",
)
@force_option
@quiet_option
def randomize(
    *,
    survey: str,
    source: str,
    label: str | None,
    format_: str | None,
    delimiter: str | None,
    no_header: bool,
    output: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Simulate the reports of devices with given values.

    For simulations and tests only: whoever holds the file of values already knows them.

    SURVEY is a file from 'anonhist local new'. SOURCE has one row per person, whose label is randomized. It is a file
    (.csv, .tsv, .jsonl or .parquet; .gz and .zst too), a pattern, or - for standard input. For standard input, also
    give its format: --format labels for one label per line, or --label COLUMN for CSV.
    """
    target = output if output is not None else (DEFAULT_OUTPUT if sys.stdout.isatty() else STDOUT)
    from anonhist.cli.progress import progress_bar
    from anonhist.formats.reports import ENDINGS, reports_writer
    from anonhist.formats.surveys import read_survey
    from anonhist.formats.writing import check_ending
    from anonhist.ingest.values import opened_values

    ending = ".ndjson" if target == STDOUT else check_ending(target, endings=ENDINGS, what="Reports are")
    if target != STDOUT:
        check_target(target, source, survey, force=force)
    made_by = read_survey(survey)
    users = 0
    with (
        progress_bar("Randomizing", shown=not quiet and target != STDOUT) as bar,
        opened_values(
            source,
            label,
            format=format_,
            delimiter=one_character(delimiter),
            header=not no_header,
            progress=bar,
        ) as batches,
        _file(target, force=force) as file,
        reports_writer(ending, file) as writer,
    ):
        # So that there is a header even without reports.
        writer.write(made_by.randomize([]))
        for batch in batches:
            users += len(batch)
            writer.write(made_by.randomize(batch))
    if target != STDOUT and not quiet:
        size = made_by.report_bytes
        click.echo(f"Reports: {users:,}, {size:,} byte{'' if size == 1 else 's'} each.")
        click.echo(f"Wrote {target}.")


@contextmanager
def _file(target: str, *, force: bool) -> Iterator[BinaryIO]:
    """Open the target: a file that appears only when it is complete, or standard output."""
    if target == STDOUT:
        # If a value is refused at the end, nothing may be left that looks complete.
        with TemporaryFile() as file:
            yield file
            file.seek(0)
            copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    from anonhist.formats.atomic import open_whole

    with open_whole(target, overwrite=force) as file:
        yield file
