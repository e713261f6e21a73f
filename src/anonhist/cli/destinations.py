"""Where results go: files, pages, standard output and the person who waits for them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click

from anonhist.cli.output import print_whole
from anonhist.cli.targets import STDOUT, AskedPage, check_report, check_target, csv_target
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.report.frame import Sheet

_DEFAULT_RELEASE = "release.json"


class Outputs(NamedTuple):
    """The options under "Output", as they were typed."""

    output: str | None
    page: AskedPage | None
    force: bool
    quiet: bool

    @classmethod
    def of(
        cls,
        *,
        output: str | None,
        force: bool,
        quiet: bool = False,
        report: str | None = None,
        title: str | None = None,
    ) -> Outputs:
        """Return what the options ask for; some commands lack some of them."""
        return cls(output, AskedPage.of(report, title), force, quiet)

    def for_table(self, *sources: str, what: str) -> Destination:
        """Return where a table goes, or refuse outputs that could not be written, before any data are read."""
        target = csv_target(self.output, *sources, what=what, force=self.force)
        return Destination(target, check_report(self.page, *sources, force=self.force), self.force, self.quiet)

    def for_release(self, *sources: str) -> Destination:
        """Return where a release goes, or refuse outputs that could not be written, before any budget is spent."""
        target = self.output if self.output is not None else (_DEFAULT_RELEASE if sys.stdout.isatty() else STDOUT)
        if target != STDOUT:
            from anonhist.formats.writing import check_ending

            if target.lower().endswith(".html"):
                raise UsageError("For an HTML page, use --report FILE.html; -o takes .json, .csv, .parquet or -.")
            check_ending(target)
            check_target(target, *sources, force=self.force)
        return Destination(target, check_report(self.page, *sources, force=self.force), self.force, self.quiet)


class Destination(NamedTuple):
    """Where a result goes; all of it can be written."""

    target: str | None
    sheet: Sheet | None
    force: bool
    quiet: bool

    @property
    def is_piped(self) -> bool:
        """Whether the result goes to standard output."""
        return self.target == STDOUT

    def write(
        self,
        result: Any,
        say: Callable[[TextIO], None],
        *,
        log: Callable[[TextIO], None] | None = None,
        not_private_truth: Any = None,
        complete: Callable[[], None] | None = None,
    ) -> None:
        """Write a result, the file first: it may not be possible to make it twice.

        Parameters
        ----------
        result
            A release, whatever has a table, or CSV text.
        say
            Tells a person on standard output, or on a terminal where that holds the CSV.
        log
            Says what is said on standard error instead where nobody watches it; ``say`` itself to say it all.
        not_private_truth
            What the page is to show without any privacy.
        complete
            Called once the result is whole on the disk, before anybody can see it.
        """
        is_piped = self.is_piped
        stream = sys.stderr if is_piped else sys.stdout
        told = None if self.quiet else say if not is_piped or stream.isatty() else log
        if self.target is not None and not is_piped:
            _write_file(result, self.target, force=self.force, complete=complete)
        elif complete is not None:
            complete()
        if told is not None:
            told(stream)
        if told is say and self.target is not None and not is_piped:
            click.echo(f"Wrote {self.target}.")
        if self.sheet is not None:
            from anonhist.report.shown import write_sheet

            write_sheet(result, self.sheet, not_private_truth=not_private_truth)
            if told is say:
                click.echo(f"Wrote {self.sheet.path}.", file=stream)
        if is_piped:
            # A reader of a pipe may go at any time.
            print_whole(_csv(result))


def _write_file(result: Any, path: str, *, force: bool, complete: Callable[[], None] | None) -> None:
    from anonhist.formats.atomic import write_whole
    from anonhist.formats.writing import write_recorded
    from anonhist.releases import Release
    from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
    from anonhist.releases.grouped import GroupedRelease

    if isinstance(result, Release | GroupedRelease | CumulativeRelease | GroupedCumulativeRelease):
        write_recorded(result, path, overwrite=force, before_naming=complete)
    else:
        write_whole(path, _csv(result).encode(), overwrite=force, before_naming=complete)


def _csv(result: Any) -> str:
    from anonhist.formats.tables import csv_text

    return result if isinstance(result, str) else csv_text(result)
