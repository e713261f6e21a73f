"""How many labels of each group first reach each threshold on each day, by one query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import UsageError
from anonhist.ingest.files import check_stated, check_there, is_json, is_stdin
from anonhist.ingest.groups.names import DAY, GROUP, rows_in_few_groups_of_labels, with_periods
from anonhist.ingest.naming import NAMED, check_named
from anonhist.ingest.query import Columns, bounded_rows, check_sums, check_whole, counts_something, fetch, large_units
from anonhist.ingest.row_kinds import columns_in_table, part_in_table, parts_in_table
from anonhist.ingest.sources import as_path, open_source, plain_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from anonhist.ingest.columns import Header
    from anonhist.ingest.engine import EngineLimits
    from anonhist.ingest.groups.names import Grouping
    from anonhist.ingest.groups.values import Part
    from anonhist.ingest.row_kinds import SaidOfRows
    from anonhist.profiles.grouped import Group


@dataclass(frozen=True)
class Increments:
    """What a query found: exact, and so private.

    Attributes
    ----------
    shape
        How many thresholds and days there are.
    found
        The increments of each group that has any, by its text in queries; without groups, of None.
    grouping
        The grouping into listed groups, if there are groups.
    """

    shape: tuple[int, int]
    found: Mapping[str | None, NDArray[np.int64]]
    grouping: Grouping | None

    def of(self, key: str | None) -> NDArray[np.int64]:
        """Return the increments of a group, zeros where it has no data."""
        return self.found.get(key, np.zeros(self.shape, dtype=np.int64))

    def of_groups(self) -> dict[Group, NDArray[np.int64]]:
        """Return the increments of all groups that are listed, in the order of their names."""
        grouping = self.grouping
        return {} if grouping is None else {group: self.of(grouping.key_of(group)) for group in grouping.groups}


def fetch_increments(
    source: Any,
    columns: Columns,
    thresholds: tuple[int, ...],
    *,
    said: SaidOfRows,
    table: str | None,
    delimiter: str | None,
    progress: Callable[[float], None] | None,
    limits: EngineLimits | None,
    group_into: Callable[[Any, Grouping], Grouping] | None = None,
) -> Increments:
    """Read the increments of all groups and days.

    Parameters
    ----------
    source, table, delimiter, progress, limits
        As for :func:`~anonhist.ingest.windows.read.read_cumulative`.
    said
        What is said of the rows.
    columns
        Which columns to read, its days among them.
    thresholds
        The thresholds.
    group_into
        Returns the grouping into listed groups, of the table that was opened and the grouping of ``columns``, which has
        none of them.
    """
    if columns.days is None:
        raise ValueError("Windows are counted on days.")
    part, days = columns.days
    parts = () if columns.grouping is None else columns.grouping.parts
    source = as_path(source)
    if plain_labels(source) is not None:
        raise UsageError("A list of labels has no column of dates: pass a table.")
    said.check(columns.user)
    check_stated(source, None, said.label)
    keys: tuple[str | None, ...] = ()
    has_keys = is_json(source, format=None)
    if has_keys:
        check_there(source)
        keys = (*said.keys(), columns.user, columns.order_by, part.column, *(each.column for each in parts))
    with open_source(
        source,
        table=table,
        format=None,
        delimiter=delimiter,
        header=said.header,
        keys=keys,
        progress=progress,
        limits=limits,
    ) as opened:
        may_recognize = not has_keys and not is_stdin(source)
        columns = _columns_in(opened.header, columns, part, said, may_recognize=may_recognize)
        columns = columns_in_table(columns, opened.header)
        if group_into is not None and columns.grouping is not None:
            columns = replace(columns, grouping=group_into(opened.table, columns.grouping))
        dated = (*parts_in_table(parts, opened.header), part_in_table(part, opened.header))
        rows = fetch(increments_query(with_periods(opened.table, dated), columns, thresholds))
    check_named(all(bool(row[1]) for row in rows))
    if columns.rows == "counts":
        check_whole(columns.count, sum(int(row[-1]) for row in rows))
        # A sum that is too large is the largest, or where it wrapped the least.
        check_sums([(end, row[-2]) for row in rows for end in row[-4:-2]])
        rows = [row[:-4] for row in rows]
    place = {part.key_of(day): at for at, day in enumerate(days)}
    shape = len(thresholds), len(days)
    found: dict[str | None, NDArray[np.int64]] = {}
    for day, _, *rest in rows:
        reached, group = rest[: len(thresholds)], rest[len(thresholds) :]
        key = group[0] if group else None
        found.setdefault(key, np.zeros(shape, dtype=np.int64))[:, place[day]] += np.array(reached, dtype=np.int64)
    return Increments(shape, found, columns.grouping)


def _columns_in(header: Header, columns: Columns, day: Part, said: SaidOfRows, *, may_recognize: bool) -> Columns:
    """Return which columns to read, having refused those that are not there, or are said to be two things."""
    parts = () if columns.grouping is None else columns.grouping.parts
    for part in parts:
        header.require(group=part.column)
    used = (day.column, columns.user, columns.order_by, *(part.column for part in parts))
    kind = said.kind(header, used, user=columns.user, may_recognize=may_recognize)
    if kind.rows == "prevalences":
        raise UsageError("Prevalences do not say which label has a count, so they have no days: give a row for each.")
    header.require(user=columns.user, order=columns.order_by)
    header.require(date=day.column)
    names = {kind.label: "label", columns.user: "user", kind.count: "count"}
    for part in parts:
        if part.period is None and part.column in names:
            raise UsageError(
                f"The grouping column {part.column!r} is the {names[part.column]} column, too: group by another column."
            )
    return replace(columns, rows=kind.rows, label=kind.label, count=kind.count)


def increments_query(table: Any, columns: Columns, thresholds: tuple[int, ...]) -> Any:
    """Return the lazy query (day, named, reached0, reached1, …): how many labels first reach each threshold.

    With groups, their text follows. Of counted rows the least and the largest running count follow, the size of the
    largest, and how many counts are wrong, as in :func:`~anonhist.ingest.query.added_counts`.
    """
    import narwhals as nw

    rows = bounded_rows(table, columns)
    is_counted = columns.rows == "counts"
    flags = [name for name in rows.collect_schema().names() if name == NAMED]
    group = [] if columns.grouping is None else [GROUP]
    # Items of users have labels already: SQLite limits the depth of nested queries.
    if not columns.keep_null and columns.user is None:
        rows = rows.filter(~nw.col("label").is_null())
    days = rows if not is_counted else rows.with_columns(size=large_units(nw.col("count")))
    numbers = nw.col("count", "size", "wrong").sum() if is_counted else nw.len().alias("count")
    counted = days.group_by("label", *group, DAY, *flags).agg(numbers)
    if is_counted:
        # A label is in no group where it counts nothing.
        counted = counted.filter(counts_something("count", "wrong"))
    if columns.grouping is not None and columns.grouping.groups_per_label is not None:
        most, first = columns.grouping.groups_per_label, nw.col("wrong") > 0 if is_counted else None
        counted = rows_in_few_groups_of_labels(counted, most, columns.order_key, first=first)
    # Rows without a label, where they count, are one label, which not every engine takes for one by itself.
    label = nw.col("label")
    known = nw.when(label.is_null()).then(nw.lit("")).otherwise(nw.concat_str(nw.lit("="), label))
    counted = counted.with_columns(
        count=nw.col("count").cast(nw.Int64),
        known=known if columns.keep_null else label,
        named=nw.col(NAMED) if flags else nw.lit(1),
    )
    # Texts of days ascend as the days do.
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
