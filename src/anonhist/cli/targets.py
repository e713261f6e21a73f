"""Where to write: refused before any work if it cannot be."""

from __future__ import annotations

import os
import sys

import click

from anonhist.cli.arguments import command_to_publish
from anonhist.errors import UsageError

STDOUT = "-"


def csv_target(source: str, output: str | None, *, what: str, force: bool) -> str | None:
    """Return where a table goes: a file, standard output where that is no terminal, or else None."""
    target = output if output is not None else (None if sys.stdout.isatty() else STDOUT)
    if target not in (None, STDOUT):
        if not target.lower().endswith(".csv"):
            message = f"{what} written as CSV: end the path in .csv, not {target!r}."
            raise UsageError(message)
        check_target(source, target, force=force)
    return target


def check_target(source: str, target: str, *, force: bool) -> None:
    """Refuse a file that could not be written, that exists already, or that is the input."""
    from anonhist.formats.atomic import check_free

    check_free(target, overwrite=force)
    _check_not_input(source, target)


def check_report(source: str, report: str, *, force: bool) -> None:
    """Refuse a page that could not be written."""
    from anonhist.report import check_report_path

    check_report_path(report)
    check_target(source, report, force=force)


def published_command() -> str:
    """Return the command as typed, but for secrets, to put on a page."""
    return command_to_publish(click.get_current_context().find_root().obj)


def keep_plots_quiet() -> None:
    """Silence what draws plots: where it never ran, it tells of caches that are no concern of whoever reads this."""
    import logging

    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)


def _check_not_input(source: str, target: str) -> None:
    """Refuse to replace what is read, whatever its names: through patterns, links, databases and redirections."""
    if not os.path.exists(target):  # noqa: PTH110
        return
    from anonhist.ingest.files import input_files

    if any(os.path.exists(path) and os.path.samefile(path, target) for path in input_files(source)):  # noqa: PTH110, PTH121
        message = f"{target!r} is the input: what is written would replace it; name another output."
        raise UsageError(message)
