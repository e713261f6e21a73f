"""The groups to release, as a person lists them: in a line, as a range of days, or in a file."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.ingest.grouping import Period, parts_of
from anonhist.ingest.naming import as_text
from anonhist.ingest.query import fetch
from anonhist.ingest.sources import as_path, open_source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.ingest.grouping import Part
    from anonhist.profiles.grouped import Group

_RANGE = re.compile(r"(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})")
_MOST_DAYS = 100_000


def groups_from_text(given: str, by: str | Iterable[str]) -> list[Any]:
    """Return the groups that a text names.

    Parameters
    ----------
    given
        A file with a column for each grouping column, of the same name, and a row for each group; or, where there is
        one grouping column, names with commas between them, or for ``day(…)`` a range ``2026-11-01..2026-11-30``.
    by
        The grouping columns.

    Raises
    ------
    UsageError
        If the file has other columns, there are several grouping columns and no file, or a range is none.

    Examples
    --------
    >>> groups_from_text("DE,FR", "country")
    ['DE', 'FR']
    >>> groups_from_text("2026-02-27..2026-03-01", "day(ts)")
    ['2026-02-27', '2026-02-28', '2026-03-01']
    """
    parts = parts_of(by)
    if Path(given).exists():
        return _from_file(given, parts)
    if len(parts) > 1:
        names = ",".join(part.name for part in parts)
        raise UsageError(
            f"There is no file {given!r:.80}; list groups of several columns in a file with a line {names}."
        )
    found = _RANGE.fullmatch(given)
    if found is None or parts[0].period is Period.MONTH:
        return [name.strip() for name in given.split(",")]
    try:
        first, last = (date.fromisoformat(day) for day in found.groups())
    except ValueError:
        raise UsageError(f"{given!r} is not a range of days, such as 2026-11-01..2026-11-30.") from None
    days = (last - first).days + 1
    if not 1 <= days <= _MOST_DAYS:
        raise UsageError(f"{given!r} must be a range of 1 to {_MOST_DAYS:,} days, the first day first.")
    return [str(first + timedelta(days=at)) for at in range(days)]


def _from_file(path: str, parts: tuple[Part, ...]) -> list[Group]:
    with open_source(as_path(path), table=None, format=None, delimiter=None, header=True) as opened:
        names = [part.name if part.name in opened.header.names else part.column for part in parts]
        if sorted(names) != sorted(opened.header.names):
            expected = ", ".join(part.name for part in parts)
            raise UsageError(f"{path!r} must have the columns {expected} and no others: a row for each group.")
        table = opened.table.select(**{f"group{at}": as_text(opened.table, name) for at, name in enumerate(names)})
        return [tuple(row) for row in fetch(table)]
