"""The queries, written once for every engine: bound each user, count each label, count the counts.

If the labels do not fit in memory, DuckDB counts in 4, 16, … up to 256 passes, each over the labels with one residue of
a hash. All rows of a label are in the same pass, so the number of passes changes the time and not the counts. Each pass
reads all data again, so this is only for data that can be quickly read again, unchanged: Parquet files on this machine.
A view or a computed column may change with every reading, and a row could then count in several passes.
"""

from __future__ import annotations

import operator
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError
from anonhist.ingest.group_names import (
    DAY,
    GROUP,
    OWN_GROUP,
    UNGROUPED,
    Grouping,
    group_keys,
    in_few_groups_of_labels,
    in_few_groups_of_users,
    in_groups,
    place_of_rows,
)
from anonhist.ingest.naming import NAMED, as_text, identity_of, is_missing, name_columns, order_of
from anonhist.ingest.plain_types import counts_of_objects, holds_objects
from anonhist.ingest.sqlite_values import with_used_columns
from anonhist.ingest.user_bounds import TIMES, UserBound, bounded_users
from anonhist.ingest.warehouses import batch_of_postgresql, is_postgresql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from anonhist.ingest.columns import Opened
    from anonhist.ingest.group_values import Part

LARGEST = 2**63 - 1
_UNIT = 2**32
_TOO_LARGE = "The data hold more than 2^63 − 1 items, the most that can be counted; split the data."


@dataclass(frozen=True)
class Columns:
    """Which columns to read, and how users are bounded: public choices."""

    label: str
    user: str | None = None
    max_per_user: int | None = None
    order_by: str | None = None
    # Needed with users and with groups of labels: 32 hexadecimal digits, drawn independently of the data.
    order_key: str = ""
    keep_null: bool = False
    # Whether labels that are numbers must be whole.
    only_whole: bool = False
    grouping: Grouping = UNGROUPED
    # What a row stands for, and where counted data hold it.
    rows: str = "events"
    count: str | None = None
    prevalence: str | None = None
    # The column of dates of cumulative windows, and the listed days.
    days: tuple[Part, tuple[str, ...]] | None = None


@dataclass(frozen=True)
class Pass:
    """The labels that a query counts: those with hash ``number`` modulo ``of``."""

    number: int
    of: int


ALL_LABELS = Pass(0, 1)


def events_query(table: Any, columns: Columns, labels: Pass = ALL_LABELS) -> Any:
    """Return the lazy query (count, is_null, prevalence) over a table with one row per event.

    A fourth column ``named`` is 0 for values without a name, if there may be some; a column ``group`` has the text of
    the group, and each group is counted separately. Only DuckDB can count some of the ``labels``.
    """
    import narwhals as nw

    counted = _counted_events(table, columns, labels)
    flags = [name for name in counted.collect_schema().names() if name in (NAMED, GROUP)]
    if columns.grouping.groups_per_label is not None:
        counted = in_few_groups_of_labels(counted, columns.grouping.groups_per_label, columns.order_key)
    counted = counted.select("count", *flags, is_null=nw.col("label").is_null())
    grouped = counted.group_by("count", "is_null", *flags).agg(prevalence=nw.len())
    return grouped.select("count", "is_null", "prevalence", *flags)


def _counted_events(table: Any, columns: Columns, labels: Pass = ALL_LABELS) -> Any:
    """Return the lazy query (label, count) over a table with one row per event, in each group, with a flag of names."""
    import narwhals as nw

    rows = bounded_rows(table, columns)
    if labels.of > 1:
        rows = nw.from_native(rows.to_native().filter(f"hash(label) % {labels.of} = {labels.number}"))
    flags = [name for name in rows.collect_schema().names() if name in (NAMED, GROUP)]
    return rows.group_by("label", *flags).agg(count=number_of_rows(rows))


def ranked_labels(table: Any, columns: Columns, most: int) -> Any:
    """Return the lazy query (label, count, rank) of labels in the first ``most`` of their groups, in order by rank."""
    own = replace(columns, grouping=replace(columns.grouping, groups_per_label=most))
    if columns.rows == "counts":
        return added_counts(table, own)
    return in_few_groups_of_labels(_counted_events(table, columns), most, columns.order_key)


