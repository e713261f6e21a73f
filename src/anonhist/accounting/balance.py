"""A budget, its charges, and what is left of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import reduce
from typing import Any, ClassVar, NamedTuple

from anonhist.accounting.budget import NOTHING, Budget, Cost
from anonhist.accounting.charge import damaged, exact
from anonhist.accounting.entry import Charged, Completed, Created, Entry, Voided, chained
from anonhist.accounting.sql import Row, SqlTransaction
from anonhist.errors import DataError, UsageError
from anonhist.kinds import Shown
from anonhist.privacy import short_decimal


class State(StrEnum):
    """The outcome of a charge."""

    RELEASED = "released"
    UNKNOWN = "charged, file unknown"
    VOID = "void"


@dataclass(frozen=True)
class Item:
    """A charge and its outcome; ``outcome`` is None if its process died or is running: then it stays charged."""

    entry: Entry
    charged: Charged
    outcome: Completed | Voided | None

    @property
    def cost(self) -> Cost:
        """Its cost; zero if it was voided."""
        return NOTHING if isinstance(self.outcome, Voided) else self.charged.cost

    @property
    def state(self) -> State:
        """The outcome of the charge."""
        if self.outcome is None:
            return State.UNKNOWN
        return State.VOID if isinstance(self.outcome, Voided) else State.RELEASED

    @property
    def moment(self) -> datetime:
        """The time of the charge."""
        try:
            told = datetime.fromisoformat(self.entry.time)
            return told.replace(tzinfo=UTC) if told.tzinfo is None else told.astimezone(UTC)
        except (ValueError, TypeError, OverflowError):
            raise DataError(
                f"The ledger is damaged: entry {self.entry.number} has no time; see 'anonhist budget verify'."
            ) from None


@dataclass(frozen=True, repr=False)
class Balance(Shown):
    """The state of a budget.

    Attributes
    ----------
    budget
        The budget.
    items
        All charges, in order.

    Examples
    --------
    >>> from anonhist.accounting.budget import Budget
    >>> Balance(Budget("passwords", "user", epsilon=2), ()).left.epsilon
    Fraction(2, 1)
    """

    known_as: ClassVar[str] = "balance"

    budget: Budget
    items: tuple[Item, ...]

    def __repr__(self) -> str:
        left, limit = short_decimal(self.left.epsilon), short_decimal(self.budget.epsilon)
        return (
            f"Balance({self.budget.dataset!r}, {self.budget.kind}, left={left} of {limit}, charges={len(self.items)})"
        )

    @property
    def spent(self) -> Cost:
        """ε and δ of all charges that were not voided."""
        return reduce(Cost.plus, (each.cost for each in self.items), NOTHING)

    @property
    def left(self) -> Cost:
        """What further releases may cost."""
        return self.budget.limit.minus(self.spent)

    @property
    def losses(self) -> tuple[Cost, ...]:
        """ε and δ of each charge that was not voided; for read-outs of sketches that share noise, their sum.

        The losses are independent, so they can be composed as distributions. The losses of read-outs that share noise
        are not: the further cost of a later one belongs to outcomes on which the others lost (docs/proofs/sketches.md,
        section 9).
        """
        sums = (reduce(Cost.plus, (each.cost for each in items), NOTHING) for items in _independent(self.items))
        return tuple(cost for cost in sums if cost != NOTHING)


def _independent(items: Iterable[Item]) -> list[list[Item]]:
    """Group the charges: together if they share noise, even through others."""
    groups: list[tuple[frozenset[str], list[Item]]] = []
    for each in items:
        reading = each.charged.charge.reading
        names, own = frozenset[str]() if reading is None else reading.identities, [each]
        linked = [group for group in groups if not names.isdisjoint(group[0])]
        groups = [group for group in groups if names.isdisjoint(group[0])]
        for known, earlier in reversed(linked):
            names, own = names | known, earlier + own
        groups.append((names, own))
    return [own for _, own in groups]


def balance_of(entries: Iterable[Entry]) -> Balance:
    """Return the state of a budget from its entries."""
    budget: Budget | None = None
    charges: dict[int, tuple[Entry, Charged]] = {}
    outcomes: dict[int, Completed | Voided] = {}
    for each in entries:
        event = each.event
        if isinstance(event, Created):
            budget = event.budget
        elif isinstance(event, Charged):
            charges[each.number] = each, event
        else:
            outcomes[event.about] = event
    if budget is None or not outcomes.keys() <= charges.keys():
        raise DataError("The ledger is damaged: entries are missing; see 'anonhist budget verify'.")
    return Balance(budget, tuple(Item(*charge, outcomes.get(number)) for number, charge in charges.items()))


class _WrongEntryError(DataError):
    """An entry does not follow from those before it."""


class _Pending(NamedTuple):
    """A charge that was neither completed nor voided."""

    dataset: str
    cost: Cost
    is_reading: bool


class Sums:
    """What was spent of each budget after some entries; the last one has ``number`` and the digest ``head``.

    Only part of each entry is checked: the chain, the budgets, the cost of each charge, and which were voided. Whether
    each cost matches its guarantee is left to verification.
    """

    def __init__(self, ledger: str) -> None:
        self._ledger = ledger
        self.number, self.head = 0, ""
        self._budgets: dict[str, Budget] = {}
        self._spent: dict[str, Cost] = {}
        self._pending: dict[int, _Pending] = {}

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets with a budget, in the order of their budgets."""
        return tuple(self._budgets)

    def of(self, dataset: str, shown: str) -> tuple[Budget, Cost]:
        """Return the budget of a data set, and what was spent of it."""
        if dataset not in self._budgets:
            raise no_dataset(dataset, self.datasets, shown)
        return self._budgets[dataset], self._spent[dataset]

    def is_part_of(self, state: SqlTransaction) -> bool:
        """Return whether a ledger has the entries that were followed."""
        last = state.row(self.number)
        return self._ledger == state.ledger_id() and last is not None and last.digest == self.head

    def follow(self, row: Row) -> None:
        """Add the next entry, or refuse one that a ledger would not append after the others."""
        place = self.number + 1
        if row.number != place:
            raise _WrongEntryError(f"entry {place} is missing")
        try:
            self._add_chained(row, json.loads(row.document))
            # An entry that cannot be shown or verified must not be built upon.
            Entry.read(row.document)
        except _WrongEntryError:
            raise
        # This includes other functions' errors about an invalid number or unit.
        except (DataError, UsageError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise _WrongEntryError(f"entry {place} is not in the format of this version") from None
        self.number, self.head = place, row.digest

    def _add_chained(self, row: Row, told: Mapping[str, Any]) -> None:
        details = told["details"]
        says = told["ledger"], told["number"], told["dataset"], details.get("charge")
        is_own = says == (self._ledger, row.number, row.dataset, row.about)
        if not is_own or chained(self.head, row.document) != row.digest:
            raise _WrongEntryError(f"entry {row.number} was changed, or an earlier entry was")
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
            raise _WrongEntryError(f"entry {row.number} {does} no charge that it could refer to")
        if is_void:
            self._spent[row.dataset] = self._spent[row.dataset].minus(ended.cost)
        del self._pending[row.about]


def sums_of(state: SqlTransaction, known: Sums | None, shown: str) -> Sums:
    """Return the sums of all entries of a ledger.

    If the ledger has the last entry of ``known``, only those after it are followed.
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
