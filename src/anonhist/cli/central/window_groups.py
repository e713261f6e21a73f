"""``anonhist release --cumulative-by … --by``: cumulative windows of each of several groups, in one release."""

from __future__ import annotations

import sys
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.cli.central.windows import refuse_counted, without_format
from anonhist.cli.charging import write_charged
from anonhist.cli.decorators import given_options
from anonhist.cli.output import say_line
from anonhist.cli.reading import held_source, reading_bars, refuse_release
from anonhist.cli.tables import console_on, table_of
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.cli.arguments import Protection
    from anonhist.cli.central.groups import Asked
    from anonhist.cli.central.windows import AskedWindows
    from anonhist.cli.charging import AskedAccount
    from anonhist.cli.destinations import Outputs
    from anonhist.releases.cumulative import GroupedCumulativeRelease

# So many groups are shown on a terminal.
_SHOWN = 40
_NOT_FOR_WINDOWS = ("find_groups", "find_share", "other_group", "levels", "level_shares")


def release_window_groups_of(
    asked: AskedWindows,
    grouping: Asked,
    source: str,
    *,
    reading: dict[str, Any],
    protection: Protection,
    outputs: Outputs,
    epsilon: str,
    mechanism: str,
    account: AskedAccount,
) -> None:
    """Read, release and write the windows of all groups."""
    from anonhist.accounting.recording import Price
    from anonhist.cli.central.display import log
    from anonhist.ingest.groups.queries import protected_unit
    from anonhist.ingest.windows.read import check_cap, listed_days, read_cumulative_groups
    from anonhist.mechanisms.windows.release import prepare_cumulative, release_windows

    for option in given_options(click.get_current_context(), _NOT_FOR_WINDOWS):
        raise UsageError(
            f"{option} does not apply to cumulative windows (--cumulative-by), whose groups are those that are listed: "
            "leave it out, and list them with --groups."
        )
    refuse_counted(reading)
    _, days = listed_days(asked.by, asked.days)
    # "--unit user" says no more than the bounds of users, which are on groups, too.
    wanted = None if protection.max_per_user is not None else protection.unit
    unit = protected_unit(wanted, protection.max_per_user, grouping.max_groups_per_user, grouping.max_groups_per_label)
    check_cap(unit, asked.thresholds)
    prepared, reason = prepare_cumulative(
        epsilon=epsilon,
        unit=unit,
        relation=protection.relation,
        mechanism=mechanism,
        thresholds=len(asked.thresholds),
        days=len(days),
    )
    price = partial(Price.of, prepared)
    destination = account.destined(partial(outputs.for_release, source), price)
    refuse_release(source)
    held, said = held_source(source, reading)
    own = without_format(said)
    with account.charged(price) as recorded:
        with reading_bars("Adding noise", quiet=outputs.quiet) as bars, recorded.reading():
            counts = read_cumulative_groups(
                held,
                by=grouping.by,
                groups=grouping.groups or (),
                cumulative_by=asked.by,
                days=days,
                thresholds=asked.thresholds,
                max_per_user=protection.max_per_user,
                max_groups_per_user=grouping.max_groups_per_user,
                max_groups_per_label=grouping.max_groups_per_label,
                unit=wanted,
                progress=bars.reading,
                **own,
            )
        released = release_windows(counts, prepared, reason).with_receipt(recorded.receipt)
        del counts
        write_charged(
            released,
            destination,
            recorded,
            say=partial(show_window_groups, released),
            log=partial(log, released),
        )


def show_window_groups(release: GroupedCumulativeRelease, stream: TextIO) -> None:
    """Print what was released, promised and done, and where a person reads it the last day of each group."""
    from rich.text import Text

    from anonhist.report.groups.wording import names_of
    from anonhist.report.remarks import bound_of
    from anonhist.report.windows.wording import cells_of, heads_of, told_of_groups
    from anonhist.report.wording import promise_lines

    say_line(f"Released: {told_of_groups(release)}.", stream)
    for title, sentence in (*promise_lines(release.guarantee), *bound_of(release)):
        say_line(f"{title}: {sentence}", stream)
    say_line(f"Mechanism: {release.mechanism.name}. {release.first.reason}", stream)
    if stream is sys.stderr or not stream.isatty():
        return
    console = console_on(stream, widest=100)
    last = release.days[-1]
    rows = [[*map(Text, (*names_of(group), *cells_of(each, last)))] for group, each in islice(release.items(), _SHOWN)]
    heads = [*release.by, *heads_of(release.first)[1:]]
    console.print(f"By the end of {last}:")
    console.print(table_of(heads, rows, console, texts=range(len(release.by))))
    if len(release) > _SHOWN:
        console.print(f"… and {len(release) - _SHOWN:,} more groups, in the file.", style="dim")
    console.print("The other days are in the file, and those of one group with 'anonhist show --group'.", style="dim")
