"""Days, weeks and months of dates, with the same names on every engine and in Python.

Weeks are those of ISO 8601, named by their Monday. Queries have a week's number since 1 January of year 1, a Monday,
padded with zeros: texts of all periods ascend with time. Dates before year 1 and after 9999 have no period. Times with
a zone are converted to UTC: a Parquet file keeps no other zone, and engines show such times in the zone of the machine
or the connection. Text that begins with a date is used as written; other text has no period.

Engines of SQL count days, from which the number of a week follows; elsewhere it is whole-number arithmetic on year,
month and day, which these engines would repeat wherever it is used. For pandas, Python finds each date.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum
from functools import cache
from typing import Any

import numpy as np

from anonhist.errors import UsageError
from anonhist.ingest.columns import quoted
from anonhist.ingest.naming import as_text, is_of_pandas, is_sqlite
from anonhist.ingest.plain_types import holds_objects, is_spark, mapped_objects, replaced_in_spark
from anonhist.ingest.warehouses import finite
from anonhist.numeric.value_name import is_missing

# The dates of Python: years 1 to 9999, days that exist in the month. This is one expression, because SQLite limits the
# depth of a query.
_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_LEAP = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
DATE = (
    f"^(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
)
# Days since 1 January of year 1 that have a week, and the digits of its number.
LAST_DAY = date.max.toordinal() - 1
WEEK_DIGITS = 6
# In queries, the prefix of a text that is not a week: the name of the group of all others.
_NO_WEEK = "="


class Period(Enum):
    """The period of a date that makes a group."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"

    def name_of(self, day: date) -> str:
        """Return the name of the period that holds a day."""
        return self.first_of(day).isoformat()[: 7 if self is Period.MONTH else 10]

    def first_of(self, day: date) -> date:
        """Return the first day of the period that holds a day."""
        if self is Period.WEEK:
            return day - timedelta(days=day.weekday())
        return day.replace(day=1) if self is Period.MONTH else day

    def key_of(self, name: str) -> str:
        """Return the query text of a name: for weeks the number, otherwise the name."""
        if self is not Period.WEEK:
            return name
        day = _day_of(name)
        # Another group may be named like a day that is not a Monday.
        if day is None or self.name_of(day) != name:
            return f"{_NO_WEEK}{name}"
        return f"{(day.toordinal() - 1) // 7:0{WEEK_DIGITS}}"

    def name_at(self, key: str) -> str:
        """Return the name with this query text."""
        if self is not Period.WEEK:
            return key
        return key[1:] if key.startswith(_NO_WEEK) else date.fromordinal(7 * int(key) + 1).isoformat()

    def between(self, first: date, last: date) -> list[str]:
        """Return the names of all periods that hold a day from ``first`` to ``last``."""
        days = (first + timedelta(days=at) for at in range((last - first).days + 1))
        return list(dict.fromkeys(map(self.name_of, days)))

    def listed_name(self, value: Any) -> str:
        """Return the name of a listed period: given by its first day, or for months also "2026-11"."""
        is_month = self is Period.MONTH and isinstance(value, str) and len(value) == len("YYYY-MM")
        day = _day_of(f"{value}-01" if is_month else value)
        if day is None:
            example = self.name_of(date(2026, 11, 23))
            raise UsageError(f"`groups` lists {value!r:.80}, which is no {self.value}: name it as in {example}.")
        if day != self.first_of(day):
            raise UsageError(
                f"`groups` lists {value!r:.80}, which is not the first day of a {self.value}: name the one that holds "
                f"it {self.name_of(day)}."
            )
        return self.name_of(day)


