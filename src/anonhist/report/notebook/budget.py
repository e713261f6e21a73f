"""What a notebook shows of a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.report.budget.figures import budget_figure
from anonhist.report.budget.tables import NO_PURPOSE, purposes_of
from anonhist.report.budget.wording import amount, cards_of, headline, share_of, stake, warning_of
from anonhist.report.notebook.cell import Cell
from anonhist.report.wording import many

if TYPE_CHECKING:
    from anonhist.accounting import Balance

_ROWS = 10


def balance_cell(balance: Balance) -> Cell:
    """Return the cell of a budget: what is left, what was spent for which purpose, and what one unit has at stake."""
    budget, purposes = balance.budget, purposes_of(balance)
    more, warning = len(purposes) - _ROWS, warning_of(balance)
    return Cell(
        title=headline(budget),
        head=("purpose", "releases", "ε", "share"),
        rows=[
            (each.name or NO_PURPOSE, f"{each.releases:,}", amount(each.cost.epsilon), share_of(each.cost, budget))
            for each in purposes[:_ROWS]
        ],
        alarms=[warning] if warning else [],
        told=[
            *([("More", many(more, "more purpose"))] if more > 0 else []),
            ("Budget", "; ".join(f"{number} {told}" for number, told in cards_of(balance))),
            ("So far", " ".join(stake(budget, balance.spent, results="all releases so far"))),
            ("When all of it is spent", " ".join(stake(budget, budget.limit, results="all releases"))),
        ],
        figure=(lambda: budget_figure(balance)) if balance.items else None,
    )
