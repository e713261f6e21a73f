"""A release and its ledger entry: charged before private data are read, completed when it is whole on the disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from anonhist.accounting.budget import NOTHING
from anonhist.accounting.charge import Charge, Reading, Receipt, Run, as_setting
from anonhist.accounting.ledger import Ledger
from anonhist.errors import AnonhistError, UsageError
from anonhist.privacy import Guarantee

if TYPE_CHECKING:
    # Computed only if there is a ledger.
    Digest = Callable[[], str]

VARIABLE = "ANONHIST_LEDGER"
_UNREAD = "it ended before private data were read"
# The outcome of the charge for the current release, or for the last one that failed.
_staying: list[str] = []


class MadeBy(Protocol):
    """A mechanism, as ledgers and releases of all kinds see it: a frozen, public, printable value."""

    @property
    def name(self) -> str:
        """The mechanism's name, as in ``mechanism="frobenius"``."""

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Its public parameters, enough to rebuild it; exact numbers are text ("1/2")."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one of its releases."""


class Price(NamedTuple):
    """The cost of a release, known before private data are read; all parameters are public."""

    guarantee: Guarantee
    mechanism: str
    parameters: Mapping[str, object]
    reading: Reading | None = None

    @classmethod
    def of(cls, mechanism: MadeBy) -> Price:
        """Return the price of one release by a mechanism."""
        return cls(mechanism.guarantee, mechanism.name, mechanism.parameters)


@dataclass(frozen=True)
class Account:
    """Where a release is charged.

    ``is_own`` says that the ledger was opened for this release only, and is closed after it. A run is charged once.
    """

    ledger: Ledger
    dataset: str
    purpose: str = ""
    is_own: bool = False
    run: Run | None = None

    def charge(self, told: Price) -> Charge:
        """Return the charge to record in the ledger."""
        named = told.mechanism, dict(told.parameters)
        return Charge(self.dataset, told.guarantee, *named, self.purpose, told.reading, self.run)


def account_of(
    ledger: Ledger | str | None,
    dataset: str | None,
    purpose: str | None,
    run_id: str | None = None,
    *,
    settings: Mapping[str, object] | None = None,
    output: str = "",
) -> Account | None:
    """Return where to charge a release, or None if there is no ledger.

    By default, the ledger is the one in the environment variable ``ANONHIST_LEDGER``; empty text means no ledger,
    whatever the variable says. Settings are public: the other inputs that determine a run's release.
    """
    address = os.environ.get(VARIABLE) if ledger is None else ledger
    if not address:
        for name, given in (("dataset", dataset), ("purpose", purpose), ("run_id", run_id)):
            if given is not None:
                raise UsageError(f"`{name}` requires `ledger`: give that, too, or leave it out.")
        return None
    if dataset is None:
        raise UsageError("`dataset` is missing: give the name of the data set whose budget is charged.")
    run = None
    if run_id is not None:
        told = {name: as_setting(value) for name, value in (settings or {}).items() if value is not None}
        run = Run(run_id, told, as_setting(output))
    if isinstance(address, Ledger):
        return Account(address, dataset, purpose or "", run=run)
    return Account(Ledger(address), dataset, purpose or "", is_own=True, run=run)


class Unrecorded:
    """A release without a ledger."""

    receipt: ClassVar[None] = None
    account: ClassVar[None] = None
    is_free: ClassVar[bool] = False

    def keep(self) -> None:
        """Record that private data have been read."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read private data in the block."""
        yield

    def complete(self, digest: Digest, rest: Digest | None = None, file: Digest | None = None) -> None:
        """Record that the release is complete on disk."""


