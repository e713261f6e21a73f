"""Which rows count: a condition as a filter of a table, by what the schema declares of its columns.

A row counts where the condition is true. A comparison with a missing value is unknown, as in SQL, and so is its
negation; ``not`` is brought down to the comparisons, which are then true or false. A literal must be of the type of its
column, which is refused otherwise before any row is read, and no cast is made that could fail for a row. Texts are
compared as the bytes of their UTF-8, whatever collation a column has. Whole numbers, decimals and times are compared
exactly: with the next that their type can hold, where a literal lies between two. Floats are compared in double
precision with the float next to the literal.

Where types do not bind, or may follow from rows as those of pandas do, nothing is refused: a value equals no literal of
another class (text, numbers, truth values, times) and is neither below nor above one, and numbers are compared as
floats, as pandas holds them where one is missing.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from anonhist.errors import UsageError
from anonhist.ingest.naming import (
    TEXT,
    Declared,
    as_text,
    declared,
    has_no_type,
    is_missing,
    is_of_pandas,
    numbers_of,
    whole_as_floats,
)
from anonhist.ingest.periods import is_zoned_of_pandas
from anonhist.ingest.plain_types import NUMBERS, float_of, holds_objects, is_spark, mapped_objects
from anonhist.ingest.warehouses import compares_exactly, is_postgresql, takes_times_as_text
from anonhist.numeric.value_name import is_missing as is_missing_value
from anonhist.profiles.where import And, Between, Comparison, Condition, In, IsNull, Not, OfColumn, Or, Value

if TYPE_CHECKING:
    from anonhist.ingest.columns import Opened

_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_BELOW = ("<", "<=")


def filtered(opened: Opened, condition: Condition) -> Opened:
    """Return an open source with the rows for which a condition is true.

    Columns that are not there are refused, and literals that are not of the types of their columns, by the schema.
    """
    rows = _Rows(opened.table)
    columns = {}
    for column in condition.columns:
        opened.header.require(filter=column)
        columns[column] = _column(rows, opened.header.in_table(column), column)
    return replace(opened, table=rows.kept(_mask(condition, columns, keeps=True)))


@dataclass
class _Rows:
    """A table, and columns of our own beside those it has, for what its engine cannot say in a formula."""

    table: Any
    _made: list[str] = field(default_factory=list)

    def add(self, series: Any) -> Any:
        """Add a series to a table in memory, and return it as a column."""
        import narwhals as nw

        # No column of a person's is called so.
        self._made.append(f"\x1fwhere{len(self._made)}")
        self.table = self.table.with_columns(series.alias(self._made[-1]))
        return nw.col(self._made[-1])

    def kept(self, condition: Any) -> Any:
        """Return the rows for which a condition is true, with the columns that the table had."""
        rows = self.table.filter(condition)
        return rows.drop(*self._made) if self._made else rows


def _mask(condition: Condition, columns: Mapping[str, Any], *, keeps: bool) -> Any:
    """Return whether a condition is true of a row, or, if it does not keep rows, whether it is false."""
    if isinstance(condition, Not):
        return _mask(condition.of, columns, keeps=not keeps)
    if isinstance(condition, And | Or):
        parts = [_mask(each, columns, keeps=keeps) for each in condition.of]
        return _joined(parts, operator.and_ if isinstance(condition, And) is keeps else operator.or_)
    assert isinstance(condition, OfColumn)  # noqa: S101  # there are no others
    return columns[condition.column].mask(condition, keeps=keeps)


def _joined(parts: list[Any], join: Callable[[Any, Any], Any]) -> Any:
    """Return many conditions as one, halves first: engines limit how deep formulas are nested."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return join(_joined(parts[:middle], join), _joined(parts[middle:], join))


