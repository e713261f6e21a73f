"""``anonhist budget show``: what was spent, by whom, when and on what, and what is left."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from anonhist.cli.budget.options import json_option, opened
from anonhist.cli.charging import ledger_option
from anonhist.cli.options import force_option, quiet_option, report_options
from anonhist.cli.output import print_whole
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.targets import check_report
from anonhist.errors import DataError
from anonhist.privacy import exact_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from anonhist.accounting import Balance, Cost, Verification
    from anonhist.accounting.balance import Item
    from anonhist.cli.targets import AskedPage

_EXAMPLES = """
anonhist budget show passwords --ledger budget.db
anonhist budget show passwords --report budget.html --ledger budget.db
anonhist budget show passwords --json --ledger postgresql://db.example.org/budgets
"""
_HEADS = ("entry", "time (UTC)", "ε", "by", "mechanism", "state", "purpose")


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@click.argument("dataset")
@ledger_option
@json_option
@report_options(
    "Also write an HTML page: the budget over time and by purpose, and what it means for one person or item."
)
@force_option
@quiet_option
def show(
    *, dataset: str, ledger: str | None, as_json: bool, report: AskedPage | None, force: bool, quiet: bool
) -> None:
    """Show a budget: every release, what it cost, and what is left.

    With --report, the chain of entries is verified first. If it does not verify, the page says so, and the exit code
    is 3.
    """
    from anonhist.accounting import verify

    with opened(ledger) as known:
        sheet = check_report(report, str(ledger), force=force)
        verification = None if sheet is None else verify(known)
        shown = known.shown
        try:
            balance = known.balance(dataset)
        except DataError:
            # A page cannot be made of it; but which entry is damaged can be told.
            _check(verification, shown)
            raise
    if sheet is not None:
        # First of all: a reader of a pipe may go at any time.
        from anonhist.report.budget.page import write_budget

        write_budget(balance, replace(sheet, data_name=dataset), verification=verification)
    if as_json:
        print_whole(_json(_values(balance)))
    elif not quiet:
        _say(balance, shown)
    if sheet is not None and not quiet:
        click.echo(f"Wrote {sheet.path}.", err=as_json)
    _check(verification, shown)


def _check(verification: Verification | None, shown: str) -> None:
    if verification is not None and verification.problems:
        raise DataError(f"The ledger {shown!r} does not verify: {' '.join(verification.problems)}")


def _values(balance: Balance) -> dict[str, Any]:
    budget, spent, left = balance.budget, balance.spent, balance.left
    return {
        "dataset": budget.dataset,
        "unit": budget.kind,
        "relation": budget.relation.value,
        "budget": _numbers(budget.limit),
        "spent": _numbers(spent),
        "left": _numbers(left),
        "charges": [
            {
                "entry": each.entry.number,
                "time": each.entry.time,
                "by": each.entry.by,
                "state": each.state,
                "cost": _numbers(each.charged.cost),
                "guarantee": each.charged.charge.guarantee.sentence,
                "mechanism": each.charged.charge.mechanism,
                "purpose": each.charged.charge.purpose,
                "run": None if (run := each.charged.charge.run) is None else run.details(),
            }
            for each in balance.items
        ],
    }


def _numbers(cost: Cost) -> dict[str, str]:
    return {"epsilon": exact_text(cost.epsilon), "delta": exact_text(cost.delta)}


def _json(values: dict[str, Any]) -> str:
    """Return JSON in which signs that would drive a terminal are escaped; outside of texts there are none."""
    text = json.dumps(values, indent=2, ensure_ascii=False)
    return "".join(each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text) + "\n"


def _say(balance: Balance, shown: str) -> None:
    from rich.text import Text

    from anonhist.cli.tables import console_on, print_hanging
    from anonhist.report.budget.wording import NUMBERING, amount, amount_left, equal

    console = console_on(sys.stdout, widest=110)
    budget, spent, left = balance.budget, balance.spent, balance.left
    console.print(
        Text(f"{budget.dataset}: {equal('ε', amount_left(left.epsilon))} of {amount(budget.epsilon)} is left"),
        style="bold",
    )
    console.print(Text(_spent(balance)))
    console.print(
        Text(
            f"δ: {amount(spent.delta)} of {amount(budget.delta)} is spent. For {budget.kind}s "
            f"({budget.relation.value}); ledger {shown}."
        )
    )
    if balance.items:
        console.print()
        _list([_cells(each) for each in balance.items], console)
        console.print()
        print_hanging(NUMBERING, console, style="dim")


def _cells(item: Item) -> list[str]:
    from anonhist.accounting.charge import printable
    from anonhist.report.budget.wording import amount, purpose_of

    return [
        str(item.entry.number),
        printable(item.entry.time[:16].replace("T", " ")),
        amount(item.charged.cost.epsilon),
        printable(item.entry.by),
        item.charged.charge.mechanism,
        str(item.state),
        purpose_of(item.charged.charge),
    ]


def _list(charges: Sequence[Sequence[str]], console: Console) -> None:
    """Print charges as a table, or where that has no room as paragraphs."""
    from rich.text import Text

    from anonhist.cli.tables import print_hanging, table_fits, table_of
    from anonhist.report.budget.wording import equal

    rows, texts = [[Text(cell) for cell in cells] for cells in charges], (3, 4, 5, 6)
    if table_fits(_HEADS, rows, console, texts=texts):
        console.print(table_of(_HEADS, rows, console, texts=texts))
        return
    for entry, time, epsilon, *told in charges:
        print_hanging(f"{entry}: {time} UTC, {equal('ε', epsilon)}, {', '.join(filter(None, told))}", console)


def _spent(balance: Balance) -> str:
    """Say what is spent: the plain sum, and what it is at the δ of the budget."""
    from anonhist.report.budget.wording import amount, composed_epsilon, equal

    plain = f"{equal('ε', amount(balance.spent.epsilon))} is spent, added up plainly"
    smaller = composed_epsilon(balance)
    if smaller is None:
        return f"{plain}."
    delta = equal("δ", amount(balance.budget.delta))
    return (
        f"{plain}; at {delta} together {amount(smaller)} if their ε were fixed beforehand, losses composed as "
        "distributions."
    )
