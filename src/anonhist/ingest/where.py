"""Which rows count: a condition as a filter of a table, by the declared types of its columns.

A row counts if the condition is true. A comparison with a missing value is unknown, as in SQL, and so is its negation;
``not`` is pushed down to the comparisons, which are then true or false. A literal must have the type of its column;
otherwise it is refused before any row is read. No cast could fail for a row.

If types do not bind, or may follow from rows as in pandas, a value equals no literal of another class (text, numbers,
booleans, times) and is neither below nor above one; only a declaration, which is public, refuses literals. Numbers in
pandas are compared as floats, because pandas holds them as floats if one is missing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import UsageError
from anonhist.ingest.compared import (
    COMPARED,
    EPOCH,
    MICROSECOND,
    Digits,
    Scale,
    of_times,
    scales_by_type,
    scales_by_value,
    time_of,
    times_of_pandas,
)
from anonhist.ingest.naming import Declared, declared, has_no_type, is_missing, is_of_pandas
from anonhist.ingest.plain_types import NUMBERS, float_of, holds_objects, mapped_objects
from anonhist.numeric.value_name import is_missing as is_missing_value
from anonhist.profiles.where import And, Between, Comparison, Condition, In, IsNull, Not, OfColumn, Or, Value

if TYPE_CHECKING:
    from anonhist.ingest.columns import Opened

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def filtered(opened: Opened, condition: Condition) -> Opened:
    """Return an open source with the rows for which a condition is true.

    The schema refuses missing columns, and literals that do not have the types of their columns.
    """
    rows = _Rows(opened.table)
    columns = {}
    for column in condition.columns:
        opened.header.require(filter=column)
        columns[column] = _column(rows, opened.header.in_table(column), column)
    return replace(opened, table=rows.kept(_mask(condition, columns, keeps=True)))


@dataclass
class _Rows:
    """A table with extra columns of our own, for tests that its engine cannot express in a formula."""

    table: Any
    made: list[str] = field(default_factory=list)

    def add(self, series: Any) -> Any:
        """Add a series to a table in memory, and return it as a column."""
        import narwhals as nw

        # No user's column has this name.
        self.made.append(f"\x1fwhere{len(self.made)}")
        self.table = self.table.with_columns(series.alias(self.made[-1]))
        return nw.col(self.made[-1])

    def kept(self, condition: Any) -> Any:
        """Return the rows for which a condition is true, with the original columns of the table."""
        rows = self.table.filter(condition)
        return rows.drop(*self.made) if self.made else rows


def _mask(condition: Condition, columns: Mapping[str, Any], *, keeps: bool) -> Any:
    """Return whether a condition is true for a row or, if it does not keep rows, whether it is false."""
    if isinstance(condition, Not):
        return _mask(condition.of, columns, keeps=not keeps)
    if isinstance(condition, And | Or):
        parts = [_mask(each, columns, keeps=keeps) for each in condition.of]
        return _joined(parts, operator.and_ if isinstance(condition, And) is keeps else operator.or_)
    assert isinstance(condition, OfColumn)  # noqa: S101  # there are no others
    return columns[condition.column].mask(condition, keeps=keeps)


def _joined(parts: list[Any], join: Callable[[Any, Any], Any]) -> Any:
    """Join many conditions into one by halves, because engines limit the nesting depth of formulas."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return join(_joined(parts[:middle], join), _joined(parts[middle:], join))


