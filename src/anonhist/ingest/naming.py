"""Names of the values of a column, and their order, on every engine.

A name (see :func:`~anonhist.numeric.value_name.value_name`) depends on the value and on the declared type of its
column, and on no other row: see docs/proofs/users.md, §0. An engine without missing whole numbers, such as pandas,
holds a column of them in floating point as soon as one value is missing; this must not change how any other row is
read.

A user's rows also count in the order of values. The codes of categories are often assigned by first appearance, so one
user could decide which rows of all others count: categories are compared as text.

If types do not bind (objects of pandas, SQLite, a column of Parquet files whose types differ), each value is named
separately, with its kind. If SQL reads the values, the table has their names, as text, in place of the column, and
their kinds in another column beside it. Objects of pandas are named by Python.
"""

from __future__ import annotations

import math
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError
from anonhist.ingest.plain_types import check_holds_names, holds_objects, is_spark, names_of_objects, order_of_objects
from anonhist.ingest.warehouses import is_postgresql
from anonhist.numeric.value_name import LARGEST_NAMED, NOT_WHOLE, TOO_LARGE, value_name

if TYPE_CHECKING:
    from collections.abc import Iterable

# Kinds of values, in order: numbers before text before bytes.
WHOLE, FRACTION, LARGE, TEXT, BYTES = "1 whole", "1 fraction", "1 large", "2 text", "3 bytes"
_CLASS_OF_NUMBERS = "1"
# The columns of a total order of values of several kinds.
RANKS = ("rank_class", "rank_number", "rank_by")


# Values that SQLite orders correctly: the suffix of their column.
ORDER = "\x1forder"


class Declared(Enum):
    """The declared content of a column, which is not binding; its value is the suffix of the column of kinds."""

    NUMBERS = "\x1fkinds, of numbers"
    TRUTH = "\x1fkinds, of truth values"
    DATES = "\x1fkinds, of dates"
    TEXT = "\x1fkinds, of text"
    ANYTHING = "\x1fkinds"

    def column(self, name: str) -> str:
        """Return the name of the column with the kinds of another's values; no column of a user ends like this."""
        return f"{name}{self.value}"


def declared(table: Any, name: str) -> Declared | None:
    """Return the declared type of a column whose values are named one by one; None if its type binds."""
    names = table.collect_schema().names()
    return next((each for each in Declared if f"{name}{each.value}" in names), None)


def names_of(values: Iterable[Any], *, only_whole: bool = False) -> Any:
    """Return the names of values as an Arrow array of large texts, null if a value is missing.

    Values without a name, or with one that files cannot hold, are refused.
    """
    import pyarrow as pa

    try:
        return pa.array(map(partial(value_name, only_whole=only_whole), values), pa.large_string())
    except UnicodeEncodeError:
        # Its message quotes the text.
        raise DataError(
            "A text contains a lone surrogate, which is not a character: decode the texts properly first."
        ) from None


# The length of YYYY-MM-DD HH:MM:SS, and with milliseconds, microseconds or nanoseconds.
_SECONDS, _MILLIS, _MICROS, _NANOS = 19, 23, 26, 29
_STEPS = {"ms": 10**3, "us": 10**6, "ns": 10**9}
# The seconds from 1970 to the years 0 and 10,000.
_FOUR_DIGITS = (-62_167_219_200, 253_402_300_800)


def without_zeros(text: Any) -> Any:
    """Return texts of decimals without trailing zeros or a trailing point, and other texts unchanged."""
    import narwhals as nw

    trimmed = text.str.replace_all(r"\.?0+$", "")
    return nw.when(text.str.contains(r"\.[0-9]+$")).then(trimmed).otherwise(text)


def time_text(table: Any, name: str) -> Any:
    """Return the text of times, in UTC if they have a zone, with 6 or 9 fractional digits, or none if they are zero.

    Times of most engines are already in UTC: see :mod:`~anonhist.ingest.plain_types`.
    """
    import narwhals as nw

    kind, column = table.collect_schema()[name], nw.col(name)
    if table.implementation.is_polars():
        if kind.time_zone is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _cut(column, kind.time_unit)
    text = column.cast(nw.String)
    if table.implementation.is_duckdb():
        return _padded(text, kind.time_unit)
    has_fraction = text.str.slice(_SECONDS, 1) == nw.lit(".")
    # Cutting is used instead of matching, because patterns take several times as long.
    nine = nw.concat_str(text, nw.lit("0" * 8)).str.slice(0, _NANOS)
    six = nine.str.slice(0, _MICROS)
    written = nw.when(six.str.slice(_SECONDS) == nw.lit(".000000")).then(text.str.slice(0, _SECONDS)).otherwise(six)
    if kind.time_unit == "ns":
        written = nw.when(nine.str.slice(_MICROS) == nw.lit("000")).then(written).otherwise(nine)
    # Texts of years with more digits, or before the first, stay unchanged.
    return nw.when(has_fraction).then(written).otherwise(text)


