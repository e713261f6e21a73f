"""How values of a column are compared with literals: exactly, by the declared type of the column.

If a literal lies between two values of a type, whole numbers, decimals and times are compared with these. Floats are
compared in double precision with the float next to the literal. If types do not bind, values are named one by one:
whole numbers are compared by their digits, other numbers as floats, and texts and booleans by their names.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any, Literal

from anonhist.ingest.naming import TEXT, WHOLE, Declared, as_text, is_of_pandas, numbers_of, whole_as_floats
from anonhist.ingest.periods import is_zoned_of_pandas
from anonhist.ingest.plain_types import is_spark
from anonhist.ingest.warehouses import compares_exactly, is_postgresql, takes_times_as_text

COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_BELOW = ("<", "<=")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Scale:
    """How values of one class are compared: ``place`` is that of a literal, None for one that no value can equal.

    ``literal`` converts a place to the literal that the engine compares with ``value``. If there are ``ends``, the
    first and the last place of a value, places between two whole ones belong to no value. ``among`` says whether a
    row's value is of this class.
    """

    value: Any
    place: Callable[[Any], Any]
    literal: Callable[[Any], Any]
    ends: tuple[int, int] | None = None
    among: Any = None

    def equal(self, place: Any) -> Any:
        """Return whether values are at a place; None if none can be."""
        if self.ends is not None and not (place.denominator == 1 and self.ends[0] <= place <= self.ends[1]):
            return None
        return self._of_class(self.value == self.literal(place))

    def ordered(self, sign: str, place: Any, present: Any) -> Any:
        """Return whether values are before or after a place; None if none can be."""
        if self.ends is not None:
            first, last = self.ends
            sign, place = _between(sign, place)
            if not first <= place <= last:
                return present if (place > last) == (sign in _BELOW) else None
        return self._of_class(COMPARED[sign](self.value, self.literal(place)))

    def _of_class(self, found: Any) -> Any:
        return found if self.among is None else self.among & found


@dataclass(frozen=True)
class Digits:
    """Numbers that are named one by one: whole numbers are compared by their digits, others as floats."""

    name: Any
    is_whole: Any
    is_other: Any
    number: Any

    def place(self, value: Any) -> Any:
        """Return the place of a literal, which is a number."""
        return value

    def equal(self, place: Decimal) -> Any:
        """Return whether values are at a place."""
        import narwhals as nw

        same = self.is_other & (self.number == nw.lit(float(place), nw.Float64))
        if Fraction(place).denominator != 1:
            return same
        return same | (self.is_whole & (self.name == nw.lit(f"{place:f}", nw.String)))

    def ordered(self, sign: str, place: Decimal, _: Any) -> Any:
        """Return whether values are before or after a place."""
        import narwhals as nw

        other = COMPARED[sign](self.number, nw.lit(float(place), nw.Float64))
        return (self.is_other & other) | (self.is_whole & self._whole(*_between(sign, Fraction(place))))

    def _whole(self, sign: str, place: int) -> Any:
        """Return whether whole numbers are before or after one, by their signs, lengths and digits."""
        import narwhals as nw

        written = str(place)
        is_negative, size = self.name.str.slice(0, 1) == nw.lit("-"), self.name.str.len_chars()
        # Among negative numbers, the longer is less, and for equal lengths the later.
        digits = sign if place >= 0 else _TURNED[sign]
        alike = (size == len(written)) & COMPARED[digits](self.name, nw.lit(written, nw.String))
        if place >= 0:
            return (
                is_negative | (size < len(written)) | alike
                if sign in _BELOW
                else (~is_negative & ((size > len(written)) | alike))
            )
        if sign in _BELOW:
            return is_negative & ((size > len(written)) | alike)
        return ~is_negative | (size < len(written)) | alike


def _between(sign: str, place: Fraction) -> tuple[str, int]:
    """Return a comparison of whole numbers with a place as a comparison with a whole number."""
    if place.denominator == 1:
        return sign, int(place)
    return "<=" if sign in _BELOW else ">", floor(place)


def scales_by_value(name: str, held: Declared) -> dict[type, Scale | Digits]:
    """Return how values that are named one by one are compared with literals of each class."""
    import narwhals as nw

    column, kinds = nw.col(name), nw.col(held.column(name))
    is_number, number = numbers_of(name, held)
    is_text, is_whole = kinds == nw.lit(TEXT), kinds == nw.lit(WHOLE)
    return {
        str: Scale(column, str, lambda text: nw.lit(text, nw.String), among=is_text),
        bool: Scale(column, _truth, lambda text: nw.lit(text, nw.String), among=is_text),
        Decimal: Digits(column, is_whole, is_number & ~is_whole, number),
    }


def _truth(value: bool) -> str:  # noqa: FBT001  # a literal
    return "true" if value else "false"


def scales_by_type(table: Any, name: str, add: Callable[[Any], Any]) -> Iterator[tuple[str, dict[type, Scale]]]:
    """Return what a column holds by its type, and how it is compared with literals of a class, or nothing."""
    import narwhals as nw

    kind, column = table.collect_schema()[name], nw.col(name)
    if isinstance(kind, nw.String | nw.Categorical | nw.Enum):
        # With plain types, SQL texts have a collation that compares bytes; PostgreSQL's texts also have "C".
        yield "text", {str: Scale(as_text(table, name), str, lambda text: nw.lit(text, nw.String))}
    elif isinstance(kind, nw.Boolean):
        yield "truth values", {bool: Scale(column, bool, lambda truth: nw.lit(truth, nw.Boolean))}
    elif isinstance(kind, nw.Date):
        yield "dates", {str: _of_dates(table, name)}
    elif isinstance(kind, nw.Datetime | nw.Decimal) and not compares_exactly(table, name):
        yield "values that this engine compares as its session says", {}
    elif isinstance(kind, nw.Datetime) and (kind.time_zone is None or table.implementation.is_polars()):
        yield "times", {str: of_times(table, name)}
    elif kind.is_numeric() and (scale := _of_numbers(table, name, add)) is not None:
        yield "numbers", {Decimal: scale}


def _of_numbers(table: Any, name: str, add: Callable[[Any], Any]) -> Scale | None:
    """Return how numbers are compared; decimals only if their number of digits is known, unless they are unlimited."""
    import narwhals as nw

    kind, column = table.collect_schema()[name], nw.col(name)
    if kind.is_float():
        return _of_floats(column.cast(nw.Float64))
    if kind.is_integer() and is_of_pandas(table):
        return _of_floats(add(whole_as_floats(table, name)))
    if kind.is_integer():
        return Scale(column, Fraction, lambda number: nw.lit(int(number), kind), _ends_of(kind))
    if is_postgresql(table):
        return Scale(column, Decimal, nw.lit)
    return _of_decimals(table, name) if _has_scale(table, name) else None


def _of_floats(column: Any) -> Scale:
    import narwhals as nw

    return Scale(column, float, lambda number: nw.lit(number, nw.Float64))


def _ends_of(kind: Any) -> tuple[int, int]:
    """Return the least and the largest number of a type with its Narwhals name: ``Int8``, ``UInt64``."""
    bits = int(re.sub("[^0-9]", "", str(kind)))
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind.is_signed_integer() else (0, 2**bits - 1)


def _has_scale(table: Any, name: str) -> bool:
    """Return whether a column has its own scale; Narwhals reports one for columns of Ibis that have none."""
    kind = table.to_native()[name].type() if table.implementation.is_ibis() else table.collect_schema()[name]
    return getattr(kind, "scale", None) is not None


def _of_decimals(table: Any, name: str) -> Scale:
    import narwhals as nw

    kind = table.collect_schema()[name]
    steps, most = 10**kind.scale, 10**kind.precision - 1
    return Scale(
        nw.col(name),
        lambda number: Fraction(number) * steps,
        lambda place: nw.lit(Decimal(f"{int(place)}E-{kind.scale}"), kind),
        (-most, most),
    )


EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # of times without a zone, or of UTC
MICROSECOND = timedelta(microseconds=1)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_INT64 = (-(2**63) + 1, 2**63 - 1)
_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?))?")


def time_of(text: str) -> datetime | None:
    """Return the time that a text states, midnight for a date; None for another text."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    day, clock = found.groups()
    whole, _, digits = (clock or "00:00").partition(".")
    try:
        return datetime.fromisoformat(f"{day} {whole}") + int(digits.ljust(6, "0") or "0") * MICROSECOND
    except ValueError:
        return None