class Recorded:
    """A charged release; ``is_free`` if it cost nothing more, because the same noise was read before."""

    def __init__(self, receipt: Receipt, account: Account) -> None:
        self.receipt = receipt
        self.account = account
        self.is_kept = self.is_free = False

    def keep(self) -> None:
        """Keep the charge from here on, since private data have been read."""
        self.is_kept = True

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read private data in the block, and keep the charge from then on.

        If the block fails with an error about the call itself, or about columns whose names and types were declared or
        stand in a header line, the charge is not kept: such errors are the same whatever the rows are. If the error is
        about a text without a header line, or a column whose type depends on its rows, the charge is kept
        (:class:`~anonhist.errors.AnonhistError`).
        """
        try:
            yield
        except BaseException as error:
            if not (isinstance(error, AnonhistError) and error.is_same_for_all_rows):
                self.keep()
            raise
        self.keep()

    def complete(self, digest: Digest, rest: Digest | None = None, file: Digest | None = None) -> None:
        """Record that the release is complete on disk, before it is named; the arguments return digests.

        ``rest`` is for what its content leaves out. The digest of the file's bytes is kept only for a run, whose file
        must be recognized later.
        """
        others = (None if each is None else each() for each in (rest, None if self.account.run is None else file))
        self.account.ledger.complete(self.receipt, digest(), *others)


@contextmanager
def recording(account: Account | None, price: Callable[[], Price]) -> Iterator[Recorded | Unrecorded]:
    """Charge a release, then make it in the block; without an account, record nothing and ask for no price.

    A block that fails before private data are read (:meth:`Recorded.reading`) has learned nothing from them, and its
    charge is voided. Otherwise it stays charged, unless somebody voided it meanwhile. A process that is killed leaves
    the charge as it is: privacy may be wasted, but never overspent.
    """
    _staying.clear()
    if account is None:
        yield Unrecorded()
        return
    ledger = account.ledger
    try:
        told = price()
        asked = account.charge(told)
        # A signal may arrive when the entry is already on the disk, but not yet known here.
        _staying.append(f"ε may be charged in {ledger.shown}")
        try:
            receipt = ledger.charge(asked)
        except AnonhistError:
            _staying.clear()
            raise
        recorded = Recorded(receipt, account)
        _staying[:] = [f"ε stays charged, as entry {receipt.entry} of {ledger.shown}"]
        try:
            recorded.is_free = told.reading is not None and _is_free(receipt, account)
            yield recorded
            _staying.clear()
        except BaseException as error:
            if not recorded.is_kept:
                # If this fails, the charge stays; the first error is the one that matters.
                with suppress(AnonhistError):
                    ledger.void(receipt.entry, _UNREAD)
                    _staying.clear()
            elif isinstance(error, AnonhistError) and not _is_void(receipt, ledger):
                error.stays_charged = f"entry {receipt.entry} of {ledger.shown}"
            raise
    finally:
        if account.is_own:
            ledger.close()


def recording_reading(
    price: Callable[[], Price] | None,
    asked: tuple[Ledger | str | None, str | None, str | None, str | None],
    *,
    settings: Mapping[str, object],
    refusal: str,
) -> AbstractContextManager[Recorded | Unrecorded]:
    """Charge a reading of private data that draws noise, in the same way; one without a price costs nothing.

    ``asked`` are the arguments ledger, dataset, purpose and run_id, which are then refused.
    """
    if price is not None:
        return recording(account_of(*asked, settings=settings), price)
    if asked[0] or any(each is not None for each in asked[1:]):
        raise UsageError(refusal)
    return nullcontext(Unrecorded())


@contextmanager
def completing(account: Account | None, receipt: Receipt) -> Iterator[Recorded]:
    """Make, in the block, the one release that was charged when its data were read."""
    if account is None:
        raise UsageError(
            "This release was charged when its data were read: give the same `ledger` and `dataset`, whose entry it "
            "completes."
        )
    ledger = account.ledger
    try:
        if account.run is not None or account.purpose:
            raise UsageError("`run_id` and `purpose` are of the charge: give them when the data are read.")
        ledger.check_open(receipt, account.dataset)
        recorded = Recorded(receipt, account)
        recorded.keep()
        try:
            yield recorded
        except AnonhistError as error:
            error.stays_charged = f"entry {receipt.entry} of {ledger.shown}"
            raise
    finally:
        if account.is_own:
            ledger.close()


def what_stays_charged() -> str:
    """Return the outcome of an interrupted release's charge, or nothing: for a process that is being terminated."""
    return "".join(_staying)


def _is_void(receipt: Receipt, ledger: Ledger) -> bool:
    """Return whether a charge was voided meanwhile; False if that is unknown."""
    try:
        return ledger.is_void(receipt.entry)
    except AnonhistError:
        return False


def _is_free(receipt: Receipt, account: Account) -> bool:
    items = account.ledger.balance(account.dataset).items
    return any(each.entry.number == receipt.entry and each.charged.cost == NOTHING for each in items)