@dataclass(frozen=True)
class _Column:
    """A column that its engine compares, by the classes of literals that its type accepts.

    ``refused`` is the message about a literal that it does not accept, empty if types do not bind.
    """

    present: Any
    scales: Mapping[type, Scale | Digits]
    refused: str = ""

    def mask(self, test: OfColumn, *, keeps: bool) -> Any:
        """Return whether a test is true for a row's value or, if it does not keep rows, whether it is false."""
        if isinstance(test, IsNull):
            return ~self.present if keeps else self.present
        if isinstance(test, Between):
            ends = [(">=", test.low), ("<=", test.high)]
            signs = ends if keeps else [(_OPPOSITE[sign], value) for sign, value in ends]
            return _joined([self._ordered(*each) for each in signs], operator.and_ if keeps else operator.or_)
        if isinstance(test, In):
            return self._is_any(test.values, keeps=keeps)
        assert isinstance(test, Comparison)  # noqa: S101  # there are no others
        if test.operator in COMPARED:
            return self._ordered(test.operator if keeps else _OPPOSITE[test.operator], test.value)
        return self._is_any((test.value,), keeps=keeps is (test.operator == "="))

    def _place(self, value: Value) -> tuple[Scale | Digits, Any] | None:
        """Return the place of a literal, None if no value of the column has its class; or refuse it."""
        scale = self.scales.get(type(value))
        place = None if scale is None else scale.place(value)
        if scale is None or place is None:
            if self.refused:
                raise UsageError(self.refused)
            return None
        return scale, place

    def _is_any(self, values: tuple[Value, ...], *, keeps: bool) -> Any:
        places = [found for found in map(self._place, values) if found is not None]
        equal = [each for each in (scale.equal(place) for scale, place in places) if each is not None]
        if not equal:
            return self._nothing if keeps else self.present
        found = _joined(equal, operator.or_)
        return self.present & (found if keeps else ~found)

    def _ordered(self, sign: str, value: Value) -> Any:
        placed = self._place(value)
        found = None if placed is None else placed[0].ordered(sign, placed[1], self.present)
        return self._nothing if found is None else self.present & found

    @property
    def _nothing(self) -> Any:
        return self.present & ~self.present


_HOW = {
    "text": "compare it with a text in single quotes, such as '18'",
    "numbers": "compare it with a number, without quotes",
    "truth values": "compare it with true or false, by = or <>",
    "dates": "compare it with a date in single quotes, such as '2026-11-01'",
    "times": "compare it with a date or a time in single quotes, such as '2026-11-01' or '2026-11-01 12:30:00'",
    "values of another type": "only is null and is not null apply to it",
    "values that this engine compares as its session says": "only is null and is not null apply to it",
}
_OF_DECLARED = {
    Declared.NUMBERS: "numbers",
    Declared.TRUTH: "truth values",
    Declared.DATES: "text",
    Declared.TEXT: "text",
}
_LITERALS: dict[str, type] = {"text": str, "numbers": Decimal, "truth values": bool}


def _column(rows: _Rows, name: str, called: str) -> _Column | _Values:
    """Return how a column is compared, whatever its rows are."""
    import narwhals as nw

    table = rows.table
    if is_of_pandas(table) and (times := times_of_pandas(table, name)) is not None:
        # Types in pandas may follow from rows, so they refuse nothing.
        rows.add(times)
        return _Column(~nw.col(rows.made[-1]).is_null(), {str: of_times(rows.table, rows.made[-1])})
    if _is_held_by_python(table, name):
        return _Values(rows, name)
    present = ~is_missing(table, name)
    held = declared(table, name)
    if held is not None:
        scales, holds = scales_by_value(name, held), _OF_DECLARED.get(held)
        taken = scales if holds is None else {_LITERALS[holds]: scales[_LITERALS[holds]]}
        return _Column(present, taken, "" if holds is None else _refusal(called, holds))
    if has_no_type(table, name):
        # One more row would give it a type.
        return _Column(present, {})
    holds, typed = next(scales_by_type(table, name, rows.add), ("values of another type", {}))
    return _Column(present, typed, "" if is_of_pandas(table) else _refusal(called, holds))


def _refusal(called: str, holds: str) -> str:
    return f"The column {called!r} holds {holds}: {_HOW[holds]}."


