"""From an open source to a profile for each of several groups: the queries, and their results for each group."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.catalogue import Levels
from anonhist.errors import DataError, UsageError
from anonhist.ingest.files import COUNTED
from anonhist.ingest.group_names import (
    GROUP,
    few_groups_of_users,
    group_keys,
    in_few_groups_of_labels,
    in_groups,
    is_shown_as_written,
    listed_groups,
    with_periods,
)
from anonhist.ingest.groups.lists import group_rows
from anonhist.ingest.naming import NAMED, as_text, check_named, identity_of, name_columns
from anonhist.ingest.query import (
    Columns,
    bounded_rows,
    check_sums,
    check_whole,
    counts_query,
    counts_something,
    events_query,
    fetch,
    is_item,
    prevalences_query,
    record_batches,
    whole_column,
)
from anonhist.ingest.unit_sizes import bounded_units, sizes_of_labels, sizes_of_users
from anonhist.ingest.warehouses import batch_of_postgresql, is_postgresql
from anonhist.mechanisms.bound_choosing import PreparedChoice, prepare_choice
from anonhist.mechanisms.excess import refuse_nothing
from anonhist.mechanisms.grouping import FindGroups, GroupSelection
from anonhist.numeric.arrays import sum_equal
from anonhist.profiles import Profile
from anonhist.profiles.grouped import GroupedProfile
from anonhist.randomness import SystemSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from anonhist.accounting.recording import Recorded, Unrecorded
    from anonhist.ingest.columns import Header, Opened
    from anonhist.ingest.group_values import Part
    from anonhist.ingest.protection import Protection
    from anonhist.ingest.source import Source
    from anonhist.privacy import PrivacyUnit
    from anonhist.profiles import Bounded
    from anonhist.profiles.grouped import Group
    from anonhist.randomness import RandomSource


def prevalences_of_groups(table: Any, columns: Columns) -> Any:
    """Return :func:`~anonhist.ingest.query.prevalences_query` of the counts of labels that count, or are invalid."""
    import narwhals as nw

    added = prevalences_query(table, columns)
    is_wrong = (nw.col("wrong_counts") > 0) | (nw.col("wrong") > 0)
    added = added.filter(is_wrong | ((nw.col("count") > 0) & counts_something("prevalence")))
    return added.with_columns(is_null=nw.col("count") < 1)


def check_counted(batch: Any, columns: Columns) -> None:
    """Refuse an Arrow batch of these queries if a count is invalid, or a sum too large."""
    import pyarrow.compute as pc

    if not batch.num_rows:
        return
    of_counts = "wrong" if columns.rows == "counts" else "wrong_counts"
    check_whole(columns.count, pc.sum(batch.column(of_counts)).as_py())
    if columns.rows == "prevalences":
        check_whole(columns.prevalence, pc.sum(batch.column("wrong")).as_py())
    size = pc.max(batch.column("size")).as_py()
    ends = (end(batch.column(name)).as_py() for name in ("count", "prevalence") for end in (pc.min, pc.max))
    check_sums([(end, size) for end in ends])


def check_combination(columns: Columns, unit: PrivacyUnit, *, levels_cross: bool) -> None:
    """Refuse prevalences of groups if labels should be protected, or groups combined."""
    if columns.rows != "prevalences":
        return
    if unit.max_count is not None:
        raise UsageError(
            "Prevalences do not reveal which labels are the same in several groups, so labels cannot be protected: "
            "give a row for each group and label (`format='counts'`)."
        )
    is_dated = any(part.period is not None for part in columns.grouping.parts)
    if is_dated or columns.grouping.other is not None or levels_cross:
        what = "days, weeks and months" if is_dated else "other groups" if columns.grouping.other else "crossing levels"
        raise UsageError(
            "Prevalences do not reveal which labels are the same in several groups, so these cannot be put together "
            f"into {what}: give a row for each group and label (`format='counts'`)."
        )


_ROWS = 2**16
_QUERIES: dict[str, Callable[[Any, Columns], Any]] = {
    "events": events_query,
    "counts": counts_query,
    "prevalences": prevalences_of_groups,
}


def group_batches(table: Any, columns: Columns) -> Iterator[Any]:
    """Return checked Arrow batches with the columns ``group``, ``count`` and ``prevalence``, of labels that count."""
    import pyarrow as pa

    query = _QUERIES[columns.rows](table, columns)
    for batch in (batch_of_postgresql(query),) if is_postgresql(query) else record_batches(query, _ROWS):
        if NAMED in batch.schema.names:
            check_named(all(batch.column(NAMED).to_pylist()))
        if columns.rows != "events":
            check_counted(batch, columns)
        is_kept = [columns.keep_null or not is_null for is_null in batch.column("is_null").to_pylist()]
        yield batch if all(is_kept) else batch.filter(pa.array(is_kept, pa.bool_()))


def group_profiles(
    table: Any, columns: Columns, unit: PrivacyUnit, key: str | None, where: str | None
) -> dict[tuple[str | None, ...], Profile]:
    """Run the query, and return a profile for each released group."""
    grouping = columns.grouping
    place = {grouping.key_of(group): at for at, group in enumerate(grouping.groups)}
    places, counts, prevalences = [], [], []
    for batch in group_batches(table, columns):
        coded = batch.column(GROUP).dictionary_encode()
        codes = np.array([place[key] for key in coded.dictionary.to_pylist()], dtype=np.int64)
        places.append(codes[whole_column(coded.indices)])
        counts.append(whole_column(batch.column("count")))
        prevalences.append(whole_column(batch.column("prevalence")))
    at, count, prevalence = (
        np.concatenate([np.zeros(0, dtype=np.int64), *each]) for each in (places, counts, prevalences)
    )
    order = np.argsort(at, kind="stable")
    ends = np.searchsorted(at[order], np.arange(len(place) + 1))
    rows = {group: order[first:last] for group, first, last in zip(grouping.groups, ends[:-1], ends[1:], strict=True)}
    return {
        group: Profile(*sum_equal(count[own], prevalence[own]), unit=unit, order_key=key, where=where)
        for group, own in rows.items()
    }


def labels_of_several(table: Any, columns: Columns) -> int:
    """Return the number of labels in more than one group, from rows that count."""
    import narwhals as nw

    rows = bounded_rows(table, columns)
    rows = rows.filter(nw.col("count") > 0) if columns.rows == "counts" else rows
    rows = rows.select(GROUP, "label").filter(~nw.col("label").is_null())
    pairs = rows.group_by("label", GROUP).agg(items=nw.len())
    labels = pairs.group_by("label").agg(groups=nw.len()).filter(nw.col("groups") > 1)
    ((shared,),) = fetch(labels.select(shared=nw.len()))
    return int(shared)


def group_units(table: Any, columns: Columns) -> dict[Group, int]:
    """Return the number of units of each group, which is as private as the data, and so is the set of groups.

    Each user, and each label if labels are bounded, counts in as few groups as ``columns`` says; a user without such a
    number counts in at most ``max_per_user``. Otherwise rows are counted.
    """
    if columns.rows != "events":
        return _of_counted(table, columns)
    rows = fetch(_units_query(table, columns))
    check_named(all(all(row[2:]) for row in rows))
    return {columns.grouping.group_of(key): int(units) for key, units, *_ in rows}


def _of_counted(table: Any, columns: Columns) -> dict[Group, int]:
    """Return the number of items of groups, or labels if these are bounded, from already counted rows."""
    grouping = columns.grouping
    units: dict[str, int] = {}
    for batch in group_batches(table, columns):
        counts, many = (whole_column(batch.column(name)).tolist() for name in ("count", "prevalence"))
        for key, count, labels in zip(batch.column(GROUP).to_pylist(), counts, many, strict=True):
            units[key] = units.get(key, 0) + (labels if grouping.groups_per_label is not None else count * labels)
    check_sums([(number, 0) for number in units.values()])
    return {grouping.group_of(key): number for key, number in units.items()}


def _units_query(table: Any, columns: Columns) -> Any:
    import narwhals as nw

    grouping = columns.grouping
    if columns.user is not None:
        units = _users(table, columns)
    else:
        rows = bounded_rows(table, columns)
        units = rows if columns.keep_null else rows.filter(~nw.col("label").is_null())
        if grouping.groups_per_label is not None:
            flags = [name for name in units.collect_schema().names() if name in (NAMED, GROUP)]
            labels = units.group_by("label", *flags).agg(count=nw.len())
            units = in_few_groups_of_labels(labels, grouping.groups_per_label, columns.order_key)
    flags = [name for name in units.collect_schema().names() if name == NAMED]
    return units.group_by(GROUP, *flags).agg(units=nw.len()).select(GROUP, "units", *flags)


def _users(table: Any, columns: Columns) -> Any:
    """Return the rows (user, group), with each user in few groups."""
    import narwhals as nw

    grouping, user = columns.grouping, str(columns.user)
    flags = name_columns(table, grouping.by_value | {user: False})
    rows = table.select(
        label=as_text(table, columns.label),
        user=identity_of(table, user),
        user_name=as_text(table, user),
        **group_keys(table, grouping.parts),
        **flags,
    )
    rows = in_groups(rows.filter(is_item(columns)), grouping, keep_null=columns.keep_null)
    pairs = rows.group_by("user", GROUP, *flags).agg(nw.col("user_name").max())
    most = grouping.groups_per_user or columns.max_per_user or 1
    return few_groups_of_users(pairs, most, columns.order_key)


# Memory for the release of a group without data at ε = 1, without simulations: 6.2 kB, and more for all others.
_LEAST = 6_000
_GIGA = 10**9


def check_memory(groups: int) -> None:
    """Refuse, before reading and before drawing noise, more groups than this machine can hold even without data."""
    have = _memory()
    if have is not None and groups * _LEAST > have:
        raise DataError(
            f"{groups:,} groups need at least {groups * _LEAST / _GIGA:,.1f} GB of memory, and this machine has "
            f"{have / _GIGA:,.1f} GB: list fewer groups, or use a larger machine."
        )


def _memory() -> int | None:
    """Return the memory of this machine in bytes, or None if it is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


