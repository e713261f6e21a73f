"""What the entries of a ledger add up to, followed from the first to the last before each charge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from anonhist.accounting.budget import NOTHING, Budget, Cost
from anonhist.accounting.charge import damaged, exact
from anonhist.accounting.entry import Charged, Completed, Created, Entry, Voided, chained
from anonhist.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.accounting.repeating import Row, Transaction


class _WrongEntryError(DataError):
    """An entry does not follow those before it."""


class _Pending(NamedTuple):
    """A charge that was neither completed nor voided."""

    dataset: str
    cost: Cost
    is_reading: bool


class Sums:
    """What is spent of each budget after some entries.

    Entries are read lightly: the chain, the budgets, what each charge costs, and which were voided. Whether each costs
    what its guarantee says, verification computes.

    Attributes
    ----------
    number, head
        Number and digest of the last entry that was followed; 0 and an empty text before the first.
    """

    def __init__(self, ledger: str) -> None:
        self._ledger = ledger
        self.number, self.head = 0, ""
        self._budgets: dict[str, Budget] = {}
        self._spent: dict[str, Cost] = {}
        self._pending: dict[int, _Pending] = {}

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets that have a budget, in the order of their budgets."""
        return tuple(self._budgets)

    def of(self, dataset: str, shown: str) -> tuple[Budget, Cost]:
        """Return the budget of a data set, and what is spent of it."""
        if dataset not in self._budgets:
            raise no_dataset(dataset, self.datasets, shown)
        return self._budgets[dataset], self._spent[dataset]

    def is_part_of(self, state: Transaction) -> bool:
        """Tell whether a ledger has the entries that were followed."""
        last = state.row(self.number)
        return self._ledger == state.ledger_id() and last is not None and last.digest == self.head

    def follow(self, row: Row) -> None:
        """Add the next entry.

        Raises
        ------
        DataError
            If it is not one that a ledger appends after the others.
        """
        place = self.number + 1
        if row.number != place:
            raise _WrongEntryError(f"entry {place} is missing")
        try:
            self._add_chained(row, json.loads(row.document))
            # Whatever could not be shown or verified is not charged upon.
            Entry.read(row.document)
        except _WrongEntryError:
            raise
        # Also sentences of others about a number or a unit that is none.
        except (DataError, UsageError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise _WrongEntryError(f"entry {place} is not one that this version writes") from None
        self.number, self.head = place, row.digest

    def _add_chained(self, row: Row, told: Mapping[str, Any]) -> None:
        details = told["details"]
        says = told["ledger"], told["number"], told["dataset"], details.get("charge")
        is_own = says == (self._ledger, row.number, row.dataset, row.about)
        if not is_own or chained(self.head, row.document) != row.digest:
            raise _WrongEntryError(f"entry {row.number} was changed, or one before it was")
        self._add(row, told["kind"], details)

    def _add(self, row: Row, kind: str, details: Mapping[str, Any]) -> None:
        dataset, does = row.dataset, f"entry {row.number}"
        if kind == Created.kind:
            event = Entry.read(row.document).event
            if dataset in self._budgets or not isinstance(event, Created):
                raise _WrongEntryError(f"{does} gives {dataset!r} a second budget")
            self._budgets[dataset], self._spent[dataset] = event.budget, NOTHING
        elif kind == Charged.kind:
            if dataset not in self._budgets:
                raise _WrongEntryError(f"{does} is charged to {dataset!r}, which had no budget")
            epsilon, delta = details["cost"]
            charge = _Pending(dataset, Cost(exact(epsilon), exact(delta)), "reading" in details)
            self._pending[row.number], self._spent[dataset] = charge, self._spent[dataset].plus(charge.cost)
        else:
            self._end(row, kind)

    def _end(self, row: Row, kind: str) -> None:
        ended = self._pending.get(row.about or 0)
        is_void = {Completed.kind: False, Voided.kind: True}[kind]
        if row.about is None or ended is None or ended.dataset != row.dataset or (is_void and ended.is_reading):
            does = "voids" if is_void else "completes"
            raise _WrongEntryError(f"entry {row.number} {does} no charge that it can be about")
        if is_void:
            self._spent[row.dataset] = self._spent[row.dataset].minus(ended.cost)
        del self._pending[row.about]


def sums_of(state: Transaction, known: Sums | None, shown: str) -> Sums:
    """Return what all entries of a ledger add up to.

    Parameters
    ----------
    state
        The ledger.
    known
        What was known before: if the ledger has its last entry, only those after it are followed.
    shown
        The address without secrets.

    Raises
    ------
    DataError
        If the ledger is damaged.
    """
    sums = known if known is not None and known.is_part_of(state) else Sums(state.ledger_id())
    for row in state.rows_after(sums.number):
        try:
            sums.follow(row)
        except DataError as error:
            raise damaged(shown, error.sentence) from None
    return sums


def no_dataset(dataset: str, known: tuple[str, ...], shown: str) -> UsageError:
    """Return the error about a data set without a budget."""
    listed = f" It has {', '.join(map(repr, known[:10]))}." if known else ""
    return UsageError(f"The ledger {shown!r} has no data set {dataset!r:.80}: create a budget for it first.{listed}")