def _cut(column: Any, unit: Any) -> Any:
    """Return the text of times of Polars, which writes all digits of their unit, without zeros that numbers indicate.

    Inspecting the texts takes longer than writing them.
    """
    import narwhals as nw

    text, steps, count = column.cast(nw.String), _STEPS[unit], column.dt.timestamp(unit)
    written = nw.concat_str(text, nw.lit("000")) if unit == "ms" else text
    if unit == "ns":
        written = nw.when(count % 1_000 == 0).then(text.str.slice(0, _MICROS)).otherwise(text)
    written = nw.when(count % steps == 0).then(text.str.slice(0, _SECONDS)).otherwise(written)
    if unit == "ns":
        # Such times are in the years 1677 to 2262.
        return written
    first, end = (seconds * steps for seconds in _FOUR_DIGITS)
    return nw.when((count >= first) & (count < end)).then(written).otherwise(text)


def _padded(text: Any, unit: Any) -> Any:
    """Return the text of times of DuckDB, padded with zeros, with few branches: DuckDB writes a time again for each."""
    import narwhals as nw

    length = text.str.len_chars()
    zeros = nw.concat_str(text, nw.lit("0" * 8), ignore_nulls=True)
    padded = zeros.str.slice(0, _MICROS)
    is_short = (length > _SECONDS) & (length < _MICROS)
    if unit == "ns":
        padded = nw.when(length > _MICROS).then(zeros.str.slice(0, _NANOS)).otherwise(padded)
        is_short = is_short | (length > _MICROS) & (length < _NANOS)
    # Texts of years with more digits, or before the first, stay unchanged.
    has_fraction = text.str.slice(_SECONDS, 1) == nw.lit(".")
    written = nw.when(is_short).then(nw.when(has_fraction).then(padded).otherwise(text)).otherwise(text)
    if unit == "ms":
        three = nw.concat_str(text, nw.lit("000"), ignore_nulls=True)
        written = nw.when((length == _MILLIS) & has_fraction).then(three).otherwise(written)
    return written


def clock_text(table: Any, name: str) -> Any:
    """Return the text of times of day, with six or nine fractional digits of a second, or none if they are zero."""
    import narwhals as nw

    if table.implementation.is_duckdb():
        text = nw.col(name).cast(nw.String)
        padded = nw.concat_str(text, nw.lit("0" * 5)).str.slice(0, len("HH:MM:SS.ffffff"))
        return nw.when(text.str.contains(".", literal=True)).then(padded).otherwise(text)
    if not table.implementation.is_polars():
        return nw.col(name).cast(nw.String)
    nine = nw.col(name).dt.to_string("%H:%M:%S%.9f")
    six = nw.when(nine.str.slice(15) == nw.lit("000")).then(nine.str.slice(0, 15)).otherwise(nine)
    return nw.when(nine.str.slice(8) == nw.lit(".000000000")).then(nine.str.slice(0, 8)).otherwise(six)


