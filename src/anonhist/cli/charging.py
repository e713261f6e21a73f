"""The options of the ledger that a release is charged to, and what is said of it."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeVar

import click

from anonhist.cli.decorators import as_one
from anonhist.cli.output import say_line
from anonhist.errors import RunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anonhist.accounting.recording import Account, Price, Recorded, Unrecorded
    from anonhist.cli.destinations import Destination
    from anonhist.releases import Release
    from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
    from anonhist.releases.grouped import GroupedRelease

Where = TypeVar("Where")
CHARGING = ("ledger", "dataset", "purpose", "run_id")
VARIABLE = "ANONHIST_LEDGER"
_NO_RECEIPT = " A CSV file holds no receipt; only .json and .parquet can be verified."
_NOWHERE = "Ledger: none, nothing was recorded (--ledger)."

ledger_option = click.option(
    "--ledger",
    envvar=VARIABLE,
    metavar="FILE or URL",
    help="Ledger that keeps account of releases: a file such as budget.db, or postgresql://HOST/DATABASE (extra "
    f"[ledger]).  [default: the environment variable {VARIABLE}]",
)


class AskedAccount(NamedTuple):
    """The options, as they were typed."""

    ledger: str | None
    dataset: str | None
    purpose: str | None
    run_id: str | None

    def check(self) -> None:
        """Refuse options that do not go together, before anything is read."""
        self._account()

    def _account(self) -> Account | None:
        from anonhist.accounting.recording import account_of

        if self.run_id is None:
            return account_of(*self)
        from anonhist.cli.runs import output_of, settings_of

        context = click.get_current_context()
        return account_of(*self, settings=settings_of(context), output=output_of(context))

    def destined(self, find: Callable[[], Where], price: Callable[[], Price]) -> Where:
        """Return where a result goes, unless it is there because this run was started before: then the command ends.

        Parameters
        ----------
        find
            Returns where, or refuses, such as a file that is there already.
        price
            Returns what it will cost.
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
            from anonhist.cli.runs import return_earlier

            return_earlier(account, price())

    @contextmanager
    def charged(self, price: Callable[[], Price]) -> Iterator[Recorded | Unrecorded]:
        """Charge a release, then let it be made in the block; without a ledger, let it be made."""
        from anonhist.accounting.recording import recording

        try:
            with recording(self._account(), price) as recorded:
                yield recorded
        except RunError:
            # Another process has charged it meanwhile, and may have written its file.
            self._return_earlier(price)
            raise


class Uncharged(AskedAccount):
    """What is not private is charged nowhere, also where a ledger is named for all releases."""

    def check(self) -> None:
        """Accept it."""

    def destined(self, find: Callable[[], Where], price: Callable[[], Price]) -> Where:
        """Return where a result goes."""
        del price
        return find()

    @contextmanager
    def charged(self, price: Callable[[], Price]) -> Iterator[Recorded | Unrecorded]:
        """Let it be made in the block."""
        from anonhist.accounting.recording import Unrecorded

        yield Unrecorded()


UNCHARGED = Uncharged(None, None, None, None)
charging_options = as_one(
    "account",
    ledger_option,
    click.option("--dataset", metavar="NAME", help="With --ledger: data set whose budget is charged."),
    click.option("--purpose", metavar="TEXT", help="With --ledger: what the release is for, one line for the ledger."),
    click.option(
        "--run-id",
        metavar="TEXT",
        help="With --ledger and -o: name of a run that may be started again, such as 'daily 2026-11-25'. It is charged "
        "once: started again, it leaves the file that it wrote, or is refused, and draws no noise.",
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
    """Write a release, complete its charge when it is on the disk, and tell a person of both."""
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
    """Return what finds the digest of a file in CSV, by which alone it is known again; None for others."""
    if target is None or not target.lower().endswith(".csv"):
        return None

    def digest() -> str:
        from hashlib import sha256

        from anonhist.formats.tables import csv_text

        return sha256(csv_text(result).encode()).hexdigest()

    return digest


def say_account(recorded: Recorded | Unrecorded, stream: TextIO, *, also: str = "") -> None:
    """Say where a release was recorded, and if it was, also something else."""
    account, receipt = recorded.account, recorded.receipt
    if account is None or receipt is None:
        say_line(_NOWHERE, stream)
    else:
        dataset = account.dataset
        charged = f"read before: it cost {dataset!r} nothing more" if recorded.is_free else f"charged to {dataset!r}"
        say_line(f"Ledger: entry {receipt.entry} of {account.ledger.shown}, {charged}.{also}", stream)
