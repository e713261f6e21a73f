"""Checks that a ledger is intact, and that released files match its entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from anonhist.accounting.budget import NOTHING, Budget, Cost
from anonhist.accounting.charge import Charge, EarlierReading, Receipt, further_cost
from anonhist.accounting.entry import Charged, Completed, Created, Entry, Event, Voided, chained, difference
from anonhist.accounting.ledger import Ledger
from anonhist.accounting.sql import Row
from anonhist.errors import DataError, UsageError


class Derivation:
    """The state of a ledger after some of its entries, derived from their charges."""

    def __init__(self) -> None:
        self._budgets: dict[str, Budget] = {}
        self._spent: dict[str, Cost] = {}
        self._charges: dict[int, Charged] = {}
        self._ended: set[int] = set()
        # For each part of noise, the read-outs that use it.
        self._readings: dict[str, list[tuple[int, Charged]]] = {}
        # For each run, its charge that was not voided.
        self._runs: dict[str, int] = {}

    def problems(self, entries: Iterable[Entry]) -> list[str]:
        """Return the problems with entries, one sentence each."""
        return [f"Entry {each.number} {found}." for each in entries if (found := self._add(each))]

    def _add(self, entry: Entry) -> str | None:
        event = entry.event
        if isinstance(event, Created):
            return self._create(event)
        return self._charge(entry.number, event) if isinstance(event, Charged) else self._end(event)

    def _create(self, event: Created) -> str | None:
        if event.dataset in self._budgets:
            return f"gives {event.dataset!r} a second budget"
        self._budgets[event.dataset], self._spent[event.dataset] = event.budget, NOTHING
        return None

    def _charge(self, number: int, event: Charged) -> str | None:
        dataset = event.dataset
        budget = self._budgets.get(dataset)
        if budget is None:
            return f"is charged to {dataset!r}, which had no budget"
        self._charges[number] = event
        try:
            cost = self._cost(event, budget)
        except UsageError:
            return f"is charged to {dataset!r}, where the ledger refuses it"
        total = self._spent[dataset].plus(event.cost)
        self._spent[dataset] = total
        repeats = self._repeats(number, event.charge)
        for identity in event.charge.reading.identities if event.charge.reading is not None else ():
            self._readings.setdefault(identity, []).append((number, event))
        # Version 1 of the schema did not round costs.
        if event.cost not in {cost, cost.rounded()}:
            return "has a cost that differs from its guarantee"
        if min(budget.limit.minus(total)) < 0:
            return f"spends more of {dataset!r} than was left"
        return repeats

    def _repeats(self, number: int, charge: Charge) -> str | None:
        """Return the problem with a second charge of a run: only a sketch may be read again, in the same state."""
        if charge.run is None:
            return None
        first = self._runs.setdefault(charge.run.id, number)
        if first == number or (charge.reading is not None and difference(self._charges[first].charge, charge) is None):
            return None
        return f"charges the run of entry {first} again"

    def _cost(self, event: Charged, budget: Budget) -> Cost:
        cost, reading = budget.cost(event.charge.guarantee), event.charge.reading
        if reading is None:
            return cost
        related = {number: one for name in reading.identities for number, one in self._readings.get(name, ())}
        earlier = [
            EarlierReading(number, one.charge.reading, one.cost if one.dataset == event.dataset else NOTHING)
            for number, one in sorted(related.items(), key=lambda each: each[0])
            if one.charge.reading is not None
        ]
        return further_cost(reading, cost, earlier)

    def _end(self, event: Completed | Voided) -> str | None:
        does = "voids" if isinstance(event, Voided) else "completes"
        charge = self._charges.get(event.about)
        if charge is None or charge.dataset != event.dataset:
            return f"{does} entry {event.about}, which is not an earlier charge to {event.dataset!r}"
        if event.about in self._ended:
            return f"{does} entry {event.about}, which was already completed or voided"
        self._ended.add(event.about)
        if isinstance(event, Voided):
            self._spent[event.dataset] = self._spent[event.dataset].minus(charge.cost)
            run = charge.charge.run
            if run is not None and self._runs.get(run.id) == event.about:
                del self._runs[run.id]
            if charge.charge.reading is not None:
                return f"voids entry {event.about}, which is a read-out of a sketch"
        return None


class Released(NamedTuple):
    """A released file, its receipt (None if it was made without a ledger) and its digests.

    ``rest`` has the digests of what its content leaves out, the most complete first; the last of several omits expected
    errors.
    """

    name: str
    receipt: Receipt | None
    digest: str
    rest: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verification:
    """The result of a comparison: the problems found, one sentence each.

    ``unchecked`` lists files whose expected errors and intervals were not compared, because the ledger has no digest of
    them.
    """

    entries: int
    files: int
    problems: tuple[str, ...]
    unchecked: tuple[str, ...] = ()


def verify(ledger: Ledger, files: Iterable[Released] = (), *, dataset: str | None = None) -> Verification:
    """Check the chain of entries, and compare released files with their entries.

    The chain reveals entries that were changed, removed or inserted. The cost of each entry is computed again, and
    entries that no ledger appends are found: a second budget, or a second end of one charge. None of this reveals that
    the end of the chain was cut off, or that all of it was rewritten: files do, because each names the digest of its
    own entry. ``dataset`` is the data set that the files must belong to; the chain is always checked as a whole.
    """
    own, rows = ledger.state()
    entries, problems = _chain(own, rows)
    problems = problems or Derivation().problems(entries)
    compared = list(files)
    by_number, outcomes = {row.number: row for row in rows}, {row.about: row for row in rows}
    for each in compared:
        if each.receipt is None:
            problems.append(f"{each.name!r} was released without a ledger and never charged.")
        elif each.receipt.ledger != own:
            problems.append(f"{each.name!r} was charged to another ledger.")
        else:
            number = each.receipt.entry
            found = _charge(each.receipt, by_number.get(number), dataset) or _outcome(each, outcomes.get(number))
            problems.extend([f"{each.name!r} {found}"] if found else [])
    problems.extend(_twice(compared))
    unchecked = tuple(each.name for each in compared if each.receipt and _lacks(each, outcomes.get(each.receipt.entry)))
    return Verification(len(rows), len(compared), tuple(problems), unchecked)


def _chain(own: str, rows: Sequence[Row]) -> tuple[list[Entry], list[str]]:
    """Return the entries, and the first break of the chain: all digests after it are wrong."""
    head = ""
    entries: list[Entry] = []
    for place, row in enumerate(rows, start=1):
        if row.number != place:
            return entries, [f"Entry {place} is missing."]
        head = chained(head, row.document)
        try:
            entry = Entry.read(row.document)
        except DataError as error:
            return entries, [f"Entry {place} was changed: {error}."]
        if entry.document != row.document:
            return entries, [f"Entry {place} is not in the format of this version."]
        event = entry.event
        says = (entry.ledger, entry.number, event.dataset, event.about)
        if row.digest != head or says != (own, row.number, row.dataset, row.about):
            return entries, [f"Entry {place} was changed, or an earlier entry was."]
        entries.append(entry)
    return entries, []


def _event(row: Row) -> Event | None:
    """Return the content of an entry, or None if it is damaged."""
    try:
        return Entry.read(row.document).event
    except DataError:
        return None


def _charge(receipt: Receipt, row: Row | None, dataset: str | None) -> str | None:
    """Return the problem with the entry of a file's charge, or None."""
    if row is None:
        return (
            f"was charged as entry {receipt.entry}, which is not in the ledger: its last entries were deleted, or an "
            "old backup was restored."
        )
    if row.digest != receipt.head:
        return f"was charged as entry {receipt.entry}, which is another charge: the ledger was rewritten."
    event = _event(row)
    if event is None:
        return f"was charged as entry {receipt.entry}, which is damaged."
    if not isinstance(event, Charged) or (dataset is not None and event.dataset != dataset):
        return "was charged to another data set."
    return None


