"""One self-contained HTML page about a budget."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from anonhist.accounting.balance import Item, State
from anonhist.accounting.budget import NOTHING, Cost, amount, amount_left, equal
from anonhist.accounting.charge import printable
from anonhist.privacy import exact_text
from anonhist.report.budget_wording import (
    NUMBERING,
    cards_of,
    chain_of,
    change_of,
    conditions_of,
    headline,
    not_covered,
    purpose_of,
    share_of,
    stake,
    warning_of,
    weaker_stake,
)
from anonhist.report.figures import BLUE, INK, SERIES, Hover, add_legend, canvas, inline_svg, name_marks, say_empty
from anonhist.report.notebook import Cell
from anonhist.report.shown import Sheet
from anonhist.report.wording import many

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from anonhist.accounting import Balance, Budget, Verification

MOST_LISTED = 200
_MOST_PURPOSES = 20
NO_PURPOSE = "(no purpose given)"


class Purpose(NamedTuple):
    """The total cost of the releases for one purpose; ``name`` is empty if no purpose was given."""

    name: str
    releases: int
    cost: Cost


def purposes_of(balance: Balance) -> list[Purpose]:
    """Return what was spent on each purpose, the largest ε first; void charges are left out."""
    found: dict[str, Purpose] = {}
    for each in balance.items:
        if each.state is not State.VOID:
            name = each.charged.charge.purpose
            before = found.get(name, Purpose(name, 0, NOTHING))
            found[name] = Purpose(name, before.releases + 1, before.cost.plus(each.cost))
    return sorted(found.values(), key=lambda each: (-each.cost.epsilon, each.name))


def _purpose_rows(balance: Balance) -> list[tuple[str, tuple[str, ...], str]]:
    """Return a row for each purpose, one for the total of further purposes, and one for what is left."""
    purposes, budget = purposes_of(balance), balance.budget
    if not purposes:
        return []
    listed, others = purposes[:_MOST_PURPOSES], purposes[_MOST_PURPOSES:]
    rows = [_purpose_row(each.name or NO_PURPOSE, f"{each.releases:,}", each.cost, budget) for each in listed]
    if others:
        cost = reduce(Cost.plus, (each.cost for each in others), NOTHING)
        number = sum(each.releases for each in others)
        rows.append(_purpose_row(f"{many(len(others), 'more purpose')}", f"{number:,}", cost, budget))
    left = balance.left
    return [*rows, _purpose_row("left", "", left, budget, number=amount_left(left.epsilon))]


def _purpose_row(
    name: str, releases: str, cost: Cost, budget: Budget, *, number: str | None = None
) -> tuple[str, tuple[str, ...], str]:
    """Return a name, numbers, and the width of a bar in percent."""
    # A damaged ledger can have spent more than its budget.
    width = min(max(float(100 * cost.epsilon / budget.epsilon), 0.0), 100.0)
    return name, (releases, number or amount(cost.epsilon), share_of(cost, budget)), f"{width:.2f}"


def _charge_row(item: Item) -> tuple[Any, ...]:
    """Return the state, the entry and its time, its costs, and pairs of texts, the last of which may be long."""
    charge, cost, reason = item.charged.charge, item.charged.cost, getattr(item.outcome, "reason", "")
    return (
        item.state.name.lower(),
        item.entry.number,
        f"{item.moment:%Y-%m-%d %H:%M}",
        (amount(cost.epsilon), amount(cost.delta)),
        (printable(item.entry.by), charge.mechanism),
        (f"{item.state}: {reason}" if reason else str(item.state), purpose_of(charge)),
    )


# The most places across that are drawn: more than a screen has room for.
PLACES = 400
# Up to this number, each charge that counts has a mark; void charges and unknown ones always have one.
MOST_MARKED = 60
_SECONDS = 86_400
# In days: dates have only the years 1 to 9999, which matter if a clock was wrong.
_EARLIEST, _LATEST = (
    moment.timestamp() / _SECONDS
    for moment in (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
)
# In days: a shorter time is not drawn as wide as the figure.
_LEAST_SPAN = 1 / 24
_MOST_TICKS = 5
_MARKS = {
    State.RELEASED: ("o", BLUE, BLUE),
    State.UNKNOWN: ("s", "none", SERIES[2]),
    State.VOID: ("x", SERIES[7], SERIES[7]),
}


@dataclass(frozen=True, eq=False)
class Spending:
    """The charges of a budget in order of time, with the running sum of ε.

    ``days`` count from 1970. ``spent`` is the ε of each charge and all before it, without void charges.
    """

    items: tuple[Item, ...]
    days: NDArray[np.float64]
    spent: NDArray[np.float64]

    @classmethod
    def of(cls, balance: Balance) -> Self:
        """Return the charges of a budget."""
        items = tuple(sorted(balance.items, key=lambda each: each.moment))
        sums = accumulate(each.cost.epsilon for each in items)
        return cls(
            items,
            np.array([each.moment.timestamp() / _SECONDS for each in items], dtype=np.float64),
            np.array([float(each) for each in sums], dtype=np.float64),
        )

    @property
    def ends(self) -> tuple[float, float]:
        """The first and the last moment of the figure."""
        first, last = float(self.days[0]), float(self.days[-1])
        margin = max(0.04 * (last - first), (_LEAST_SPAN - (last - first)) / 2)
        return max(first - margin, _EARLIEST), min(last + margin, _LATEST)

    def places(self) -> NDArray[np.int64]:
        """Return the place of each charge across the figure."""
        start, end = self.ends
        return np.floor(PLACES * (self.days - start) / (end - start)).astype(np.int64)

    def thinned(self) -> NDArray[np.int64]:
        """Return which charges are drawn: the last at each place, whose sum includes all before it."""
        return np.flatnonzero(_is_last(self.places()))

    def marked(self, state: State) -> NDArray[np.int64]:
        """Return which charges of a state have a mark: the last of several at one place."""
        has_state = np.array([each.state is state for each in self.items], dtype=bool)
        if state is State.RELEASED and has_state.sum() > MOST_MARKED:
            return np.zeros(0, dtype=np.int64)
        chosen = np.flatnonzero(has_state)
        return np.compress(_is_last(self.places()[chosen]), chosen)

    def hover(self, balance: Balance) -> Hover:
        """Return the texts that charges show under the pointer."""
        sums = list(accumulate(each.cost.epsilon for each in self.items))
        drawn = self.thinned().tolist()
        return Hover([self.days[at] for at in drawn], [self._told(at, amount(sums[at]), balance) for at in drawn])

    def _told(self, at: int, spent: str, balance: Balance) -> str:
        item = self.items[at]
        charge = f"{item.moment:%Y-%m-%d %H:%M}: {equal('ε', amount(item.charged.cost.epsilon))}, {item.state}"
        purpose = f", {item.charged.charge.purpose}" if item.charged.charge.purpose else ""
        return f"{charge}{purpose}; spent so far: {spent} of {amount(balance.budget.epsilon)}"


def _is_last(places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of ascending places are the last of their kind."""
    return np.append(places[1:] != places[:-1], places.size > 0).astype(np.bool_)


