"""The figure of a budget: what its releases have spent, step by step, against what they may spend."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from anonhist.accounting.balance import State
from anonhist.report.budget.wording import amount, equal
from anonhist.report.figures import BLUE, INK, SERIES, add_legend, canvas, name_marks, say_empty
from anonhist.report.hover import Hover

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from anonhist.accounting import Balance
    from anonhist.accounting.balance import Item

# So many places across are drawn: more than a screen has for it.
PLACES = 400
# Up to here each charge that counts has a mark; void ones and those without a known file always have.
MOST_MARKED = 60
_SECONDS = 86_400
# In days: the years 1 to 9999, of a clock that was wrong, are all that dates have.
_EARLIEST, _LATEST = (
    moment.timestamp() / _SECONDS
    for moment in (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
)
# In days: nothing shorter is drawn as wide as the figure.
_LEAST_SPAN = 1 / 24
_MOST_TICKS = 5
_MARKS = {
    State.RELEASED: ("o", BLUE, BLUE),
    State.UNKNOWN: ("s", "none", SERIES[2]),
    State.VOID: ("x", SERIES[7], SERIES[7]),
}


@dataclass(frozen=True, eq=False)
class Spending:
    """The charges of a budget in the order of their times.

    Attributes
    ----------
    items
        The charges.
    days : ndarray of float64
        When each was made, in days since 1970.
    spent : ndarray of float64
        ε of it and all before it together, without those that are void.
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
        """From when to when it is drawn."""
        first, last = float(self.days[0]), float(self.days[-1])
        margin = max(0.04 * (last - first), (_LEAST_SPAN - (last - first)) / 2)
        return max(first - margin, _EARLIEST), min(last + margin, _LATEST)

    def places(self) -> NDArray[np.int64]:
        """Return at which place across the figure each charge is."""
        start, end = self.ends
        return np.floor(PLACES * (self.days - start) / (end - start)).astype(np.int64)

    def thinned(self) -> NDArray[np.int64]:
        """Return which charges are drawn: the last at each place, by which all before it are spent too."""
        return np.flatnonzero(_is_last(self.places()))

    def marked(self, state: State) -> NDArray[np.int64]:
        """Return which charges of a state have a mark: of several at one place the last."""
        has_state = np.array([each.state is state for each in self.items], dtype=bool)
        if state is State.RELEASED and has_state.sum() > MOST_MARKED:
            return np.zeros(0, dtype=np.int64)
        chosen = np.flatnonzero(has_state)
        return np.compress(_is_last(self.places()[chosen]), chosen)

    def hover(self, balance: Balance) -> Hover:
        """Return what is told to whoever points at a charge."""
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
    """Draw ε spent against time, the limit above it, with a mark for each charge where there is room."""
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
