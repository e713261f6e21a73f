"""A command that is started again as the same run: its file is there, or a sentence says why it cannot go on."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonhist.cli.output import say_line
from anonhist.cli.targets import STDOUT, AskedPage, check_report
from anonhist.errors import UsageError, mask

if TYPE_CHECKING:
    from anonhist.accounting import Ledger
    from anonhist.accounting.recording import Account, Price
    from anonhist.accounting.repeating import Repeated

# What is read, which commands call by different names.
_SOURCES = ("sources", "edges", "path")
# What a charge says itself, where results go, and what changes how long they take.
_NO_SETTINGS = {
    *("ledger", "dataset", "purpose", "run_id", "epsilon", "mechanism", "unit", "relation"),
    *("output", "report", "title", "force", "quiet", "not_private_truth"),
    *("engine", "memory_limit", "threads", "temp_directory"),
}


def settings_of(context: click.Context) -> dict[str, object]:
    """Return what a command was asked for beside what its charge says: public, and without secrets of addresses.

    Examples
    --------
    >>> from anonhist.cli.central.estimate import estimate
    >>> typed = ["entropy", "postgresql://me:se@cret@db/log", "--table", "words", "--epsilon", "1", "--level", "0.95"]
    >>> settings_of(estimate.make_context("estimate", typed))["source"]
    ['postgresql://***@db/log']
    """
    found: dict[str, object] = {"command": context.command_path.partition(" ")[2]}
    for param in context.command.params:
        name = str(param.name)
        value: Any = context.params.get(name)
        if name in _SOURCES:
            found["source"] = [mask(each) for each in ([value] if isinstance(value, str) else value or ())]
        elif name not in _NO_SETTINGS and value != param.get_default(context):
            is_address = isinstance(value, str) and "://" in value
            found[name.rstrip("_")] = mask(value) if is_address else value
    return found


def output_of(context: click.Context) -> str:
    """Return the file of a run, or refuse one without: started again, it could not say whether it is there."""
    output: str | None = context.params.get("output")
    if output is None or output == STDOUT:
        raise UsageError(
            "`run_id` requires -o FILE: if the run is started again, that file is its result; standard output could "
            "not be had again."
        )
    return output


def return_earlier(account: Account, price: Price) -> None:
    """End the command if its run was released before and the file is there, and refuse it if it cannot go on.

    Raises
    ------
    RunError
        If the file is not there, or it is unknown what became of the release. A sketch is read again then, which draws
        no noise.
    """
    context = click.get_current_context()
    with account.ledger as ledger:
        before = ledger.repeated(account.charge(price))
        if before is None:
            return
        target = output_of(context)
        if before.outcome is not None:
            from anonhist.formats.claims import is_released_as

            if is_released_as(target, before.receipt, before.outcome):
                _say(before, ledger, target)
                _write_page(target, context)
                raise click.exceptions.Exit(0)
        if price.reading is None:
            raise before.refusal(ledger.shown, file=f"{target!r} {_what_is_at(target)}")


def _what_is_at(target: str) -> str:
    if os.path.lexists(target):
        return "is another file"
    # Of a process that was killed when its release was recorded, and had no name yet.
    has_parts = any(Path(target).absolute().parent.glob(".anonhist-*.part"))
    return "is not there (a file .anonhist-….part beside it may be it)" if has_parts else "is not there"


def _say(before: Repeated, ledger: Ledger, target: str) -> None:
    if not click.get_current_context().params.get("quiet"):
        told = f"entry {before.receipt.entry} of {ledger.shown}, charged when this run was started before"
        say_line(f"Ledger: {told}. {target} is its release: nothing more was charged.", sys.stdout)


def _write_page(target: str, context: click.Context) -> None:
    """Write the page of a release from its file, if the command was ended before it wrote one."""
    params: dict[str, Any] = context.params
    path: str | None = params.get("report")
    if path is None or os.path.lexists(path):
        return
    if target.lower().endswith(".csv"):
        raise UsageError(f"The page {path!r} was not written, and cannot be made from CSV: leave `report` out.")
    from anonhist.formats.file_kind import read
    from anonhist.report.shown import write_sheet

    source = next(each if isinstance(each, str) else each[0] for name in _SOURCES if (each := params.get(name)))
    sheet = check_report(AskedPage(path, params.get("title")), source, force=False)
    if sheet is not None:
        released: Any = read(target)
        write_sheet(released, sheet)