def budget_figure(balance: Balance) -> Figure:
    """Draw ε spent against time, below the limit, with a mark for each charge if there is room."""
    figure, axes = canvas("ε spent, added up plainly", "")
    limit = float(balance.budget.epsilon)
    if not balance.items:
        say_empty(axes, "there are no charges")
        return figure
    spending = Spending.of(balance)
    start, end = spending.ends
    drawn = spending.thinned()
    spent = spending.spent[drawn]
    axes.step(
        [start, *spending.days[drawn], end],
        [0.0, *spent, spent[-1]],
        where="post",
        color=BLUE,
        linewidth=1.6,
        label="spent",
    )
    axes.axhline(limit, color=INK, linewidth=1.2, linestyle="--", label="budget")
    for state, (mark, face, edge) in _MARKS.items():
        chosen = spending.marked(state)
        if chosen.size:
            axes.plot(
                spending.days[chosen],
                spending.spent[chosen],
                mark,
                markerfacecolor=face,
                markeredgecolor=edge,
                markersize=5 if mark != "x" else 6,
                markeredgewidth=1.4,
                label=str(state),
                clip_on=False,
                zorder=3,
            )
    top = max(limit, float(spending.spent[-1]))
    axes.set_ylim(0, 1.06 * top)
    name_marks(axes.yaxis, top)
    _mark_days(axes, start, end)
    add_legend(axes, handle_length=1.8)
    return figure


