"""The options of the ledger that a release is charged to, and messages about it."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeVar

import click

from anonhist.errors import RunError, UsageError, mask
from anonhist.terminal.decorators import as_one
from anonhist.terminal.destinations import STDOUT, AskedPage, Destination, check_report
from anonhist.terminal.output import say_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anonhist.accounting.budget import Budget, Cost
    from anonhist.accounting.recording import Account, Price, Recorded, Unrecorded
    from anonhist.releases import Release
    from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
    from anonhist.releases.grouped import GroupedRelease

Where = TypeVar("Where")
VARIABLE = "ANONHIST_LEDGER"
_NO_RECEIPT = " A CSV file holds no receipt; only .json and .parquet can be verified."
_NOWHERE = "Not recorded in a ledger (--ledger)."

ledger_option = click.option(
    "--ledger",
    envvar=VARIABLE,
    metavar="FILE or URL",
    help="Ledger to charge the release to: a file such as budget.db, or postgresql://HOST/DATABASE (extra [ledger]).  "
    f"[default: the environment variable {VARIABLE}]",
)


class Foreseen(NamedTuple):
    """The state of a ledger before a release is charged; the cost is None if it is unknown."""

    ledger: str
    budget: Budget
    left: Cost
    cost: Cost | None


class AskedAccount(NamedTuple):
    """The options, as typed."""

    ledger: str | None
    dataset: str | None
    purpose: str | None = None
    run_id: str | None = None

    def check(self) -> None:
        """Refuse options that exclude each other, before anything is read."""
        self._account()

    def foreseen(self, price: Callable[[], Price] | None) -> Foreseen | None:
        """Return the rest in a ledger and the cost of a release, or refuse it as a charge would; charge nothing.

        Without a ledger, the result is None; without a price, only the rest.
        """
        account = self._account()
        if account is None:
            return None
        with account.ledger as ledger:
            if price is not None:
                return Foreseen(ledger.shown, *ledger.quote(account.charge(price())))
            balance = ledger.balance(account.dataset)
            return Foreseen(ledger.shown, balance.budget, balance.left, None)

    def _account(self) -> Account | None:
        from anonhist.accounting.recording import account_of

        if self.run_id is None:
            return account_of(*self)

        context = click.get_current_context()
        return account_of(*self, settings=settings_of(context), output=output_of(context))

    def destined(self, find: Callable[[], Where], price: Callable[[], Price]) -> Where:
        """Return where a result goes; if an earlier start of this run wrote it, end the command.

        ``find`` returns the destination, or refuses it; ``price`` returns the cost.
        """
        self._return_earlier(price)
        try:
            return find()
        except UsageError:
            # Another process may have written it meanwhile, as the same run.
            self._return_earlier(price)
            raise

    def _return_earlier(self, price: Callable[[], Price]) -> None:
        if self.run_id is not None and (account := self._account()) is not None:
            return_earlier(account, price())

    @contextmanager
    def charged(self, price: Callable[[], Price]) -> Iterator[Recorded | Unrecorded]:
        """Charge a release, which the block then makes; without a ledger, charge nothing."""
        from anonhist.accounting.recording import recording

        try:
            with recording(self._account(), price) as recorded:
                yield recorded
        except RunError:
            # Another process has charged it meanwhile, and may have written its file.
            self._return_earlier(price)
            raise


class Uncharged(AskedAccount):
    """No ledger, for results that are not private, even if the environment names a ledger for all releases."""

    def check(self) -> None:
        """Accept it."""

    def destined(self, find: Callable[[], Where], price: Callable[[], Price]) -> Where:
        """Return where a result goes."""
        del price
        return find()

    @contextmanager
    def charged(self, price: Callable[[], Price]) -> Iterator[Recorded | Unrecorded]:
        """Charge nothing; the block makes the result."""
        from anonhist.accounting.recording import Unrecorded

        yield Unrecorded()


UNCHARGED = Uncharged(None, None)
_dataset_option = click.option("--dataset", metavar="NAME", help="With --ledger: data set whose budget is charged.")
# For commands that charge nothing, and only look.
balance_options = as_one("account", ledger_option, _dataset_option, made=AskedAccount)
charging_options = as_one(
    "account",
    ledger_option,
    _dataset_option,
    click.option("--purpose", metavar="TEXT", help="With --ledger: purpose of the release, one line for the ledger."),
    click.option(
        "--run-id",
        metavar="TEXT",
        help="With --ledger and -o: name of a run that may be restarted, such as 'daily 2026-11-25'. It is charged "
        "once: a restart keeps the file that was written, or is refused, and draws no new noise.",
    ),
    made=AskedAccount,
)


def write_charged(
    released: Release | GroupedRelease | CumulativeRelease | GroupedCumulativeRelease,
    destination: Destination,
    recorded: Recorded | Unrecorded,
    *,
    say: Callable[[TextIO], None],
    log: Callable[[TextIO], None],
    not_private_truth: Any = None,
) -> None:
    """Write a release, complete its charge once it is on disk, and report both."""
    from anonhist.releases.content import content_digest, rest_digest

    target = destination.target
    has_no_receipt = target is not None and (destination.is_piped or target.lower().endswith(".csv"))

    def say_all(stream: TextIO) -> None:
        say(stream)
        say_account(recorded, stream, also=_NO_RECEIPT if has_no_receipt else "")

    digests = partial(content_digest, released), partial(rest_digest, released)
    complete = partial(recorded.complete, *digests, csv_digest(target, released))
    destination.write(released, say_all, log=log, not_private_truth=not_private_truth, complete=complete)


def csv_digest(target: str | None, result: Any) -> Callable[[], str] | None:
    """Return a reader of the digest that identifies a CSV file; None for other formats."""
    if target is None or not target.lower().endswith(".csv"):
        return None

    def digest() -> str:
        from hashlib import sha256

        from anonhist.formats.tables import csv_text

        return sha256(csv_text(result).encode()).hexdigest()

    return digest


def say_account(recorded: Recorded | Unrecorded, stream: TextIO, *, also: str = "") -> None:
    """Print where a release was recorded and, if it was, another sentence."""
    account, receipt = recorded.account, recorded.receipt
    if account is None or receipt is None:
        say_line(_NOWHERE, stream)
    else:
        dataset = account.dataset
        charged = f"read before: it cost {dataset!r} nothing more" if recorded.is_free else f"charged to {dataset!r}"
        say_line(f"Ledger: entry {receipt.entry} of {account.ledger.shown}, {charged}.{also}", stream)


# The source, which commands name differently.
_SOURCES = ("sources", "edges", "path")
# What a charge itself states, where results go, and what affects only the time.
_NO_SETTINGS = {
    *("ledger", "dataset", "purpose", "run_id", "epsilon", "mechanism", "unit", "relation"),
    *("output", "report", "title", "force", "quiet", "not_private_truth"),
    *("engine", "memory_limit", "threads", "temp_directory"),
}


def settings_of(context: click.Context) -> dict[str, object]:
    """Return the public parameters of a command that its charge does not hold, without secrets in addresses."""
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
    """Return the file of a run, or refuse a run without one, because a restart could not find its result."""
    output: str | None = context.params.get("output")
    if output is None or output == STDOUT:
        raise UsageError(
            "`run_id` requires -o FILE: a restarted run returns that file, and what went to standard output would be "
            "lost."
        )
    return output


def return_earlier(account: Account, price: Price) -> None:
    """End the command if its run was already released and the file exists; refuse it if it cannot continue.

    It cannot if the file is missing, or the fate of the release is unknown. A sketch is then read again, which draws no
    noise.
    """
    context = click.get_current_context()
    with account.ledger as ledger:
        before = ledger.repeated(account.charge(price))
        if before is None:
            return
        target = output_of(context)
        if before.outcome is not None:
            from anonhist.formats.files import is_released_as

            if is_released_as(target, before.receipt, before.outcome):
                if not context.params.get("quiet"):
                    told = f"entry {before.receipt.entry} of {ledger.shown}, charged when this run was first started"
                    say_line(f"Ledger: {told}. {target} is its release: nothing more was charged.", sys.stdout)
                _write_page(target, context)
                raise click.exceptions.Exit(0)
        if price.reading is None:
            raise before.refusal(ledger.shown, file=f"{target!r} {_what_is_at(target)}")


def _what_is_at(target: str) -> str:
    if os.path.lexists(target):
        return "is another file"
    # The file of a process that was killed when its release was recorded, but not yet named.
    has_parts = any(Path(target).absolute().parent.glob(".anonhist-*.part"))
    return "is not there (a file .anonhist-….part beside it may be it)" if has_parts else "is not there"


def _write_page(target: str, context: click.Context) -> None:
    """Write the page of a release from its file, if the command ended before it wrote one."""
    params: dict[str, Any] = context.params
    path: str | None = params.get("report")
    if path is None or os.path.lexists(path):
        return
    if target.lower().endswith(".csv"):
        raise UsageError(f"The page {path!r} was not written, and cannot be made from CSV: leave `report` out.")
    from anonhist.formats.files import read
    from anonhist.report.shown import write_sheet

    source = next(each if isinstance(each, str) else each[0] for name in _SOURCES if (each := params.get(name)))
    sheet = check_report(AskedPage(path, params.get("title")), source, force=False)
    if sheet is not None:
        released: Any = read(target)
        write_sheet(released, sheet)
