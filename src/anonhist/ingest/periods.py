"""Days, weeks and months of dates, named alike by every engine and by Python.

Weeks are those of ISO 8601: from Monday to Sunday. They are named by their Monday, so their names are dates, sort by
time, and need no year of their own at the turn of the year. Queries have the number of a week instead, since 1 January
of year 1, a Monday, with zeros before it: texts of days, weeks and months all ascend as time does.

Dates before year 1 and after 9999, which some engines hold, have no day, week or month.

Times with a zone are taken in UTC: a Parquet file keeps no other zone, and engines show such times in the zone of the
machine or the connection. Text is taken as written, if it begins with a date, else it has no day, week or month.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum
from typing import Any

import numpy as np

from anonhist.errors import UsageError
from anonhist.numeric.value_name import is_missing

# The dates of Python: years 1 to 9999, days that the month has. One expression, as SQLite limits the depth of a query.
_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_LEAP = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
DATE = (
    f"^(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
)
# Days since 1 January of year 1 that have a week, and the digits of its number.
LAST_DAY = date.max.toordinal() - 1
WEEK_DIGITS = 6
# In queries, before what is no week: the name of the group of all others.
_NO_WEEK = "="


class Period(Enum):
    """What of a date a group is made of."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"

    def name_of(self, day: date) -> str:
        """Return the name of the period that holds a day.

        Examples
        --------
        >>> [period.name_of(date(2027, 1, 1)) for period in Period]
        ['2027-01-01', '2026-12-28', '2027-01']
        """
        return self.first_of(day).isoformat()[: 7 if self is Period.MONTH else 10]

    def first_of(self, day: date) -> date:
        """Return the first day of the period that holds a day."""
        if self is Period.WEEK:
            return day - timedelta(days=day.weekday())
        return day.replace(day=1) if self is Period.MONTH else day

    def key_of(self, name: str) -> str:
        """Return what queries have in the place of a name.

        Examples
        --------
        >>> Period.WEEK.key_of("2026-11-23"), Period.WEEK.name_at("105706")
        ('105706', '2026-11-23')
        """
        if self is not Period.WEEK:
            return name
        day = _day_of(name)
        # Another group may be called as a day that is no Monday.
        if day is None or self.name_of(day) != name:
            return f"{_NO_WEEK}{name}"
        return f"{(day.toordinal() - 1) // 7:0{WEEK_DIGITS}}"

    def name_at(self, key: str) -> str:
        """Return the name in the place of which queries have this."""
        if self is not Period.WEEK:
            return key
        return key[1:] if key.startswith(_NO_WEEK) else date.fromordinal(7 * int(key) + 1).isoformat()

    def between(self, first: date, last: date) -> list[str]:
        """Return the names of all periods that hold a day from ``first`` to ``last``.

        Examples
        --------
        >>> Period.WEEK.between(date(2026, 11, 22), date(2026, 11, 30))
        ['2026-11-16', '2026-11-23', '2026-11-30']
        """
        days = (first + timedelta(days=at) for at in range((last - first).days + 1))
        return list(dict.fromkeys(map(self.name_of, days)))

    def listed_name(self, value: Any) -> str:
        """Return the name of a period that a person lists: its first day, or what it is called.

        Parameters
        ----------
        value
            A date, a time at midnight, or text of one; for months also ``"2026-11"``.

        Raises
        ------
        UsageError
            If it is none.

        Examples
        --------
        >>> Period.WEEK.listed_name(date(2026, 11, 23)), Period.MONTH.listed_name("2026-11")
        ('2026-11-23', '2026-11')
        """
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
    """Return the day that a value says, None if it is no day."""
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
    # A time is a date, too.
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC)
    return str(value.isoformat())[:10]


def key_of_text(text: str, period: Period) -> str | None:
    """Return the key of the period of a text of ten characters, None if it is no date."""
    # Python reads other ways to write a date, too.
    if not re.match(DATE, text):
        return None
    return period.key_of(period.name_of(date.fromisoformat(text)))
