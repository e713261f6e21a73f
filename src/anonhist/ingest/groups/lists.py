"""Lists of groups to release: as values, as a line, as a range of days, as a table or as a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError
from anonhist.ingest.holders import Reading, holder_of
from anonhist.ingest.locations import as_path
from anonhist.ingest.memory import is_table
from anonhist.ingest.naming import as_text
from anonhist.ingest.periods import Period
from anonhist.ingest.query import fetch
from anonhist.mechanisms.group_planning import GroupSize

if TYPE_CHECKING:
    from anonhist.ingest.group_values import Part
    from anonhist.profiles.grouped import Group

_RANGE = re.compile(r"(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})")
_MOST_DAYS = 100_000
_ENDINGS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet")


def group_rows(given: Any, parts: Sequence[Part]) -> list[tuple[Any, ...]]:
    """Return the listed groups: a value for each grouping column.

    ``given`` has a value for each group (a sequence, for several columns), or is a table or a file with these columns.
    For one grouping column it may be text: names separated by commas, or a range of days as in
    ``2026-11-01..2026-11-30``, for all days, weeks or months that contain one of them.
    """
    if is_table(given) or isinstance(given, PathLike):
        rows = _from_table(as_path(given), parts)
    elif isinstance(given, str):
        rows = _from_text(given, parts)
    elif isinstance(given, bytes) or not isinstance(given, Iterable):
        raise UsageError("`groups` must list the groups: values, a table, a file or a text.")
    else:
        rows = [(each,) if isinstance(each, str) or not isinstance(each, Sequence) else tuple(each) for each in given]
    if not rows:
        raise UsageError("`groups` lists no group: name at least one.")
    if any(len(row) != len(parts) for row in rows):
        raise UsageError(f"Each group of `groups` must have one value for each grouping column: {_names(parts)}.")
    return rows


def _names(parts: Sequence[Part], between: str = ", ") -> str:
    return between.join(part.name for part in parts)


def _from_text(given: str, parts: Sequence[Part]) -> list[tuple[Any, ...]]:
    if _is_file(given):
        return _from_table(given, parts)
    if Path(given.removesuffix(".gz").removesuffix(".zst")).suffix in _ENDINGS and "," not in given:
        raise UsageError(f"There is no list of groups {given!r:.80}.")
    if len(parts) > 1:
        raise UsageError(
            f"There is no file {given!r:.80}; list groups of several columns in a file with a line "
            f"{_names(parts, ',')}."
        )
    found = _RANGE.fullmatch(given)
    if found is None:
        names = [name.strip() for name in given.split(",")]
        if not all(names):
            raise UsageError("`groups` lists a group without a name: write names with a comma between any two.")
        return [(name,) for name in names]
    try:
        first, last = (date.fromisoformat(day) for day in found.groups())
    except ValueError:
        raise UsageError(f"{given!r} is not a range of days, such as 2026-11-01..2026-11-30.") from None
    if not 1 <= (last - first).days + 1 <= _MOST_DAYS:
        raise UsageError(f"{given!r} must be a range of 1 to {_MOST_DAYS:,} days, the first day first.")
    return [(name,) for name in (parts[0].period or Period.DAY).between(first, last)]


def _is_file(given: str) -> bool:
    try:
        return Path(given).is_file()
    except (OSError, ValueError):  # A list of names is too long for a file name.
        return False


def _from_table(given: Any, parts: Sequence[Part]) -> list[tuple[Any, ...]]:
    is_path = isinstance(given, str)
    named = [part.name for part in parts]
    what = f"The list of groups {given!r}" if is_path else "The list of groups"
    with holder_of(given).open(Reading(named, what=what)) as opened:
        # A column of dates may have the same name as in the data.
        have = opened.header.names
        names = [name if name in have else part.column for name, part in zip(named, parts, strict=True)]
        if sorted(names) != sorted(have):
            raise UsageError(f"{what} must have the columns {_names(parts)} and no others: a row for each group.")
        held = map(opened.header.in_table, names)
        return [tuple(row) for row in fetch(opened.table.select(*held))]


_ITEMS, _LABELS = "items", "labels"
_WHOLE = re.compile(r"[0-9]{1,16}")


def sizes_from_file(path: str) -> tuple[tuple[str, ...], dict[Group, GroupSize]]:
    """Return the grouping columns of a file, and the guessed size of each group, which is listed once.

    The file has a row for each group, with the column ``items``, optionally ``labels``, and the grouping columns, which
    are all others.
    """
    with holder_of(as_path(path)).open() as opened:
        names = opened.header.names
        by = tuple(name for name in names if name not in (_ITEMS, _LABELS))
        if _ITEMS not in names or not by:
            raise UsageError(
                f"{path!r} must have the grouping columns, a column {_ITEMS} with a guess of the items of each group, "
                f"and perhaps {_LABELS}."
            )
        kept = (*by, *(name for name in (_ITEMS, _LABELS) if name in names))
        for name in kept:
            opened.header.require(column=name)
        held = map(opened.header.in_table, kept)
        table = opened.table.select(**{f"column{at}": as_text(opened.table, name) for at, name in enumerate(held)})
        rows = [tuple(row) for row in fetch(table)]
    found: dict[Group, GroupSize] = {}
    for row in rows:
        group, (items, *labels) = row[: len(by)], row[len(by) :]
        if group in found:
            raise UsageError(f"{path!r} lists a group twice: give each group one row.")
        guessed = _number(labels[0], path) if labels and labels[0] is not None else None
        found[group] = GroupSize(_number(items, path), guessed)
    if not found:
        raise UsageError(f"{path!r} lists no group: give each group a row.")
    return by, found


def _number(text: str | None, path: str) -> int:
    if text is None or not _WHOLE.fullmatch(text.strip()):
        raise DataError(f"The columns {_ITEMS} and {_LABELS} of {path!r} must hold whole numbers, such as 12000.")
    return int(text)
