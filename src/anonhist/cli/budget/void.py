"""``anonhist budget void``: a charge is taken back."""

from __future__ import annotations

import sys

import click

from anonhist.cli.budget.options import opened
from anonhist.cli.charging import ledger_option
from anonhist.cli.decorators import WholeNumber
from anonhist.cli.options import quiet_option
from anonhist.cli.output import say_done, say_line
from anonhist.cli.sections import SectionedCommand

_EXAMPLES = """
anonhist budget void passwords --entry 12 --reason "killed before the file was opened" --ledger budget.db
"""
_PART = (
    "if its process was killed, a file .anonhist-….part where its output was to be may hold the whole release: delete "
    "it unread."
)


@click.command(cls=SectionedCommand, sections={}, epilog=_EXAMPLES)
@click.argument("dataset")
@click.option("--entry", type=WholeNumber(), required=True, metavar="N", help="Entry of the charge, as listed by show.")
@click.option("--reason", required=True, metavar="TEXT", help="Why nothing was learned from the data.")
@ledger_option
@quiet_option
def void(*, dataset: str, entry: int, reason: str, ledger: str | None, quiet: bool) -> None:
    """Take back a charge that has no release.

    Its ε can be spent again. Only if nobody has learned anything from the data: a release that ended with an error
    about the data has told something, too. The void is an entry of its own, with its reason. A charge whose release was
    written stays.

    If the process was killed, look where its output was to be: a file .anonhist-….part there may hold the whole
    release. Delete it unread, or treat it as released, and do not void the charge.

    A run (--run-id) whose charge is void is charged anew when it is started again.
    """
    with opened(ledger) as known:
        # Whatever can be voided was charged, and its file is unknown.
        known.void(entry, reason, dataset=dataset)
        say_line(f"Warning: {_PART}", sys.stderr)
        if not quiet:
            from anonhist.report.budget.wording import amount_left, equal

            left = amount_left(known.balance(dataset).left.epsilon)
            say_done(f"{dataset}: entry {entry} is void; {equal('ε', left)} is left")
