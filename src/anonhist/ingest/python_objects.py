"""Columns of Python objects: each is named for itself, and ordered by its type and its value.

pandas calls their type ``object``, whatever is in them. Packages that read such columns look at some of the values and
take their type for that of the others; here no value is looked at but for its own sake.
"""

from __future__ import annotations

import re
from datetime import MINYEAR, UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.ingest.plain_types import is_nameless_in_pandas
from anonhist.numeric.value_name import is_missing, value_name
from anonhist.profiles.counts import MAX_ITEMS

if TYPE_CHECKING:
    from collections.abc import Callable

_COUNT = re.compile(" *0*([0-9]{1,19}) *")
_NOT_THERE = (
    "This table would hold Python objects, but is not in memory yet: collect it first, or convert the column to text "
    "or numbers."
)
_NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction)
# What is ordered as it is, in this order of types; a time is a date, too, and a truth value a number.
_TRUTH, _NUMBER, _TEXT, _DATE, _TIME, _ZONED, _CLOCK, _DURATION, _BYTES, _OTHER = range(10)


def holds_objects(table: Any, name: str) -> bool:
    """Return whether a column of a table in memory holds what no type says.

    Besides objects of pandas and Polars these are types that Narwhals does not know of pandas, such as periods, and
    some texts of Arrow.

    Raises
    ------
    UsageError
        If the objects cannot be looked at one by one.
    """
    import narwhals as nw

    kind = table.implementation
    if kind.is_pandas_like():
        # Narwhals looks into columns of objects.
        if str(table.to_native()[name].dtype) == "object":
            return True
        return isinstance(table.get_column(name).dtype, nw.Unknown) and not is_nameless_in_pandas(table, name)
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
    """Return what a function makes of each value of a column, a text or None: a series."""
    return _series(table, name, list(map(each, _values(table, name))), "text")


def order_of_objects(table: Any, name: str) -> Any:
    """Return the places of a column's values in an order that is total over all types, NaN where there is none.

    Values are ordered by their types, and then by themselves: truth values, numbers as floats, texts, dates, times with
    a date, those with a zone too, times of day, durations, bytes; then others, by their types' names and their own.
    """
    keys = list(map(_key, _values(table, name)))
    places = {key: place for place, key in enumerate(sorted({key for key in keys if key is not None}))}
    return _series(table, name, [None if key is None else float(places[key]) for key in keys], "float64")


def counts_of_objects(table: Any, name: str) -> Any:
    """Return the whole numbers from 0 to 2^63 − 1 that a column holds, numbers or text, and −1 elsewhere: a series."""
    counts = map(whole_count, _values(table, name))
    return _series(table, name, [-1 if count is None else count for count in counts], "int64")


def whole_count(value: object) -> int | None:
    """Return the whole number from 0 to 2^63 − 1 that a value is, if it is one: of any type of numbers, or its text.

    Examples
    --------
    >>> whole_count(3.0), whole_count(2**53 + 1), whole_count(" 03 "), whole_count(2.0**53), whole_count(True)
    (3, 9007199254740993, 3, None, None)
    """
    if type(value) is int:
        return value if 0 <= value <= MAX_ITEMS else None
    if isinstance(value, timedelta | np.timedelta64):
        # Named by its seconds.
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
    # Texts of pandas' own type could not hold halves of characters.
    made = type(native)(values, index=native.index, dtype="object" if kind == "text" else kind)
    return nw.from_native(made, series_only=True).alias(name)


def _key(value: Any) -> tuple[Any, ...] | None:
    """Return what to compare a value by, None if it is missing."""
    if isinstance(value, str):
        return _TEXT, str(value)
    if is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return _TRUTH, bool(value)
    if isinstance(value, np.timedelta64):
        return _OTHER, type(value).__name__, value_name(value) or ""
    return (_NUMBER, _as_float(value)) if isinstance(value, _NUMBERS) else _key_of_others(value)


def _key_of_others(value: Any) -> tuple[Any, ...]:
    if isinstance(value, datetime):
        return (_TIME, value) if value.tzinfo is None else (_ZONED, *_instant(value))
    for kind, place in ((date, _DATE), (time, _CLOCK), (timedelta, _DURATION), (bytes, _BYTES)):
        if isinstance(value, kind) and getattr(value, "tzinfo", None) is None:
            return place, value
    return _OTHER, type(value).__name__, value_name(value) or ""


def _instant(value: datetime) -> tuple[int, datetime]:
    """Return what to compare times with a zone by, also those that are before year 1 or after 9999 in UTC."""
    try:
        return 0, value.astimezone(UTC)
    except OverflowError:
        return (-1 if value.year == MINYEAR else 1), value.replace(tzinfo=UTC)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