def _mark_days(axes: Axes, start: float, end: float) -> None:
    """Mark at most five months, days or hours, evenly spread."""
    from matplotlib import dates

    # Matplotlib has no types for it.
    new_locator: Any = dates.AutoDateLocator
    found = new_locator(minticks=3, maxticks=_MOST_TICKS + 2).tick_values(_moment(start), _moment(end))
    ticks = [float(tick) for tick in found if start <= tick <= end]
    ticks = ticks[:: max(1, -(-len(ticks) // _MOST_TICKS))]
    days = [_moment(tick) for tick in ticks]
    has_hours = any(day.hour or day.minute for day in days)
    form = "%m-%d %H:%M" if has_hours else "%Y-%m-%d" if any(day.day > 1 for day in days) else "%Y-%m"
    axes.set_xlim(start, end)
    axes.set_xticks(ticks, [f"{day:{form}}" for day in days], fontsize=8 if has_hours else 9)


def _moment(day: float) -> datetime:
    return datetime.fromtimestamp(round(day * _SECONDS), UTC)


_CAPTION = "ε spent by all charges that count, added up plainly, against the budget."


def write_budget(balance: Balance, sheet: Sheet, *, verification: Verification | None = None) -> None:
    """Write the page of a budget; without a ``verification``, it says that the ledger was not checked."""
    chain = chain_of(verification)
    is_damaged = verification is not None and bool(verification.problems)
    budget = balance.budget
    promise, *meaning = stake(budget, balance.spent, results="all releases so far")
    latest = balance.items[-MOST_LISTED:][::-1]
    more = len(balance.items) - len(latest)
    sheet.write(
        "anonhist.report/budget.html",
        chain=chain,
        headline=headline(balance.budget),
        subtitle=f"What releases have spent of it, for {change_of(balance.budget)}, and what is left.",
        warning=" ".join(chain) if is_damaged else warning_of(balance),
        cards=cards_of(balance),
        unit=budget.kind,
        promise=promise,
        so_far=[*meaning, *weaker_stake(balance), *conditions_of(balance)],
        whole=stake(budget, budget.limit, results="all releases"),
        not_covered=not_covered(budget),
        purposes=_purpose_rows(balance),
        charges=[_charge_row(each) for each in latest],
        more=many(more, "earlier charge") if more else "",
        numbering=NUMBERING,
        exact=_exact(balance),
        **_over_time(balance),
    )


def _over_time(balance: Balance) -> dict[str, Any]:
    if not balance.items:
        return {"plot": ""}
    spending = Spending.of(balance)
    drawn = len(spending.thinned())
    return {
        "plot": inline_svg(
            lambda: budget_figure(balance), name="budget", description=_CAPTION, hover=spending.hover(balance)
        ),
        "caption": _CAPTION,
        "marks": _marks(balance, spending),
        "thinned": [_thinned(drawn, len(balance.items))] if drawn < len(balance.items) else [],
    }


def _marks(balance: Balance, spending: Spending) -> str:
    """Say what the marks in the figure mean."""
    states = {each.state for each in balance.items}
    written = (
        "Dots are charges whose release was written."
        if spending.marked(State.RELEASED).size
        else f"Charges whose release was written have no mark of their own, since there are more than {MOST_MARKED}."
    )
    said = {
        State.RELEASED: written,
        State.UNKNOWN: "Open squares are charges whose file is unknown: the process died or still runs, so they count.",
        State.VOID: "Crosses are void charges: taken back, since nothing was learned from the data. They add nothing.",
    }
    return " ".join(text for state, text in said.items() if state in states)


def _thinned(drawn: int, charges: int) -> str:
    return (
        f"The {charges:,} charges make {drawn:,} steps here: those that fall on one of the {PLACES} places across the "
        "figure are shown together. The last value is the sum of all."
    )


def _exact(balance: Balance) -> list[str]:
    spent, left, limit = balance.spent, balance.left, balance.budget.limit
    pairs = (("Budget", limit), ("Spent", spent), ("Left", left))
    said = [f"{name}: ε = {exact_text(cost.epsilon)}, δ = {exact_text(cost.delta)}." for name, cost in pairs]
    rounded = "Elsewhere on this page, what is spent is rounded up to four digits, and what is left is rounded down."
    return [*said, rounded]


_ROWS = 10


def balance_cell(balance: Balance) -> Cell:
    """Return the cell of a budget: what is left, what was spent for which purpose, and what one unit has at stake."""
    budget, purposes = balance.budget, purposes_of(balance)
    more = len(purposes) - _ROWS
    return Cell(
        title=headline(budget),
        head=("purpose", "releases", "ε", "share"),
        rows=[
            (each.name or NO_PURPOSE, f"{each.releases:,}", amount(each.cost.epsilon), share_of(each.cost, budget))
            for each in purposes[:_ROWS]
        ],
        alarms=[warning_of(balance)],
        told=[
            *([("More", many(more, "more purpose"))] if more > 0 else []),
            ("Budget", "; ".join(f"{number} {told}" for number, told in cards_of(balance))),
            ("So far", " ".join(stake(budget, balance.spent, results="all releases so far"))),
            ("When all of it is spent", " ".join(stake(budget, budget.limit, results="all releases"))),
        ],
        figure=(lambda: budget_figure(balance)) if balance.items else None,
    )
