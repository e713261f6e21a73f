"""The name of a value: text that depends on this value alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from anonhist.errors import DataError, UsageError

_PER_SECOND = 10**9


def time_name(value: datetime | timedelta) -> str:
    """Return a time as Python writes it, converted to UTC if it has a zone; return a duration in seconds."""
    if isinstance(value, timedelta):
        return _seconds(value)
    if value.tzinfo is None:
        return str(value)
    try:
        return str(value.astimezone(UTC).replace(tzinfo=None))
    except OverflowError:
        # In UTC, the time would be before year 1, or after 9999.
        return str(value)


def _seconds(value: timedelta) -> str:
    micros = (value.days * 86_400 + value.seconds) * 10**6 + value.microseconds
    # Pandas timestamps have nanoseconds, too.
    nanos = micros * 1000 + getattr(value, "nanoseconds", 0)
    whole, rest = divmod(abs(nanos), _PER_SECOND)
    fraction = f".{rest:09}".rstrip("0") if rest else ""
    return f"{'-' if nanos < 0 else ''}{whole}{fraction}"


# Floats represent every whole number below this exactly, but not those above.
LARGEST_NAMED = 2**53
NOT_WHOLE = (
    "Names of nodes and labels of sketches that are numbers must be whole and, as floats, below 2^53: convert the "
    "column to whole numbers or text first."
)
TOO_LARGE = (
    "Floats of 2^53 and more cannot represent every whole number: convert the column to whole numbers or text first."
)
_NO_TEXT = "Some values cannot be written as text: convert the column to text, numbers or dates first."
# The range of PostgreSQL's numeric type.
_MOST_BEFORE, _MOST_AFTER = 131_072, 16_383
# Every Python writes numbers of 640 digits, however its limit is set.
_SHORT_BITS = 2_048
# Each unit of durations in seconds: a number, and a shift of the decimal point.
_SECONDS = {"W": (604_800, 0), "D": (86_400, 0), "h": (3_600, 0), "m": (60, 0), "s": (1, 0)}
_SECONDS |= {unit: (1, -3 * place) for place, unit in enumerate(("ms", "us", "ns", "ps", "fs", "as"), start=1)}
_MISSING = frozenset({"NAType", "NaTType", "MaskedConstant"})
# Writing float | np.floating makes a new type each time, which takes longer than the check itself.
_FLOATS = (float, np.floating)
_TIMES = (np.datetime64, np.timedelta64)


def value_name(value: object, *, only_whole: bool = False) -> str | None:
    """Return the name of a value, None if the value is missing.

    A whole number is named by its digits: 7.0 is named 7, because a column of whole numbers becomes one of floats when
    a single value is missing. Equal Decimals have one name, without an exponent where PostgreSQL's numeric holds the
    number; times are in UTC and durations in seconds, whatever their unit in NumPy; members of enumerations and similar
    values are named like the values they equal; for all others, the name is ``str(value)``. No setting of the process
    changes a name: not the context of ``decimal``, NumPy's print options, or Python's limit on the digits of whole
    numbers. Floats of magnitude 2⁵³ or more are refused, and so are fractions if ``only_whole``: other columns and
    files may store the same number differently.
    """
    # Nearly all values have these types; others need further checks.
    if type(value) is str:
        return value
    if type(value) is int:
        return _integer_name(value)
    if is_missing(value):
        return None
    name, is_whole = _named(value)
    if name is None or (only_whole and not is_whole):
        raise DataError(NOT_WHOLE if only_whole else TOO_LARGE)
    return name


def is_missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN, NaT or a missing value of pandas."""
    if isinstance(value, _FLOATS):
        return math.isnan(value)
    if isinstance(value, Decimal):
        return Decimal.is_nan(value)
    if isinstance(value, _TIMES):
        return bool(np.isnat(value))
    return value is None or type(value).__name__ in _MISSING


def _integer_name(value: int) -> str:
    if value.bit_length() <= _SHORT_BITS:
        return str(value)
    # Python may refuse to write longer ones, and equal Decimals have the same name.
    return _of_decimal(Decimal(value))[0]


def _named(value: object) -> tuple[str | None, bool]:
    """Return the name of a value (None if numbers this large have none), and whether it is not a fraction."""
    for types, namer in _NAMERS:
        if isinstance(value, types):
            return namer(value)
    return _of_any(value)


def _of_integer(value: int | np.integer[Any]) -> tuple[str, bool]:
    return _integer_name(int.__pos__(value) if isinstance(value, int) else int(value)), True


def _of_float(value: float | np.floating[Any]) -> tuple[str | None, bool]:
    number = float.__pos__(value) if isinstance(value, float) else value
    if abs(float(number)) >= LARGEST_NAMED:
        return None, False
    if number == int(number):
        return str(int(number)), True
    if isinstance(number, float):
        return repr(number), False
    # NumPy numbers get the fewest digits that distinguish numbers of their type; str() depends on NumPy's print
    # options.
    write = np.format_float_scientific if abs(number) < 1e-4 else np.format_float_positional
    return write(number, trim="-"), False


