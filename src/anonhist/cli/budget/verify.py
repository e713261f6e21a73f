"""``anonhist budget verify``: whether a ledger is whole, and released files match it."""

from __future__ import annotations

import click

from anonhist.cli.budget.options import opened
from anonhist.cli.charging import ledger_option
from anonhist.cli.options import quiet_option
from anonhist.cli.sections import SectionedCommand
from anonhist.errors import DataError

_EXAMPLES = """
anonhist budget verify passwords --ledger budget.db
anonhist budget verify passwords releases/*.json --ledger budget.db
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@click.argument("dataset")
@click.argument("files", nargs=-1)
@ledger_option
@quiet_option
def verify(*, dataset: str, files: tuple[str, ...], ledger: str | None, quiet: bool) -> None:
    """Check that a ledger is whole, and that released files match it.

    FILES are releases (.json, .parquet) and surveys (.json) of the data set. The chain of entries shows every change of
    the ledger, but not that its end was cut off, that all of it was written anew, or that an old backup was restored:
    files show that, since each names the digest of its own entry.
    """
    from anonhist.accounting import verify as verify_ledger
    from anonhist.formats.claims import claim_of

    with opened(ledger) as known:
        found = verify_ledger(known, map(claim_of, files), dataset=dataset)
        if found.problems:
            more = "" if len(found.problems) == 1 else f" ({len(found.problems)} problems)"
            raise DataError(f"The ledger {known.shown!r} does not verify{more}: {' '.join(found.problems)}")
        known.balance(dataset)
    if not quiet:
        matched = f" {found.files:,} file{'s match' if found.files > 1 else ' matches'}." if found.files else ""
        if found.unchecked:
            number = len(found.unchecked)
            which = "" if number == found.files else f" of {number:,} of them"
            matched += f" Expected errors and intervals{which} were not compared: the ledger has no digest of them."
        click.echo(f"{dataset}: the chain of {found.entries:,} entries is whole.{matched}")
