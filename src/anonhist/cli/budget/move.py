"""``anonhist budget move``: a ledger in PostgreSQL gets the schema of its address."""

from __future__ import annotations

import sys

import click

from anonhist.cli.budget.options import check_given
from anonhist.cli.charging import ledger_option
from anonhist.cli.options import quiet_option
from anonhist.cli.output import say_line
from anonhist.cli.sections import SectionedCommand
from anonhist.errors import DataError

_EXAMPLES = """
anonhist budget move --ledger postgresql://db.example.org/budgets
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@ledger_option
@quiet_option
def move(*, ledger: str | None, quiet: bool) -> None:
    """Move a ledger in PostgreSQL to the schema that its address names.

    For ledgers that earlier versions made in whatever schema a person's settings named, such as public. All of it is
    moved at once, or nothing, and then verified; it is refused if the database has more than one. Run it as the owner
    of the tables. Rights to the tables stay, but whoever releases needs the right to use the new schema.
    """
    from anonhist.accounting import Ledger, verify
    from anonhist.accounting.address import storage_at
    from anonhist.accounting.postgresql import move as move_ledger

    address = check_given(ledger)
    moved = move_ledger(storage_at(address))
    with Ledger(address) as known:
        found, shown = verify(known), known.shown
    if moved.source is None:
        said = f"The ledger is in the schema {moved.schema} already"
    else:
        # Names that others chose.
        said = f"Moved the ledger of {moved.owner!r} from the schema {moved.source!r} to {moved.schema}"
    if found.problems:
        raise DataError(f"{said}; but {shown!r} does not verify: {' '.join(found.problems)}")
    if not quiet:
        rights = f" Whoever releases needs GRANT USAGE ON SCHEMA {moved.schema}."
        say_line(
            f"{said}; its chain of {found.entries:,} entries is whole.{'' if moved.source is None else rights}",
            sys.stdout,
        )
