"""Guesses of how large groups are, as a person lists them in a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from anonhist.errors import DataError, UsageError
from anonhist.ingest.naming import as_text
from anonhist.ingest.query import fetch
from anonhist.ingest.sources import as_path, open_source
from anonhist.mechanisms.group_planning import GroupSize

if TYPE_CHECKING:
    from anonhist.profiles.grouped import Group

_ITEMS, _LABELS = "items", "labels"
_WHOLE = re.compile(r"[0-9]{1,16}")


def sizes_from_file(path: str) -> tuple[tuple[str, ...], dict[Group, GroupSize]]:
    """Return the grouping columns of a file, and the guessed size of each group.

    Parameters
    ----------
    path
        A file with a row for each group: the column ``items``, perhaps ``labels``, and the grouping columns, which are
        all others.

    Raises
    ------
    UsageError
        If there is no column of items or of groups, or a group is listed twice.
    DataError
        If a number is none.
    """
    with open_source(as_path(path), table=None, format=None, delimiter=None, header=True) as opened:
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
