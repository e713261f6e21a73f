"""Many small data sets of dates that are read as one, because each reading takes longer than its check."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

# Cumulative windows have at most 1,100 days.
_MOST_DAYS = 1_000

Row = tuple[str, ...]


def days_apart(at: int, days: Sequence[str]) -> list[str]:
    """Return the days of one of many data sets, all of which have equally many days.

    Examples
    --------
    >>> days_apart(2, ["2026-11-01", "2026-11-02"])
    ['2026-11-05', '2026-11-06']
    """
    first = date.fromisoformat(days[0]) + timedelta(at * len(days))
    return [str(first + timedelta(place)) for place in range(len(days))]


def rows_apart(at: int, rows: Sequence[Row], days: Sequence[str]) -> list[Row]:
    """Return rows (user, label, …, day) with a user, a label and a day that no other data set has.

    Examples
    --------
    >>> rows_apart(2, [("u", "a", "2026-11-02")], ["2026-11-01", "2026-11-02"])
    [('u2', 'a2', '2026-11-06')]
    """
    named = dict(zip(days, days_apart(at, days), strict=True))
    return [(f"{user}{at}", f"{label}{at}", *others, named[day]) for user, label, *others, day in rows]


def read_apart(
    read: Callable[[list[Row], list[str]], NDArray[np.int64]], sets: Sequence[Sequence[Any]], days: Sequence[str]
) -> NDArray[np.int64]:
    """Return the results of ``read``, shape (sets, …, days); it takes rows and days, and returns shape (…, days).

    Names decide which items of a user and which groups of a label are kept. So compare data sets that have the same
    place in two lists, or data sets in which all units but one keep everything.
    """
    many = _MOST_DAYS // len(days)
    found = []
    for start in range(0, len(sets), many):
        some = sets[start : start + many]
        rows = [row for at, each in enumerate(some) for row in rows_apart(at, each, days)]
        numbers = read(rows, [day for at in range(len(some)) for day in days_apart(at, days)])
        found.append(np.moveaxis(numbers.reshape(*numbers.shape[:-1], len(some), len(days)), -2, 0))
    return np.concatenate(found)
