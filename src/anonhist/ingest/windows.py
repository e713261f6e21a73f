"""From a source of events to how many labels first reach each threshold on each day, by one query."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import TYPE_CHECKING, Any, SupportsIndex

from anonhist.errors import UsageError
from anonhist.ingest.group_bounds import protected_unit
from anonhist.ingest.group_lists import group_rows
from anonhist.ingest.grouping import parts_of
from anonhist.ingest.increments import fetch_increments
from anonhist.ingest.limits import EngineLimits
from anonhist.ingest.query import Columns, check_users
from anonhist.ingest.random_order import key_of_order
from anonhist.ingest.row_kinds import SaidOfRows
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.windows import CumulativeCounts, check_days, parse_thresholds

if TYPE_CHECKING:
    from anonhist.ingest.group_values import Part


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
