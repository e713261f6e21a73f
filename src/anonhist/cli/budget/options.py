"""Options that the commands of budgets share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from anonhist.cli.charging import VARIABLE
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anonhist.accounting import Ledger

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


def check_given(address: str | None) -> str:
    """Return an address, or refuse that there is none."""
    if not address:
        raise UsageError(f"--ledger is missing: name a file, such as --ledger budget.db, or set {VARIABLE}.")
    return address


@contextmanager
def opened(address: str | None) -> Iterator[Ledger]:
    """Return the ledger at an address, closed at the end of the block."""
    given = check_given(address)
    from anonhist.accounting import Ledger

    with Ledger(given) as ledger:
        yield ledger
