"""Columns of types that engines or sessions write differently, converted so that all engines name them alike.

In SQL, texts are equal only if they are the same, whatever collation their columns have: under some, "de" and "DE" are
equal, so one row could change the names of other rows' labels, and two users would be bounded as one.

In SQL, times with a zone are converted to UTC: in a session's zone, both instants of the hour that is repeated in
autumn look alike. Durations become numbers of seconds, which are equal if the durations are; months have 30 days, as in
engines' comparisons. PostgreSQL's numeric NaN is missing, like that of floats. Polars has functions for times and
durations (:func:`~anonhist.ingest.naming.as_text`).

Python objects, pandas' columns of type ``object``, are named value by value
(:func:`~anonhist.numeric.value_name.value_name`), and ordered by type and value. Packages infer the type of all values
from some; here each value is inspected only for itself.
"""

from __future__ import annotations

import re
from datetime import MINYEAR, UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.ingest.warehouses import plain_types_of_ibis
from anonhist.numeric.value_name import is_missing, value_name
from anonhist.profiles.counts import MAX_ITEMS

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_NAMES = "A column of lists or structures cannot hold names: choose one of text or whole numbers."
_NO_DURATIONS = "Durations have no names on this engine: make a column of their seconds, and choose that."
# Braces stand for the column.
_OF_DUCKDB = {
    "VARCHAR": '{0} COLLATE "binary"',
    "TIMESTAMP WITH TIME ZONE": (
        "CASE WHEN isinf({0}) THEN CAST(CAST({0} AS VARCHAR) AS TIMESTAMP) ELSE make_timestamp(epoch_us({0})) END"
    ),
    "TIMESTAMPTZ_NS": "make_timestamp_ns(epoch_ns({0}))",
    "INTERVAL": "CAST(epoch_us({0}) AS DECIMAL(19, 0)) * 0.000001",
}
_SECONDS = " + ".join(
    f"extract({unit} FROM CAST({{0}} AS INTERVAL DAY TO SECOND)) * {seconds}"
    for unit, seconds in (("DAY", "CAST(86400 AS DECIMAL(11, 0))"), ("HOUR", 3600), ("MINUTE", 60), ("SECOND", 1))
)
_OF_SPARK = {
    "timestamp": (
        "TIMESTAMP_NTZ'1970-01-01 00:00:00' "
        "+ make_dt_interval(0, 0, 0, CAST(unix_micros({0}) AS DECIMAL(18, 0)) * 0.000001)"
    ),
    "daytimeinterval": _SECONDS,
}


def with_plain_types(table: Any) -> Any:
    """Return a Narwhals table with texts as written and, in SQL, times in UTC and durations in seconds.

    Column names of Spark must be readable for it.
    """
    import narwhals as nw

    native = table.to_native()
    if table.implementation.is_ibis():
        return plain_types_of_ibis(table)
    if table.implementation.is_duckdb():
        held = {name: _formula_of_duckdb(str(kind)) for name, kind in zip(native.columns, native.types, strict=True)}
        quoted = {name: '"' + name.replace('"', '""') + '"' for name in held}
        changed = [f"{made.format(quoted[name])} AS {quoted[name]}" for name, made in held.items() if made]
        return nw.from_native(native.project(f"* REPLACE ({', '.join(changed)})")) if changed else table
    if is_spark(table):
        formulas = {field.name: _formula_of_spark(field.dataType) for field in native.schema.fields}
        return replaced_in_spark(table, {name: made for name, made in formulas.items() if made})
    return table


def is_spark(table: Any) -> bool:
    """Return whether Spark holds the table, directly or through a connection."""
    return bool(table.implementation.is_pyspark() or table.implementation.is_pyspark_connect())


def _formula_of_duckdb(kind: str) -> str:
    # As texts, names of an enumeration would have the connection's default collation.
    return 'CAST({0} AS VARCHAR) COLLATE "binary"' if kind.startswith("ENUM(") else _OF_DUCKDB.get(kind, "")


def _formula_of_spark(kind: Any) -> str:
    if " collate " in kind.simpleString().lower():
        return "collate({0}, 'UTF8_BINARY')"
    return _OF_SPARK.get(type(kind).__name__.removesuffix("Type").lower(), "")


def backquoted(name: str) -> str:
    """Return a name as quoted in Spark's SQL."""
    return "`" + name.replace("`", "``") + "`"


def replaced_in_spark(table: Any, formulas: dict[str, str]) -> Any:
    """Return a Spark table with columns replaced by formulas, in which braces stand for the name."""
    import narwhals as nw

    if not formulas:
        return table
    native = table.to_native()
    quoted = {name: backquoted(name) for name in native.columns}
    chosen = (f"{formulas.get(name, '{0}').format(each)} AS {each}" for name, each in quoted.items())
    return nw.from_native(native.selectExpr(*chosen))


def _why_nameless(table: Any, name: str) -> str | None:
    """Return why values of a pandas column have no names: Arrow may hold lists, structures or intervals."""
    held = getattr(table.to_native().dtypes[name], "pyarrow_dtype", None)
    if held is None:
        return None
    import pyarrow as pa

    return _NO_DURATIONS if pa.types.is_interval(held) else _NO_NAMES if pa.types.is_nested(held) else None


def check_holds_names(table: Any, name: str, *, only_whole: bool) -> None:
    """Refuse a column whose type's values have no names: lists and structures, and durations of some engines.

    DuckDB and Spark each write lists and structures in one way, so these texts are names if fractions are, too.
    """
    import narwhals as nw

    kind, engine = table.collect_schema()[name], table.implementation
    if kind.is_nested() and (only_whole or not (engine.is_duckdb() or engine.is_ibis() or is_spark(table))):
        raise DataError(_NO_NAMES)
    if isinstance(kind, nw.Duration) and engine.is_ibis():
        raise DataError(_NO_DURATIONS)
    if engine.is_pandas_like() and (why := _why_nameless(table, name)) is not None:
        raise DataError(why)


