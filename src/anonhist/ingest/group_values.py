"""Names of values in grouping columns: in rows, and in lists, compared as the column's type requires.

Rows are named as labels are, so that a group has one name on every engine: the number 7, the float 7.0 and the text "7"
are one group. A listed value is read as a value of the column: a text that cannot be one, or could be written in
several ways, is refused, because a group that no row can be in would be released as empty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any

import numpy as np

from anonhist.errors import UsageError
from anonhist.ingest.naming import Declared, as_text, declared, is_of_pandas
from anonhist.ingest.periods import Period, counts_days, is_zoned_of_pandas, period_key
from anonhist.ingest.plain_types import holds_objects, mapped_objects
from anonhist.numeric.value_name import LARGEST_NAMED, is_missing, value_name

_PART = re.compile(r"(day|week|month)\((.+)\)", re.DOTALL)
_WHOLE_TYPES = re.compile(r"[+-]?[0-9]+(?:\.0*)?(?:[eE][+-]?[0-9]+)?")
_MOST_DIGITS = 40
_TRUTH = {"true": "true", "false": "false"}


class ValueKind(Enum):
    """The kind of values in a grouping column; public, because its type declares it."""

    TEXT = "text"
    NUMBERS = "numbers"
    TRUTH = "truth values"
    DATES = "dates"
    #: If types do not bind: any of these.
    OBJECTS = "values of any type"


@dataclass(frozen=True)
class Part:
    """A grouping column, or the period of its dates."""

    column: str
    period: Period | None = None
    # The column's original name, if the table to read has another one.
    called: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, given: str) -> Part:
        """Read ``"column"`` or ``"day(column)"``."""
        found = _PART.fullmatch(given)
        return cls(given) if found is None else cls(found[2], Period(found[1]))

    @property
    def name(self) -> str:
        """Its name in tables."""
        return self.column if self.period is None else f"{self.period.value}({self.column})"

    def in_table(self, column: str) -> Part:
        """Return this part for a table with this name of the column."""
        return self if column == self.column else replace(self, column=column, called=self.column)

    @property
    def told(self) -> str:
        """Its name in sentences."""
        return self.name if self.called is None else Part(self.called, self.period).name

    def key_of(self, name: str | None) -> str | None:
        """Return the query text of a name: for weeks their number, otherwise the name."""
        return name if name is None or self.period is None else self.period.key_of(name)

    def name_at(self, key: str | None) -> str | None:
        """Return the name with this query text."""
        return key if key is None or self.period is None else self.period.name_at(key)

    def kind_in(self, table: Any) -> ValueKind:
        """Return the kind of a table's column; refuse kinds whose names differ between engines.

        These are times without a period, lists, structures, bytes and similar types.
        """
        import narwhals as nw

        called = self.called or self.column
        if self.period is not None:
            return ValueKind.DATES
        of_values = declared(table, self.column)
        if of_values is not None:
            return _OF_DECLARED[of_values]
        is_zoned = is_of_pandas(table) and is_zoned_of_pandas(table, self.column)
        if holds_objects(table, self.column) and not is_zoned:
            return ValueKind.OBJECTS
        kind = table.collect_schema()[self.column]
        if kind.is_numeric() or isinstance(kind, nw.Duration):
            return ValueKind.NUMBERS
        if isinstance(kind, nw.Datetime) or is_zoned:
            raise UsageError(
                f"The grouping column {called!r} holds times: group by day({called}), week({called}) or "
                f"month({called}), or convert it to text."
            )
        for types, held in (
            (nw.Boolean, ValueKind.TRUTH),
            (nw.Date, ValueKind.DATES),
            # Database types: enumerations, UUIDs and the like.
            (nw.String | nw.Categorical | nw.Enum | nw.Unknown, ValueKind.TEXT),
        ):
            if isinstance(kind, types):
                return held
        raise UsageError(
            f"Groups are made of text, whole numbers, truth values and dates, and the grouping column {called!r} holds "
            "none of these: convert it to text."
        )

    def keys(self, table: Any) -> Any:
        """Return the keys of the column's values in rows, null if missing: an expression, or a series."""
        import narwhals as nw

        if self.period is Period.WEEK and counts_days(table):
            return nw.col(self.name)
        if self.period is not None:
            return period_key(table, self.column, self.period, self.told)
        kind, column = table.collect_schema()[self.column], nw.col(self.column)
        is_category = is_of_pandas(table) and isinstance(kind, nw.Categorical | nw.Enum)
        if is_category or holds_objects(table, self.column):
            return mapped_objects(table, self.column, _of_object)
        if isinstance(kind, nw.Boolean):
            # Engines write them in upper case, in lower case or as numbers.
            truth = nw.when(column).then(nw.lit("true")).otherwise(nw.lit("false"))
            return nw.when(~column.is_null()).then(truth)
        return as_text(table, self.column)

    def listed_name(self, value: Any, kind: ValueKind) -> str | None:
        """Return the name of a listed value, None for a missing one; refuse a value that equals none or several."""
        if is_missing(value):
            return None
        if self.period is not None:
            return self.period.listed_name(value)
        if kind is ValueKind.DATES:
            return Period.DAY.listed_name(value)
        name = _READ[kind](value)
        if name is None:
            raise UsageError(
                f"`groups` lists {value!r:.80} for the grouping column {self.column!r}, which holds {kind.value}: "
                f"{_HOW[kind]}."
            )
        return name


def _of_object(value: Any) -> str | None:
    """Return the name of a Python object in pandas."""
    return _truth_name(value) if isinstance(value, bool | np.bool_) else value_name(value)


def _truth_name(value: Any) -> str | None:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return _TRUTH.get(value.lower()) if isinstance(value, str) else None


def _number_name(value: Any) -> str | None:
    """Return the name of a whole number; fractions can be written in many ways."""
    if isinstance(value, bool | np.bool_):
        return None
    written = value.strip() if isinstance(value, str) else str(value)
    if isinstance(value, str) and not _WHOLE_TYPES.fullmatch(written):
        # Python accepts more than people write: 1_0, or digits of other scripts.
        return None
    try:
        number = Decimal(written)
    except InvalidOperation:
        return None
    # No column holds longer ones.
    if not number.is_finite() or number.adjusted() >= _MOST_DIGITS or number != number.to_integral_value():
        return None
    return None if isinstance(value, float | np.floating) and abs(float(value)) >= LARGEST_NAMED else str(int(number))


def _text_name(value: Any) -> str | None:
    """Return the text of a value, if there is only one."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_ | datetime):
        return None
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, int | np.integer) else None


def _object_name(value: Any) -> str | None:
    name = _text_name(value)
    if name is not None:
        return name
    return _truth_name(value) if isinstance(value, bool | np.bool_) else _number_name(value)


_OF_DECLARED = {
    Declared.NUMBERS: ValueKind.NUMBERS,
    Declared.TRUTH: ValueKind.TRUTH,
    Declared.DATES: ValueKind.DATES,
    Declared.TEXT: ValueKind.TEXT,
    Declared.ANYTHING: ValueKind.OBJECTS,
}
_READ = {
    ValueKind.TEXT: _text_name,
    ValueKind.NUMBERS: _number_name,
    ValueKind.TRUTH: _truth_name,
    ValueKind.OBJECTS: _object_name,
}
_HOW = {
    ValueKind.TEXT: "list its groups as text, as it is written there",
    ValueKind.NUMBERS: "list its groups as whole numbers, or convert it to text if it holds fractions",
    ValueKind.TRUTH: "list its groups as true and false",
    ValueKind.OBJECTS: "list its groups as text, whole numbers, truth values or dates",
}
