"""``anonhist budget …``: the commands of budgets and their ledger."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from anonhist.errors import DataError, MissingExtraError, UsageError
from anonhist.privacy import NeighboringRelation, exact_text, short_decimal
from anonhist.terminal.charging import VARIABLE, ledger_option
from anonhist.terminal.decorators import LazyGroup, OneOf, SectionedCommand, WholeNumber
from anonhist.terminal.destinations import AskedPage, check_report
from anonhist.terminal.options import epsilon_option, force_option, quiet_option, relation_option, report_options
from anonhist.terminal.output import print_whole, say_done, say_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from rich.console import Console

    from anonhist.accounting import Balance, Cost, Ledger, Verification
    from anonhist.accounting.balance import Item


@click.group(
    cls=LazyGroup,
    homes={name: f".cli.budget:{name}" for name in ("create", "move", "plan", "show", "verify", "void")},
)
def budget() -> None:
    """Track what the releases of a data set cost together.

    A ledger is a file or a PostgreSQL database. Every release that names a ledger is charged to the budget of its data
    set before any data are read. If too little is left, it is refused.
    """


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


def check_given(address: str | None) -> str:
    """Return the address of the ledger, or refuse a missing one."""
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


_CREATE_EXAMPLES = """
anonhist budget create passwords --epsilon 2 --unit user --ledger budget.db
anonhist budget create queries --epsilon 4 --delta 1e-8 --unit item --ledger postgresql://db.example.org/budgets
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_CREATE_EXAMPLES)
@click.argument("dataset")
@epsilon_option("Largest sum of the ε of all releases of the data set, such as 2.", required=True)
@click.option("--delta", default="1e-9", show_default=True, metavar="D", help="Largest sum of the δ of all releases.")
@click.option(
    "--unit",
    type=OneOf(("item", "user", "label", "edge", "node")),
    required=True,
    help="What the budget protects. Releases that protect users count against a budget for users, whatever their "
    "--max-per-user.",
)
@relation_option
@ledger_option
@quiet_option
def create(
    *, dataset: str, epsilon: str, delta: str, unit: str, relation: str, ledger: str | None, quiet: bool
) -> None:
    """Create the budget of a data set, and its ledger if needed.

    DATASET is the name under which its releases are charged. Data about the same people share a budget only if they
    have the same name.
    """
    from anonhist.accounting.budget import amount

    with opened(ledger) as made:
        budget = made.create(dataset, unit, epsilon=epsilon, delta=delta, relation=NeighboringRelation(relation))
        if not quiet:
            say_done(
                f"{budget.dataset}: ε = {short_decimal(budget.epsilon)}, δ = {amount(budget.delta)} for "
                f"{unit}s, in {made.shown}"
            )


