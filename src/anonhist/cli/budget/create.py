"""``anonhist budget create``: a budget for a data set."""

from __future__ import annotations

import click

from anonhist.cli.budget.options import opened
from anonhist.cli.charging import ledger_option
from anonhist.cli.decorators import OneOf
from anonhist.cli.options import epsilon_option, quiet_option, relation_option
from anonhist.cli.output import say_done
from anonhist.cli.sections import SectionedCommand
from anonhist.privacy import NeighboringRelation, short_decimal

_EXAMPLES = """
anonhist budget create passwords --epsilon 2 --unit user --ledger budget.db
anonhist budget create queries --epsilon 4 --delta 1e-8 --unit item --ledger postgresql://db.example.org/budgets
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@click.argument("dataset")
@epsilon_option("What all releases of the data set may cost together, such as 2.", required=True)
@click.option("--delta", default="1e-9", show_default=True, metavar="D", help="Largest sum of the δ of all releases.")
@click.option(
    "--unit",
    type=OneOf(("item", "user", "label", "edge", "node")),
    required=True,
    help="What the budget protects. Releases for users count against a budget for users, whatever --max-per-user they "
    "have.",
)
@relation_option
@ledger_option
@quiet_option
def create(
    *, dataset: str, epsilon: str, delta: str, unit: str, relation: str, ledger: str | None, quiet: bool
) -> None:
    """Give a data set a budget, and make the ledger if it is not there.

    DATASET is the name under which its releases are charged. Data about the same people share one budget only if they
    have one name.
    """
    with opened(ledger) as made:
        budget = made.create(dataset, unit, epsilon=epsilon, delta=delta, relation=NeighboringRelation(relation))
        if not quiet:
            say_done(
                f"{budget.dataset}: ε = {short_decimal(budget.epsilon)}, δ = {short_decimal(budget.delta)} for "
                f"{unit}s, in {made.shown}"
            )
