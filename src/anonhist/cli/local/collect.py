"""``anonhist local randomize`` and ``tally``: values to reports, reports to counts."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import click

from anonhist.cli.arguments import one_character, whole_number
from anonhist.cli.output import print_whole
from anonhist.cli.targets import STDOUT, check_target

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

DEFAULT_REPORTS, DEFAULT_TALLY = "reports.parquet", "tally.json"


def run_randomize(
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
    """Check what can be checked, then randomise batch by batch."""
    target = output if output is not None else (DEFAULT_REPORTS if sys.stdout.isatty() else STDOUT)
    from anonhist.cli.progress import progress_bar
    from anonhist.formats.reports import ENDINGS, reports_writer
    from anonhist.formats.surveys import read_survey
    from anonhist.formats.writing import check_ending
    from anonhist.ingest.values import opened_values

    ending = ".ndjson" if target == STDOUT else check_ending(target, endings=ENDINGS, what="Reports are")
    if target != STDOUT:
        check_target(source, target, force=force)
        check_target(survey, target, force=force)
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
    ):
        writer = reports_writer(ending, file)
        # So that there is a header even where there is nobody.
        writer.write(made_by.randomize([]))
        for batch in batches:
            users += len(batch)
            writer.write(made_by.randomize(batch))
        writer.close()
    if target != STDOUT and not quiet:
        size = made_by.report_bytes
        click.echo(f"Reports: {users:,}, of {size:,} byte{'' if size == 1 else 's'} each.")
        click.echo(f"Wrote {target}.")


@contextmanager
def _file(target: str, *, force: bool) -> Iterator[BinaryIO]:
    """Give what to write to: a file that is there whole or not at all, or standard output."""
    if target == STDOUT:
        # A value that is refused at the end must not leave a part behind that looks like the whole.
        with TemporaryFile() as file:
            yield file
            file.seek(0)
            copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    from anonhist.formats.atomic import open_whole

    with open_whole(target, overwrite=force) as file:
        yield file


def run_tally(
    *, survey: str, sources: tuple[str, ...], output: str | None, skip_bad: str, force: bool, quiet: bool
) -> None:
    """Check what can be checked, then count reports and add tallies."""
    allowed = 0 if skip_bad.strip() == "0" else whole_number(skip_bad, name="--skip-bad") or 0
    target = output if output is not None else (DEFAULT_TALLY if sys.stdout.isatty() else STDOUT)
    from anonhist.cli.progress import progress_bar
    from anonhist.formats.surveys import read_survey
    from anonhist.formats.tallies import is_tally_file, read_tally, tally_text
    from anonhist.formats.writing import check_ending, write
    from anonhist.ingest.reports import report_files, tally_reports

    files = report_files(sources)
    if target != STDOUT:
        check_ending(target, endings=(".json", ".parquet"), what="A tally is")
        for source in (survey, *files):
            check_target(source, target, force=force)
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
        # Reports are private by themselves, so this may go where a log is kept.
        click.echo(f"Note: {sentence}", err=True)
    if target == STDOUT:
        print_whole(tally_text(total))
        return
    write(total, target, overwrite=force)
    if not quiet:
        click.echo(f"Counted: the reports of {total.users:,} {'person' if total.users == 1 else 'people'}.")
        click.echo(f"Wrote {target}.")
