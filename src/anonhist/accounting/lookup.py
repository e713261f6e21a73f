"""What a transaction of a ledger finds and adds: entries as events, and damage as one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.accounting.budget import NOTHING
from anonhist.accounting.charge import who
from anonhist.accounting.damage import damaged
from anonhist.accounting.entry import Charged, Completed, Entry, Event, Voided, chained, now
from anonhist.accounting.reading import EarlierReading
from anonhist.accounting.storage import Row
from anonhist.errors import DataError, UsageError
from anonhist.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anonhist.accounting.charge import Receipt
    from anonhist.accounting.storage import Transaction

# So begins what an entry says of a read-out; where texts have this, it is spelled otherwise.
_READING = '"reading":{'


def read_entry(row: Row, shown: str) -> Entry:
    """Return the entry that is stored, or say which one is damaged."""
    try:
        return Entry.read(row.document)
    except DataError:
        raise damaged(shown, f"entry {row.number} is not one that this version writes") from None


def append(ours: Transaction, event: Event) -> Row:
    """Add an entry, chained to the last one."""
    number, head = ours.last()
    entry = Entry(ours.ledger_id(), number + 1, event, now(), who(), __version__)
    try:
        digest = chained(head, entry.document)
    except UnicodeEncodeError:
        raise UsageError(
            "What is charged has names with characters that are no text: write them in UTF-8, and try again."
        ) from None
    row = Row(entry.number, event.dataset, event.about, entry.document, digest)
    ours.append(row)
    return row


def charge_at(state: Transaction, number: int, shown: str, dataset: str | None = None) -> Charged:
    """Return the charge with a number."""
    row = state.row(number)
    event = None if row is None else read_entry(row, shown).event
    if not isinstance(event, Charged) or dataset not in {None, event.dataset}:
        where = "The ledger" if dataset is None else f"The data set {dataset!r}"
        does = {Completed: "completes", Voided: "voids"}.get(type(event), "")
        told = f": that entry {does} entry {event.about}" if does and event is not None else ""
        raise UsageError(f"{where} has no charge with the number {number}{told}.")
    return event


def charge_of(state: Transaction, receipt: Receipt, shown: str) -> Charged:
    """Return the charge of a receipt, or refuse one of another ledger."""
    row = state.row(receipt.entry)
    if receipt.ledger != state.ledger_id() or row is None or row.digest != receipt.head:
        raise UsageError(f"The charge was made in another ledger than {shown!r}.")
    return charge_at(state, receipt.entry, shown)


def readings_of(state: Transaction, dataset: str, shown: str) -> Iterator[EarlierReading]:
    """Yield all read-outs of sketches that were charged, whichever data set was; what others paid does not count."""
    for row in state.rows(None):
        if _READING in row.document:
            event = read_entry(row, shown).event
            if isinstance(event, Charged) and event.charge.reading is not None:
                yield EarlierReading(
                    row.number, event.charge.reading, event.cost if event.dataset == dataset else NOTHING
                )