def _is_held_by_python(table: Any, name: str) -> bool:
    """Return whether Python compares the values: objects, and types for which pandas has few functions."""
    import narwhals as nw

    if not is_of_pandas(table):
        return holds_objects(table, name)
    kind = table.get_column(name).dtype
    is_simple = kind.is_numeric() or isinstance(kind, nw.String | nw.Boolean | nw.Datetime)
    # Arrow has few functions for half floats.
    is_half = str(table.to_native()[name].dtype) == "halffloat[pyarrow]"
    return holds_objects(table, name) or not is_simple or is_half


@dataclass(frozen=True)
class _Values:
    """A column whose values Python compares one by one."""

    rows: _Rows
    name: str

    def mask(self, test: OfColumn, *, keeps: bool) -> Any:
        """Return whether a test is true for a row's value or, if it does not keep rows, whether it is false."""
        holds = _test_of(test, keeps=keeps)
        found = mapped_objects(self.rows.table, self.name, lambda value: "" if holds(value) else None)
        return ~self.rows.add(found).is_null()


def _test_of(test: OfColumn, *, keeps: bool) -> Callable[[Any], bool]:
    """Return a test of a single value of any type, including missing values."""
    if isinstance(test, IsNull):
        return lambda value: is_missing_value(value) is keeps
    if isinstance(test, Between):
        ends = [Comparison(test.column, ">=", test.low), Comparison(test.column, "<=", test.high)]
        low, high = (_test_of(each, keeps=keeps) for each in ends)
        return (lambda value: low(value) and high(value)) if keeps else (lambda value: low(value) or high(value))
    if isinstance(test, Comparison) and test.operator in COMPARED:
        places = _places_of(test.value)
        compare = COMPARED[test.operator if keeps else _OPPOSITE[test.operator]]

        def is_ordered(value: Any) -> bool:
            kind, place = _place_of(value)
            return kind in places and compare(place, places[kind])

        return is_ordered
    keeps = keeps is not (isinstance(test, Comparison) and test.operator == "<>")
    values = test.values if isinstance(test, In) else (test.value,) if isinstance(test, Comparison) else ()
    equal = {(kind, place) for each in values for kind, place in _places_of(each).items()}

    def is_any(value: Any) -> bool:
        return not is_missing_value(value) and (_place_of(value) in equal) is keeps

    return is_any


def _places_of(value: Value) -> dict[str, Any]:
    """Return the places of a literal: a text written as a time also has the place of that time."""
    if isinstance(value, bool):
        return {"truth": value}
    if isinstance(value, Decimal):
        return {"number": float(value)}
    time = time_of(value)
    return {"text": value} | ({} if time is None else {"time": ((time - EPOCH) // MICROSECOND, 0)})


def _place_of(value: Any) -> tuple[str, Any]:
    """Return the class of a value, and its place in that class; for other values, a class without places."""
    if isinstance(value, str):
        return "text", str.__str__(value)
    if is_missing_value(value):
        return "none", None
    if isinstance(value, bool | np.bool_):
        return "truth", bool(value)
    if isinstance(value, NUMBERS) and not isinstance(value, np.timedelta64):
        return "number", float_of(value)
    return ("time", _instant(value)) if isinstance(value, date | np.datetime64) else ("other", None)


def _instant(value: date | np.datetime64) -> tuple[int, int]:
    """Return the microseconds since 1970, in UTC if it has a zone, and the additional nanoseconds, if any."""
    if isinstance(value, np.datetime64):
        micros = value.astype("M8[us]")
        return int(micros.astype(np.int64)), int((value - micros) / np.timedelta64(1, "ns"))
    if not isinstance(value, datetime):
        return (datetime(value.year, value.month, value.day) - EPOCH) // MICROSECOND, 0  # noqa: DTZ001
    # Times of Python itself, because pandas times cannot be subtracted from distant ones.
    plain = datetime.combine(date(value.year, value.month, value.day), value.timetz())
    epoch = EPOCH if value.tzinfo is None else EPOCH.replace(tzinfo=UTC)
    return (plain - epoch) // MICROSECOND, getattr(value, "nanosecond", 0)
