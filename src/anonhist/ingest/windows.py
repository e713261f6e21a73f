"""From a source of events to the number of labels that first reach each threshold on each day, by one query."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import optional
from anonhist.ingest.engine import EngineLimits
from anonhist.ingest.group_names import DAY, GROUP, listed_groups, parts_of, rows_in_few_groups_of_labels, with_periods
from anonhist.ingest.groups.lists import group_rows
from anonhist.ingest.naming import NAMED, check_named
from anonhist.ingest.protection import Protection, check_users, protected_unit, unlisted_grouping
from anonhist.ingest.query import (
    Columns,
    bounded_rows,
    check_sums,
    check_whole,
    counts_something,
    fetch,
    large_units,
    number_of_rows,
)
from anonhist.ingest.random_order import KEY_OF_GROUPS, key_where
from anonhist.ingest.source import SaidOfRows, Source
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.where import parse_where
from anonhist.profiles.windows import (
    CumulativeCounts,
    GroupedCumulativeCounts,
    check_cap,
    check_days,
    check_numbers,
    parse_thresholds,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.ingest.columns import Header, Opened
    from anonhist.ingest.group_values import Part


def read_windows(
    source: Source, asked: WindowsAsked, *, progress: Callable[[float], None] | None
) -> GroupedCumulativeCounts:
    """Count on all listed days in all listed groups, or in the one group without columns."""
    protection, (part, days), thresholds, _ = asked
    parts, key = protection.grouping.parts, protection.order_key
    source.refuse_labels("column of dates")
    with source.open(protection, part.column, progress=progress) as opened:
        columns = columns_of_windows(opened, source, asked)
        rows = fetch(increments_query(with_dates(opened.table, columns), columns, thresholds))
    check_named(all(bool(row[1]) for row in rows))
    if columns.rows == "counts":
        check_whole(columns.count, sum(int(row[-1]) for row in rows))
        # A sum that is too large is the largest or, if it wrapped, the least.
        check_sums([(end, row[-2]) for row in rows for end in row[-4:-2]])
        rows = [row[:-4] for row in rows]
    place = {part.key_of(day): at for at, day in enumerate(days)}
    nothing = np.zeros((len(thresholds), len(days)), dtype=np.int64)
    found: dict[str, NDArray[np.int64]] = {}
    for day, _, *rest in rows:
        reached, group = rest[: len(thresholds)], rest[len(thresholds) :]
        named = group[0] if group else ""
        found.setdefault(named, nothing.copy())[:, place[day]] += np.array(reached, dtype=np.int64)
    counts = {group: found.get(columns.grouping.key_of(group), nothing) for group in columns.grouping.groups}
    return GroupedCumulativeCounts(
        tuple(each.name for each in parts),
        {
            group: CumulativeCounts(
                thresholds, days, each, unit=protection.protected, order_key=key, where=protection.said_where
            )
            for group, each in counts.items()
        },
    )


def columns_of_windows(opened: Opened, source: Source, asked: WindowsAsked) -> Columns:
    """Return the columns of an open source to read, with the listed days and groups."""
    protection, (part, days), _, groups = asked
    columns = _columns_in(opened.header, source, protection, part)
    kinds = [each.kind_in(opened.table) for each in columns.grouping.parts]
    listed = listed_groups(groups, protection.grouping.parts, kinds, keep_null=protection.keep_null)
    date_part = part.in_table(opened.header.in_table(part.column))
    return replace(columns, grouping=columns.grouping.of_listed(listed), days=(date_part, days))


def with_dates(table: Any, columns: Columns) -> Any:
    """Return a table with dates that can be put into the periods of groups and of days."""
    of_days = () if columns.days is None else (columns.days[0],)
    return with_periods(table, (*columns.grouping.parts, *of_days))


def _columns_in(header: Header, source: Source, protection: Protection, day: Part) -> Columns:
    """Return the columns to read; refuse missing columns, and columns with two roles."""
    for part in protection.grouping.parts:
        header.require(group=part.column)
    kind = source.kind(header, protection, day.column)
    if kind.rows == "prevalences":
        raise UsageError(
            "Prevalences do not reveal which label has a count, so they have no days: give a row for each event."
        )
    header.require(date=day.column)
    names = {kind.label: "label", protection.user: "user", kind.count: "count"}
    protection.grouping.check_roles(names)
    return protection.columns(kind, header)


def increments_query(table: Any, columns: Columns, thresholds: tuple[int, ...]) -> Any:
    """Return the lazy query (day, named, reached0, reached1, …): how many labels first reach each threshold.

    With groups, their text follows. For counted rows, the least and the largest running count follow, the size of the
    largest, and the number of wrong counts, as in :func:`~anonhist.ingest.query.added_counts`.
    """
    import narwhals as nw

    rows = bounded_rows(table, columns)
    is_counted = columns.rows == "counts"
    flags = [name for name in rows.collect_schema().names() if name == NAMED]
    group = [GROUP] if columns.grouping.parts else []
    # Items of users already have labels: SQLite limits the depth of nested queries.
    if not columns.keep_null and columns.user is None:
        rows = rows.filter(~nw.col("label").is_null())
    days = rows if not is_counted else rows.with_columns(size=large_units(nw.col("count")))
    numbers = nw.col("count", "size", "wrong").sum() if is_counted else number_of_rows(rows).alias("count")
    counted = days.group_by("label", *group, DAY, *flags).agg(numbers)
    if is_counted:
        # A label with a count of zero is in no group.
        counted = counted.filter(counts_something("count", "wrong"))
    if columns.grouping.groups_per_label is not None:
        most, first = columns.grouping.groups_per_label, nw.col("wrong") > 0 if is_counted else None
        counted = rows_in_few_groups_of_labels(counted, most, columns.order_key, first=first)
    # If rows without a label count, they are one label, which not every engine recognizes as one.
    label = nw.col("label")
    known = nw.when(label.is_null()).then(nw.lit("")).otherwise(nw.concat_str(nw.lit("="), label))
    counted = counted.with_columns(
        count=nw.col("count").cast(nw.Int64),
        known=known if columns.keep_null else label,
        named=nw.col(NAMED) if flags else nw.lit(1),
    )
    # Texts of days ascend like the days.
    summed = {"after": "count", "size_after": "size"} if is_counted else {"after": "count"}
    running = counted.with_columns(
        **{after: nw.col(name).cum_sum().over("known", *group, order_by=DAY) for after, name in summed.items()}
    )
    after = nw.col("after")
    crossing = {
        f"reached{at}": nw.when((after >= k) & (after - nw.col("count") < k)).then(nw.lit(1)).otherwise(nw.lit(0))
        for at, k in enumerate(thresholds)
    }
    told = ("after", "largest", "size_after", "wrong") if is_counted else ()
    running = running.with_columns(largest=after) if is_counted else running
    crossed = running.select(DAY, "named", *group, *told, **crossing)
    ends = [nw.col("named").min(), *(nw.col(name).sum() for name in crossing)]
    if is_counted:
        ends += [after.min(), nw.col("largest", "size_after").max(), nw.col("wrong").sum()]
    return crossed.group_by(DAY, *group).agg(*ends).select(DAY, "named", *crossing, *group, *told)


def read_cumulative(
    source: Any,
    /,
    *,
    by: str,
    days: Iterable[Any],
    thresholds: Iterable[SupportsIndex],
    label: str | None = None,
    count: str | None = None,
    user: str | None = None,
    max_per_user: int | None = None,
    order_by: str | None = None,
    order_key: str | None = None,
    table: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    keep_null: bool = False,
    where: str | None = None,
    unit: PrivacyUnit | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
) -> CumulativeCounts:
    """Read the day on which each label reaches each threshold, on the engine that holds the data, by one query.

    A label reaches the threshold k on the day on which its running count since the first day becomes k or more.

    Parameters
    ----------
    source
        One row per item, in any source of :func:`read_profile` except plain lists of labels.
    by
        The column of dates or times, as ``"day(column)"``, ``"week(column)"`` or ``"month(column)"``.
    days
        The days, weeks or months that count, ascending, which must be public: "2026-11-22", for a week its Monday, or
        "2026-11". Other rows are left out before anything is bounded or counted.
    thresholds
        Ascending whole numbers of at least 1, which must be public.
    label, count, user, max_per_user, order_by, order_key, table, delimiter, header, keep_null, where
        As for :func:`read_profile`. A user's items are bounded over all days together.
    unit
        Whom a release protects, if the source does not name users.
    progress
        Receives the share done, in [0, 1].
    limits
        The memory and the number of threads that DuckDB may use, and where it spills: for files and its own databases.

    Returns
    -------
    CumulativeCounts
        Private counts: they are exact.

    Raises
    ------
    UsageError
        If the call contradicts itself, or days or thresholds do not ascend.
    DataError
        If the data cannot be used, as for :func:`read_profile`.

    Examples
    --------
    >>> import polars as pl
    >>> views = pl.DataFrame({"viewer": ["a", "b", "a"], "day": ["2026-11-01", "2026-11-02", "2026-11-02"]})
    >>> days = ["2026-11-01", "2026-11-02"]
    >>> read_cumulative(views, label="viewer", by="day(day)", days=days, thresholds=[1, 2]).k_plus.tolist()
    [[1, 2], [0, 1]]
    """
    asked = windows_asked(
        None,
        by,
        days=days,
        thresholds=thresholds,
        user=user,
        max_per_user=max_per_user,
        order_by=order_by,
        order_key=order_key,
        keep_null=keep_null,
        unit=unit,
        where=where,
    )
    said = SaidOfRows(None, label, count, header)
    named = Source.named(source, said, user=user, table=table, delimiter=delimiter, limits=limits)
    return read_windows(named, asked, progress=progress).first


class AskedGroups(NamedTuple):
    """Groups of cumulative windows, as a call lists them, and the number of them in which a unit counts."""

    by: str | Iterable[str]
    groups: Iterable[Any] | os.PathLike[str]
    max_groups_per_user: int | None
    max_groups_per_label: int | None


class WindowsAsked(NamedTuple):
    """The windows to read, and whom their release protects: public choices, checked."""

    protection: Protection
    dates: tuple[Part, tuple[str, ...]]
    thresholds: tuple[int, ...]
    # A group without columns counts as one.
    groups: list[tuple[Any, ...]]


def windows_asked(
    grouped: AskedGroups | None,
    by: str,
    *,
    days: str | Iterable[Any],
    thresholds: Iterable[SupportsIndex],
    user: str | None,
    max_per_user: int | None,
    order_by: str | None,
    order_key: str | None,
    keep_null: bool,
    unit: PrivacyUnit | None,
    where: str | None,
) -> WindowsAsked:
    """Return the windows that a call of ``read_cumulative`` or ``read_cumulative_groups`` reads, or refuse it."""
    most, condition = check_users(user, max_per_user, order_by, count_users=False), optional(parse_where)(where)
    if grouped is None:
        dates, levels = listed_days(by, days), parse_thresholds(thresholds)
        protected = unit_of_windows(unit, most, levels, bounds=None)
        key = key_where(order_key, needed=user is not None)
        protection = Protection(protected, user, most, order_by, key, keep_null, where=condition)
        return WindowsAsked(protection, dates, levels, [()])
    grouping = unlisted_grouping(grouped.by, None, most, grouped.max_groups_per_user, grouped.max_groups_per_label)
    rows = group_rows(grouped.groups, grouping.parts)
    part, listed = listed_days(by, days)
    if part in grouping.parts:
        raise UsageError(f"Groups by {part.name} have one day each: group by another column, or leave `by` out.")
    levels = parse_thresholds(thresholds)
    check_numbers(len(rows), len(levels), len(listed))
    protected = unit_of_windows(unit, most, levels, bounds=(grouping.groups_per_user, grouping.groups_per_label))
    chooses = user is not None or grouping.groups_per_label is not None
    key = key_where(order_key, needed=chooses, refused=KEY_OF_GROUPS)
    protection = Protection(protected, user, most, order_by, key, keep_null, grouping, condition)
    return WindowsAsked(protection, (part, listed), levels, rows)


def listed_days(by: str, days: str | Iterable[Any]) -> tuple[Part, tuple[str, ...]]:
    """Return the column of dates and the listed days."""
    parts = parts_of(by)
    (part,) = parts
    if part.period is None:
        raise UsageError(
            f"Cumulative windows need dates: day({part.column}), week({part.column}) or month({part.column})."
        )
    given = days if isinstance(days, str) else list(days)
    if not given:
        raise UsageError("`days` lists no day: name at least one.")
    rows = group_rows(given, parts)
    try:
        names = tuple(part.period.listed_name(day) for (day,) in rows)
    except UsageError:
        example = part.period.name_of(date(2026, 11, 23))
        raise UsageError(f"`days` must be written as {example}, for {part.name}.") from None
    if len(set(names)) < len(names):
        raise UsageError("`days` lists a day twice; leave one out.")
    return part, check_days(names)


def unit_of_windows(
    unit: PrivacyUnit | None,
    per_user: int | None,
    thresholds: tuple[int, ...],
    *,
    bounds: tuple[int | None, int | None] | None,
) -> PrivacyUnit:
    """Return whom a release of cumulative windows protects, or refuse a unit that its bounds do not cover.

    ``bounds`` are the numbers of groups in which a user and a label count; None without groups.
    """
    if bounds is not None:
        protected = protected_unit(unit, per_user, *bounds)
    elif unit is None or unit.max_count is None:
        protected = protected_unit(unit, per_user, None, None)
    elif per_user is not None or unit.groups > 1:
        raise UsageError("Cumulative windows protect a label without groups, or users: choose one of the two.")
    else:
        protected = unit
    check_cap(protected, thresholds)
    return protected


def read_cumulative_groups(
    source: Any,
    /,
    *,
    by: str | Iterable[str],
    groups: Iterable[Any] | os.PathLike[str],
    cumulative_by: str,
    days: Iterable[Any],
    thresholds: Iterable[SupportsIndex],
    label: str | None = None,
    count: str | None = None,
    user: str | None = None,
    max_per_user: int | None = None,
    max_groups_per_user: int | None = None,
    max_groups_per_label: int | None = None,
    order_by: str | None = None,
    order_key: str | None = None,
    table: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    keep_null: bool = False,
    where: str | None = None,
    unit: PrivacyUnit | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
) -> GroupedCumulativeCounts:
    """Read the day on which each label of each group reaches each threshold, by one query for all groups.

    Labels are counted in each group separately: a label with a view in spring and another in fall has one in each.

    Parameters
    ----------
    source
        One row per item, in any source of :func:`read_profile` except plain lists of labels.
    by, groups
        The grouping columns, and the groups, as for :func:`read_groups`: listed, and public. Other rows are left out
        before anything is bounded or counted.
    cumulative_by
        The column of dates or times, as ``"day(column)"``, ``"week(column)"`` or ``"month(column)"``.
    days, thresholds
        As for :func:`~anonhist.ingest.windows.read_cumulative`; the same for all groups.
    label, count, user, order_by, order_key, table, delimiter, header, keep_null, where
        As for :func:`read_groups`.
    max_per_user
        The number of items of each user that count, over all groups and days together; or, with
        ``max_groups_per_user``, in each group over all days.
    max_groups_per_user
        The number of groups in which a user's items count.
    max_groups_per_label
        The number of groups in which a label counts, on all days: required to protect labels, which may occur in many.
    unit
        Whom a release protects, if the source does not name users.
    progress
        Receives the share done, in [0, 1].
    limits
        The memory and the number of threads that DuckDB may use, and where it spills: for files and its own databases.

    Returns
    -------
    GroupedCumulativeCounts
        Private counts: they are exact. Groups are in the listed order.

    Raises
    ------
    UsageError
        If the call contradicts itself, days or thresholds do not ascend, or a label unit comes without
        ``max_groups_per_label``.
    DataError
        If the data cannot be used, as for :func:`read_profile`.

    Examples
    --------
    >>> import polars as pl
    >>> days = ["2026-11-01", "2026-11-02"]
    >>> views = pl.DataFrame({"viewer": ["a", "a", "a"], "for": ["x", "x", "y"], "day": [days[0], days[1], days[1]]})
    >>> asked = {"by": "for", "groups": ["x", "y"], "cumulative_by": "day(day)", "days": days, "thresholds": [1, 2]}
    >>> read = read_cumulative_groups(views, label="viewer", **asked)
    >>> read["x"].k_plus.tolist(), read["y"].k_plus.tolist()
    ([[1, 1], [0, 1]], [[0, 1], [0, 0]])
    """
    asked = windows_asked(
        AskedGroups(by, groups, max_groups_per_user, max_groups_per_label),
        cumulative_by,
        days=days,
        thresholds=thresholds,
        user=user,
        max_per_user=max_per_user,
        order_by=order_by,
        order_key=order_key,
        keep_null=keep_null,
        unit=unit,
        where=where,
    )
    said = SaidOfRows(None, label, count, header)
    named = Source.named(source, said, user=user, table=table, delimiter=delimiter, limits=limits)
    return read_windows(named, asked, progress=progress)
