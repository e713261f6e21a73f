"""The options of the ledger that a release is charged to, and what is said of it."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click

from anonhist.cli.decorators import as_one
from anonhist.cli.output import say_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anonhist.accounting.recording import Price, Recorded, Unrecorded
    from anonhist.cli.destinations import Destination
    from anonhist.releases import Release
    from anonhist.releases.cumulative import CumulativeRelease
    from anonhist.releases.grouped import GroupedRelease
    from anonhist.releases.grouped_cumulative import GroupedCumulativeRelease

CHARGING = ("ledger", "dataset", "purpose")
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

    def check(self) -> None:
        """Refuse options that do not go together, before anything is read."""
        from anonhist.accounting.recording import account_of

        account_of(*self)

    @contextmanager
    def charged(self, price: Callable[[], Price]) -> Iterator[Recorded | Unrecorded]:
        """Charge a release, then let it be made in the block; without a ledger, let it be made."""
        from anonhist.accounting.recording import account_of, recording

        with recording(account_of(*self), price) as recorded:
            yield recorded


class Uncharged(AskedAccount):
    """What is not private is charged nowhere, also where a ledger is named for all releases."""

    def check(self) -> None:
        """Accept it."""

    @contextmanager
    def charged(self, price: Callable[[], Price]) -> Iterator[Recorded | Unrecorded]:
        """Let it be made in the block."""
        from anonhist.accounting.recording import Unrecorded

        yield Unrecorded()


UNCHARGED = Uncharged(None, None, None)
charging_options = as_one(
    "account",
    ledger_option,
    click.option("--dataset", metavar="NAME", help="With --ledger: data set whose budget is charged."),
    click.option("--purpose", metavar="TEXT", help="With --ledger: what the release is for, one line for the ledger."),
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
    from anonhist.releases.content import content_digest
    from anonhist.releases.rest import rest_digest

    target = destination.target
    has_no_receipt = target is not None and (destination.is_piped or target.lower().endswith(".csv"))

    def say_all(stream: TextIO) -> None:
        say(stream)
        say_account(recorded, stream, also=_NO_RECEIPT if has_no_receipt else "")

    complete = partial(recorded.complete, partial(content_digest, released), partial(rest_digest, released))
    destination.write(released, say_all, log=log, not_private_truth=not_private_truth, complete=complete)


def say_account(recorded: Recorded | Unrecorded, stream: TextIO, *, also: str = "") -> None:
    """Say where a release was recorded, and if it was, also something else."""
    account, receipt = recorded.account, recorded.receipt
    if account is None or receipt is None:
        say_line(_NOWHERE, stream)
    else:
        dataset = account.dataset
        charged = f"read before: it cost {dataset!r} nothing more" if recorded.is_free else f"charged to {dataset!r}"
        say_line(f"Ledger: entry {receipt.entry} of {account.ledger.shown}, {charged}.{also}", stream)