def _of_decimal(value: Decimal) -> tuple[str, bool]:
    """Write a number without an exponent, unless that takes too many digits, in any decimal context."""
    number = Decimal(value)
    if not number.is_finite():
        return "-Infinity" if number.is_signed() else "Infinity", False
    if not number:
        return "0", True
    if -_MOST_AFTER <= number.adjusted() < _MOST_BEFORE:
        before, _, after = format(number, "f").partition(".")
        after = after.rstrip("0")
        if len(after) <= _MOST_AFTER:
            return f"{before}.{after}" if after else before, not after
    sign, digits, _ = number.as_tuple()
    first, rest = str(digits[0]), "".join(map(str, digits[1:])).rstrip("0")
    exponent = number.adjusted()
    return f"{'-' * sign}{first}{'.' * bool(rest)}{rest}E{exponent:+d}", exponent >= len(rest)


def _of_fraction(value: Fraction) -> tuple[str, bool]:
    whole = _integer_name(value.numerator)
    return (whole, True) if value.denominator == 1 else (f"{whole}/{_integer_name(value.denominator)}", False)


def _of_time(value: np.datetime64) -> tuple[str, bool]:
    """Write a date, or a date and a time as Python and pandas do, whatever the unit."""
    date, _, time = str(value).partition("T")
    if not time:
        return str(value.astype("M8[D]")), True
    clock, _, fraction = (time + "00:00:00"[len(time) :]).partition(".")
    digits = fraction.rstrip("0")
    written = digits.ljust(max(6, -(-len(digits) // 3) * 3), "0")
    return f"{date} {clock}.{written}" if digits else f"{date} {clock}", True


def _of_time_of_python(value: datetime | timedelta) -> tuple[str, bool]:
    name = time_name(value)
    return name, isinstance(value, datetime) or "." not in name


def _of_duration(value: np.timedelta64) -> tuple[str, bool]:
    """Write a duration in seconds, whatever the unit; months and years have no fixed length."""
    unit, step = np.datetime_data(value.dtype)
    if unit not in _SECONDS:
        return str(value), True
    return _of_decimal(Decimal(f"{int(value.astype(np.int64)) * step * _SECONDS[unit][0]}E{_SECONDS[unit][1]}"))


def _of_any(value: object) -> tuple[str, bool]:
    try:
        return str.__str__(str(value)), True
    except Exception:  # noqa: BLE001  # of any class; its message may hold the value
        raise DataError(_NO_TEXT) from None


# The first match counts: in Python a boolean is a whole number, and in NumPy so is a time span.
_NAMERS: tuple[tuple[type | tuple[type, ...], Callable[[Any], tuple[str | None, bool]]], ...] = (
    (str, lambda value: (str.__str__(value), True)),
    (_FLOATS, _of_float),
    (bool, _of_any),
    (np.timedelta64, _of_duration),
    ((int, np.integer), _of_integer),
    (Decimal, _of_decimal),
    (Fraction, _of_fraction),
    (np.datetime64, _of_time),
    ((datetime, timedelta), _of_time_of_python),
)


def one_column(values: Any) -> Any:
    """Return an iterable over single values, as of a list, from a column or one-column table; otherwise the argument.

    Iterating over a table yields its column names in pandas; iterating over an Arrow column does not yield text.
    """
    if isinstance(values, np.ndarray):
        if values.ndim:  # A single value is not a list; callers report that themselves.
            check_one_dimension(values)
        return values
    if hasattr(values, "collect_schema") and not hasattr(values, "shape"):
        raise UsageError("This table is not in memory yet: collect it first, and pass its column of values.")
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 2:
        if shape[1] != 1:
            raise UsageError(f"This table has {shape[1]:,} columns: pass the one that holds the values.")
        if hasattr(values, "iloc"):
            return values.iloc[:, 0]
        values = values.to_series() if hasattr(values, "to_series") else values.column(0)
    return values.to_pylist() if hasattr(values, "to_pylist") else values


def check_one_dimension(values: np.ndarray[Any, Any]) -> None:
    """Refuse an array that is not a list of single values: one with fields, or not one-dimensional."""
    if values.dtype.names:
        field = values.dtype.names[0]
        raise UsageError(
            f"This array has fields ({', '.join(map(repr, values.dtype.names))}): pass one of them, as in "
            f"array[{field!r}], or all as a table, as in pandas.DataFrame(array)."
        )
    if values.ndim != 1:
        raise UsageError(
            f"An array of values must be one-dimensional, and this one has {values.ndim} dimensions: pass one of its "
            "columns, a list, or a table."
        )