_GIVEN_BOUND = (
    "A bound is chosen for listed groups without crossing levels or an excess: leave these out, or give the bound."
)
_NONE_COUNTS = "No item is in any of the groups: check how they are written in the data, and that dates are YYYY-MM-DD."


def choice_of_groups(
    protection: Protection, groups: Any, *, levels: Levels | None, count_units: bool
) -> PreparedChoice | None:
    """Return how a bound will be chosen for listed groups, by public numbers alone; None if none is."""
    if protection.choice is None:
        return None
    if isinstance(groups, FindGroups) or levels is Levels.CROSSING or count_units:
        raise UsageError(_GIVEN_BOUND)
    grouping = protection.grouping
    number = len(group_rows(groups, grouping.parts)) + (grouping.other is not None)
    asked = protection.choice.in_groups(number)
    return prepare_choice(asked, asked.units(protection.protected)[-1], profiles=number)


def read_recorded(
    source: Source,
    protection: Protection,
    recorded: Recorded | Unrecorded,
    *,
    groups: Iterable[Any] | os.PathLike[str] | FindGroups,
    levels: Levels | None,
    count_units: bool,
    progress: Callable[[float], None] | None,
    notify: Callable[[str], None] | None,
    randomness: RandomSource | None = None,
    choice: PreparedChoice | None = None,
) -> GroupedProfile:
    """Read the groups for :func:`~anonhist.ingest.groups.read.read_groups`, after the charge for finding them.

    The charge ``recorded`` is kept from the moment when groups are drawn.
    """
    unit, parts = protection.protected, protection.grouping.parts
    bounded = protection.bounded if count_units else None
    tells = levels is Levels.NESTED and notify is not None
    finding = groups if isinstance(groups, FindGroups) else None
    rows = rows_of_groups(source, protection, groups, to_find=finding is not None)
    asks_again = any((finding, choice, levels is Levels.CROSSING, tells, count_units))
    with source.open(protection, twice=asks_again, progress=progress) as opened:
        columns = columns_of_groups(opened, source, protection, rows, levels=levels, bounded=bounded)
        grouping = columns.grouping
        events = with_periods(opened.table, grouping.parts)
        if finding is not None:
            found = _found(events, columns, finding.selection(unit), recorded, randomness)
            grouping = grouping.of_found(found, have_totals=levels is not None)
            check_memory(len(grouping.groups))
        columns = replace(columns, grouping=grouping)
        if choice is not None:
            # Every failure from here on may depend on what is chosen.
            recorded.keep()
            unit = choice.draw(*_sizes(events, columns, choice), source=randomness)
            protection = protection.bounded_to(unit)
            grouping = replace(grouping, groups_per_label=protection.grouping.groups_per_label)
            columns = replace(columns, max_per_user=protection.max_per_user, grouping=grouping)
        own = tuple(part.name for part in parts)
        key, where = protection.order_key, protection.said_where

        def read_level(depth: int) -> GroupedProfile:
            level = grouping.above(depth)
            least = unit.in_at_most(len(level.groups))
            profiles = group_profiles(events, replace(columns, grouping=level), least, key, where)
            return GroupedProfile(own[:depth], profiles, unit=least, order_key=key, where=where)

        profiles = group_profiles(events, columns, unit, key, where)
        if notify is not None and not any(profile.n for profile in profiles.values()):
            notify(_NONE_COUNTS)
        if tells and notify is not None and columns.rows != "prevalences":
            _tell_of_shared(labels_of_several(events, columns), notify)
        above = tuple(map(read_level, range(len(parts) if levels is Levels.CROSSING else 0)))
        # This query is last, so that data are refused for the same reasons as in every reading.
        units = None if bounded is None else bounded_units(events, columns, *bounded)
    return GroupedProfile(
        own,
        profiles,
        unit=unit,
        order_key=key,
        where=where,
        finding=finding,
        receipt=None if finding is None and choice is None else recorded.receipt,
        levels=levels,
        above=above,
        units=units,
        choice=None if choice is None else choice.asked,
    )