def bounded_rows(table: Any, columns: Columns) -> Any:
    """Return the counted rows of a table with one row per event, their labels as text in the column ``label``.

    Rows without a user are removed first, whatever else they hold. For each user, at most ``max_per_user`` rows are
    kept: a systematic sample (see :mod:`~anonhist.ingest.user_bounds`), or the first by ``order_by``, ties broken by a
    keyed hash of the user, the label and a number that distinguishes equal rows (see
    :mod:`~anonhist.ingest.random_order`). So the choice depends on that user's rows alone, and without ``order_by``
    each row has the same chance; without a bound on groups, it is the same on all levels. Values without a name
    (``named`` = 0) are never left out in favor of others, so that they are seen and refused. Where a column
    :data:`~anonhist.ingest.user_bounds.TIMES` says so, a row stands for several that are equal.
    """
    rows = named_rows(table, columns)
    if columns.user is None:
        return rows
    grouping = columns.grouping
    places, hashed, within = [GROUP] if grouping.parts else [], "label", ["user"]
    carried: list[str] = []
    if grouping.has_one_sample:
        places, carried = [OWN_GROUP], [GROUP]
    if grouping.groups_per_user is not None:
        rows, within = in_few_groups_of_users(rows, grouping.groups_per_user, columns.order_key), ["user", GROUP]
    places += [DAY] if columns.days is not None else []
    if places and columns.order_by is not None:
        rows, hashed = place_of_rows(rows, places), "place"
    most = operator.index(columns.max_per_user or 0)
    bound = UserBound(most, columns.order_key, tuple(within), tuple(places), hashed, columns.keep_null, tuple(carried))
    return bounded_users(rows, bound)


def number_of_rows(rows: Any) -> Any:
    """Return how many rows there are, of :func:`bounded_rows`, in a group of them."""
    import narwhals as nw

    return nw.col(TIMES).sum() if TIMES in rows.collect_schema().names() else nw.len()


def named_rows(table: Any, columns: Columns) -> Any:
    """Return the rows of :func:`bounded_rows` before users are bounded, lazily; columns without names are refused."""
    import narwhals as nw

    label, user = columns.label, columns.user
    selected: dict[str, Any] = {"label": as_text(table, label, only_whole=columns.only_whole)}
    named, grouping = {} if user is None else {user: False}, columns.grouping
    if grouping.parts:
        named = grouping.by_value | named
        selected |= group_keys(table, grouping.parts)
    flags = name_columns(table, named | {label: columns.only_whole})
    kept: list[Any] = []
    if columns.days is not None:
        part, days = columns.days
        selected[DAY] = part.keys(table)
        kept = [nw.col(DAY).is_in([part.key_of(day) for day in days])]
    if user is not None:
        kept, flags = [is_item(columns), *kept], flags | {"one": nw.lit(1)}
        selected |= {"user": identity_of(table, user), "user_name": as_text(table, user)}
        selected |= {} if columns.order_by is None else order_of(table, columns.order_by)
    elif columns.rows == "counts" and columns.count is not None:
        good, number = whole_numbers(table, columns.count)
        selected |= {"count": number, "wrong": one_if(~good)}
    # SQLite limits the depth of nested queries, so each step uses an existing query.
    rows = table.select(**selected, **flags)
    rows = rows.filter(*kept) if kept else rows
    return in_groups(rows, grouping, keep_null=columns.keep_null) if grouping.parts else rows


def is_item(columns: Columns) -> Any:
    """Return whether a row (user, label) is an item of a user."""
    import narwhals as nw

    if columns.keep_null:
        return ~nw.col("user").is_null()
    return ~(nw.col("user").is_null() | nw.col("label").is_null())