def _date_of(text: str) -> date | None:
    found = time_of(text)
    return found.date() if found is not None and len(text) == len("YYYY-MM-DD") else None


def _of_dates(table: Any, name: str) -> Scale:
    import narwhals as nw

    def literal(day: date) -> Any:
        # Spark accepts no Python dates before the year 1000.
        return nw.lit(day.isoformat()).cast(nw.Date) if is_spark(table) else nw.lit(day, nw.Date)

    return Scale(nw.col(name), _date_of, literal)


def of_times(table: Any, name: str) -> Scale:
    """Return how times without a zone, or times of Polars, are compared."""
    import narwhals as nw

    kind, column = table.collect_schema()[name], nw.col(name)
    if kind.time_zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    unit: Literal["s", "ms", "us", "ns"]
    unit = kind.time_unit if _has_scale(table, name) or not table.implementation.is_ibis() else "us"
    steps, plain = _PER_SECOND[unit], nw.Datetime(unit)

    def place(text: str) -> Fraction | None:
        found = time_of(text)
        return None if found is None else Fraction((found - EPOCH) // MICROSECOND * steps, 10**6)

    def literal(place: Fraction) -> Any:
        time = EPOCH + place * 10**6 // steps * MICROSECOND
        # Spark interprets Python times in its session's zone.
        is_text = is_spark(table) or takes_times_as_text(table)
        return nw.lit(str(time)).cast(plain) if is_text else nw.lit(time, plain)

    return Scale(column, place, literal, _INT64)


def times_of_pandas(table: Any, name: str) -> Any | None:
    """Return pandas times with a zone, or Arrow days in pandas, as a series of plain UTC times; None for other types.

    They may lie outside the range of Python's own times.
    """
    import narwhals as nw
    import pyarrow as pa

    series = table.to_native()[name]
    unit = {pa.date32(): "s", pa.date64(): "ms"}.get(getattr(series.dtype, "pyarrow_dtype", None))
    if unit is None and not is_zoned_of_pandas(table, name):
        return None
    times = pa.array(series)
    times = times.cast(pa.timestamp(unit or times.type.unit))
    values = pa.chunked_array(times.chunks if isinstance(times, pa.ChunkedArray) else [times], times.type).to_numpy()
    return nw.from_native(type(series)(values, index=series.index), series_only=True)
