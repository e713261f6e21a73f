"""``anonhist release --cumulative-by``: how many labels have reached each threshold by the end of each day."""

from __future__ import annotations

import sys
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click

from anonhist.errors import UsageError
from anonhist.terminal.charging import write_charged
from anonhist.terminal.decorators import as_one, given_options
from anonhist.terminal.destinations import console_on, table_of
from anonhist.terminal.output import say_line
from anonhist.terminal.reading import held_source, reading_bars, refuse_release

if TYPE_CHECKING:
    from anonhist.cli.groups import Asked
    from anonhist.releases.cumulative import Windows
    from anonhist.terminal.charging import AskedAccount
    from anonhist.terminal.decorators import Protection
    from anonhist.terminal.destinations import Outputs

WINDOWS = ("cumulative_by", "days", "thresholds")
# So many days are shown on a terminal: the last of equal spans.
_SHOWN = 15


class AskedWindows(NamedTuple):
    """The options of cumulative windows, as they were typed."""

    by: str
    days: str
    thresholds: tuple[int, ...]

    @classmethod
    def of(cls, *, cumulative_by: str | None, days: str | None, thresholds: str | None) -> AskedWindows | None:
        """Return what the options ask for; None where no windows are wanted."""
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
    # A word that is no number is refused with the others, in one sentence.
    return parse_thresholds(
        [int(word) if word.isascii() and word.isdigit() and len(word) < 20 else 0 for word in words]
    )


windows_options = as_one(
    "windows",
    click.option(
        "--cumulative-by",
        metavar="DATE",
        help="Release how many labels have reached each threshold by the end of each day, since the first: "
        "'day(COLUMN)', 'week(COLUMN)' or 'month(COLUMN)'. All days at once, under one budget.",
    ),
    click.option(
        "--days",
        metavar="DAYS",
        help="With --cumulative-by: the days, which must be public: a range such as 2026-11-01..2026-11-30, or days "
        "or months with commas between them. Rows of others are left out.",
    ),
    click.option(
        "--thresholds",
        metavar="K,K,…",
        help="With --cumulative-by: how many items a label has to have, such as 1,2,5: each its own curve.",
    ),
    made=AskedWindows.of,
)


# So many groups are shown on a terminal.
_GROUPS_SHOWN = 40
_NOT_FOR_WINDOWS = ("find_groups", "find_share", "other_group", "levels", "level_shares")


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
    """Read, release and write the windows: of all groups, where there are some."""
    from anonhist.accounting.recording import Price
    from anonhist.ingest.windows import listed_days, read_cumulative, read_cumulative_groups, unit_of_windows
    from anonhist.mechanisms.window_release import prepare_cumulative, release_windows
    from anonhist.profiles.windows import in_one_group
    from anonhist.terminal.display import log

    wanted, bounds = protection.unit, None
    if grouping is not None:
        for option in given_options(click.get_current_context(), _NOT_FOR_WINDOWS):
            raise UsageError(
                f"{option} does not apply to cumulative windows (--cumulative-by), whose groups are those that are "
                "listed: leave it out, and list them with --groups."
            )
        bounds = grouping.max_groups_per_user, grouping.max_groups_per_label
        # "--unit user" says no more than the bounds of users, which are on groups, too.
        wanted = None if protection.max_per_user is not None else wanted
    refuse_counted(reading)
    _, days = listed_days(asked.by, asked.days)
    prepared, reason = prepare_cumulative(
        epsilon=epsilon,
        unit=unit_of_windows(wanted, protection.max_per_user, asked.thresholds, bounds=bounds),
        relation=protection.relation,
        mechanism=mechanism,
        thresholds=len(asked.thresholds),
        days=len(days),
    )
    price = partial(Price.of, prepared)
    destination = account.destined(partial(outputs.for_release, source), price)
    refuse_release(source)
    held, said = held_source(source, reading)
    own = without_format(said) | {
        "days": days,
        "thresholds": asked.thresholds,
        "max_per_user": protection.max_per_user,
        "unit": wanted,
    }
    with account.charged(price) as recorded:
        with reading_bars("Adding noise", quiet=outputs.quiet) as bars, recorded.reading():
            if grouping is None:
                counts = in_one_group(read_cumulative(held, by=asked.by, progress=bars.reading, **own))
            else:
                counts = read_cumulative_groups(
                    held,
                    by=grouping.by,
                    groups=grouping.groups or (),
                    cumulative_by=asked.by,
                    max_groups_per_user=grouping.max_groups_per_user,
                    max_groups_per_label=grouping.max_groups_per_label,
                    progress=bars.reading,
                    **own,
                )
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


def refuse_counted(reading: dict[str, Any]) -> None:
    """Refuse data that were counted already: they have no days."""
    if reading["format"] not in (None, "events"):
        raise UsageError("Cumulative windows need a date in each row: leave --format out, and name a column (--count).")


def without_format(said: dict[str, Any]) -> dict[str, Any]:
    """Return how a source is read that has a date in each row: the column of counts says all that a format could."""
    from anonhist.ingest.row_kinds import NO_COUNT, SaidOfRows

    SaidOfRows(said["format"], said["label"], said["count"]).check(said["user"])
    own = {name: value for name, value in said.items() if name != "format"}
    return own if said["format"] is None else own | {"count": NO_COUNT}


def refuse_for_windows(context: click.Context, names: tuple[str, ...]) -> None:
    """Refuse options that do not apply to cumulative windows."""
    for option in given_options(context, names):
        raise UsageError(f"{option} does not apply to cumulative windows (--cumulative-by); leave it out.")


def show_windows(release: Windows, stream: TextIO) -> None:
    """Print what was released, promised and done, and where a person reads it a table: of days, or of groups."""
    from rich.text import Text

    from anonhist.releases.cumulative import CumulativeRelease
    from anonhist.report.groups import names_of
    from anonhist.report.windows import cells_of, heads_of, shown_days, told_of, told_of_groups
    from anonhist.report.wording import bound_of, promise_lines

    told = told_of(release) if isinstance(release, CumulativeRelease) else told_of_groups(release)
    say_line(f"Released: {told}.", stream)
    for title, sentence in (*promise_lines(release.guarantee), *bound_of(release)):
        say_line(f"{title}: {sentence}", stream)
    say_line(f"Mechanism: {release.mechanism.name}. {release.reason}", stream)
    if stream is sys.stderr or not stream.isatty():
        return
    console = console_on(stream, widest=100)
    if isinstance(release, CumulativeRelease):
        rows = [[*map(Text, (day, *cells_of(release, day)))] for day in shown_days(release, _SHOWN)]
        console.print(table_of(heads_of(release), rows, console, texts=[0]))
        if len(release.days) > len(rows):
            console.print(f"… and {len(release.days) - len(rows):,} more days, in the file.", style="dim")
        return
    last = release.days[-1]
    rows = [
        [*map(Text, (*names_of(group), *cells_of(each, last)))]
        for group, each in islice(release.items(), _GROUPS_SHOWN)
    ]
    heads = [*release.by, *heads_of(release.first)[1:]]
    console.print(f"By the end of {last}:")
    console.print(table_of(heads, rows, console, texts=range(len(release.by))))
    if len(release) > _GROUPS_SHOWN:
        console.print(f"… and {len(release) - _GROUPS_SHOWN:,} more groups, in the file.", style="dim")
    console.print("The other days are in the file, and those of one group with 'anonhist show --group'.", style="dim")