def added_counts(table: Any, columns: Columns) -> Any:
    """Return the lazy query (label, count, wrong, size) over a table with labels and counts; equal labels are added up.

    ``wrong`` is the number of counts that are not whole numbers from 0 to 2^63 − 1, and ``size`` is the sum in units of
    2^32: some engines let a sum of whole numbers wrap. Labels with a count of zero are left out. A column ``named`` is
    0 for labels without a name, if there may be some; each ``group``, if there are any, is counted separately.
    """
    import narwhals as nw

    rows = bounded_rows(table, columns)
    flags = [name for name in rows.collect_schema().names() if name in (NAMED, GROUP)]
    rows = rows.with_columns(size=large_units(nw.col("count")))
    added = rows.group_by("label", *flags).agg(nw.col("count", "wrong", "size").sum())
    added = added.filter(counts_something("count", "wrong"))
    if columns.grouping.groups_per_label is None:
        return added
    # Invalid values come first, so that they are seen and refused, not left out.
    is_wrong = nw.col("wrong") > 0
    return in_few_groups_of_labels(added, columns.grouping.groups_per_label, columns.order_key, first=is_wrong)


def counts_something(number: str, *wrong: str) -> Any:
    """Return whether a sum includes anything except zeros, even if it wrapped, or must be refused."""
    import narwhals as nw

    return nw.any_horizontal(*(nw.col(name) != 0 for name in (number, "size", *wrong)), ignore_nulls=True)


def counts_query(table: Any, columns: Columns) -> Any:
    """Return the lazy query (count, is_null, prevalence, wrong, size) over a table with labels and counts.

    Columns ``named`` and ``group`` follow: see :func:`added_counts`. One query gives all of this, because standard
    input can be read only once.
    """
    import narwhals as nw

    added = added_counts(table, columns)
    flags = [name for name in added.collect_schema().names() if name in (NAMED, GROUP)]
    counted = added.with_columns(is_null=nw.col("label").is_null())
    grouped = counted.group_by("count", "is_null", *flags).agg(
        nw.len().alias("prevalence"), nw.col("wrong").sum(), nw.col("size").max()
    )
    return grouped.select("count", "is_null", "prevalence", "wrong", "size", *flags)


def prevalences_query(table: Any, columns: Columns) -> Any:
    """Return the lazy query (count, prevalence, rows, wrong_counts, wrong, size) over a table of prevalences.

    Equal counts are added up; ``rows`` is the number of their rows. Each group, if there are any, is counted
    separately.
    """
    import narwhals as nw

    good_count, count = whole_numbers(table, columns.count or "count")
    good, prevalence = whole_numbers(table, columns.prevalence or "prevalence")
    selected = {"count": count, "prevalence": prevalence, "wrong_counts": one_if(~good_count), "wrong": one_if(~good)}
    grouping = columns.grouping
    if grouping.parts:
        selected |= group_keys(table, grouping.parts) | name_columns(table, grouping.by_value)
    rows = table.select(**selected)
    rows = in_groups(rows, grouping, keep_null=columns.keep_null) if grouping.parts else rows
    flags = [name for name in rows.collect_schema().names() if name in (NAMED, GROUP)]
    rows = rows.with_columns(size=large_units(nw.col("prevalence")))
    added = nw.col("prevalence", "wrong_counts", "wrong", "size").sum()
    grouped = rows.group_by("count", *flags).agg(added, rows=nw.len())
    return grouped.select("count", "prevalence", "rows", "wrong_counts", "wrong", "size", *flags)


def large_units(numbers: Any) -> Any:
    """Return numbers in units of 2^32, whose sum never wraps."""
    return numbers // _UNIT


def one_if(condition: Any) -> Any:
    """Return 1 if a condition holds and 0 otherwise; PostgreSQL does not cast booleans to large numbers."""
    import narwhals as nw

    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0))


def whole_numbers(table: Any, name: str) -> tuple[Any, Any]:
    """Return whether each value is a whole number from 0 to 2^63 − 1, and the number, or 0 if it is not."""
    import narwhals as nw

    if holds_objects(table, name):
        counts = counts_of_objects(table, name)
        return counts >= 0, counts.clip(0, None)
    column, kind = nw.col(name), table.collect_schema()[name]
    if kind.is_integer():
        good = (column >= 0) & (column <= LARGEST)
        value, nothing = column, nw.lit(0)
    elif kind.is_float():
        # Some engines round to a whole number, which must fit: do not round anything else.
        is_inside = ~is_missing(table, name) & (column >= 0) & (column <= 2**53)
        inside = nw.when(is_inside).then(column).otherwise(nw.lit(0.5))
        good = inside == inside.round(0)
        value, nothing = column, nw.lit(0.0)
    else:
        written = column.cast(nw.String)
        value, nothing = written.str.strip_chars(), nw.lit("0")
        # Nineteen digits compare as text like numbers.
        nineteen = written.str.contains("^ *[1-9][0-9]{18} *$") & (value <= nw.lit(str(LARGEST)))
        good = written.str.contains("^ *0*[0-9]{1,18} *$") | nineteen
    good = ~column.is_null() & good.fill_null(value=False)
    return good, nw.when(good).then(value).otherwise(nothing).cast(nw.Int64)