def _outcome(file: Released, row: Row | None) -> str | None:
    """Return how a file differs from the completed release of its charge, or None."""
    if row is None:
        return (
            "is charged, but its content is not in the ledger: later entries were deleted, or an old backup was "
            "restored."
        )
    event = _event(row)
    if event is None:
        return f"is charged, but entry {row.number}, which completed or voided it, is damaged."
    if not isinstance(event, Completed):
        return "was released, although its charge was voided."
    if event.digest != file.digest:
        return "was changed after its release: its content differs."
    if event.rest is not None and event.rest not in file.rest:
        return "was changed after its release: its expected errors, intervals or words differ."
    return None


def _lacks(file: Released, row: Row | None) -> bool:
    """Return whether a file has content for which the ledger has no digest."""
    event = None if row is None else _event(row)
    return isinstance(event, Completed) and bool(file.rest) and event.rest != file.rest[0]


def _twice(files: Sequence[Released]) -> list[str]:
    """Return the receipts that stand for more than one content."""
    contents: dict[Receipt, set[str]] = {}
    for each in files:
        if each.receipt is not None:
            contents.setdefault(each.receipt, set()).add(each.digest)
    return [
        f"Entry {receipt.entry} is named by {len(found)} files with different content."
        for receipt, found in contents.items()
        if len(found) > 1
    ]
