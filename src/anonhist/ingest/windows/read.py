"""From a source of events to how many labels first reach each threshold on each day, by one query."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import date
from typing import TYPE_CHECKING, Any, SupportsIndex

from anonhist.errors import UsageError
from anonhist.ingest.engine import EngineLimits
from anonhist.ingest.groups.lists import group_rows
from anonhist.ingest.groups.names import listed_groups, parts_of
from anonhist.ingest.groups.queries import order_key_of, protected_unit, unlisted_grouping
from anonhist.ingest.query import Columns, check_users
from anonhist.ingest.random_order import key_of_order
from anonhist.ingest.row_kinds import SaidOfRows
from anonhist.ingest.windows.increments import fetch_increments
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.windows import (
    CumulativeCounts,
    GroupedCumulativeCounts,
    check_days,
    check_numbers,
    parse_thresholds,
)

if TYPE_CHECKING:
    from anonhist.ingest.groups.names import Grouping
    from anonhist.ingest.groups.values import Part


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
    unit: PrivacyUnit | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
) -> CumulativeCounts:
    """Read on which day each label reaches each threshold, on the engine that holds the data, by one query.

    A label reaches the threshold k on the day on which its running count since the first day becomes k or more.

    Parameters
    ----------
    source
        One row per item, in anything that :func:`read_profile` reads but plain lists of labels.
    by
        The column of dates or times, as ``"day(column)"``, ``"week(column)"`` or ``"month(column)"``.
    days
        The days, weeks or months that count, ascending, which must be public: "2026-11-22", for a week its Monday, or
        "2026-11". Rows of others are left out before anything is bounded or counted.
    thresholds
        Ascending whole numbers of at least 1, which must be public.
    label, count, user, max_per_user, order_by, order_key, table, delimiter, header, keep_null
        As for :func:`read_profile`. A user's items are bounded over all days together.
    unit
        Whom a release protects, where the source says nothing of users.
    progress
        Receives the share done, in [0, 1].
    limits
        How much memory and how many threads DuckDB may use, and where it spills: for files and its own databases.

    Returns
    -------
    CumulativeCounts
        Private: it holds exact counts.

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
    most = check_users(user, max_per_user, order_by, count_users=False)
    days_of = listed_days(by, days)
    levels = parse_thresholds(thresholds)
    protected = unit_of_windows(unit, most, levels)
    key = key_of_order(user, order_key)
    columns = Columns(label or "label", user, most, order_by, key or "", keep_null, days=days_of)
    found = fetch_increments(
        source,
        columns,
        levels,
        said=SaidOfRows(None, label, count, header),
        table=table,
        delimiter=delimiter,
        progress=progress,
        limits=limits,
    )
    return CumulativeCounts(levels, days_of[1], found.of(None), unit=protected, order_key=key)


def listed_days(by: str, days: str | Iterable[Any]) -> tuple[Part, tuple[str, ...]]:
    """Return the column of dates and the days that are listed.

    Examples
    --------
    >>> listed_days("day(seen)", ["2026-11-01", "2026-11-02"])[1]
    ('2026-11-01', '2026-11-02')
    """
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


def unit_of_windows(unit: PrivacyUnit | None, per_user: int | None, thresholds: tuple[int, ...]) -> PrivacyUnit:
    """Return whom a release of cumulative windows protects, or refuse what its bounds do not cover.

    Examples
    --------
    >>> print(unit_of_windows(None, 5, (1, 2)))
    one user with at most 5 items
    """
    if unit is None or unit.max_count is None:
        return protected_unit(unit, per_user, None, None)
    if per_user is not None or unit.groups > 1:
        raise UsageError("Cumulative windows protect a label without groups, or users: choose one of the two.")
    check_cap(unit, thresholds)
    return unit


def check_cap(unit: PrivacyUnit, thresholds: tuple[int, ...]) -> None:
    """Refuse thresholds above the count from which those of labels are taken together."""
    if unit.max_count is not None and thresholds[-1] > unit.max_count:
        raise UsageError(
            f"`thresholds` must not exceed `max_count`: counts of {unit.max_count:,} or more are taken together."
        )


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
    unit: PrivacyUnit | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
) -> GroupedCumulativeCounts:
    """Read on which day each label of each group reaches each threshold, by one query for all groups.

    Labels are counted in each group by itself: one that has a view in spring and another in fall has one in each.

    Parameters
    ----------
    source
        One row per item, in anything that :func:`read_profile` reads but plain lists of labels.
    by, groups
        The grouping columns, and the groups, as for :func:`read_groups`: listed, and public. Rows of others are left
        out before anything is bounded or counted.
    cumulative_by
        The column of dates or times, as ``"day(column)"``, ``"week(column)"`` or ``"month(column)"``.
    days, thresholds
        As for :func:`~anonhist.ingest.windows.read.read_cumulative`; the same for all groups.
    label, count, user, order_by, order_key, table, delimiter, header, keep_null
        As for :func:`read_groups`.
    max_per_user
        How many items of each user count, over all groups and days together; or, with ``max_groups_per_user``, in each
        group over all days.
    max_groups_per_user
        In how many groups a user's items count.
    max_groups_per_label
        In how many groups a label counts, on all days: required to protect labels, which may occur in many.
    unit
        Whom a release protects, where the source says nothing of users.
    progress
        Receives the share done, in [0, 1].
    limits
        How much memory and how many threads DuckDB may use, and where it spills: for files and its own databases.

    Returns
    -------
    GroupedCumulativeCounts
        Private: it holds exact counts. Groups in the order of their names.

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
    most = check_users(user, max_per_user, order_by, count_users=False)
    grouping = unlisted_grouping(by, None, most, max_groups_per_user, max_groups_per_label)
    parts = grouping.parts
    rows = group_rows(groups, parts)
    part, listed = listed_days(cumulative_by, days)
    if part in parts:
        raise UsageError(f"Groups by {part.name} have one day each: group by another column, or leave `by` out.")
    levels = parse_thresholds(thresholds)
    check_numbers(len(rows), len(levels), len(listed))
    protected = protected_unit(unit, most, grouping.groups_per_user, grouping.groups_per_label)
    check_cap(protected, levels)
    key = order_key_of(order_key, chooses=user is not None or grouping.groups_per_label is not None)

    def group_into(opened: Any, unlisted: Grouping) -> Grouping:
        kinds = [each.kind_in(opened) for each in unlisted.parts]
        return unlisted.of_listed(listed_groups(rows, parts, kinds, keep_null=keep_null))

    columns = Columns(
        label or "label", user, most, order_by, key or "", keep_null, grouping=grouping, days=(part, listed)
    )
    found = fetch_increments(
        source,
        columns,
        levels,
        said=SaidOfRows(None, label, count, header),
        table=table,
        delimiter=delimiter,
        progress=progress,
        limits=limits,
        group_into=group_into,
    )
    counts = {
        group: CumulativeCounts(levels, listed, increments, unit=protected, order_key=key)
        for group, increments in found.of_groups().items()
    }
    return GroupedCumulativeCounts(tuple(each.name for each in parts), counts)