_MOVE_EXAMPLES = """
anonhist budget move --ledger postgresql://db.example.org/budgets
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_MOVE_EXAMPLES)
@ledger_option
@quiet_option
def move(*, ledger: str | None, quiet: bool) -> None:
    """Move a ledger in PostgreSQL to the schema that its address names.

    Earlier versions made the ledger in the first schema of the user's search path, such as public. The ledger is moved
    as a whole or not at all, and then verified. The command refuses a database with more than one ledger. Run it as the
    owner of the tables. Rights to the tables stay, but everyone who makes releases needs the right to use the new
    schema.
    """
    from anonhist.accounting import Ledger, verify
    from anonhist.accounting.ledger import storage_at
    from anonhist.accounting.postgresql import move as move_ledger

    address = check_given(ledger)
    moved = move_ledger(storage_at(address))
    with Ledger(address) as known:
        found, shown = verify(known), known.shown
    if moved.source is None:
        said = f"The ledger is already in the schema {moved.schema}"
    else:
        # These are names that others chose.
        said = f"Moved the ledger of {moved.owner!r} from the schema {moved.source!r} to {moved.schema}"
    if found.problems:
        raise DataError(f"{said}; but {shown!r} does not verify: {' '.join(found.problems)}")
    if not quiet:
        rights = f" Everyone who makes releases needs GRANT USAGE ON SCHEMA {moved.schema}."
        say_line(
            f"{said}; its chain of {found.entries:,} entries is whole.{'' if moved.source is None else rights}",
            sys.stdout,
        )


_PLAN_EXAMPLES = """
anonhist budget plan passwords --every week --for 1y --ledger budget.db
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_PLAN_EXAMPLES)
@click.argument("dataset")
@click.option("--every", required=True, metavar="SPAN", help="Time between releases, such as day, 2w or month.")
@click.option("--for", "span", required=True, metavar="SPAN", help="Time over which to spend what is left, such as 1y.")
@ledger_option
@json_option
def plan(*, dataset: str, every: str, span: str, ledger: str | None, as_json: bool) -> None:
    """Plan how much each of several releases may cost.

    Together, they fit into what is left: the ledger adds up ε and δ by basic composition. With the extra [accounting],
    the plan also shows how much each could cost if the privacy losses of all releases were composed numerically, at the
    δ of the budget: a weaker guarantee, for policies that accept it. It holds if the number of releases and each ε are
    fixed beforehand, and do not depend on earlier results.
    """
    from anonhist.accounting.ledger import count_releases, schedule

    number = count_releases(every, span)
    with opened(ledger) as known:
        balance = known.balance(dataset)
    try:
        planned, missing = schedule(balance, number, with_distributions=True), ""
    except MissingExtraError as error:
        planned, missing = schedule(balance, number, with_distributions=False), error.sentence
    from anonhist.accounting.budget import amount, amount_left, equal

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
    typed, about = _typed(each.epsilon), f"{float(each.epsilon):.4g}"
    _say(f"  each --epsilon {typed}{'' if typed == about else f' (about {about})'}, added up plainly")
    # Of few releases, composed losses are no smaller.
    if planned.at_delta is not None and planned.at_delta > each.epsilon:
        _say(
            f"  each --epsilon {short_decimal(planned.at_delta)}, if all releases together may have ε = "
            f"{short_decimal(budget.epsilon)} at δ = {amount(budget.delta)}, and no ε depends on earlier results; "
            "the ledger would need a plain budget of "
            f"{float(balance.spent.epsilon + number * planned.at_delta):.4g} for that"
        )
    elif missing:
        _say(f"  more at δ > 0: {missing}")


def _typed(epsilon: Fraction) -> str:
    """Format ε for the command line: as a decimal if that is exact."""
    from decimal import Decimal

    below = epsilon.denominator
    if 10**18 % below:
        return short_decimal(epsilon)
    return f"{Decimal(epsilon.numerator * (10**18 // below)).scaleb(-18).normalize():f}"


def _say(line: str) -> None:
    """Print a line, broken between words on a terminal."""
    if sys.stdout.isatty():
        from anonhist.terminal.destinations import console_on, print_hanging

        print_hanging(line, console_on(sys.stdout, widest=110))
    else:
        click.echo(line)


_SHOW_EXAMPLES = """
anonhist budget show passwords --ledger budget.db
anonhist budget show passwords --report budget.html --ledger budget.db
anonhist budget show passwords --json --ledger postgresql://db.example.org/budgets
"""
_HEADS = ("entry", "time (UTC)", "ε", "by", "mechanism", "state", "purpose")


@click.command(cls=SectionedCommand, sections={}, epilog=_SHOW_EXAMPLES)
@click.argument("dataset")
@ledger_option
@json_option
@report_options(
    "Also write an HTML page that shows the budget over time and by purpose, and explains what it means for one person "
    "or item."
)
@force_option
@quiet_option
def show(
    *, dataset: str, ledger: str | None, as_json: bool, report: AskedPage | None, force: bool, quiet: bool
) -> None:
    """Show a budget: every release and its cost, and what is left.

    With --report, the chain of entries is verified first. If verification fails, the page says so, and the exit code is
    3.
    """
    from anonhist.accounting import verify

    with opened(ledger) as known:
        sheet = check_report(report, str(ledger), force=force)
        verification = None if sheet is None else verify(known)
        shown = known.shown
        try:
            balance = known.balance(dataset)
        except DataError:
            # No page can be made from it; but the damaged entry can be named.
            _check(verification, shown)
            raise
    if sheet is not None:
        # First of all, because a reader of a pipe may leave at any time.
        from anonhist.report.budget import write_budget

        write_budget(balance, replace(sheet, data_name=dataset), verification=verification)
    if as_json:
        print_whole(_json(_values(balance)))
    elif not quiet:
        _say_balance(balance, shown)
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
    """Return JSON with control characters escaped; they occur only in strings."""
    text = json.dumps(values, indent=2, ensure_ascii=False)
    return "".join(each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text) + "\n"


