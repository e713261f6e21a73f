"""Where a release goes: files, a page and standard output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

import click

from anonhist.cli.central.excess import tell_of_excess
from anonhist.cli.output import tell_of_epsilon
from anonhist.cli.targets import STDOUT, check_report, check_target
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.cli.targets import AskedPage
    from anonhist.profiles import Profile
    from anonhist.releases import Release
    from anonhist.report.frame import Sheet

DEFAULT_OUTPUT = "release.json"


def write_outputs(
    released: Release,
    target: str,
    sheet: Sheet | None,
    *,
    force: bool,
    quiet: bool,
    not_private_truth: Profile | None = None,
) -> None:
    """Write the outputs, the one that cannot be made twice first: a reader of a pipe may go at any time."""
    if target == STDOUT:
        from anonhist.cli.output import print_whole
        from anonhist.formats.tables import csv_text

        is_watched = sys.stderr.isatty() and not quiet
        _write_page(released, sheet, not_private_truth, told=sys.stderr if is_watched else None)
        if is_watched:
            from anonhist.cli.central.display import say

            say(released, sys.stderr)
        elif not quiet:
            tell_of_epsilon(released.guarantee)
            tell_of_excess(released)
        print_whole(csv_text(released))
        return
    from anonhist.formats.writing import write

    write(released, target, overwrite=force)
    if not quiet:
        from anonhist.cli.central.display import show_summary

        show_summary(released, sys.stdout)
        click.echo(f"Wrote {target}.")
    _write_page(released, sheet, not_private_truth, told=None if quiet else sys.stdout)


def _write_page(
    released: Release, sheet: Sheet | None, not_private_truth: Profile | None, *, told: TextIO | None
) -> None:
    if sheet is None:
        return
    from anonhist.report.shown import write_sheet

    write_sheet(released, sheet, not_private_truth=not_private_truth)
    if told is not None:
        click.echo(f"Wrote {sheet.path}.", file=told)


def check_outputs(source: str, target: str, report: AskedPage | None, *, force: bool) -> Sheet | None:
    """Return the page to write; refuse outputs that could not be written before any data are read or budget spent."""
    from pathlib import Path

    if target != STDOUT:
        if Path(target).suffix.lower() == ".html":
            raise UsageError("For an HTML page, use --report FILE.html; -o takes .json, .csv, .parquet or -.")
        from anonhist.formats.writing import check_ending

        check_ending(target)
        check_target(source, target, force=force)
    return check_report(source, report, force=force)