@dataclass(frozen=True)
class _Scale:
    """How values of one class are compared: ``place`` is that of a literal, None for one that no value can be.

    ``literal`` makes of a place what the engine compares with ``value``. Places between two whole ones are those of no
    value, if there are ``ends``, the first and the last place of a value. Only values ``among`` which a row's is are of
    this class.
    """

    value: Any
    place: Callable[[Any], Any]
    literal: Callable[[Any], Any]
    ends: tuple[int, int] | None = None
    among: Any = None

    def equal(self, place: Any) -> Any:
        """Return whether values are those of a place; None if none can be."""
        if self.ends is not None and not (place.denominator == 1 and self.ends[0] <= place <= self.ends[1]):
            return None
        return self._of_class(self.value == self.literal(place))

    def ordered(self, sign: str, place: Any, present: Any) -> Any:
        """Return whether values are before or after a place; None if none can be."""
        if self.ends is not None:
            first, last = self.ends
            if place.denominator != 1:
                sign, place = ("<=", floor(place)) if sign in _BELOW else (">=", ceil(place))
            if not first <= place <= last:
                return present if (place > last) == (sign in _BELOW) else None
        return self._of_class(_COMPARED[sign](self.value, self.literal(place)))

    def _of_class(self, found: Any) -> Any:
        return found if self.among is None else self.among & found


@dataclass(frozen=True)
class _Column:
    """A column that its engine compares, by the classes of literals that its type takes.

    ``refused`` is what to say of a literal that it does not take, empty where types do not bind.
    """

    present: Any
    scales: Mapping[type, _Scale]
    refused: str = ""

    def mask(self, test: OfColumn, *, keeps: bool) -> Any:
        """Return whether a test is true of a row's value, or, if it does not keep rows, whether it is false."""
        if isinstance(test, IsNull):
            return ~self.present if keeps else self.present
        if isinstance(test, Between):
            ends = [(">=", test.low), ("<=", test.high)]
            signs = ends if keeps else [(_OPPOSITE[sign], value) for sign, value in ends]
            return _joined([self._ordered(*each) for each in signs], operator.and_ if keeps else operator.or_)
        if isinstance(test, In):
            return self._is_any(test.values, keeps=keeps)
        assert isinstance(test, Comparison)  # noqa: S101  # there are no others
        if test.operator in _COMPARED:
            return self._ordered(test.operator if keeps else _OPPOSITE[test.operator], test.value)
        return self._is_any((test.value,), keeps=keeps is (test.operator == "="))

    def _place(self, value: Value) -> tuple[_Scale, Any] | None:
        """Return the place of a literal, None if no value of the column is of its class; or refuse it."""
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


def _column(rows: _Rows, name: str, called: str) -> _Column | _Values:
    """Return how a column is compared, whatever its rows are."""
    table = rows.table
    if _is_held_by_python(table, name):
        return _Values(rows, name)
    present = ~is_missing(table, name)
    held = declared(table, name)
    if held is not None:
        return _by_value(name, held, called)
    if has_no_type(table, name):
        # One row more would give it a type.
        return _Column(present, {})
    holds, scales = next(_scales(rows, name), ("values of another type", {}))
    # Types of pandas may follow from rows, so they refuse nothing.
    return _Column(present, scales, "" if is_of_pandas(table) else _refusal(called, holds))


def _refusal(called: str, holds: str) -> str:
    return f"The column {called!r} holds {holds}: {_HOW[holds]}."


def _by_value(name: str, held: Declared, called: str) -> _Column:
    """Return how a column is compared whose values are named one by one, and say of what kind they are."""
    import narwhals as nw

    column = nw.col(name)
    is_number, number = numbers_of(name, held)
    is_text = nw.col(held.column(name)) == nw.lit(TEXT)
    texts = {
        str: _Scale(column, str, lambda text: nw.lit(text, nw.String), among=is_text),
        bool: _Scale(column, _truth, lambda text: nw.lit(text, nw.String), among=is_text),
    }
    scales = texts | {Decimal: _Scale(number, float, lambda one: nw.lit(one, nw.Float64), among=is_number)}
    holds = _OF_DECLARED.get(held)
    literal = _LITERALS.get(holds or "")
    taken = scales if literal is None else {literal: scales[literal]}
    return _Column(~column.is_null(), taken, "" if holds is None else _refusal(called, holds))


def _truth(value: bool) -> str:  # noqa: FBT001  # a literal
    return "true" if value else "false"


_LITERALS: dict[str, type] = {"text": str, "numbers": Decimal, "truth values": bool}


