"""``anonhist release --by``: a profile for each of several groups, in one release."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

import click

from anonhist.catalogue import MECHANISM_OPTIONS, Levels
from anonhist.errors import UsageError
from anonhist.privacy import EpsilonLike, PrivacyUnit, parse_epsilon
from anonhist.terminal.charging import AskedAccount, write_charged
from anonhist.terminal.decorators import WholeNumber, as_one, refuse_given
from anonhist.terminal.destinations import STDOUT, Destination, Outputs, print_table
from anonhist.terminal.output import say_line
from anonhist.terminal.protection import AUTO, Most, parse_typed_candidates
from anonhist.terminal.reading import bounding_of, named_source, reading_bars, refuse_release

if TYPE_CHECKING:
    from fractions import Fraction

    from anonhist.accounting.recording import Price
    from anonhist.ingest.protection import Protection
    from anonhist.mechanisms import ExcessMechanism
    from anonhist.mechanisms.bound_choosing import PreparedChoice
    from anonhist.mechanisms.group_planning import PreparedGroups
    from anonhist.mechanisms.grouping import FindGroups
    from anonhist.mechanisms.releasing import AskedRelease
    from anonhist.profiles import Bounded
    from anonhist.releases.grouped import GroupedRelease
    from anonhist.terminal.protection import Protection as AskedProtection


def refuse_excess_of_items(share: EpsilonLike | None, unit: PrivacyUnit | None) -> None:
    """Refuse a share for what a bound leaves out if nothing is bounded, because items are protected."""
    from anonhist.mechanisms.excess import parse_excess_share

    if parse_excess_share(share) and (unit is None or unit.max_items is unit.max_count is None):
        raise UsageError("--excess-share estimates what a bound leaves out: add --max-per-user, or --unit label.")


def refuse_hidden_excess(excess: ExcessMechanism | None, destination: Destination, outputs: Outputs) -> None:
    """Refuse outputs if none can hold the excess, before budget is spent on it."""
    is_csv = destination.target == STDOUT or str(destination.target).lower().endswith(".csv")
    if excess is not None and outputs.quiet and outputs.page is None and is_csv:
        raise UsageError("CSV cannot hold the excess and --quiet hides it: write .json, .parquet or a report.")


# This many groups are shown on a terminal.
_SHOWN = 40
_NOTHING_LEFT_OUT = (
    "Excess: none. Each {kind} may count in all groups that were found, so nothing was left out; the share of epsilon "
    "for this estimate was not spent."
)


class Asked(NamedTuple):
    """The options of groups, as typed."""

    by: tuple[str, ...]
    groups: str | None
    find_share: Fraction | None
    max_groups_per_label: int | Literal["auto"] | None
    group_candidates: tuple[int, ...] | None
    max_groups_per_user: int | None
    other_group: str | None
    levels: Levels | None
    level_shares: tuple[Fraction, ...]
    no_consistent: bool

    @property
    def most_per_label(self) -> int | None:
        """The number of groups in which a label counts, or the largest candidate if it is chosen."""
        return self.max_groups_per_label if self.max_groups_per_label != AUTO else (self.group_candidates or (1,))[-1]

    @classmethod
    def of(
        cls,
        *,
        by: str | None,
        groups: str | None,
        find_groups: bool,
        find_share: str | None,
        levels: str | None,
        level_shares: str | None,
        max_groups_per_label: int | Literal["auto"] | None,
        group_candidates: str | None,
        **others: Any,
    ) -> Asked | None:
        """Return the groups that the options request, or None."""
        if by is None:
            for name, value in {
                "groups": groups,
                "find-groups": find_groups,
                "find-share": find_share,
                "levels": levels,
                "level-shares": level_shares,
                "max-groups-per-label": max_groups_per_label,
                "group-candidates": group_candidates,
                **others,
            }.items():
                if value:
                    raise UsageError(f"--{name.replace('_', '-')} requires --by, the grouping columns.")
            return None
        if (groups is None) is not find_groups:
            raise UsageError(
                "--by requires either --groups, a public list of groups (a file, names with commas between them, or a "
                "range of days), or --find-groups."
            )
        if find_share is not None and not find_groups:
            raise UsageError("--find-share requires --find-groups.")
        share = parse_epsilon(find_share or "0.1", name="find_share") if find_groups else None
        if share is not None and share >= 1:
            raise UsageError("--find-share must be a share of epsilon below 1, such as 0.1.")
        from anonhist.mechanisms.group_planning import parse_level_shares
        from anonhist.profiles.grouped import parse_levels

        if others["no_consistent"] and levels != Levels.CROSSING.value:
            raise UsageError("--no-consistent requires --levels crossing: other numbers are never adjusted.")
        chosen = None
        if max_groups_per_label == AUTO:
            chosen = parse_typed_candidates(group_candidates, "group_candidates")
        elif group_candidates is not None:
            raise UsageError("--group-candidates requires --max-groups-per-label auto.")
        columns = tuple(name.strip() for name in by.split(","))
        asked = parse_levels(levels)
        given = None if level_shares is None else level_shares.split(",")
        return cls(
            columns,
            groups,
            share,
            levels=asked,
            level_shares=parse_level_shares(given, asked, columns=len(columns)),
            max_groups_per_label=max_groups_per_label,
            group_candidates=chosen,
            **others,
        )


grouping_options = as_one(
    "grouping",
    click.option(
        "--by",
        metavar="COLUMN,…",
        help="Columns whose values make groups: release a profile for each. Dates: 'day(COLUMN)', 'week(COLUMN)' or "
        "'month(COLUMN)'.",
    ),
    click.option(
        "--groups",
        metavar="LIST",
        help="With --by: groups to release, which must be public: a file with these columns, names such as DE,FR, or "
        "days such as 2026-11-01..2026-11-30 (or all weeks or months with any of these days). Rows of other groups are "
        "left out.",
    ),
    click.option(
        "--find-groups",
        is_flag=True,
        help="With --by, instead of --groups: privately find groups with many units. Requires --delta.",
    ),
    click.option(
        "--find-share",
        metavar="S",
        help="With --find-groups: share of epsilon spent on finding groups.  [default: 0.1]",
    ),
    click.option(
        "--max-groups-per-label",
        type=Most("groups of labels", WholeNumber()),
        metavar="G|auto|from:FILE",
        help="With --by and --unit label: each label counts in at most G groups, picked at random. auto: choose G "
        "privately, together with --max-count if that is auto, too.",
    ),
    click.option(
        "--group-candidates",
        metavar="G,G,…",
        help="With --max-groups-per-label auto: numbers of groups to choose from, which must be public.  [default: "
        "powers of two to 128]",
    ),
    click.option(
        "--max-groups-per-user",
        type=WholeNumber(),
        metavar="G",
        help="With --by and --user: each user counts in at most G groups, with at most M items (--max-per-user) in "
        "each. By default, each user has at most M items in all groups together.",
    ),
    click.option(
        "--other-group",
        metavar="NAME",
        help="With --by: add a group with this name, for all rows of groups that are not listed.",
    ),
    click.option(
        "--levels",
        type=click.Choice([each.value for each in Levels]),
        help="With --by: also release totals, of groups with the same first names and of everything. nested: each "
        "label, such as a household, is in one group; totals are sums, at no cost. crossing: a label, such as a query, "
        "may be in many groups; each level is released with a share of epsilon.",
    ),
    click.option(
        "--level-shares",
        metavar="S,…",
        help="With --levels crossing: shares of epsilon, first for the total of everything, then for the groups of the "
        "first column, and so on.  [default: equal]",
    ),
    click.option(
        "--no-consistent",
        is_flag=True,
        help="With --levels crossing: leave totals and groups as drawn, even where noise makes them contradict.",
    ),
    made=Asked.of,
)


_NOT_FOR_GROUPS = (*(name for name in MECHANISM_OPTIONS if name not in ("public_cap", "delta")), "expected_items")


def protection_of_groups(asked: Asked, reading: dict[str, Any], protection: AskedProtection) -> Protection:
    """Return which rows of groups count and what their release protects, or refuse options that exclude each other."""
    from anonhist.ingest.protection import Protection

    others = [each for each in _NOT_FOR_GROUPS if protection.choice is None or each != "expected_items"]
    refuse_given(others, "{} does not apply to a release of groups (--by); leave it out.")
    return Protection.of_groups(
        protection.unit,
        by=asked.by,
        other=asked.other_group,
        max_per_user=protection.max_per_user,
        max_groups_per_user=asked.max_groups_per_user,
        max_groups_per_label=asked.most_per_label,
        **bounding_of(reading),
    )


class ReadyGroups(NamedTuple):
    """A release of groups, checked and ready except for its data."""

    finding: FindGroups | None
    bounded: tuple[Bounded, int] | None
    prepared: PreparedGroups
    choice: PreparedChoice | None = None

    @property
    def reason(self) -> str:
        """What will be chosen, in a sentence; empty if nothing is."""
        return "" if self.choice is None else self.choice.reason

    def price(self) -> Price:
        """Return the cost of the release, and that of finding the groups."""
        found = None if self.finding is None else (self.finding.epsilon, self.finding.delta)
        return self.prepared.price(found)


def ready_groups(asked: Asked, rows: Protection, protection: AskedProtection, wanted: AskedRelease) -> ReadyGroups:
    """Return a release of groups, or refuse options that it does not accept."""
    from anonhist.ingest.groups.reading import choice_of_groups
    from anonhist.mechanisms.excess import parse_excess_share
    from anonhist.mechanisms.group_planning import prepare_groups
    from anonhist.mechanisms.grouping import FindGroups

    unit = rows.protected
    finding, whole, delta = None, wanted.whole, wanted.options.get("delta")
    choice = None
    if protection.choice is not None:
        given = protection.choice.chosen(whole, wanted.expected_items, protection.relation, str(wanted.mechanism))
        choice = choice_of_groups(
            replace(rows, choice=given),
            asked.groups or FindGroups(1, "1e-9"),
            levels=asked.levels,
            count_units=wanted.excess_share is not None,
        )
    if asked.find_share is not None:
        if delta is None:
            raise UsageError(
                "--find-groups requires --delta, such as 1e-9: the probability of revealing a small group."
            )
        finding = FindGroups(whole * asked.find_share, delta, protection.relation)
        whole *= 1 - asked.find_share
    elif delta is not None:
        raise UsageError("--delta applies to groups only with --find-groups; leave it out.")
    refuse_excess_of_items(wanted.excess_share, unit)
    bounded = rows.bounded if parse_excess_share(wanted.excess_share) else None
    wanted = replace(wanted, epsilon=whole, unit=unit, options={"public_cap": wanted.options.get("public_cap")})
    if choice is not None:
        # What is charged covers every choice.
        unit = choice.units[-1]
        wanted = replace(wanted, unit=unit)
    own = None if choice is None else choice.asked
    prepared = prepare_groups(wanted, unit, shares=asked.level_shares, bounded=bounded, choice=own)
    return ReadyGroups(finding, bounded, prepared, choice)


def release_groups_of(
    asked: Asked,
    source: str,
    *,
    reading: dict[str, Any],
    protection: AskedProtection,
    outputs: Outputs,
    wanted: AskedRelease,
    account: AskedAccount,
) -> None:
    """Read, release and write all groups."""
    from anonhist.ingest.groups.reading import read_recorded
    from anonhist.mechanisms.grouping import release_prepared
    from anonhist.terminal.display import log

    rows = protection_of_groups(asked, reading, protection)
    ready = ready_groups(asked, rows, protection, wanted)
    prepared = ready.prepared
    destination = account.destined(partial(outputs.for_release, source), ready.price)
    refuse_hidden_excess(prepared.excess, destination, outputs)
    refuse_release(source, reading=reading)
    named = named_source(source, reading)
    with account.charged(ready.price) as recorded:
        with reading_bars("Estimating errors", quiet=outputs.quiet, releases=True) as bars:
            with recorded.reading():
                grouped = read_recorded(
                    named,
                    rows,
                    recorded,
                    groups=ready.finding or asked.groups or (),
                    levels=asked.levels,
                    count_units=prepared.excess is not None,
                    choice=ready.choice,
                    progress=bars.reading,
                    notify=bars.notify,
                )
            if ready.choice is not None:
                prepared = replace(prepared, unit=grouped.unit)
            released = release_prepared(grouped, prepared, consistent=not asked.no_consistent)
            released = released.with_receipt(recorded.receipt)
            del grouped
            released = released.with_error(progress=bars.working)
        write_charged(
            released,
            destination,
            recorded,
            say=partial(_show_made, released, lacks_excess=prepared.excess is not None and released.excess is None),
            log=partial(log, released),
        )


def _show_made(release: GroupedRelease, stream: TextIO, *, lacks_excess: bool) -> None:
    """Print the output of :func:`show_groups`, and why there is no excess if one was requested."""
    show_groups(release, stream)
    if lacks_excess:
        say_line(_NOTHING_LEFT_OUT.format(kind=release.guarantee.unit.kind), stream)


def show_groups(release: GroupedRelease, stream: TextIO) -> None:
    """Print the release and its guarantee and, unless the CSV goes to standard output, a table of the groups."""
    from anonhist.report.groups import active_person, how_added
    from anonhist.report.wording import bound_of, many, promise_lines

    say_line(f"Released: {many(len(release), 'group')} by {', '.join(release.by)}.", stream)
    for title, sentence in (*promise_lines(release.guarantee), *bound_of(release)):
        say_line(f"{title}: {sentence}", stream)
    for told in filter(None, (active_person(release), how_added(release))):
        say_line(told, stream)
    if stream is not sys.stderr:
        _show_table(release, stream)
    say_line(f"Mechanism: {release.mechanism.name}. {release.reason}", stream)


def _show_table(release: GroupedRelease, stream: TextIO) -> None:
    from anonhist.report.groups import heads_of, row_of

    shown = release.everything
    rows = [row_of(group, release, each) for group, each in islice(shown.items(), _SHOWN)]
    click.echo(file=stream)
    print_table(heads_of(release), rows, stream, texts=range(len(release.by)))
    if len(shown) > _SHOWN:
        say_line(f"… and {len(shown) - _SHOWN:,} more groups, in the file.", stream, dim=True)
    click.echo(file=stream)
