"""``anonhist release``: events in, a private profile out."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from anonhist.catalogue import MECHANISM_OPTIONS, MECHANISMS, MechanismName
from anonhist.cli.groups import GROUPING, grouping_options, refuse_excess_of_items, refuse_hidden_excess
from anonhist.cli.windows import WINDOWS, windows_options
from anonhist.privacy import PrivacyUnit
from anonhist.terminal.charging import CHARGING, charging_options
from anonhist.terminal.decorators import SectionedCommand, WholeNumber
from anonhist.terminal.options import (
    epsilon_option,
    mechanism_options,
    protection_options,
    reading_options,
    release_output_options,
    simulations_option,
)
from anonhist.terminal.output import say_line
from anonhist.terminal.reading import (
    READING,
    one_source,
    profile_of_source,
    protection_of,
    reading_bars,
    refuse_for_parts,
    refuse_release,
    source_argument,
)

if TYPE_CHECKING:
    from anonhist.cli.groups import Asked
    from anonhist.cli.windows import AskedWindows
    from anonhist.terminal.charging import AskedAccount
    from anonhist.terminal.decorators import Protection
    from anonhist.terminal.destinations import Outputs

_SECTIONS = {
    "Input": READING,
    "Privacy": ("epsilon", "unit", "max_per_user", "excess_share", "excess_cap", "max_count", "relation"),
    "Groups": GROUPING,
    "Windows": WINDOWS,
    "Mechanism": ("mechanism", *MECHANISM_OPTIONS, "expected_items", "simulations"),
    "Ledger": CHARGING,
    "Output": ("output", "report", "title", "force", "quiet"),
}
_EXAMPLES = """
anonhist release events.parquet --label query --epsilon 1
anonhist release log.csv.gz --label password --user account --max-per-user 1 --epsilon 0.5
anonhist release log.csv --label query --by country --groups DE,FR,PL --epsilon 1 -o countries.json
anonhist release log.csv --label id --cumulative-by 'day(t)' --days 2026-11-01..2026-11-30 --thresholds 1,3 --epsilon 1
anonhist release 'duckdb:///shop.db' --table orders --label sku --epsilon 1
anonhist release 'sc://cluster:15002' --table shop.orders --label sku --epsilon 1
anonhist release day-01.counts day-02.counts --epsilon 1
cut -f3 access.log | anonhist release - --format labels --epsilon 1 -o -
"""
# A user is a label then, and to take one away changes one count: noise for several items is more than that needs.
_LABELS_ARE_USERS = (
    "Note: here the labels are the users. Replace --user and --max-per-user with --unit label --max-count "
    "{bound}: it protects them equally well with less noise."
)


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@source_argument
@epsilon_option(required=True)
@reading_options
@protection_options()
@grouping_options
@windows_options
@click.option(
    "--excess-share",
    metavar="S",
    help="With --max-per-user, --max-count or a bound on groups: share of epsilon, such as 0.05, spent on estimating "
    "what that bound leaves out; with --by, of all groups together.  [default: none]",
)
@click.option(
    "--excess-cap",
    type=WholeNumber(),
    metavar="C",
    help="With --excess-share: at most C items or groups beyond the bound count per user or label, of groups no more "
    "than there are; a larger C needs more noise.  [default: 10 times the bound]",
)
@click.option(
    "--mechanism",
    default="auto",
    show_default=True,
    metavar="NAME",
    help=f"Mechanism that adds the noise: {', '.join(MECHANISMS)}, or auto, which picks the one with the smallest "
    "expected error and says why.",
)
@mechanism_options(MECHANISM_OPTIONS)
@click.option(
    "--expected-items",
    type=WholeNumber(),
    metavar="N",
    help="Approximate number of items, such as 1e9, if it is public; helps auto choose for huge data.",
)
@simulations_option
@charging_options
@release_output_options()
def release(
    *,
    sources: tuple[str, ...],
    reading: dict[str, Any],
    epsilon: str,
    protection: Protection,
    grouping: Asked | None,
    windows: AskedWindows | None,
    excess_share: str | None,
    excess_cap: int | None,
    mechanism: MechanismName,
    own: dict[str, Any],
    expected_items: int | None,
    simulations: int | None,
    account: AskedAccount,
    outputs: Outputs,
) -> None:
    """Release a private profile of events or counts.

    A profile says how many labels occur once, how many twice, and so on, but not which labels.

    SOURCE is a file (.csv, .tsv, .jsonl, .parquet or .txt; .gz and .zst too), a pattern such as 'logs/*.csv', a URL
    (https://, s3:// or gs://, with the extra [remote]), a database (duckdb:///FILE; with the extra [ibis]
    sqlite:///FILE, postgresql://… and warehouses such as bigquery://PROJECT/DATASET), Spark (spark://HOST:PORT, and
    sc://HOST:PORT for Spark Connect, with the extra [spark]), or - for standard input. For standard input and .txt
    files, say as well what the lines are: one label per line (--format labels), columns with a header (--label COLUMN;
    CSV, in .txt files separated by tabs), or another --format. Several sources, such as day-*.counts, must be parts:
    'anonhist count' makes them.

    Without -o, the release is written to release.json in the working directory, or as CSV to standard output in a pipe.
    """
    account.check()
    if windows is not None:
        from anonhist.cli.windows import refuse_for_windows, release_windows_of

        refuse_for_windows(
            click.get_current_context(),
            (*MECHANISM_OPTIONS, "excess_share", "excess_cap", "expected_items", "simulations"),
        )
        release_windows_of(
            windows,
            grouping,
            one_source(sources, "windows"),
            reading=reading,
            protection=protection,
            outputs=outputs,
            epsilon=epsilon,
            mechanism=mechanism,
            account=account,
        )
        return
    from anonhist.mechanisms.releasing import AskedRelease

    guarantee = epsilon, protection.unit, protection.relation
    asked = AskedRelease(*guarantee, mechanism, own, expected_items, excess_share, excess_cap, simulations)
    if grouping is not None:
        from anonhist.cli.groups import refuse_for_groups, release_groups_of

        others = (
            *(name for name in MECHANISM_OPTIONS if name not in ("public_cap", "delta")),
            "expected_items",
        )
        refuse_for_groups(click.get_current_context(), others)
        release_groups_of(
            grouping,
            one_source(sources, "groups"),
            reading=reading,
            protection=protection,
            outputs=outputs,
            wanted=asked,
            account=account,
        )
        return
    protection = protection_of(sources, protection)
    is_of_users = protection.max_per_user is not None
    if is_of_users:
        refuse_for_parts(sources, ("excess_share", "excess_cap"))
    refuse_excess_of_items(excess_share, PrivacyUnit.user(max_items=1) if is_of_users else protection.unit)
    from anonhist.terminal.display import write_release

    prepared = replace(asked, unit=protection.unit).prepared(PrivacyUnit.item(), protection.max_per_user)
    destination = account.destined(partial(outputs.for_release, *sources), prepared.price)
    refuse_release(*sources)
    refuse_hidden_excess(prepared.excess, destination, outputs)
    if reading["user"] is not None and reading["user"] == reading["label"] and not outputs.quiet:
        say_line(_LABELS_ARE_USERS.format(bound=protection.max_per_user), sys.stderr)

    with account.charged(prepared.price) as recorded:
        with reading_bars("Estimating errors", quiet=outputs.quiet) as bars:
            with recorded.reading():
                counts_users = is_of_users and prepared.excess is not None
                profile = profile_of_source(sources, reading, protection, bars, count_users=counts_users)
            released = replace(prepared.release(profile), receipt=recorded.receipt)
            del profile
            released = released.with_error(progress=bars.working)
        write_release(released, destination, recorded)
