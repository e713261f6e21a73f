"""Names of the values of a column, and their order, on every engine.

A name depends on the value and on the declared type of its column, and on no other row: where types do not bind, values
are named one by one (see :mod:`~anonhist.ingest.by_value`). Names are as
:func:`~anonhist.numeric.value_name.value_name` gives them. An engine without missing whole numbers, such as pandas,
holds a column of them in floating point as soon as one row lacks its value. No other row may be read differently
because of that.

The order in which a user's rows count is that of values, and never one that other rows decide. The codes of a column of
categories are often given by first appearance, so one user would decide which rows of all others count. Categories are
therefore compared as text, whatever order they declare.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from anonhist.errors import DataError
from anonhist.ingest.by_value import RANKS, is_nameless, kinds, total_order
from anonhist.ingest.plain_types import check_holds_names
from anonhist.ingest.python_objects import holds_objects, names_of_objects, order_of_objects
from anonhist.ingest.type_texts import clock_text, seconds_text, time_text, without_zeros
from anonhist.numeric.value_name import LARGEST_NAMED, NOT_WHOLE, TOO_LARGE, value_name

# The column that is 0 where a row holds a value without a name, else 1; only where the types of columns allow that.
NAMED = "named"
_PLAIN_DIGITS = 6


def as_text(table: Any, name: str, *, only_whole: bool = False) -> Any:
    """Return the names of a column's values as text, null where there is no value: an expression, or a series.

    Values without a name have some text; :func:`name_columns` tells them apart. With ``only_whole``, fractions have no
    name, and neither have lists and structures, the numbers in which may have become floats as well.
    """
    import narwhals as nw

    if holds_objects(table, name):
        return names_of_objects(table, name, only_whole=only_whole)
    kind, column = table.collect_schema()[name], nw.col(name)
    if kinds(table, name) is not None:
        return column
    check_holds_names(table, name, only_whole=only_whole)
    if kind == nw.String:
        # Untouched, engines count dictionary-encoded text as such: a fifth faster. Ibis takes enumerations for text,
        # which they become only where text is needed.
        return nw.concat_str(column, nw.lit("")) if table.implementation.is_ibis() else column
    if _is_named_one_by_one(table, kind):
        # pandas writes out each value of such a column as all others allow, and some hold values of several types.
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
    """Return whether Python names the values of a column of pandas, which writes them as others beside them allow."""
    import narwhals as nw

    if isinstance(kind, nw.Decimal):
        # Arrow writes small ones of more digits with an exponent.
        return is_of_pandas(table) and getattr(kind, "scale", _PLAIN_DIGITS + 1) not in range(_PLAIN_DIGITS + 1)
    kinds = nw.Object | nw.Categorical | nw.Enum | nw.Datetime | nw.Duration | nw.Unknown
    return is_of_pandas(table) and isinstance(kind, kinds)


def name_columns(table: Any, columns: dict[str, bool]) -> dict[str, Any]:
    """Return the column ``named`` of a selection, or nothing if all values of columns of these types have names.

    Parameters
    ----------
    columns
        Whose values are looked at, and whether fractions have no name there.
    """
    import narwhals as nw

    nameless = []
    for name, only_whole in columns.items():
        if holds_objects(table, name):
            # Python refuses them where it names them.
            continue
        kind, column = table.collect_schema()[name], nw.col(name)
        of_values = kinds(table, name)
        if of_values is not None:
            nameless.append(is_nameless(of_values, only_whole=only_whole))
            continue
        if kind.is_float():
            has_name = _is_whole(table, name) if only_whole else _is_small(column)
        elif only_whole and isinstance(kind, nw.Decimal | nw.Duration) and not _is_named_one_by_one(table, kind):
            # Those are refused as they are named.
            has_name = as_text(table, name).str.contains("^-?[0-9]+$")
        else:
            continue
        nameless.append(~has_name.fill_null(value=False) & ~is_missing(table, name))
    if not nameless:
        return {}
    return {NAMED: nw.when(nw.any_horizontal(*nameless, ignore_nulls=True)).then(nw.lit(0)).otherwise(nw.lit(1))}


def identity_of(table: Any, name: str) -> Any:
    """Return what tells users apart, null where there is no value: an expression, or a series."""
    import narwhals as nw

    if holds_objects(table, name):
        return as_text(table, name)
    kind, column = table.collect_schema()[name], nw.col(name)
    if isinstance(kind, nw.Unknown):
        _check_comparable(table, name)
    if isinstance(kind, nw.Object | nw.String | nw.Categorical | nw.Enum):
        # Categories of pandas may be 1 and "1", which have one name.
        # As it is written: a column of SQLite may have a collation under which "ann" and "ANN" are equal.
        return as_text(table, name)
    if not kind.is_float():
        # Untouched, engines group dictionary-encoded text as such.
        return column
    # Arrow tells −0 from 0.
    return nw.when(~is_missing(table, name)).then(column + nw.lit(0.0))


def _check_comparable(table: Any, name: str) -> None:
    """Refuse users of a type whose values are grouped, but not compared or sorted, so that a bound would not hold."""
    native, kind = table.to_native(), ""
    if table.implementation.is_duckdb():
        kind = "DuckDB " + dict(zip(native.columns, native.types, strict=True))[name].id
    elif is_spark(table):
        kind = "Spark " + native.schema[name].dataType.typeName()
    if kind in {"DuckDB union", "DuckDB variant", "Spark interval"}:
        raise DataError("The column of users has a type whose values cannot all be compared: convert it to text first.")


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
    """Return whether there is no value: null, or NaN, which some engines keep apart from null and some do not."""
    import narwhals as nw

    column = nw.col(name)
    if holds_objects(table, name):
        return as_text(table, name).is_null()
    if not table.collect_schema()[name].is_float():
        return column.is_null()
    if table.implementation.is_duckdb():
        # It takes a Parquet file's largest number, which leaves NaN out, for proof that there is none; where it asks
        # whether numbers are finite, it looks.
        return column.is_null() | (~column.is_finite() & (column != math.inf) & (column != -math.inf))
    return column.is_null() | column.is_nan()


def is_of_pandas(table: Any) -> bool:
    """Return whether pandas, or a package with its interface, holds the table."""
    return bool(table.implementation.is_pandas_like())


def is_spark(table: Any) -> bool:
    """Return whether Spark holds the table, itself or by a connection."""
    return bool(table.implementation.is_pyspark() or table.implementation.is_pyspark_connect())


def is_sqlite(table: Any) -> bool:
    """Return whether SQLite holds the table: it stores NaN as null, and has no question for it."""
    return bool(table.implementation.is_ibis()) and table.to_native().get_backend().name == "sqlite"


def _is_small(column: Any) -> Any:
    return (column > -LARGEST_NAMED) & (column < LARGEST_NAMED)


def _is_whole(table: Any, name: str) -> Any:
    small = _small_or_half(table, name)
    return (small == small.round(0)).fill_null(value=False)


def _small_or_half(table: Any, name: str) -> Any:
    """Return small numbers, and ½ for all others, NaN too: some engines round to a whole number, which must fit."""
    import narwhals as nw

    column = nw.col(name)
    return nw.when(~is_missing(table, name) & _is_small(column)).then(column).otherwise(nw.lit(0.5))


def order_of(table: Any, name: str) -> dict[str, Any]:
    """Return what to order a table by, by the names of :data:`RANKS`, null where there is no value.

    Whole numbers are compared as floating point, as pandas holds them where one is missing: from 2^53 on, numbers that
    are close are equal. Where types do not bind, values are ordered by their kinds, and then by themselves.
    """
    if holds_objects(table, name):
        return {RANKS[-1]: order_of_objects(table, name)}
    return total_order(table, name) or {RANKS[-1]: _order_of_type(table, name)}


def _order_of_type(table: Any, name: str) -> Any:
    import narwhals as nw

    kind, column = table.collect_schema()[name], nw.col(name)
    if isinstance(kind, nw.String | nw.Categorical | nw.Enum | nw.Unknown | nw.Object):
        return as_text(table, name)
    if kind.is_integer() and is_of_pandas(table):
        # Arrow's cast, which pandas uses for columns of Arrow, refuses numbers that a float would round.
        return nw.from_native(table.to_native()[name].astype("float64"), series_only=True)
    if kind.is_integer():
        column = column.cast(nw.Float64)
    elif kind.is_float():
        # pandas cannot sort columns of Arrow that hold both −0 and 0.
        column = column + nw.lit(0.0)
    return nw.when(~is_missing(table, name)).then(column)
