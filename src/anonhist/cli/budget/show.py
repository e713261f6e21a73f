"""``anonhist budget show``: what was spent, by whom, when and on what, and what is left."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from anonhist.cli.budget.options import json_option, opened
from anonhist.cli.charging import ledger_option
from anonhist.cli.sections import SectionedCommand
from anonhist.privacy import short_decimal

if TYPE_CHECKING:
    from anonhist.accounting import Balance

_EXAMPLES = """
anonhist budget show passwords --ledger budget.db
anonhist budget show passwords --json --ledger postgresql://db.example.org/budgets
"""
_HEADS = ("entry", "time (UTC)", "ε", "by", "mechanism", "state", "purpose")


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@click.argument("dataset")
@ledger_option
@json_option
def show(*, dataset: str, ledger: str | None, as_json: bool) -> None:
    """Show a budget: every release, what it cost, and what is left."""
    with opened(ledger) as known:
        balance, shown = known.balance(dataset), known.shown
    if as_json:
        click.echo(json.dumps(_values(balance), indent=2, ensure_ascii=False))
    else:
        _say(balance, shown)


def _values(balance: Balance) -> dict[str, Any]:
    budget, spent, left = balance.budget, balance.spent, balance.left
    return {
        "dataset": budget.dataset,
        "unit": budget.kind,
        "relation": budget.relation.value,
        "budget": {"epsilon": str(budget.epsilon), "delta": str(budget.delta)},
        "spent": {"epsilon": str(spent.epsilon), "delta": str(spent.delta)},
        "left": {"epsilon": str(left.epsilon), "delta": str(left.delta)},
        "charges": [
            {
                "entry": each.entry.number,
                "time": each.entry.time,
                "by": each.entry.by,
                "state": each.state,
                "cost": {"epsilon": str(each.charged.cost.epsilon), "delta": str(each.charged.cost.delta)},
                "guarantee": each.charged.charge.guarantee.sentence,
                "mechanism": each.charged.charge.mechanism,
                "purpose": each.charged.charge.purpose,
            }
            for each in balance.items
        ],
    }


def _say(balance: Balance, shown: str) -> None:
    from rich.text import Text

    from anonhist.cli.tables import console_on, table_of

    console = console_on(sys.stdout, widest=110)
    budget, spent, left = balance.budget, balance.spent, balance.left
    console.print(
        Text(f"{budget.dataset}: ε = {short_decimal(left.epsilon)} of {short_decimal(budget.epsilon)} is left"),
        style="bold",
    )
    console.print(Text(_spent(balance)))
    console.print(
        Text(
            f"δ: {float(spent.delta):.3g} of {float(budget.delta):.3g} is spent. For {budget.kind}s "
            f"({budget.relation.value}); ledger {shown}."
        )
    )
    if balance.items:
        console.print()
        rows = [
            [
                Text(cell)
                for cell in (
                    str(each.entry.number),
                    each.entry.time[:16].replace("T", " "),
                    short_decimal(each.charged.cost.epsilon),
                    each.entry.by,
                    each.charged.charge.mechanism,
                    each.state,
                    each.charged.charge.purpose,
                )
            ]
            for each in balance.items
        ]
        console.print(table_of(_HEADS, rows, console, texts=[1, 3, 4, 5, 6]))


def _spent(balance: Balance) -> str:
    """Say what is spent: the plain sum, and what it is at the δ of the budget."""
    from anonhist.errors import UsageError
    from anonhist.privacy.loss_distribution import epsilon_at

    plain = f"ε = {short_decimal(balance.spent.epsilon)} is spent, added up plainly"
    losses, delta = balance.losses, balance.budget.delta
    try:
        smaller = epsilon_at(losses, delta) if len(losses) > 1 and delta else balance.spent.epsilon
    except UsageError:  # dp-accounting is not installed, or δ is too small for it
        return f"{plain}."
    if smaller >= balance.spent.epsilon:
        return f"{plain}."
    return f"{plain}; at δ = {float(delta):g} together {float(smaller):.4g}, losses composed as distributions."