def dropped_query(table: Any, columns: Columns) -> Any:
    """Return a one-row lazy query: all rows, and rows without a user."""
    import narwhals as nw

    missing = one_if(is_missing(table, columns.user or columns.label))
    return table.select(missing=missing).select(rows=nw.len(), missing=nw.col("missing").sum())


def fetch(query: Any) -> list[tuple[Any, ...]]:
    """Run a query once and return its rows as tuples."""
    native = query.to_native()
    if type(native).__name__ == "DuckDBPyRelation":
        # A relation runs again at each fetch, so there is only one.
        return list(native.fetchall())
    if is_postgresql(query):
        return [tuple(row.values()) for row in batch_of_postgresql(query).to_pylist()]
    with warnings.catch_warnings():
        # Ibis reads SQLite's rows with deprecated parts of pandas: the caller cannot do anything about that.
        warnings.simplefilter("ignore", DeprecationWarning)
        query = with_used_columns(query) if query.implementation.is_ibis() else query
        collected = query.collect() if hasattr(query, "collect") else query
    return [tuple(row) for row in collected.rows()]


def check_whole(name: str | None, wrong: int) -> None:
    """Refuse a column if some of its values are not counts."""
    if wrong:
        raise DataError(f"The column {name!r} must hold whole numbers from 0 to 2^63 − 1 and nothing else.")


def check_sums(sums: list[tuple[Any, Any]]) -> None:
    """Refuse sums (exact, in units of 2^32) that exceeded 2^63 − 1, even if the engine let them wrap."""
    # A sum that wrapped is negative below 2^64, and its size reveals it above: the roundings of 2^30 rows fit between.
    if any(not 0 <= int(exact) <= LARGEST or int(size) * _UNIT >= 1.5 * 2**63 for exact, size in sums):
        raise DataError(_TOO_LARGE)


def profile_pairs(
    rows: list[tuple[Any, ...]], *, keep_null: bool, notify: Callable[[str], None] | None
) -> list[tuple[int, int]]:
    """Split rows (count, is_null, prevalence) into the profile and the excluded items."""
    kept = [(int(count), int(prevalence)) for count, is_null, prevalence in rows if keep_null or not is_null]
    if not keep_null and notify is not None:
        left_out = sum(int(count) * int(prevalence) for count, is_null, prevalence in rows if is_null)
        tell_of_unlabelled(left_out, notify)
    return kept


def tell_of_unlabelled(items: int, notify: Callable[[str], None]) -> None:
    """Tell the operator how many items without a label were left out, if any."""
    if items:
        many = "1 item without a label was" if items == 1 else f"{items:,} items without a label were"
        notify(f"{many} left out (`keep_null=True` counts them as one label).")


def tell_of_bound(table: Any, columns: Columns, kept: int, notify: Callable[[str], None]) -> None:
    """Tell the operator how many rows of bounded users were left out, if any; the table is read again."""
    rows, missing = (int(many or 0) for many in fetch(dropped_query(table, columns))[0])
    if rows > kept:
        notify(
            f"{rows - kept:,} of {rows:,} rows were left out: {missing:,} without a user, the others without a label "
            f"or over the limit of {columns.max_per_user} per user."
        )


PASSES = (1, 4, 16, 64)
MOST_PASSES = 256


class Shares:
    """Receives the share done of a pass, and reports that of all passes, which never decreases."""

    def __init__(self, receive: Callable[[float], None]) -> None:
        self._receive = receive
        self._pass = ALL_LABELS
        self._done_before = self._done = 0.0

    def begin(self, one: Pass) -> None:
        """Say which pass is counted from now on; after the first of several, only the remaining share is divided."""
        if one.number == 0:
            self._done_before = self._done
        self._pass = one

    def __call__(self, share: float) -> None:
        """Receive the share done of this pass."""
        of_all = (self._pass.number + share) / self._pass.of
        self._done = max(self._done, self._done_before + (1 - self._done_before) * of_all)
        self._receive(self._done)


