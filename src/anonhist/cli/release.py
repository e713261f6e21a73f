"""``anonhist release``: events in, a private profile out, or cumulative windows."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click

from anonhist.catalogue import MECHANISM_OPTIONS, MECHANISMS, MechanismName
from anonhist.cli.groups import (
    grouping_options,
    refuse_excess_of_items,
    refuse_hidden_excess,
    release_groups_of,
)
from anonhist.errors import UsageError
from anonhist.privacy import PrivacyUnit
from anonhist.terminal.charging import AskedAccount, charging_options, write_charged
from anonhist.terminal.decorators import Brief, SectionedCommand, WholeNumber, all_options, as_one, refuse_given
from anonhist.terminal.destinations import Outputs, print_table
from anonhist.terminal.options import (
    epsilon_option,
    mechanism_options,
    protection_options,
    reading_options,
    release_output_options,
    simulations_option,
)
from anonhist.terminal.output import say_line
from anonhist.terminal.protection import Protection
from anonhist.terminal.reading import (
    ENGINE,
    INPUT,
    bounding_of,
    named_source,
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
    from anonhist.ingest.source import Source
    from anonhist.ingest.windows import WindowsAsked
    from anonhist.mechanisms.bound_choosing import PreparedChoice
    from anonhist.mechanisms.releasing import AskedRelease, PreparedRelease
    from anonhist.mechanisms.window_mechanism import WindowMechanism
    from anonhist.privacy import EpsilonLike, NeighboringRelation
    from anonhist.releases.cumulative import Windows

# This many days are shown on a terminal: the last days of equal spans.
_DAYS_SHOWN = 15


class AskedWindows(NamedTuple):
    """The options of cumulative windows, as typed."""

    by: str
    days: str
    thresholds: tuple[int, ...]

    @classmethod
    def of(cls, *, cumulative_by: str | None, days: str | None, thresholds: str | None) -> AskedWindows | None:
        """Return the windows that the options request, or None."""
        if cumulative_by is None:
            for name, value in {"days": days, "thresholds": thresholds}.items():
                if value is not None:
                    raise UsageError(f"--{name} requires --cumulative-by, the column of dates.")
            return None
        if days is None or thresholds is None:
            raise UsageError(
                "--cumulative-by requires --days, a public list of days such as 2026-11-01..2026-11-30, and "
                "--thresholds, such as 1,2,5."
            )
        return cls(cumulative_by, days, _whole_numbers(thresholds))


def _whole_numbers(typed: str) -> tuple[int, ...]:
    from anonhist.profiles.windows import parse_thresholds

    words = [word.strip() for word in typed.split(",")]
    # A word that is not a number is refused with the others, in one sentence.
    return parse_thresholds(
        [int(word) if word.isascii() and word.isdigit() and len(word) < 20 else 0 for word in words]
    )


windows_options = as_one(
    "windows",
    click.option(
        "--cumulative-by",
        metavar="DATE",
        help="Release how many labels have reached each threshold between the first day and the end of each day: "
        "'day(COLUMN)', 'week(COLUMN)' or 'month(COLUMN)'. All days are released at once, under one budget.",
    ),
    click.option(
        "--days",
        metavar="DAYS",
        help="With --cumulative-by: the days, which must be public: a range such as 2026-11-01..2026-11-30, or days or "
        "months with commas between them. Rows of other days are left out.",
    ),
    click.option(
        "--thresholds",
        metavar="K,K,…",
        help="With --cumulative-by: numbers of items that a label can reach, such as 1,2,5; each gives a curve of its "
        "own.",
    ),
    made=AskedWindows.of,
)


# This many groups are shown on a terminal.
_GROUPS_SHOWN = 40
_NOT_FOR_WINDOWS = ("find_groups", "find_share", "other_group", "levels", "level_shares", "no_consistent")


def asked_of_windows(
    asked: AskedWindows, grouping: Asked | None, *, reading: dict[str, Any], protection: Protection
) -> WindowsAsked:
    """Return the windows to read and whom their release protects, or refuse options that exclude each other."""
    from anonhist.ingest.windows import AskedGroups, windows_asked

    if protection.choice is not None:
        raise UsageError("A bound is not chosen (auto) for cumulative windows: give the number.")

    others = *MECHANISM_OPTIONS, "excess_share", "excess_cap", "expected_items", "simulations"
    refuse_given(others, "{} does not apply to cumulative windows (--cumulative-by); leave it out.")
    groups = None
    if grouping is not None:
        refuse_given(
            _NOT_FOR_WINDOWS,
            "{} does not apply to cumulative windows (--cumulative-by): leave it out, and list the groups with "
            "--groups.",
        )
        bounds = grouping.max_groups_per_user, grouping.most_per_label
        groups = AskedGroups(grouping.by, grouping.groups or (), *bounds)
    if reading["format"] not in (None, "events"):  # already counted data have no days
        raise UsageError("Cumulative windows need a date in each row: leave --format out, and name a column (--count).")
    return windows_asked(
        groups,
        asked.by,
        days=asked.days,
        thresholds=asked.thresholds,
        max_per_user=protection.max_per_user,
        unit=protection.unit,
        **bounding_of(reading),
    )


def mechanism_of_windows(
    wanted: WindowsAsked, *, epsilon: str, relation: NeighboringRelation, mechanism: str
) -> tuple[WindowMechanism, str]:
    """Return the mechanism for windows, and the reason for it."""
    from anonhist.mechanisms.window_release import prepare_cumulative

    return prepare_cumulative(
        epsilon=epsilon,
        unit=wanted.protection.protected,
        relation=relation,
        mechanism=mechanism,
        thresholds=len(wanted.thresholds),
        days=len(wanted.dates[1]),
    )


def source_of_windows(source: str, reading: dict[str, Any]) -> Source:
    """Return the source of windows, or refuse the file of a release."""
    from anonhist.ingest.source import NO_COUNT, SaidOfRows

    refuse_release(source, reading=reading)
    # For a source with a date in each row, the column of counts says everything that a format could.
    SaidOfRows(reading["format"], reading["label"], reading["count"]).check(reading["user"])
    said = {} if reading["format"] is None else {"format": None, "count": NO_COUNT}
    return named_source(source, reading | said)


def release_windows_of(
    asked: AskedWindows,
    grouping: Asked | None,
    source: str,
    *,
    reading: dict[str, Any],
    protection: Protection,
    outputs: Outputs,
    epsilon: str,
    mechanism: str,
    account: AskedAccount,
) -> None:
    """Read, release and write the windows, of each group if there are groups."""
    from anonhist.accounting.recording import Price
    from anonhist.ingest.windows import read_windows
    from anonhist.mechanisms.window_release import release_windows
    from anonhist.terminal.display import log

    wanted = asked_of_windows(asked, grouping, reading=reading, protection=protection)
    prepared, reason = mechanism_of_windows(wanted, epsilon=epsilon, relation=protection.relation, mechanism=mechanism)
    price = partial(Price.of, prepared)
    destination = account.destined(partial(outputs.for_release, source), price)
    named = source_of_windows(source, reading)
    with account.charged(price) as recorded:
        with reading_bars("Adding noise", quiet=outputs.quiet) as bars, recorded.reading():
            counts = read_windows(named, wanted, progress=bars.reading)
        grouped = release_windows(counts, prepared, reason).with_receipt(recorded.receipt)
        del counts
        released = grouped if grouped.by else grouped.first
        write_charged(
            released,
            destination,
            recorded,
            say=partial(show_windows, released),
            log=partial(log, released),
        )


def show_windows(release: Windows, stream: TextIO) -> None:
    """Print the release and its guarantee and, unless the CSV goes to standard output, a table of days or groups."""
    from anonhist.releases.cumulative import CumulativeRelease
    from anonhist.report.windows import told_of, told_of_groups
    from anonhist.report.wording import bound_of, promise_lines

    told = told_of(release) if isinstance(release, CumulativeRelease) else told_of_groups(release)
    say_line(f"Released: {told}.", stream)
    for title, sentence in (*promise_lines(release.guarantee), *bound_of(release)):
        say_line(f"{title}: {sentence}", stream)
    if stream is not sys.stderr:
        click.echo(file=stream)
        _show_table(release, stream)
        click.echo(file=stream)
    say_line(f"Mechanism: {release.mechanism.name}. {release.reason}", stream)


def _show_table(release: Windows, stream: TextIO) -> None:
    from anonhist.releases.cumulative import CumulativeRelease
    from anonhist.report.groups import names_of
    from anonhist.report.windows import cells_of, heads_of, shown_days

    if isinstance(release, CumulativeRelease):
        rows = [[day, *cells_of(release, day)] for day in shown_days(release, _DAYS_SHOWN)]
        print_table(heads_of(release), rows, stream, texts=[0])
        if len(release.days) > len(rows):
            say_line(f"… and {len(release.days) - len(rows):,} more days, in the file.", stream, dim=True)
        return
    last = release.days[-1]
    rows = [[*names_of(group), *cells_of(each, last)] for group, each in islice(release.items(), _GROUPS_SHOWN)]
    heads = [*release.by, *heads_of(release.first)[1:]]
    say_line(f"By the end of {last}:", stream)
    print_table(heads, rows, stream, texts=range(len(release.by)))
    if len(release) > _GROUPS_SHOWN:
        say_line(f"… and {len(release) - _GROUPS_SHOWN:,} more groups, in the file.", stream, dim=True)
    say_line("The other days are in the file; 'anonhist show --group' shows those of one group.", stream, dim=True)


# The subject of a release, besides its budget.
asked_options = all_options(
    reading_options,
    protection_options(has_name=True, may_choose=True),
    grouping_options,
    windows_options,
    click.option(
        "--excess-share",
        metavar="S",
        help="With --max-per-user, --max-count or a bound on groups: share of epsilon, such as 0.05, spent on "
        "estimating what that bound leaves out; with --by, in all groups together.  [default: none]",
    ),
    click.option(
        "--excess-cap",
        type=WholeNumber(),
        metavar="C",
        help="With --excess-share: at most C items or groups beyond the bound count per user or label (of groups, at "
        "most as many as exist); a larger C needs more noise.  [default: 10 times the bound]",
    ),
    click.option(
        "--mechanism",
        default="auto",
        show_default=True,
        metavar="NAME",
        help=f"Mechanism that adds the noise: {', '.join(MECHANISMS)}, or auto, which picks the one with the smallest "
        "expected error and says why.",
    ),
    mechanism_options(MECHANISM_OPTIONS),
    click.option(
        "--expected-items",
        type=WholeNumber(),
        metavar="N",
        help="Approximate number of items, such as 1e9, if it is public; helps auto choose a mechanism for huge data. "
        "Required by bounds that are auto.",
    ),
)
ASKED_SECTIONS = {
    "Input": INPUT,
    "Privacy": (
        *("epsilon", "unit", "unit_name", "max_per_user", "bound_share", "bound_candidates"),
        *("excess_share", "excess_cap", "max_count", "relation"),
    ),
    "Groups": grouping_options.names,
    "Windows": windows_options.names,
    "Mechanism": ("mechanism", *MECHANISM_OPTIONS, "expected_items"),
    "Engine": ENGINE,
}
_SECTIONS = {
    **ASKED_SECTIONS,
    "Mechanism": (*ASKED_SECTIONS["Mechanism"], "simulations"),
    "Ledger": charging_options.names,
    "Output": ("output", "report", "title", "force", "quiet"),
}
_EXAMPLES = """
anonhist release events.parquet --label query --epsilon 1
anonhist release log.csv.gz --label password --user account --max-per-user 1 --epsilon 0.5
anonhist release log.csv --label query --by country --groups DE,FR,PL --epsilon 1 -o countries.json
cut -f3 access.log | anonhist release - --format labels --epsilon 1 -o -
anonhist release log.csv --label id --cumulative-by 'day(t)' --days 2026-11-01..2026-11-30 --thresholds 1,3 --epsilon 1
anonhist release 'duckdb:///shop.db' --table orders --label sku --epsilon 1
anonhist release 'sc://cluster:15002' --table shop.orders --label sku --epsilon 1
anonhist release day-01.counts day-02.counts --epsilon 1
"""
_BRIEF = Brief(
    (
        *("label", "count", "format_", "table", "epsilon", "unit", "user", "max_per_user", "ledger", "dataset"),
        *("output", "report", "force"),
    ),
    "SOURCE is a file (.csv, .tsv, .jsonl, .parquet or .txt), a pattern such as 'logs/*.csv', a URL, a database, "
    "Spark, or - for standard input. Without -o, the release is written to release.json, or as CSV in a pipe.",
)
# If each label is a user, removing one changes one count, and noise for several items is more than that needs.
_LABELS_ARE_USERS = (
    "Note: here the labels are the users. Replace --user and --max-per-user with --unit label --max-count {bound}: "
    "this protects them equally well, with less noise."
)


def protection_of_profile(
    sources: tuple[str, ...], protection: Protection, excess_share: EpsilonLike | None
) -> Protection:
    """Return what a release of one profile protects, or refuse an excess if nothing is bounded."""
    if protection.choice is not None and protection.max_per_user is not None:
        refuse_for_parts(sources, ("max_per_user",))
    protection = protection_of(sources, protection)
    is_of_users = protection.max_per_user is not None
    if is_of_users:
        refuse_for_parts(sources, ("excess_share", "excess_cap"))
    refuse_excess_of_items(excess_share, PrivacyUnit.user(max_items=1) if is_of_users else protection.unit)
    return protection


def prepared_release(asked: AskedRelease, protection: Protection) -> tuple[PreparedChoice | None, PreparedRelease]:
    """Return how the bound on users is chosen, if it is, and the release, of the largest candidate if it is."""
    if protection.choice is None:
        return None, replace(asked, unit=protection.unit).prepared(PrivacyUnit.item(), protection.max_per_user)
    from anonhist.mechanisms.bound_choosing import prepare_choice

    made_by = str(asked.mechanism)
    chosen = protection.choice.chosen(asked.whole, asked.expected_items, protection.relation, made_by)
    choice = prepare_choice(chosen, protection.unit or PrivacyUnit.user(max_items=chosen.largest), asked)
    return choice, choice.dearest


def note_users(reading: dict[str, Any], protection: Protection) -> None:
    """Print the options that protect users with less noise if the labels are users."""
    if reading["user"] is not None and reading["user"] == reading["label"]:
        say_line(_LABELS_ARE_USERS.format(bound=protection.max_per_user), sys.stderr)


@click.command(cls=SectionedCommand, sections=_SECTIONS, brief=_BRIEF, epilog=_EXAMPLES)
@source_argument
@epsilon_option(required=True)
@asked_options
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

    A profile shows how many labels occur once, how many twice, and so on, but not which labels.

    SOURCE is a file (.csv, .tsv, .jsonl, .parquet or .txt; .gz and .zst too), a pattern such as 'logs/*.csv', a URL
    (https://, s3:// or gs://, with the extra [remote]), a database (duckdb:///FILE; with the extra [ibis]
    sqlite:///FILE, postgresql://… and warehouses such as bigquery://PROJECT/DATASET), Spark (spark://HOST:PORT, and
    sc://HOST:PORT for Spark Connect, with the extra [spark]), or - for standard input. For standard input and .txt
    files, also give the format: one label per line (--format labels), columns with a header (--label COLUMN; CSV, in
    .txt files separated by tabs), or another --format. Several sources, such as day-*.counts, must be parts: 'anonhist
    count' makes them.

    Without -o, the release is written to release.json in the working directory, or as CSV to standard output in a pipe.
    """
    account.check()
    protection = protection.in_groups(None if grouping is None else grouping.group_candidates)
    if windows is not None:
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
    from anonhist.terminal.display import write_release

    protection = protection_of_profile(sources, protection, excess_share)
    choice, prepared = prepared_release(asked, protection)
    destination = account.destined(partial(outputs.for_release, *sources), prepared.price)
    refuse_release(*sources, reading=reading)
    refuse_hidden_excess(prepared.excess, destination, outputs)
    if not outputs.quiet:
        note_users(reading, protection)
    with account.charged(prepared.price) as recorded:
        with reading_bars("Estimating errors", quiet=outputs.quiet, releases=True) as bars:
            with recorded.reading():
                counts_users = protection.max_per_user is not None and prepared.excess is not None
                request = None if choice is None else choice.asked
                profile = profile_of_source(
                    sources, reading, protection, bars, choice=request, count_users=counts_users
                )
            if choice is not None:
                prepared = choice.releases[profile.unit]
            released = replace(prepared.release(profile), receipt=recorded.receipt)
            del profile
            released = released.with_error(progress=bars.working)
        write_release(released, destination, recorded)