def _scales(rows: _Rows, name: str) -> Iterator[tuple[str, dict[type, _Scale]]]:
    """Give what a column holds by its type, and how it is compared with literals of a class; or nothing."""
    import narwhals as nw

    table = rows.table
    kind, column = table.collect_schema()[name], nw.col(name)
    if isinstance(kind, nw.String | nw.Categorical | nw.Enum):
        # With plain types, texts of SQL have a collation that compares bytes; those of PostgreSQL, too, have "C".
        yield "text", {str: _Scale(as_text(table, name), str, lambda text: nw.lit(text, nw.String))}
    elif isinstance(kind, nw.Boolean):
        yield "truth values", {bool: _Scale(column, bool, lambda truth: nw.lit(truth, nw.Boolean))}
    elif isinstance(kind, nw.Date):
        yield "dates", {str: _of_dates(table, name)}
    elif isinstance(kind, nw.Datetime | nw.Decimal) and not compares_exactly(table, name):
        yield "values that this engine compares as its session says", {}
    elif isinstance(kind, nw.Datetime) and (kind.time_zone is None or table.implementation.is_polars()):
        yield "times", {str: _of_times(table, name)}
    elif kind.is_numeric() and (scale := _of_numbers(rows, name)) is not None:
        yield "numbers", {Decimal: scale}


def _of_numbers(rows: _Rows, name: str) -> _Scale | None:
    """Return how numbers are compared; decimals only if it is known how many digits they have, if not any number."""
    import narwhals as nw

    kind, column = rows.table.collect_schema()[name], nw.col(name)
    if kind.is_float():
        return _of_floats(column.cast(nw.Float64))
    if kind.is_integer() and is_of_pandas(rows.table):
        return _of_floats(rows.add(whole_as_floats(rows.table, name)))
    if kind.is_integer():
        return _Scale(column, Fraction, lambda number: nw.lit(int(number), kind), _ends_of(kind))
    if is_postgresql(rows.table):
        return _Scale(column, Decimal, nw.lit)
    return _of_decimals(rows.table, name) if _has_scale(rows.table, name) else None


def _of_floats(column: Any) -> _Scale:
    import narwhals as nw

    return _Scale(column, float, lambda number: nw.lit(number, nw.Float64))


def _ends_of(kind: Any) -> tuple[int, int]:
    """Return the least and the largest number of a type, which is called as Narwhals does: ``Int8``, ``UInt64``."""
    bits = int(re.sub("[^0-9]", "", str(kind)))
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind.is_signed_integer() else (0, 2**bits - 1)


def _has_scale(table: Any, name: str) -> bool:
    """Return whether a column has a scale of its own; for Narwhals, those of Ibis have one where they have none."""
    kind = table.to_native()[name].type() if table.implementation.is_ibis() else table.collect_schema()[name]
    return getattr(kind, "scale", None) is not None


def _of_decimals(table: Any, name: str) -> _Scale:
    import narwhals as nw

    kind = table.collect_schema()[name]
    steps, most = 10**kind.scale, 10**kind.precision - 1
    return _Scale(
        nw.col(name),
        lambda number: Fraction(number) * steps,
        lambda place: nw.lit(Decimal(f"{int(place)}E-{kind.scale}"), kind),
        (-most, most),
    )


_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # of times without a zone, or of UTC
_MICROSECOND = timedelta(microseconds=1)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_INT64 = (-(2**63) + 1, 2**63 - 1)
_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?))?")