def counted_events(opened: Opened, columns: Columns, shares: Shares | None) -> list[tuple[Any, ...]]:
    """Return the rows of :func:`events_query`, without users, for files that DuckDB reads, in passes if necessary.

    With several passes, files that change meanwhile are refused. DuckDB's lack of memory is raised when 256 passes do
    not help.
    """
    before = [_version(file) for file in opened.read_again]
    for of in PASSES:
        try:
            return _in_passes(opened, columns, of, shares, before)
        except Exception as error:
            # For DuckDB.
            if type(error).__name__ != "OutOfMemoryException":
                raise
    return _in_passes(opened, columns, MOST_PASSES, shares, before)


def _in_passes(
    opened: Opened, columns: Columns, of: int, shares: Shares | None, before: list[tuple[int, int, int]]
) -> list[tuple[Any, ...]]:
    added: Counter[tuple[Any, ...]] = Counter()
    for one in (Pass(number, of) for number in range(of)):
        if shares is not None:
            shares.begin(one)
        for count, is_null, prevalence, *flags in fetch(events_query(opened.table, columns, one)):
            added[count, is_null, *flags] += prevalence
        if of > 1 and [_version(file) for file in opened.read_again] != before:
            raise DataError("The input was changed while it was read in passes: read it again.")
    return [(count, is_null, prevalence, *flags) for (count, is_null, *flags), prevalence in added.items()]


def _version(file: str) -> tuple[int, int, int]:
    info = Path(file).stat()
    return info.st_ino, info.st_size, info.st_mtime_ns


def record_batches(query: Any, rows: int) -> Iterator[Any]:
    """Run a query once and return its result as Arrow batches of this many rows, streamed if the engine can."""
    native = query.to_native()
    if type(native).__name__ == "DuckDBPyRelation":
        yield from batches(native, rows)
    elif query.implementation.is_ibis():
        yield from _ibis_batches(with_used_columns(query).to_native(), rows)
    else:
        collected = query.collect() if hasattr(query, "collect") else query
        yield from collected.to_arrow().to_batches(max_chunksize=rows)


def batches(relation: Any, rows: int) -> Iterator[Any]:
    """Run a query once and return its nonempty record batches."""
    for batch in relation.to_arrow_reader(rows):
        if batch.num_rows:
            yield batch


def _ibis_batches(query: Any, rows: int) -> Iterator[Any]:
    """Run a query; Ibis reads SQLite's rows with deprecated parts of pandas, which the caller cannot change."""
    rest: Iterator[Any] | None = None
    if query.get_backend().name == "duckdb":
        # It requests batches under a name that newer engines no longer know.
        yield from query.to_pyarrow().to_batches(max_chunksize=rows)
        return
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            rest = iter(query.to_pyarrow_batches(chunk_size=rows)) if rest is None else rest
            batch = next(rest, None)
        if batch is None:
            return
        yield batch


def whole_column(column: Any) -> NDArray[np.int64]:
    """Return an Arrow array of whole numbers, none missing, without pandas, which Arrow itself would load."""
    import pyarrow as pa

    whole = column.cast(pa.int64())
    if not len(whole):
        return np.zeros(0, dtype=np.int64)
    return np.frombuffer(whole.buffers()[1], dtype=np.int64)[whole.offset : whole.offset + len(whole)]


def text_buffers(labels: Any) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Return the bytes of an Arrow array of texts, and the start of each: shapes (bytes,) and (labels + 1,)."""
    import pyarrow as pa

    if not pa.types.is_string(labels.type) and not pa.types.is_large_string(labels.type):
        labels = labels.cast(pa.large_string())
    if not len(labels):
        return np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    kind = np.int64 if pa.types.is_large_string(labels.type) else np.int32
    _, offsets, data = labels.buffers()
    begins = np.frombuffer(offsets, dtype=kind)[labels.offset : labels.offset + len(labels) + 1]
    return np.frombuffer(data, dtype=np.uint8), begins
