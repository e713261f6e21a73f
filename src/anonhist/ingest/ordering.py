"""The order in which a user's rows count: that of values, and never one that other rows decide.

A column of categories is ordered by codes, which are given by first appearance as often as not: one user would decide
which rows of all others count. Categories are compared as text therefore, whatever order they declare.
"""

from __future__ import annotations

from typing import Any

from anonhist.errors import DataError
from anonhist.ingest.naming import as_text, is_missing, is_of_pandas

_NUMBERS = ("integer", "floating", "decimal", "mixed-integer-float")
_COMPARABLE = ("string", "empty", "boolean", "date", "time", "bytes")
_MIXED = "The column to order by holds values of several types, which have no order: convert them to one type first."


def order_of(table: Any, name: str) -> Any:
    """Return what to order a table by, null where there is no value: an expression, or a series.

    Whole numbers are compared as floating point, as pandas holds them where one is missing: from 2^53 on, numbers that
    are close are equal.
    """
    import narwhals as nw

    kind, column = table.collect_schema()[name], nw.col(name)
    if isinstance(kind, nw.String | nw.Categorical | nw.Enum | nw.Unknown):
        return as_text(table, name)
    if isinstance(kind, nw.Object):
        return _of_objects(table, name)
    if kind.is_integer() and is_of_pandas(table):
        # Arrow's cast, which pandas uses for columns of Arrow, refuses numbers that a float would round.
        return _floats(table.to_native()[name])
    if kind.is_integer():
        column = column.cast(nw.Float64)
    elif kind.is_float():
        # pandas cannot sort columns of Arrow that hold both −0 and 0.
        column = column + nw.lit(0.0)
    return nw.when(~is_missing(table, name)).then(column)


def _of_objects(table: Any, name: str) -> Any:
    """Return a series of what pandas holds as Python objects: comparable ones as they are, numbers as floats."""
    import narwhals as nw

    if not is_of_pandas(table):
        raise DataError(_MIXED)
    from pandas.api.types import infer_dtype

    native = table.to_native()[name]
    held = infer_dtype(native, skipna=True)
    if held in _NUMBERS:
        return _floats(native)
    if held not in _COMPARABLE:
        raise DataError(_MIXED)
    return nw.from_native(native, series_only=True)


def _floats(native: Any) -> Any:
    import narwhals as nw

    return nw.from_native(native.astype("float64"), series_only=True)
