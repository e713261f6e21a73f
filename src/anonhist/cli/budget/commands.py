"""``anonhist budget …``: the commands of budgets and their ledger."""

from __future__ import annotations

import click

from anonhist.cli.lazy_group import LazyGroup


@click.group(
    cls=LazyGroup,
    homes={name: f".cli.budget.{name}:{name}" for name in ("create", "move", "plan", "show", "verify", "void")},
)
def budget() -> None:
    """Keep account of what releases of a data set cost together.

    A ledger is a file or a PostgreSQL database. Every release that names a ledger is charged to the budget of
    its data set before any data are read, and refused if too little is left.
    """