def _day_of(value: Any) -> date | None:
    """Return the day that a value states; None if it is not a day."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    elif type(value).__name__ == "datetime64":
        value = value.astype("datetime64[us]").item()
    if not isinstance(value, datetime):
        return value if isinstance(value, date) else None
    if value.tzinfo is not None:
        value = value.astimezone(UTC)
    return value.date() if value.time() == time() else None


def text_of(value: Any) -> str | None:
    """Return the date of a Python object as text."""
    if isinstance(value, str):
        return value[:10]
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64) or type(value).__name__ == "Period":
        # Days and longer periods of pandas are written as dates, as far as they are days.
        return str(value)[:10]
    if not isinstance(value, date):
        return None
    # A time is also a date.
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC)
    return str(value.isoformat())[:10]


def key_of_text(text: str, period: Period) -> str | None:
    """Return the key of the period of a text of ten characters; None if it is not a date."""
    # Python also accepts other notations of a date.
    if not re.match(DATE, text):
        return None
    return period.key_of(period.name_of(date.fromisoformat(text)))


# Since 1 January of year 1.
_DAYS_BEFORE_1970 = date(1970, 1, 1).toordinal() - 1
_LENGTHS = {Period.DAY: len("YYYY-MM-DD"), Period.MONTH: len("YYYY-MM")}


def in_utc(table: Any, columns: list[str]) -> Any:
    """Return a table whose times with a zone in these columns are in UTC; for SQL engines see ``plain_types``."""
    import narwhals as nw

    if is_of_pandas(table):
        return _in_utc_of_pandas(table, columns)
    kinds = table.collect_schema()
    zoned = [name for name in columns if getattr(kinds.get(name), "time_zone", None) is not None]
    if not zoned or counts_days(table):
        return table
    return table.with_columns(nw.col(*zoned).dt.convert_time_zone("UTC"))


def _in_utc_of_pandas(table: Any, columns: list[str]) -> Any:
    """Return a pandas table with times in UTC; Narwhals does not know all of its types of times with a zone."""
    import narwhals as nw

    native = table.to_native()
    zoned = [name for name in columns if name in native.columns and is_zoned_of_pandas(table, name)]
    utc = {name: native[name].dt.tz_convert("UTC") for name in zoned}
    return nw.from_native(native.assign(**utc)) if zoned else table


def is_zoned_of_pandas(table: Any, column: str) -> bool:
    """Return whether a pandas column holds times with a zone."""
    kind = table.to_native()[column].dtype
    arrow = getattr(kind, "pyarrow_dtype", None)
    return getattr(kind if arrow is None else arrow, "tz", None) is not None


def with_weeks(table: Any, columns: dict[str, tuple[str, str]]) -> Any:
    """Return a table with added columns that hold the week keys of some columns, computed by SQL engines.

    ``columns`` has, for each new column, the column of dates, and the name of its weeks in sentences.
    """
    import narwhals as nw

    if not counts_days(table):
        return table
    for name, (column, told) in columns.items():
        is_date = _is_date(table.collect_schema()[column], told)
        if is_sqlite(table):
            table = _with_weeks_of_sqlite(table, name, column)
            continue
        dates = finite(table, column) if is_date else _valid(as_text(table, column)).str.slice(0, 10)
        native = table.with_columns(dates.alias(name)).to_native()
        if table.implementation.is_duckdb():
            held = quoted(name)
            week = _week_in_sql(f"date_diff('day', DATE '0001-01-01', CAST({held} AS DATE))", "//", "VARCHAR")
            table = nw.from_native(native.project(f"* REPLACE ({week} AS {held})"))
            continue
        if is_spark(table):
            week = _week_in_sql(f"(unix_date(CAST({{0}} AS DATE)) + {_DAYS_BEFORE_1970})", "div", "STRING")
            table = replaced_in_spark(nw.from_native(native), {name: week})
            continue
        day = native[name].date() if native[name].type().is_timestamp() else native[name].cast("date")
        number = day.epoch_days() + _DAYS_BEFORE_1970
        week_of_ibis = (number // 7).cast("string").lpad(WEEK_DIGITS, "0")
        table = nw.from_native(native.mutate(**{name: number.between(0, LAST_DAY).ifelse(week_of_ibis, None)}))
    return table


def _week_in_sql(days: str, divided: str, text: str) -> str:
    """Return the formula of a week's key, from a number of days since 1 January of year 1."""
    week = f"lpad(CAST({days} {divided} 7 AS {text}), {WEEK_DIGITS}, '0')"
    return f"CASE WHEN {days} BETWEEN 0 AND {LAST_DAY} THEN {week} END"


