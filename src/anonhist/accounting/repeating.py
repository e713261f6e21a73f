"""Where entries are kept, what every database must be able to do, and how a run is found that was started before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from anonhist.accounting.budget import NOTHING
from anonhist.accounting.charge import EarlierReading, Receipt, damaged, who
from anonhist.accounting.entry import Charged, Completed, Entry, Event, Voided, canonical, chained, now
from anonhist.errors import DataError, RunError, UsageError, parameter
from anonhist.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from anonhist.accounting.charge import Charge


class Row(NamedTuple):
    """An entry as it is stored: ``number`` is its place from 1 on, ``digest`` that of the chain up to it.

    ``about`` is the number of the charge that it completes or voids; None for others. No two entries are about one
    charge.
    """

    number: int
    dataset: str
    about: int | None
    document: str
    digest: str


class Transaction(Protocol):
    """Reads and appends, all or none of which are kept; no other transaction runs meanwhile."""

    def ledger_id(self) -> str:
        """Return the id of the ledger, drawn when it was made."""
        ...

    def last(self) -> tuple[int, str]:
        """Return number and digest of the last entry; 0 and an empty text if there is none."""
        ...

    def append(self, row: Row) -> None:
        """Add an entry."""
        ...

    def row(self, number: int) -> Row | None:
        """Return an entry, or None."""
        ...

    def about(self, number: int) -> Row | None:
        """Return the entry about a charge, or None."""
        ...

    def datasets(self) -> tuple[str, ...]:
        """Return the names of all data sets, in the order of their first entries."""
        ...

    def rows(self, dataset: str | None) -> list[Row]:
        """Return the entries of a data set, or all, in order."""
        ...

    def rows_after(self, number: int) -> list[Row]:
        """Return the entries after one, in order."""
        ...


class Storage(Protocol):
    """A database, opened when it is first used."""

    @property
    def shown(self) -> str:
        """Its address without secrets."""
        ...

    def make(self) -> None:
        """Make the tables, if they are not there."""
        ...

    def writing(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that is on the disk when its block ends, and left out if it raises."""
        ...

    def reading(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that sees one state and changes nothing."""
        ...

    def close(self) -> None:
        """Close what is open; it is opened again when used."""
        ...


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


@dataclass(frozen=True)
class Repeated:
    """The charge of a run that was started before; ``outcome`` is None if its process died, or runs."""

    receipt: Receipt
    charge: Charge
    outcome: Completed | None

    def refusal(self, shown: str, *, file: str = "") -> RunError:
        """Return why it is not charged once more: noise is never drawn twice under one charge."""
        run = self.charge.run
        name, number = "" if run is None else run.id, self.receipt.entry
        if self.outcome is not None:
            where = f", to {run.output!r}" if run is not None and run.output else ""
            return RunError(
                f"The run {name!r:.80} was released before, as entry {number} of {shown}{where}"
                f"{file and f', and {file}'}: "
                "use what was written then, or make another release, with another `run_id`, which is charged anew."
            )
        return RunError(
            f"The run {name!r:.80} was charged as entry {number} of {shown}, and whether anybody saw its release is "
            "unknown: wait if it still runs; if it was killed, look for a file .anonhist-….part where its output was "
            f"to be, void entry {number} ('anonhist budget void') only if nobody saw anything, and run it again."
        )


def earlier_run(state: Transaction, asked: Charge, shown: str) -> Repeated | None:
    """Return the charge of the same run that was not voided, if there is one; refuse one with other settings.

    A read-out of a sketch draws no noise, and may be charged again: then it is the last whose release is whole.
    """
    if asked.run is None:
        return None
    found: list[Repeated] = []
    for number, digest, event in _charges(state, asked.run.id, shown):
        about = state.about(number)
        outcome = None if about is None else read_entry(about, shown).event
        if isinstance(outcome, Voided):
            continue
        if other := difference(event.charge, asked):
            raise UsageError(
                f"The run {asked.run.id!r:.80} was charged as entry {number} of {shown} with other settings ({other} "
                "differs): give the same, or another `run_id`."
            )
        receipt = Receipt(state.ledger_id(), number, digest)
        found.append(Repeated(receipt, event.charge, outcome if isinstance(outcome, Completed) else None))
    whole = [each for each in found if each.outcome is not None]
    return next(reversed(whole or found), None)


def _charges(state: Transaction, run_id: str, shown: str) -> Iterator[tuple[int, str, Charged]]:
    # So an entry spells it; where other texts have this, quotes are escaped.
    spelled = f'"run":{{"id":{canonical(run_id)},'
    for row in state.rows(None):
        if spelled in row.document:
            event = read_entry(row, shown).event
            if isinstance(event, Charged) and event.charge.run is not None and event.charge.run.id == run_id:
                yield row.number, row.digest, event


def difference(earlier: Charge, asked: Charge) -> str | None:
    """Return the name of a public setting in which two charges differ, or None."""
    first, second = _settings(earlier), _settings(asked)
    for name in (*first, *(each for each in second if each not in first)):
        if first.get(name) != second.get(name):
            return parameter(name)
    return None


def _settings(charge: Charge) -> dict[str, object]:
    told, run = charge.guarantee, charge.run
    reading = None if charge.reading is None else charge.reading.details()
    return {
        **({} if run is None else run.settings),
        "dataset": charge.dataset,
        "unit": told.unit,
        "relation": told.relation,
        "epsilon": told.epsilon,
        "mechanism": charge.mechanism,
        "delta": told.delta,
        "share of noise": told.party_epsilon,
        "setting of the mechanism": canonical(dict(charge.parameters)),
        "purpose": charge.purpose,
        "state of the sketch": reading,
    }