def seconds_text(table: Any, name: str) -> Any:
    """Return durations as numbers of seconds, like :func:`~anonhist.numeric.value_name.time_name`."""
    import narwhals as nw

    durations = nw.col(name).dt
    is_nano = table.collect_schema()[name].time_unit == "ns"
    digits, count = (9, durations.total_nanoseconds()) if is_nano else (6, durations.total_microseconds())
    size = count.abs()
    sign = nw.when(count < 0).then(nw.lit("-")).otherwise(nw.lit(""))
    fraction = (size % 10**digits).cast(nw.String).str.zfill(digits)
    return without_zeros(nw.concat_str(sign, (size // 10**digits).cast(nw.String), nw.lit("."), fraction))


# The column that is 0 if a row holds a value without a name, else 1; only if the types of columns permit this.
NAMED = "named"
_PLAIN_DIGITS = 6


def as_text(table: Any, name: str, *, only_whole: bool = False) -> Any:
    """Return the names of a column's values as text, null if missing: an expression, or a series.

    Values without a name have some text; :func:`name_columns` identifies them. With ``only_whole``, fractions have no
    name, and neither do lists and structures, because numbers in them may also have become floats.
    """
    import narwhals as nw

    if holds_objects(table, name):
        return names_of_objects(table, name, only_whole=only_whole)
    kind, column = table.collect_schema()[name], nw.col(name)
    if declared(table, name) is not None:
        return column
    if kind == nw.String:
        # If unchanged, engines count dictionary-encoded text as such, a fifth faster. Ibis treats enumerations as text,
        # but they become text only when needed; those of PostgreSQL are text already.
        is_of_ibis = table.implementation.is_ibis() and not is_postgresql(table)
        return nw.concat_str(column, nw.lit("")) if is_of_ibis else column
    check_holds_names(table, name, only_whole=only_whole)
    if _is_named_one_by_one(table, kind):
        # pandas writes each value of such a column as all others permit, and some columns hold values of several types.
        names = table.to_native()[name].map(partial(value_name, only_whole=only_whole)).astype(object)
        return nw.from_native(names, series_only=True).alias(name)
    text = column.cast(nw.String)
    if kind.is_float():
        whole = _small_or_half(table, name).round(0).cast(nw.Int64).cast(nw.String)
        text = nw.when(_is_whole(table, name)).then(whole).otherwise(text)
    elif kind.is_decimal():
        text = without_zeros(text)
    elif isinstance(kind, nw.Datetime):
        text = time_text(table, name)
    elif isinstance(kind, nw.Time):
        text = clock_text(table, name)
    elif isinstance(kind, nw.Duration):
        text = seconds_text(table, name)
    return nw.when(~is_missing(table, name)).then(text)


def _is_named_one_by_one(table: Any, kind: Any) -> bool:
    """Return whether Python names the values of a pandas column, which pandas would write as the others permit."""
    import narwhals as nw

    if isinstance(kind, nw.Decimal):
        # Arrow writes small decimals with more digits with an exponent.
        return is_of_pandas(table) and getattr(kind, "scale", _PLAIN_DIGITS + 1) not in range(_PLAIN_DIGITS + 1)
    kinds = nw.Object | nw.Categorical | nw.Enum | nw.Datetime | nw.Duration | nw.Unknown
    return is_of_pandas(table) and isinstance(kind, kinds)


def name_columns(table: Any, columns: dict[str, bool]) -> dict[str, Any]:
    """Return the column ``named`` of a selection, or nothing if all values of columns of these types have names.

    ``columns`` says, for each column, whether fractions have no name.
    """
    import narwhals as nw

    nameless = []
    for name, only_whole in columns.items():
        if holds_objects(table, name):
            # Python refuses them when it names them.
            continue
        kind, column = table.collect_schema()[name], nw.col(name)
        held = declared(table, name)
        if held is not None:
            of_value = nw.col(held.column(name))
            nameless.append((of_value == LARGE) | (of_value == FRACTION) if only_whole else of_value == LARGE)
            continue
        if kind.is_float():
            has_name = _is_whole(table, name) if only_whole else _is_small(column)
        elif only_whole and isinstance(kind, nw.Decimal | nw.Duration) and not _is_named_one_by_one(table, kind):
            # These are refused when they are named.
            has_name = as_text(table, name).str.contains("^-?[0-9]+$")
        else:
            continue
        nameless.append(~has_name.fill_null(value=False) & ~is_missing(table, name))
    if not nameless:
        return {}
    return {NAMED: nw.when(nw.any_horizontal(*nameless, ignore_nulls=True)).then(nw.lit(0)).otherwise(nw.lit(1))}


# Types whose values are grouped, but not compared or sorted: a bound on users would not hold.
_NOT_COMPARED = {"DuckDB union", "DuckDB variant", "Spark interval"}


def identity_of(table: Any, name: str) -> Any:
    """Return a value that distinguishes users, null if missing: an expression, or a series."""
    import narwhals as nw

    if holds_objects(table, name):
        return as_text(table, name)
    kind, column = table.collect_schema()[name], nw.col(name)
    if isinstance(kind, nw.Unknown) and _type_of_engine(table, name) in _NOT_COMPARED:
        raise DataError("The column of users has a type whose values cannot all be compared: convert it to text first.")
    if isinstance(kind, nw.Object | nw.String | nw.Categorical | nw.Enum):
        # Categories of pandas may be 1 and "1", which have one name. The text is exact, because a column of SQLite may
        # have a collation under which "ann" and "ANN" are equal.
        return as_text(table, name)
    if not kind.is_float():
        # If unchanged, engines group dictionary-encoded text as such.
        return column
    # Arrow distinguishes −0 from 0.
    return nw.when(~is_missing(table, name)).then(column + nw.lit(0.0))


def has_no_type(table: Any, name: str) -> bool:
    """Return whether a column has the null type, which engines and writers use if all values are missing."""
    return _type_of_engine(table, name) in {"DuckDB null", "Spark void", "null", "null[pyarrow]"}


def _type_of_engine(table: Any, name: str) -> str:
    """Return the engine's name of a column's type, with the engine if others may use that name for another type."""
    native, kind = table.to_native(), table.implementation
    if kind.is_duckdb():
        return f"DuckDB {dict(zip(native.columns, native.types, strict=True))[name].id}"
    if is_spark(table):
        return f"Spark {native.schema[name].dataType.typeName()}"
    if kind.is_polars():
        return str(native.lazy().collect_schema()[name]).lower()
    if kind.is_pyarrow():
        return str(native.schema.field(name).type)
    return str(native.schema()[name] if kind.is_ibis() else native.dtypes[name])


def check_named(are_named: bool, *, only_whole: bool = False) -> None:  # noqa: FBT001
    """Refuse values without a name."""
    if not are_named:
        raise DataError(NOT_WHOLE if only_whole else TOO_LARGE)


def check_batch(batch: Any, *, only_whole: bool = False) -> None:
    """Refuse an Arrow batch that holds a value without a name."""
    import pyarrow.compute as pc

    if NAMED in batch.schema.names:
        check_named(pc.min(batch.column(NAMED)).as_py() != 0, only_whole=only_whole)


def is_missing(table: Any, name: str) -> Any:
    """Return whether a value is missing: null, or NaN, which some engines distinguish from null and some do not."""
    import narwhals as nw

    column = nw.col(name)
    if holds_objects(table, name):
        return as_text(table, name).is_null()
    if not table.collect_schema()[name].is_float():
        return column.is_null()
    if table.implementation.is_duckdb():
        # For the engine, the largest number in a Parquet file, which ignores NaN, proves that there is none; to test
        # whether numbers are finite, it reads them.
        return column.is_null() | (~column.is_finite() & (column != math.inf) & (column != -math.inf))
    return column.is_null() | column.is_nan()


def is_of_pandas(table: Any) -> bool:
    """Return whether pandas, or a package with its interface, holds the table."""
    return bool(table.implementation.is_pandas_like())


def is_sqlite(table: Any) -> bool:
    """Return whether SQLite holds the table: it stores NaN as null, and has no test for it."""
    return bool(table.implementation.is_ibis()) and table.to_native().get_backend().name == "sqlite"


def _is_small(column: Any) -> Any:
    return (column > -LARGEST_NAMED) & (column < LARGEST_NAMED)


def _is_whole(table: Any, name: str) -> Any:
    small = _small_or_half(table, name)
    return (small == small.round(0)).fill_null(value=False)


def _small_or_half(table: Any, name: str) -> Any:
    """Return small numbers, and ½ for all others, including NaN: some engines round to a number that must fit."""
    import narwhals as nw

    column = nw.col(name)
    return nw.when(~is_missing(table, name) & _is_small(column)).then(column).otherwise(nw.lit(0.5))


def order_of(table: Any, name: str) -> dict[str, Any]:
    """Return the columns by which to order a table, named as in :data:`RANKS`, null if missing.

    Whole numbers are compared in floating point, as pandas holds them if one is missing: from 2^53 on, close numbers
    are equal. If types do not bind, values are ordered by kind, and then by value: numbers as floats, texts as written,
    bytes.
    """
    import narwhals as nw

    if holds_objects(table, name):
        return {RANKS[-1]: order_of_objects(table, name)}
    held, named = declared(table, name), nw.col(name)
    if held is None:
        return {RANKS[-1]: _order_of_type(table, name)}
    if name + ORDER in table.collect_schema().names():
        return {RANKS[-1]: nw.col(name + ORDER)}
    is_number, number = numbers_of(name, held)
    rank = nw.col(held.column(name)).str.slice(0, 1)
    return dict(zip(RANKS, (rank, number, nw.when(~is_number).then(named).otherwise(nw.lit(""))), strict=True))


def numbers_of(name: str, held: Declared) -> tuple[Any, Any]:
    """Return whether values that are named one by one are numbers, and these as floats, 0 for other values."""
    import narwhals as nw

    is_number = nw.col(held.column(name)).str.slice(0, 1) == _CLASS_OF_NUMBERS
    # Engines may also cast rows that are not selected.
    return is_number, nw.when(is_number).then(nw.col(name)).otherwise(nw.lit("0")).cast(nw.Float64)


def whole_as_floats(table: Any, name: str) -> Any:
    """Return a pandas column of whole numbers as a series of floats."""
    import narwhals as nw

    # Arrow's cast, which pandas uses for Arrow columns, refuses numbers that a float would round.
    return nw.from_native(table.to_native()[name].astype("float64"), series_only=True)


def _order_of_type(table: Any, name: str) -> Any:
    import narwhals as nw

    kind, column = table.collect_schema()[name], nw.col(name)
    if isinstance(kind, nw.String | nw.Categorical | nw.Enum | nw.Unknown | nw.Object):
        return as_text(table, name)
    if kind.is_integer() and is_of_pandas(table):
        return whole_as_floats(table, name)
    if kind.is_integer():
        column = column.cast(nw.Float64)
    elif kind.is_float():
        # pandas cannot sort Arrow columns that hold both −0 and 0.
        column = column + nw.lit(0.0)
    return nw.when(~is_missing(table, name)).then(column)