def _with_weeks_of_sqlite(table: Any, name: str, column: str) -> Any:
    """Return a table of SQLite with the weeks of a column as found by Python: SQLite accepts no long formula."""
    import narwhals as nw
    from ibis import udf

    native = table.to_native()
    week = udf.scalar.python(_week_of_text, name="anonhist_week", signature=(("string",), "string"))
    return nw.from_native(native.mutate(**{name: week(native[column])}))


def _week_of_text(text: str) -> str | None:
    return key_of_text(text[:10], Period.WEEK)


def counts_days(table: Any) -> bool:
    """Return whether :func:`with_weeks` supports the engine that holds a table."""
    return bool(table.implementation.is_ibis() or table.implementation.is_duckdb()) or is_spark(table)


def _is_date(kind: Any, name: str) -> bool:
    """Return whether a column holds dates rather than their text; refuse other columns."""
    import narwhals as nw

    if isinstance(kind, nw.Date | nw.Datetime):
        return True
    if isinstance(kind, nw.String | nw.Categorical | nw.Enum | nw.Unknown):
        return False
    raise UsageError(f"{name} needs a column of dates or times, or of text that begins with YYYY-MM-DD.")


def period_key(table: Any, column: str, period: Period, told: str) -> Any:
    """Return the keys of the periods of a column's dates (see :meth:`Period.key_of`), null without a date.

    Sentences call the periods ``told``; a column whose type holds no dates is refused.
    """
    import narwhals as nw

    if holds_objects(table, column):
        return _of_objects(table, column, period)
    is_date = _is_date(table.collect_schema()[column], told)
    if is_of_pandas(table):
        return _dates_of_pandas(table, column, period) if is_date else _of_objects(table, column, period)
    if not is_date:
        text = _valid(as_text(table, column))
        if period is not Period.WEEK:
            return text.str.slice(0, _LENGTHS[period])
        number = text.str.slice(0, 10).str.replace_all("-", "", literal=True).cast(nw.Int64)
        return _week(number // 10000, number // 100 % 100, number % 100)
    days = finite(table, column).dt
    year, month, day = (part.cast(nw.Int64) for part in (days.year(), days.month(), days.day()))
    if period is Period.WEEK:
        key = _week(year, month, day)
    else:
        key = days.to_string("%Y-%m-%d").str.slice(0, _LENGTHS[period])
    return nw.when(year.is_between(1, date.max.year)).then(key)


def _week(year: Any, month: Any, day: Any) -> Any:
    """Return the key of a week, from whole numbers."""
    import narwhals as nw

    # Years and months count from March, so that a leap day is the last of its year.
    years = year - 1 + (month + 9) // 12
    ordinal = day + (153 * ((month + 9) % 12) + 2) // 5 + 1461 * years // 4 - years // 100 + years // 400 - 306
    return ((ordinal - 1) // 7).cast(nw.String).str.zfill(WEEK_DIGITS)


def _valid(text: Any) -> Any:
    """Return texts that begin with a date, and null for others."""
    import narwhals as nw

    return nw.when(text.str.contains(DATE)).then(text)


def _of_objects(table: Any, column: str, period: Period) -> Any:
    """Return the keys of Python objects, including dates and texts, as found by Python."""

    @cache
    def key_of(text: str) -> str | None:
        return key_of_text(text, period)

    def key_of_object(value: Any) -> str | None:
        text = text_of(value)
        return None if text is None else key_of(text)

    return mapped_objects(table, column, key_of_object)


def _dates_of_pandas(table: Any, column: str, period: Period) -> Any:
    import narwhals as nw

    days = table.get_column(column).dt.to_string("%Y-%m-%d").to_native().astype(object)
    keys = {text: key_of_text(text, period) for text in days.unique() if isinstance(text, str)}
    return nw.from_native(days.map(keys).astype(object), series_only=True).alias(column)
