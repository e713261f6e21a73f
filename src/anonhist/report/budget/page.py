"""One self-contained HTML page about a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.accounting.balance import State
from anonhist.privacy import exact_text
from anonhist.report.budget.figures import MOST_MARKED, PLACES, Spending, budget_figure
from anonhist.report.budget.tables import charges_table, purposes_table
from anonhist.report.budget.wording import (
    cards_of,
    chain_of,
    change_of,
    conditions_of,
    headline,
    not_covered,
    stake,
    warning_of,
    weaker_stake,
)
from anonhist.report.frame import Sheet, template
from anonhist.report.sections import card, folded, html, paragraphs, reproduce, warning_box
from anonhist.report.svg import inline_svg

if TYPE_CHECKING:
    from anonhist.accounting import Balance, Verification

_CAPTION = "ε spent by all charges that count, added up plainly, against the budget."
_AGAIN = "The same command shows the budget as it is then."


def write_budget(balance: Balance, sheet: Sheet, *, verification: Verification | None = None) -> None:
    """Write the page of a budget.

    Parameters
    ----------
    balance
        The state of the budget.
    sheet
        Where the page goes.
    verification
        Whether the entries of its ledger verify; None if that was not checked, which the page says.
    """
    sheet.check()
    sheet.write(
        _main(balance, sheet.command, verification),
        headline=headline(balance.budget),
        subtitle=f"What releases have spent of it, for {change_of(balance.budget)}, and what is left.",
    )


def _main(balance: Balance, command: str | None, verification: Verification | None) -> str:
    budget = balance.budget
    chain = chain_of(verification)
    is_damaged = verification is not None and bool(verification.problems)
    promise, *meaning = stake(budget, balance.spent, results="all releases so far")
    return template("budget.html").substitute(
        warning=warning_box(" ".join(chain)) if is_damaged else warning_box(warning_of(balance)),
        cards="".join(card(*each) for each in cards_of(balance)),
        unit=html(budget.kind),
        promise=html(promise),
        so_far=paragraphs([*meaning, *weaker_stake(balance), *conditions_of(balance)]),
        whole=paragraphs(stake(budget, budget.limit, results="all releases")),
        not_covered="".join(f"<li>{html(each)}</li>" for each in not_covered(budget)),
        over_time=_over_time(balance),
        purposes=purposes_table(balance),
        charges=charges_table(balance),
        chain=paragraphs(chain),
        exact=folded("The exact numbers", paragraphs(_exact(balance))),
        reproduce=reproduce(command, _AGAIN),
    )


def _over_time(balance: Balance) -> str:
    if not balance.items:
        return "<p>Nothing was charged yet.</p>"
    spending = Spending.of(balance)
    figure = inline_svg(
        lambda: budget_figure(balance), name="budget", description=_CAPTION, hover=spending.hover(balance)
    )
    drawn = len(spending.thinned())
    return template("budget-over-time.html").substitute(
        plot=figure,
        caption=html(_CAPTION),
        marks=paragraphs([_marks(balance, spending)]),
        thinned=paragraphs([_thinned(drawn, len(balance.items))] if drawn < len(balance.items) else []),
    )


def _marks(balance: Balance, spending: Spending) -> str:
    """Say what the marks mean that there are."""
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
        f"Of {charges:,} charges, the line shows what was spent by {drawn:,} of them, the last at each of {PLACES} "
        "places across the figure. Between them it rises by several charges at once; its last value is the sum of all."
    )


def _exact(balance: Balance) -> list[str]:
    spent, left, limit = balance.spent, balance.left, balance.budget.limit
    pairs = (("Budget", limit), ("Spent", spent), ("Left", left))
    said = [f"{name}: ε = {exact_text(cost.epsilon)}, δ = {exact_text(cost.delta)}." for name, cost in pairs]
    rounded = "Elsewhere on this page, what is spent is rounded up to four digits, and what is left is rounded down."
    return [*said, rounded]
