"""The values of a column: beginnings of one type, endings of several, and how types change single values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np

# Floats distinguish whole numbers below this.
LARGEST = 2**53


class Kind(Enum):
    """A declared type, which all values of a column have."""

    TEXT = "text"
    WHOLE = "whole numbers"
    FLOATS = "floats"
    DECIMALS = "decimals"
    TRUTH = "truth values"
    DATES = "dates"
    TIMES = "times"


@dataclass(frozen=True)
class Beginning:
    """The values of the first rows, all of one type, and the declared types that can hold them."""

    values: tuple[Any, ...]
    kinds: tuple[Kind, ...]


_FIRST_DAY = date(2026, 11, 1)
_DAYS = tuple(_FIRST_DAY + timedelta(days) for days in range(12))
_TIMES = tuple(datetime.combine(day, time(7, 30)) for day in _DAYS)

BEGINNINGS = {
    "missing": Beginning((None,), tuple(Kind)),
    "text": Beginning((*"abcdefgh", "é", "A", "c d", "x10"), (Kind.TEXT,)),
    "numbers in text": Beginning(tuple(str(number) for number in range(1, 13)), (Kind.TEXT,)),
    "ints": Beginning(tuple(range(1, 13)), (Kind.WHOLE, Kind.FLOATS, Kind.DECIMALS)),
    "floats": Beginning(tuple(number + 0.5 for number in range(1, 13)), (Kind.FLOATS,)),
    "whole floats": Beginning(tuple(map(float, range(1, 13))), (Kind.FLOATS,)),
    "dates": Beginning(_DAYS, (Kind.DATES,)),
    "datetimes": Beginning(_TIMES, (Kind.TIMES,)),
    "bools": Beginning((True, False), (Kind.TRUTH,)),
    "decimals": Beginning(tuple(Decimal(number) / 4 for number in range(1, 13)), (Kind.DECIMALS,)),
}
# The beginnings of columns of dates.
BEGINNINGS_OF_DATES = {
    "missing": Beginning((None,), (Kind.TEXT, Kind.DATES, Kind.TIMES)),
    "text": Beginning(tuple(map(str, _DAYS)), (Kind.TEXT,)),
    "dates": BEGINNINGS["dates"],
    "datetimes": BEGINNINGS["datetimes"],
}


def _twins(*forms: Callable[[int], Any]) -> Callable[[np.random.Generator, int], list[Any]]:
    """Return a function that draws values, each in several forms."""

    def values(rng: np.random.Generator, most: int) -> list[Any]:
        numbers = rng.choice(50, max(1, most // len(forms)), replace=False) + 40
        return [form(int(number)) for number in numbers for form in forms]

    return values


def _some(*values: Any) -> Callable[[np.random.Generator, int], list[Any]]:
    def chosen(rng: np.random.Generator, most: int) -> list[Any]:
        return [values[place] for place in rng.permutation(len(values))[:most]]

    return chosen


_LARGE = (LARGEST - 1, LARGEST, LARGEST + 1, LARGEST + 2, -LARGEST - 1, 2**62, 2**62 + 1)
ENDINGS: dict[str, Callable[[np.random.Generator, int], list[Any]]] = {
    "numbers and their text": _twins(int, str),
    "numbers and floats": _twins(int, float),
    "floats and their text": _twins(float, lambda number: str(float(number)), str),
    "decimals": _twins(Decimal, int, lambda number: Decimal(f"{number}.50"), lambda number: number + 0.5),
    "dates and their text": _twins(
        lambda number: _FIRST_DAY + timedelta(number),
        lambda number: str(_FIRST_DAY + timedelta(number)),
        lambda number: datetime.combine(_FIRST_DAY + timedelta(number), time()),
        lambda number: f"{_FIRST_DAY + timedelta(number)} 00:00:00",
    ),
    "signs and zeros": _some(
        *(
            0,
            0.0,
            -0.0,
            "0",
            "-0",
            "7.0",
            "07",
            7,
            7.0,
            "7",
            7.5,
            "7.5",
            -7,
            "-7",
            "+7",
            "1e3",
            1000,
            " 7",
            Decimal("-0"),
        )
    ),
    "large": _some(*_LARGE, *map(str, _LARGE), float(LARGEST - 1)),
    "odd texts": _some(
        *(
            "",
            " ",
            "é",
            "e\u0301",
            "ß",
            "Ω😀",
            "\x01",
            "\x1f",
            "tab\there",
            "two\nlines",
            "two\r\nlines",
            "two\rlines",
            "None",
            "nan",
            "NaN",
            "NULL",
            "null",
            "<NA>",
        ),
        *("A", "a", "ＡＢ", "a" * 200, "it's", '"quoted"', "back\\slash", "%s {} $1"),
    ),
    "truths": _some(True, "True", "true", 1, 1.0, "1", False, "False", 0, "0"),
    "whole": _twins(int),
    "fractions": _twins(lambda number: number + 0.25, lambda number: number + 0.5),
    "words": _twins(lambda number: f"w{number}"),
    "all missing": _some(None),
}
#: Values that merge or separate as soon as numbers, or texts of them, are named in another way.
TWINS = _twins(int, str, lambda number: f"{number}.0")
# The values of a column that has nothing of its beginning and its ending, by declared type.
BASICS: dict[Kind, tuple[Any, ...]] = {
    Kind.TEXT: ("10", "9", "A", "a", "7.0", "07"),
    Kind.WHOLE: tuple(range(30, 50)),
    Kind.FLOATS: (*map(float, range(30, 50)), -0.0),
    Kind.DECIMALS: tuple(Decimal(number) / 2 for number in range(60, 90)),
    Kind.TRUTH: (True, False),
    Kind.DATES: tuple(_FIRST_DAY + timedelta(days) for days in range(20, 40)),
    Kind.TIMES: tuple(datetime.combine(_FIRST_DAY + timedelta(days), time(9)) for days in range(20, 40)),
}
# Values that no beginning and no ending has, each with other forms of the same value.
FRESH: tuple[tuple[Any, ...], ...] = (
    (999, 999.0, "999", Decimal(999)),
    ("999", 999),
    (998.0, 998),
    (997.5, Decimal("997.5")),
    (Decimal(996), 996.0),
    ("new",),
    ("new é",),
    (date(1999, 9, 9),),
    (datetime.combine(date(1999, 9, 9), time(12, 34, 56)),),
    (True,),
    ("\x02",),
)
# As floats they have no name.
NAMELESS = (2.0**60, -(2.0**53), float("inf"))


def as_kind(value: Any, kind: Kind) -> Any:
    """Return a value as a column of a declared type holds it, or None if it cannot.

    Examples
    --------
    >>> as_kind("7.0", Kind.WHOLE), as_kind(7.0, Kind.TEXT), as_kind("x", Kind.FLOATS), as_kind(7, Kind.FLOATS)
    (7, '7.0', None, 7.0)
    """
    if value is None:
        return None
    if kind is Kind.TEXT:
        return value if isinstance(value, str) else written(value)
    if kind is Kind.TRUTH:
        return {"true": True, "false": False, "1": True, "0": False}.get(written(value).lower())
    if kind in (Kind.DATES, Kind.TIMES):
        return _as_date(value, kind)
    return _as_number(value, kind)


def _as_date(value: Any, kind: Kind) -> date | datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value) if value[:2] == "20" else None
        except ValueError:
            return None
    if not isinstance(value, date):
        return None
    at = value if isinstance(value, datetime) else datetime.combine(value, time())
    return at if kind is Kind.TIMES else at.date()


def _as_number(value: Any, kind: Kind) -> Any:
    if isinstance(value, float) and kind is Kind.FLOATS:
        return value
    try:
        number = Decimal(int(value)) if isinstance(value, bool) else Decimal(str(value).strip())
    except ArithmeticError:
        number = Decimal("nan")
    if not number.is_finite():
        return None
    if kind is Kind.DECIMALS:
        return number.quantize(Decimal("0.0001")) if abs(number) < 10**12 else None
    if kind is Kind.FLOATS:
        return float(number) if number % 1 or abs(number) < LARGEST else None
    return int(number) if number % 1 == 0 and abs(number) < 2**63 else None


def written(value: Any) -> str:
    """Return the text of a value, by itself.

    Examples
    --------
    >>> written(7.0), written(date(2026, 11, 1)), written(True)
    ('7.0', '2026-11-01', 'True')
    """
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)


def name_of(value: Any) -> str | None:
    """Return the name of a value: an oracle independent of the product.

    Examples
    --------
    >>> name_of(7), name_of(7.0), name_of("7.0"), name_of(Decimal("7.00")), name_of(7.5), name_of(None)
    ('7', '7', '7.0', '7', '7.5', None)
    """
    if value is None:
        return None
    if isinstance(value, float) and abs(value) < LARGEST and value % 1 == 0:
        return str(int(value))
    if isinstance(value, Decimal):
        return f"{value.normalize():f}" if value else "0"
    return written(value)


def has_name(value: Any, *, only_whole: bool = False) -> bool:
    """Return whether a value has a name: floats from 2^53 on do not, nor fractions if only whole numbers do.

    Examples
    --------
    >>> has_name(2.0**53), has_name(2**53), has_name(1.5), has_name(1.5, only_whole=True), has_name(None)
    (False, True, True, False, True)
    """
    if isinstance(value, float) and abs(value) >= LARGEST:
        return False
    return not (only_whole and isinstance(value, float | Decimal)) or value % 1 == 0


def distinct(values: Iterable[Any]) -> list[Any]:
    """Return values without those that came before with the same type.

    Examples
    --------
    >>> distinct([1, 1.0, True, 1, None])
    [1, 1.0, True, None]
    """
    return list({(type(value), str(value)): value for value in values}.values())
