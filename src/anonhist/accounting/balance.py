"""What a budget was, what is spent of it, and what is left."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from anonhist.accounting.budget import NOTHING, Budget, Cost
from anonhist.accounting.entry import Charged, Completed, Created, Voided
from anonhist.errors import DataError
from anonhist.outward import Shown
from anonhist.privacy import short_decimal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.accounting.entry import Entry


class State(StrEnum):
    """What became of a charge."""

    RELEASED = "released"
    UNKNOWN = "charged, file unknown"
    VOID = "void"


@dataclass(frozen=True)
class Item:
    """A charge and what became of it.

    Attributes
    ----------
    entry
        The entry of the charge.
    charged
        What was charged.
    outcome
        The entry that completed or voided it; None if its process died, or runs: then it stays charged.
    """

    entry: Entry
    charged: Charged
    outcome: Completed | Voided | None

    @property
    def cost(self) -> Cost:
        """What it costs: nothing if it was voided."""
        return NOTHING if isinstance(self.outcome, Voided) else self.charged.cost

    @property
    def state(self) -> State:
        """What became of it."""
        if self.outcome is None:
            return State.UNKNOWN
        return State.VOID if isinstance(self.outcome, Voided) else State.RELEASED

    @property
    def moment(self) -> datetime:
        """When it was charged.

        Raises
        ------
        DataError
            If its entry has no time.
        """
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
        return _sum(self.items)

    @property
    def left(self) -> Cost:
        """What further releases may cost."""
        return self.budget.limit.minus(self.spent)

    @property
    def losses(self) -> tuple[Cost, ...]:
        """ε and δ of each charge that was not voided; of read-outs of sketches that share noise, the sum.

        The losses are independent, so they can be composed as distributions. Those of read-outs that share noise are
        not: what a later one costs more is paid where the others have lost (docs/proofs/sketches.md, section 9).
        """
        return tuple(cost for cost in map(_sum, _independent(self.items)) if cost != NOTHING)


def _sum(items: Iterable[Item]) -> Cost:
    total = NOTHING
    for each in items:
        total = total.plus(each.cost)
    return total


def _independent(items: Iterable[Item]) -> list[list[Item]]:
    """Return the charges in groups: together if they share noise, also by way of others."""
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
    """Return the state of a budget from its entries.

    Raises
    ------
    DataError
        If they are not those of one budget.

    Examples
    --------
    >>> from anonhist.accounting.budget import Budget
    >>> from anonhist.accounting.entry import Entry
    >>> created = Created(Budget("passwords", "user", epsilon=2))
    >>> balance_of([Entry("0" * 32, 1, created, "2026-11-24T02:46:38Z", "eve", "0.1.0")]).spent.epsilon
    Fraction(0, 1)
    """
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