def _say_balance(balance: Balance, shown: str) -> None:
    from rich.text import Text

    from anonhist.accounting.budget import amount, amount_left, equal
    from anonhist.report.budget_wording import NUMBERING
    from anonhist.terminal.destinations import console_on, print_hanging

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
    from anonhist.accounting.budget import amount
    from anonhist.accounting.charge import printable
    from anonhist.report.budget_wording import purpose_of

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
    """Print charges as a table, or as paragraphs if a table is too wide."""
    from rich.text import Text

    from anonhist.accounting.budget import equal
    from anonhist.terminal.destinations import print_hanging, table_fits, table_of

    rows, texts = [[Text(cell) for cell in cells] for cells in charges], (3, 4, 5, 6)
    if table_fits(_HEADS, rows, console, texts=texts):
        console.print(table_of(_HEADS, rows, console, texts=texts))
        return
    for entry, time, epsilon, *told in charges:
        print_hanging(f"{entry}: {time} UTC, {equal('ε', epsilon)}, {', '.join(filter(None, told))}", console)


def _spent(balance: Balance) -> str:
    """Describe what was spent: the plain sum, and the composed loss at the δ of the budget."""
    from anonhist.accounting.budget import amount, equal
    from anonhist.report.budget_wording import composed_epsilon

    plain = f"{equal('ε', amount(balance.spent.epsilon))} is spent, added up plainly"
    smaller = composed_epsilon(balance)
    if smaller is None:
        return f"{plain}."
    delta = equal("δ", amount(balance.budget.delta))
    return (
        f"{plain}; at {delta} together {amount(smaller)} if their ε were fixed beforehand, losses composed as "
        "distributions."
    )


_VERIFY_EXAMPLES = """
anonhist budget verify passwords --ledger budget.db
anonhist budget verify passwords releases/*.json --ledger budget.db
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_VERIFY_EXAMPLES)
@click.argument("dataset")
@click.argument("files", nargs=-1)
@ledger_option
@quiet_option
def verify(*, dataset: str, files: tuple[str, ...], ledger: str | None, quiet: bool) -> None:
    """Check that a ledger is intact, and that released files match it.

    FILES are releases (.json, .parquet) and surveys (.json) of the data set. The chain of entries reveals every change
    to an entry. It does not reveal that the last entries were deleted, that the whole ledger was rewritten, or that an
    old backup was restored: released files do, since each holds the digest of its own entry.
    """
    from anonhist.accounting import verify as verify_ledger
    from anonhist.formats.files import claim_of

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


_VOID_EXAMPLES = """
anonhist budget void passwords --entry 12 --reason "killed before the file was opened" --ledger budget.db
"""
_PART = (
    "if its process was killed, a file .anonhist-….part in the folder of its output may hold the whole release: delete "
    "it unread."
)


@click.command(cls=SectionedCommand, sections={}, epilog=_VOID_EXAMPLES)
@click.argument("dataset")
@click.option("--entry", type=WholeNumber(), required=True, metavar="N", help="Entry of the charge, as listed by show.")
@click.option("--reason", required=True, metavar="TEXT", help="Why nothing was learned from the data.")
@ledger_option
@quiet_option
def void(*, dataset: str, entry: int, reason: str, ledger: str | None, quiet: bool) -> None:
    """Void a charge that led to no release.

    Its ε can be spent again. Void a charge only if nobody has learned anything from the data: an error about the data
    reveals something, too. The void is an entry of its own, with its reason. A charge whose release was written cannot
    be voided.

    If the process was killed, look in the folder of its output: a file .anonhist-….part there may hold the whole
    release. Delete it unread; if anybody has read it, treat it as released, and do not void the charge.

    A run (--run-id) whose charge is void is charged again when it is restarted.
    """
    with opened(ledger) as known:
        # Every charge that can be voided was recorded as charged, and its file is unknown.
        known.void(entry, reason, dataset=dataset)
        say_line(f"Warning: {_PART}", sys.stderr)
        if not quiet:
            from anonhist.accounting.budget import amount_left, equal

            left = amount_left(known.balance(dataset).left.epsilon)
            say_done(f"{dataset}: entry {entry} is void; {equal('ε', left)} is left")