def _sizes(table: Any, columns: Columns, choice: PreparedChoice) -> list[dict[int, int]]:
    """Return how many units have each number of items, in the first of their groups, the second and so on."""
    if choice.unit.max_items is not None:
        return [sizes_of_users(table, columns, choice.asked.largest)]
    return sizes_of_labels(table, columns, choice.unit)


def rows_of_groups(
    source: Source, protection: Protection, groups: Any, *, to_find: bool
) -> list[tuple[Any, ...]] | None:
    """Return the listed groups, None if they should be found; refuse a source that can have none."""
    rows = None if to_find else group_rows(groups, protection.grouping.parts)
    check_memory(0 if rows is None else len(rows))
    form = source.rows.format
    if form not in (None, "events", *COUNTED):
        raise UsageError(f"`format` must be one of events, {', '.join(COUNTED)} for groups, not {form!r}.")
    source.refuse_labels("grouping columns")
    return rows


def columns_of_groups(
    opened: Opened,
    source: Source,
    protection: Protection,
    rows: list[tuple[Any, ...]] | None,
    *,
    levels: Levels | None,
    bounded: tuple[Bounded, int] | None,
) -> Columns:
    """Return the columns of an open source to read, and the groups for its rows, as far as they are listed."""
    parts = protection.grouping.parts
    columns = _columns_in(opened.header, source, protection, parts)
    check_combination(columns, protection.protected, levels_cross=levels is Levels.CROSSING)
    grouping = columns.grouping
    kinds = [part.kind_in(opened.table) for part in grouping.parts]
    if rows is not None:
        grouping = grouping.of_listed(listed_groups(rows, parts, kinds, keep_null=protection.keep_null))
        # This check does not depend on the rows.
        if levels is not None:
            grouping.check_totals()
        if bounded is not None:
            refuse_nothing(*bounded, len(grouping.groups))
    return replace(columns, grouping=grouping)