def _time_of(text: str) -> datetime | None:
    """Return the time that a text is, midnight for a date; None for another text."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    day, clock = found.groups()
    whole, _, digits = (clock or "00:00").partition(".")
    try:
        return datetime.fromisoformat(f"{day} {whole}") + int(digits.ljust(6, "0") or "0") * _MICROSECOND
    except ValueError:
        return None


def _date_of(text: str) -> date | None:
    found = _time_of(text)
    return found.date() if found is not None and len(text) == len("YYYY-MM-DD") else None


def _of_dates(table: Any, name: str) -> _Scale:
    import narwhals as nw

    def literal(day: date) -> Any:
        # Spark takes no dates of Python before the year 1000.
        return nw.lit(day.isoformat()).cast(nw.Date) if is_spark(table) else nw.lit(day, nw.Date)

    return _Scale(nw.col(name), _date_of, literal)


def _of_times(table: Any, name: str) -> _Scale:
    import narwhals as nw

    kind, column = table.collect_schema()[name], nw.col(name)
    if kind.time_zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    unit: Literal["s", "ms", "us", "ns"]
    unit = kind.time_unit if _has_scale(table, name) or not table.implementation.is_ibis() else "us"
    steps, plain = _PER_SECOND[unit], nw.Datetime(unit)

    def place(text: str) -> Fraction | None:
        found = _time_of(text)
        return None if found is None else Fraction((found - _EPOCH) // _MICROSECOND * steps, 10**6)

    def literal(place: Fraction) -> Any:
        time = _EPOCH + int(place * 10**6 / steps) * _MICROSECOND
        # Spark takes times of Python for those of its session's zone.
        is_text = is_spark(table) or takes_times_as_text(table)
        return nw.lit(str(time)).cast(plain) if is_text else nw.lit(time, plain)

    return _Scale(column, place, literal, _INT64)


def _is_held_by_python(table: Any, name: str) -> bool:
    """Return whether Python compares the values: objects, and what pandas has few words for."""
    import narwhals as nw

    if not is_of_pandas(table):
        return holds_objects(table, name)
    kind = table.get_column(name).dtype
    is_simple = kind.is_numeric() or isinstance(kind, nw.String | nw.Boolean | nw.Datetime)
    return holds_objects(table, name) or not is_simple or is_zoned_of_pandas(table, name)


@dataclass(frozen=True)
class _Values:
    """A column whose values Python compares, each for itself."""

    rows: _Rows
    name: str

    def mask(self, test: OfColumn, *, keeps: bool) -> Any:
        """Return whether a test is true of a row's value, or, if it does not keep rows, whether it is false."""
        holds = _test_of(test, keeps=keeps)
        found = mapped_objects(self.rows.table, self.name, lambda value: "" if holds(value) else None)
        return ~self.rows.add(found).is_null()


def _test_of(test: OfColumn, *, keeps: bool) -> Callable[[Any], bool]:
    """Return a test of a single value of any type, missing ones too."""
    if isinstance(test, IsNull):
        return lambda value: is_missing_value(value) is keeps
    if isinstance(test, Between):
        ends = [Comparison(test.column, ">=", test.low), Comparison(test.column, "<=", test.high)]
        low, high = (_test_of(each, keeps=keeps) for each in ends)
        return (lambda value: low(value) and high(value)) if keeps else (lambda value: low(value) or high(value))
    if isinstance(test, Comparison) and test.operator in _COMPARED:
        places = _places_of(test.value)
        compare = _COMPARED[test.operator if keeps else _OPPOSITE[test.operator]]

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
    """Return the places of a literal: a text that is written as a time is one, too."""
    if isinstance(value, bool):
        return {"truth": value}
    if isinstance(value, Decimal):
        return {"number": float(value)}
    time = _time_of(value)
    return {"text": value} | ({} if time is None else {"time": ((time - _EPOCH) // _MICROSECOND, 0)})


def _place_of(value: Any) -> tuple[str, Any]:
    """Return the class of a value, and where it is among those of its class; of others, that they are such."""
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
    """Return the microseconds since 1970, in UTC if it has a zone, and the nanoseconds that there may be besides."""
    if isinstance(value, np.datetime64):
        micros = value.astype("M8[us]")
        return int(micros.astype(np.int64)), int((value - micros) / np.timedelta64(1, "ns"))
    if not isinstance(value, datetime):
        return (datetime(value.year, value.month, value.day) - _EPOCH) // _MICROSECOND, 0  # noqa: DTZ001
    # Of Python itself: times of pandas cannot be taken from those far away.
    plain = datetime.combine(date(value.year, value.month, value.day), value.timetz())
    epoch = _EPOCH if value.tzinfo is None else _EPOCH.replace(tzinfo=UTC)
    return (plain - epoch) // _MICROSECOND, getattr(value, "nanosecond", 0)
