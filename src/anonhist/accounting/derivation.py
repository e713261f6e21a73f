"""Whether entries are those that a ledger appends: every cost is computed again, and every rule is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.accounting.budget import NOTHING, Budget, Cost
from anonhist.accounting.entry import Charged, Completed, Created, Entry, Voided
from anonhist.accounting.reading import EarlierReading, further_cost
from anonhist.accounting.repeating import difference
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.accounting.charge import Charge


class Derivation:
    """What a ledger holds after some of its entries, computed from what they say was asked for.

    Examples
    --------
    >>> entry = Entry("0" * 32, 1, Created(Budget("passwords", "user", epsilon=2)), "2026-11-24T02:46:38Z", "eve", "1")
    >>> known = Derivation()
    >>> known.problems([entry, entry])
    ["Entry 1 gives 'passwords' a second budget."]
    """

    def __init__(self) -> None:
        self._budgets: dict[str, Budget] = {}
        self._spent: dict[str, Cost] = {}
        self._charges: dict[int, Charged] = {}
        self._ended: set[int] = set()
        # Of each part of noise, the read-outs that have it.
        self._readings: dict[str, list[tuple[int, Charged]]] = {}
        # Of each run, its charge that was not voided.
        self._runs: dict[str, int] = {}

    def problems(self, entries: Iterable[Entry]) -> list[str]:
        """Return what is wrong with entries, one sentence each."""
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
        # Version 1 of the schema did not round what a charge costs.
        if event.cost not in {cost, cost.rounded()}:
            return "costs something else than its guarantee says"
        if min(budget.limit.minus(total)) < 0:
            return f"spends more of {dataset!r} than was left"
        return repeats

    def _repeats(self, number: int, charge: Charge) -> str | None:
        """Return what is wrong with a second charge of a run: only a sketch may be read again, and as before."""
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
            return f"{does} entry {event.about}, which is no earlier charge to {event.dataset!r}"
        if event.about in self._ended:
            return f"{does} entry {event.about}, which was completed or voided before"
        self._ended.add(event.about)
        if isinstance(event, Voided):
            self._spent[event.dataset] = self._spent[event.dataset].minus(charge.cost)
            run = charge.charge.run
            if run is not None and self._runs.get(run.id) == event.about:
                del self._runs[run.id]
            if charge.charge.reading is not None:
                return f"voids entry {event.about}, which is a read-out of a sketch"
        return None