def _columns_in(header: Header, source: Source, protection: Protection, parts: tuple[Part, ...]) -> Columns:
    """Return the columns to read; refuse missing columns, and columns with two roles."""
    for part in parts:
        header.require(group=part.column)
        if part.period is not None and part.name in header.names:
            raise UsageError(f"The data have a column {part.name!r} beside {part.column!r}: rename one of them.")
    kind = source.kind(header, protection)
    names: dict[str | None, str] = {protection.user: "user"}
    if kind.rows == "events":
        names[kind.label] = "label"
    else:
        names |= dict.fromkeys(filter(None, (kind.label, kind.count, kind.prevalence)), "counted")
    protection.grouping.check_roles(names)
    return protection.columns(kind, header)


def _tell_of_shared(labels: int, notify: Callable[[str], None]) -> None:
    if labels:
        told = "1 label is" if labels == 1 else f"{labels:,} labels are"
        notify(f"{told} in several groups: nested totals count them in each.")


def _found(
    table: Any,
    columns: Columns,
    selection: GroupSelection,
    recorded: Recorded | Unrecorded,
    randomness: RandomSource | None,
) -> tuple[Group, ...]:
    """Return the groups that are found; from here on they are public."""
    units = group_units(table, columns)
    # Files hold these names, and terminals show them; whether a name can be shown depends only on the name.
    named = {group: many for group, many in units.items() if is_shown_as_written(group)}
    # Every failure from here on may depend on the found groups, even an error about a column.
    recorded.keep()
    kept = selection.select(np.array(list(named.values()), dtype=np.int64), source=randomness or SystemSource())
    found = tuple(group for group, is_kept in zip(named, kept.tolist(), strict=True) if is_kept)
    if not found and columns.grouping.other is None:
        raise DataError(
            "No group was found: groups have too few units for this budget, which is spent nevertheless. Another "
            "attempt, with a larger budget or with listed groups, adds to the cost."
        )
    return found
