"""``anonhist check``: what a release would read, protect and cost, according to the schema of its source."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from anonhist.catalogue import MECHANISM_OPTIONS, Levels, MechanismName
from anonhist.cli.groups import protection_of_groups, ready_groups
from anonhist.cli.release import (
    ASKED_SECTIONS,
    asked_of_windows,
    asked_options,
    mechanism_of_windows,
    note_users,
    prepared_release,
    protection_of_profile,
    source_of_windows,
)
from anonhist.privacy import PrivacyUnit
from anonhist.terminal.charging import AskedAccount, balance_options
from anonhist.terminal.decorators import Brief, SectionedCommand, refuse_given
from anonhist.terminal.destinations import console_on, table_of
from anonhist.terminal.options import epsilon_option, quiet_option
from anonhist.terminal.output import say_line
from anonhist.terminal.protection import Protection as AskedProtection
from anonhist.terminal.reading import (
    are_parts,
    bounding_of,
    held_source,
    named_source,
    one_source,
    refuse_release,
    source_argument,
)

if TYPE_CHECKING:
    from fractions import Fraction

    from anonhist.accounting.budget import Cost
    from anonhist.accounting.recording import Price
    from anonhist.cli.groups import Asked
    from anonhist.cli.release import AskedWindows
    from anonhist.ingest.outline import Outline
    from anonhist.mechanisms.releasing import AskedRelease
    from anonhist.privacy import Guarantee
    from anonhist.terminal.charging import Foreseen

_SECTIONS = {**ASKED_SECTIONS, "Ledger": balance_options.names, "Output": ("quiet",)}
_EXAMPLES = """
anonhist check events.parquet --label query
anonhist check log.csv --label password --user account --max-per-user 1 --epsilon 0.5
anonhist check 'duckdb:///shop.db' --table orders --label sku --epsilon 1 --ledger budget.db --dataset orders
"""
_BRIEF = Brief(
    (
        *("label", "count", "format_", "table", "no_header", "epsilon", "unit", "user", "max_per_user", "ledger"),
        *("dataset", "quiet"),
    ),
    "Takes the options of 'anonhist release', except those for output. Reads no row, charges nothing and writes "
    "nothing.",
)
# Options that change only the price.
_OF_PRICE = (
    *("mechanism", *MECHANISM_OPTIONS, "expected_items", "excess_share", "excess_cap", "find_share", "level_shares"),
)


class _Planned(NamedTuple):
    """A release to check, before its source is opened; without ε it has no price."""

    unit: PrivacyUnit
    outline: Callable[[], Outline]
    price: Callable[[], Price] | None
    reason: str = ""
    levels_cross: bool = False


@click.command(cls=SectionedCommand, sections=_SECTIONS, brief=_BRIEF, epilog=_EXAMPLES)
@source_argument
@epsilon_option("Privacy budget of the release, such as 1 or 0.5; without it, no cost is shown.")
@asked_options
@balance_options
@quiet_option
def check(
    *,
    sources: tuple[str, ...],
    reading: dict[str, Any],
    epsilon: str | None,
    protection: AskedProtection,
    grouping: Asked | None,
    windows: AskedWindows | None,
    excess_share: str | None,
    excess_cap: int | None,
    mechanism: MechanismName,
    own: dict[str, Any],
    expected_items: int | None,
    account: AskedAccount,
    quiet: bool,
) -> None:
    """Check a release by its schema, before any row is read.

    The check reads only the schema of SOURCE: the header line of a text file, or the declared columns of Parquet files
    and databases. It shows what the release would read, protect and cost: which columns it would read, and as what;
    with --epsilon, the mechanism and the guarantee; with --ledger, what is left before and after. The output depends on
    no row: sources with equal schemas have equal outputs. So the check cannot find errors in rows, such as an invalid
    count.

    What 'anonhist release' would refuse because of the schema, the check refuses with the same exit code.
    """
    account.check()
    protection = protection.in_groups(None if grouping is None else grouping.group_candidates)
    if epsilon is None:
        refuse_given(_OF_PRICE, "{} affects what a release costs: add --epsilon, or leave it out.")
    if windows is not None:
        planned = _of_windows(
            windows,
            grouping,
            one_source(sources, "windows"),
            reading=reading,
            protection=protection,
            epsilon=epsilon,
            mechanism=mechanism,
        )
    else:
        from anonhist.mechanisms.releasing import AskedRelease

        guarantee = epsilon, protection.unit, protection.relation
        asked = AskedRelease(*guarantee, mechanism, own, expected_items, excess_share, excess_cap)
        if grouping is not None:
            source = one_source(sources, "groups")
            planned = _of_groups(grouping, source, reading=reading, protection=protection, asked=asked)
        else:
            planned = _of_profile(sources, reading=reading, protection=protection, asked=asked)
    # In the order of a release, which is charged before its source is opened.
    foreseen = account.foreseen(planned.price)
    outline = planned.outline()
    if quiet:
        return
    if windows is None and grouping is None:
        note_users(reading, protection)
    _show(outline, _facts(planned, protection, foreseen))


def _of_profile(
    sources: tuple[str, ...], *, reading: dict[str, Any], protection: AskedProtection, asked: AskedRelease
) -> _Planned:
    from anonhist.ingest.outline import outline_parts, outline_profile
    from anonhist.ingest.protection import Protection

    protection = protection_of_profile(sources, protection, asked.excess_share)
    choice, prepared = (None, None) if asked.epsilon is None else prepared_release(asked, protection)
    refuse_release(*sources, reading=reading)
    counts_users = protection.max_per_user is not None and prepared is not None and prepared.excess is not None

    def outline() -> Outline:
        _, said = held_source(sources[0], reading)
        if are_parts(sources):
            said.pop("limits")
            return outline_parts([Path(source) for source in sources], protection.max_per_user, protection.unit, **said)
        rows = Protection.of_profile(
            protection.unit,
            max_per_user=protection.max_per_user,
            count_users=counts_users,
            **bounding_of(reading),
        )
        return outline_profile(named_source(sources[0], reading), rows)

    unit = protection.unit or PrivacyUnit.item()
    if prepared is None:
        return _Planned(unit, outline, None)
    from anonhist.mechanisms.setting import CHOSEN_BY_NAME

    reason = (prepared.reason or CHOSEN_BY_NAME) if choice is None else choice.reason
    return _Planned(unit, outline, prepared.price, reason)


def _of_groups(
    grouping: Asked, source: str, *, reading: dict[str, Any], protection: AskedProtection, asked: AskedRelease
) -> _Planned:
    from anonhist.ingest.outline import outline_groups

    rows = protection_of_groups(grouping, reading, protection)
    ready = None if asked.epsilon is None else ready_groups(grouping, rows, protection, asked)
    refuse_release(source, reading=reading)
    outline = partial(
        outline_groups,
        named_source(source, reading),
        rows,
        grouping.groups,
        levels=grouping.levels,
        bounded=None if ready is None else ready.bounded,
    )
    return _Planned(
        rows.protected,
        outline,
        None if ready is None else ready.price,
        "" if ready is None else ready.reason,
        levels_cross=grouping.levels is Levels.CROSSING,
    )


def _of_windows(
    windows: AskedWindows,
    grouping: Asked | None,
    source: str,
    *,
    reading: dict[str, Any],
    protection: AskedProtection,
    epsilon: str | None,
    mechanism: str,
) -> _Planned:
    from anonhist.accounting.recording import Price
    from anonhist.ingest.outline import outline_windows

    wanted = asked_of_windows(windows, grouping, reading=reading, protection=protection)
    price, reason = None, ""
    if epsilon is not None:
        made, reason = mechanism_of_windows(wanted, epsilon=epsilon, relation=protection.relation, mechanism=mechanism)
        price = partial(Price.of, made)
    outline = partial(outline_windows, source_of_windows(source, reading), wanted)
    return _Planned(wanted.protection.protected, outline, price, reason)


def _facts(planned: _Planned, protection: AskedProtection, foreseen: Foreseen | None) -> list[tuple[str, str]]:
    """Return the guarantee and the cost, as names and sentences."""
    from anonhist.accounting.budget import amount, amount_left
    from anonhist.privacy import left_out
    from anonhist.privacy.conversion import Neighbors
    from anonhist.report.wording import promise_lines

    bound = left_out(planned.unit, levels_cross=planned.levels_cross)
    bounds = [("Bound", bound)] if bound else []
    if planned.price is None:
        facts = [("Protects", f"{Neighbors(planned.unit, protection.relation)}."), *bounds]
    else:
        price = planned.price()
        facts = [*promise_lines(price.guarantee), *bounds]
        facts.append(("Mechanism", f"{price.mechanism}. {planned.reason}".rstrip()))
        facts.append(("Cost", f"{_both(price.guarantee, amount)}."))
    if foreseen is not None:
        told = f"{foreseen.budget.dataset!r} has {_both(foreseen.left, amount_left)} left"
        if foreseen.cost is not None:
            after = foreseen.left.minus(foreseen.cost)
            told += f"; this release would take {_both(foreseen.cost, amount)} and leave {_both(after, amount_left)}"
        facts.append(("Ledger", f"{foreseen.ledger}: {told}."))
    return facts


def _both(cost: Cost | Guarantee, amount: Callable[[Fraction], str]) -> str:
    """Format ε, and δ unless it is zero."""
    from anonhist.accounting.budget import equal

    told = equal("ε", amount(cost.epsilon))
    return f"{told} and {equal('δ', amount(cost.delta))}" if cost.delta else told


_DONE = "No row was read, and nothing was charged."
_HIDDEN = "a column that was not named"


def _show(outline: Outline, facts: list[tuple[str, str]]) -> None:
    """Print the columns that would be read (as a table on a terminal, otherwise one line each), and the facts."""
    say_line(f"Source: {outline.source}.", sys.stdout)
    say_line(f"Rows: {outline.rows}.", sys.stdout)
    named = [(each.role, _HIDDEN if each.name is None else repr(each.name), each.held) for each in outline.columns]
    if sys.stdout.isatty() and named:
        console = console_on(sys.stdout, widest=100)
        console.print(table_of(("role", "column", "taken for"), named, console, texts=[0, 1, 2]))
    else:
        for role, name, held in named:
            say_line(f"{role.capitalize()}: {name}, {held}.", sys.stdout)
    if outline.unread:
        say_line(f"Not read: {', '.join(map(repr, outline.unread))}.", sys.stdout)
    for name, sentence in (*facts, ("Checked", _DONE)):
        say_line(f"{name}: {sentence}", sys.stdout)
