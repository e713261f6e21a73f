"""``anonhist budget plan``: what each of several releases may cost."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from anonhist.cli.budget.options import json_option, opened
from anonhist.cli.charging import ledger_option
from anonhist.cli.sections import SectionedCommand
from anonhist.errors import MissingExtraError
from anonhist.privacy import exact_text, short_decimal

if TYPE_CHECKING:
    from fractions import Fraction

_EXAMPLES = """
anonhist budget plan passwords --every week --for 1y --ledger budget.db
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@click.argument("dataset")
@click.option("--every", required=True, metavar="SPAN", help="Time between two releases, such as day, 2w or month.")
@click.option("--for", "span", required=True, metavar="SPAN", help="Time in which what is left is spent, such as 1y.")
@ledger_option
@json_option
def plan(*, dataset: str, every: str, span: str, ledger: str | None, as_json: bool) -> None:
    """Say what each of several releases may cost.

    All of them fit into what is left: the ledger adds up ε and δ plainly. With the extra [accounting], the plan also
    says what each could cost if the losses of all releases were composed as distributions, at the δ of the budget: a
    weaker promise, for a policy that accepts it. It holds if the number of releases and each ε are fixed beforehand,
    and do not depend on earlier results.
    """
    from anonhist.accounting.ledger import count_releases, schedule

    number = count_releases(every, span)
    with opened(ledger) as known:
        balance = known.balance(dataset)
    try:
        planned, missing = schedule(balance, number, with_distributions=True), ""
    except MissingExtraError as error:
        planned, missing = schedule(balance, number, with_distributions=False), error.sentence
    from anonhist.report.budget.wording import amount_left, equal

    budget, left, each = balance.budget, balance.left, planned.plain
    if as_json:
        told = {
            "dataset": dataset,
            "releases": number,
            "left": {"epsilon": exact_text(left.epsilon), "delta": exact_text(left.delta)},
            "each": {"epsilon": str(each.epsilon), "delta": str(each.delta)},
            "each_at_delta": None
            if planned.at_delta is None
            else {"epsilon": str(planned.at_delta), "delta_of_all": str(budget.delta)},
        }
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    _say(
        f"{dataset}: {number:,} releases, every {every} for {span}; {equal('ε', amount_left(left.epsilon))} of "
        f"{short_decimal(budget.epsilon)} is left"
    )
    _say(f"  each --epsilon {_typed(each.epsilon)} (about {float(each.epsilon):.4g}), added up plainly")
    if planned.at_delta is not None:
        _say(
            f"  each --epsilon {short_decimal(planned.at_delta)}, if all releases together may have ε = "
            f"{short_decimal(budget.epsilon)} at δ = {float(budget.delta):g}, and no ε depends on earlier results; "
            "the ledger would need a plain budget of "
            f"{float(balance.spent.epsilon + number * planned.at_delta):.4g} for that"
        )
    elif missing:
        _say(f"  more at δ > 0: {missing}")


def _typed(epsilon: Fraction) -> str:
    """Write ε as it can be typed: as a decimal if it is one."""
    from decimal import Decimal

    below = epsilon.denominator
    if 10**18 % below:
        return short_decimal(epsilon)
    return f"{Decimal(epsilon.numerator * (10**18 // below)).scaleb(-18).normalize():f}"


def _say(line: str) -> None:
    """Print a line, broken between words on a terminal."""
    if sys.stdout.isatty():
        from anonhist.cli.tables import console_on, print_hanging

        print_hanging(line, console_on(sys.stdout, widest=110))
    else:
        click.echo(line)