_COUNT = re.compile(" *0*([0-9]{1,19}) *")
_NOT_THERE = (
    "This table would hold Python objects, but is not in memory yet: collect it first, or convert the column to text "
    "or numbers."
)
NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction)
# Values that are ordered directly, in this order of types; a time is also a date, and a boolean a number.
_TRUTH, _NUMBER, _TEXT, _DATE, _TIME, _ZONED, _CLOCK, _DURATION, _BYTES, _OTHER = range(10)


def holds_objects(table: Any, name: str) -> bool:
    """Return whether a column of a table in memory holds untyped objects; refuse objects that are not in memory yet.

    Besides objects of pandas and Polars, these are pandas types that Narwhals does not know, such as periods, and some
    texts of Arrow.
    """
    import narwhals as nw

    kind = table.implementation
    if kind.is_pandas_like():
        # Narwhals inspects columns of objects.
        if str(table.to_native()[name].dtype) == "object":
            return True
        return isinstance(table.get_column(name).dtype, nw.Unknown) and _why_nameless(table, name) is None
    if kind.is_dask():
        is_held = str(table.to_native().dtypes[name]) == "object"
    else:
        is_held = kind.is_polars() and isinstance(table.collect_schema()[name], nw.Object)
    if is_held and not isinstance(table, nw.DataFrame):
        raise UsageError(_NOT_THERE)
    return bool(is_held)


def names_of_objects(table: Any, name: str, *, only_whole: bool) -> Any:
    """Return the names of a column's values: a series."""

    def name_of(value: Any) -> str | None:
        return value if type(value) is str else value_name(value, only_whole=only_whole)

    return mapped_objects(table, name, name_of)


def mapped_objects(table: Any, name: str, each: Callable[[Any], str | None]) -> Any:
    """Return a series with a function's result, a text or None, for each value of a column."""
    return _series(table, name, list(map(each, _values(table, name))), "text")


def order_of_objects(table: Any, name: str) -> Any:
    """Return the ranks of a column's values in an order that is total over all types, NaN if missing.

    Values are ordered by type, and then by value: booleans, numbers as floats, texts, dates, times with a date (with or
    without a zone), times of day, durations, bytes; then others, by their types' names and their own.
    """
    keys = list(map(_key, _values(table, name)))
    places = {key: place for place, key in enumerate(sorted({key for key in keys if key is not None}))}
    return _series(table, name, [None if key is None else float(places[key]) for key in keys], "float64")


def counts_of_objects(table: Any, name: str) -> Any:
    """Return the whole numbers from 0 to 2^63 − 1 in a column, numbers or text, and −1 elsewhere: a series."""
    counts = map(whole_count, _values(table, name))
    return _series(table, name, [-1 if count is None else count for count in counts], "int64")


def whole_count(value: object) -> int | None:
    """Return the whole number from 0 to 2^63 − 1 that a value equals, if any: a number of any type, or its text."""
    if type(value) is int:
        return value if 0 <= value <= MAX_ITEMS else None
    if isinstance(value, timedelta | np.timedelta64):
        # A duration is named by its seconds.
        return None
    try:
        found = _COUNT.fullmatch(value_name(value, only_whole=True) or "")
    except DataError:
        return None
    return None if found is None else whole_count(int(found[1]))


def _values(table: Any, name: str) -> list[Any]:
    values: list[Any] = (
        table.get_column(name).to_list() if table.implementation.is_polars() else table.to_native()[name].tolist()
    )
    return values


def _series(table: Any, name: str, values: list[Any], kind: str) -> Any:
    import narwhals as nw

    if table.implementation.is_polars():
        kinds: dict[str, Any] = {"text": nw.String, "float64": nw.Float64, "int64": nw.Int64}
        return nw.new_series(name, values, kinds[kind], backend="polars")
    native = table.to_native()[name]
    # Texts of pandas' own type could not hold lone surrogates.
    made = type(native)(values, index=native.index, dtype="object" if kind == "text" else kind)
    return nw.from_native(made, series_only=True).alias(name)


def _key(value: Any) -> tuple[Any, ...] | None:
    """Return the comparison key of a value, None if it is missing."""
    if isinstance(value, str):
        return _TEXT, str(value)
    if is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return _TRUTH, bool(value)
    if isinstance(value, np.timedelta64):
        return _OTHER, type(value).__name__, value_name(value) or ""
    return (_NUMBER, float_of(value)) if isinstance(value, NUMBERS) else _key_of_others(value)


def _key_of_others(value: Any) -> tuple[Any, ...]:
    if isinstance(value, datetime):
        return (_TIME, value) if value.tzinfo is None else (_ZONED, *_instant(value))
    for kind, place in ((date, _DATE), (time, _CLOCK), (timedelta, _DURATION), (bytes, _BYTES)):
        if isinstance(value, kind) and getattr(value, "tzinfo", None) is None:
            return place, value
    return _OTHER, type(value).__name__, value_name(value) or ""


def _instant(value: datetime) -> tuple[int, datetime]:
    """Return the comparison key of times with a zone, even if they are before year 1 or after 9999 in UTC."""
    try:
        return 0, value.astimezone(UTC)
    except OverflowError:
        return (-1 if value.year == MINYEAR else 1), value.replace(tzinfo=UTC)


def float_of(value: Any) -> float:
    """Return a number as a float, infinite if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
