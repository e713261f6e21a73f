"""Where to write: refused before any work if it cannot be."""

from __future__ import annotations

import os
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

import click

from anonhist.cli.arguments import command_to_publish
from anonhist.cli.hints import options_of
from anonhist.errors import UsageError, mask

if TYPE_CHECKING:
    from anonhist.replacing import PrivateKind
    from anonhist.report.frame import Sheet

STDOUT = "-"


def csv_target(output: str | None, *sources: str, what: str, force: bool) -> str | None:
    """Return where a table goes: a file, standard output where that is no terminal, or else None."""
    target = output if output is not None else (None if sys.stdout.isatty() else STDOUT)
    if target not in (None, STDOUT):
        if not target.lower().endswith(".csv"):
            message = f"{what} written as CSV: end the path in .csv, not {target!r}."
            if target.lower().endswith(".html") and "--report" in options_of(click.get_current_context().command):
                message += " For an HTML page, use --report."
            raise UsageError(message)
        check_target(target, *sources, force=force)
    return target


def check_target(target: str, *sources: str, force: bool, kind: PrivateKind | None = None) -> None:
    """Refuse a file that could not be written, that exists already, that is an input, or that must not be lost.

    Parameters
    ----------
    target
        Where to write.
    sources
        What the command reads.
    force
        Whether a file that is there may be replaced.
    kind
        What is written, if that is private.
    """
    from anonhist.formats.atomic import check_free

    _check_not_used(target, sources)
    check_free(target, overwrite=force, kind=kind)


class AskedPage(NamedTuple):
    """A page that was asked for: where it goes, and what it is called."""

    path: str
    title: str | None

    @classmethod
    def of(cls, report: str | None, title: str | None) -> AskedPage | None:
        """Return what the two options ask for, or None where no page is wanted."""
        if report is None:
            if title is not None:
                raise UsageError("--title requires --report FILE.html, the page to which it gives a title.")
            return None
        return cls(report, title)


def check_report(report: AskedPage | None, source: str, *others: str, force: bool) -> Sheet | None:
    """Return the page of data from a source, to be written later; refuse one that could not be.

    ``others`` are what the command reads besides.
    """
    if report is None:
        return None
    from anonhist.report.frame import Sheet, check_report_path

    check_report_path(report.path)
    _check_not_used(report.path, (source, *others))

    # The command as typed, but for secrets; of the data the name alone, for folders name machines and people.
    command = command_to_publish(click.get_current_context().find_root().obj)
    sheet = Sheet(report.path, report.title, data_name(source), command, force)
    sheet.check()
    keep_plots_quiet()
    return sheet


def data_name(source: str) -> str | None:
    """Return what a page calls the data: the last part of the path or address, without secrets.

    Examples
    --------
    >>> data_name("/home/eve/logins.csv"), data_name("postgresql://me:se@cret@db/shop?sslmode=on"), data_name("-")
    ('logins.csv', 'shop', None)
    """
    if source == STDOUT:
        return None
    shown = mask(source)
    return PurePath(shown.partition("?")[0] if "://" in shown else shown).name or None


def keep_plots_quiet() -> None:
    """Silence what draws plots: where it never ran, it tells of caches that are no concern of whoever reads this."""
    import logging

    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)


def _check_not_used(target: str, sources: tuple[str, ...]) -> None:
    """Refuse to replace the ledger, or what is read, whatever its names: through patterns, links and redirections."""
    from anonhist.replacing import check_not_ledger_at, is_same

    check_not_ledger_at(target, click.get_current_context().params.get("ledger"))
    if not os.path.lexists(target):
        return
    from anonhist.ingest.files import input_files

    if any(is_same(target, path) for source in sources for path in input_files(source)):
        raise UsageError(f"{target!r} is the input: what is written would replace it; name another output.")
