"""Counting in passes, each of some of the labels by a hash, where all at once do not fit in memory.

DuckDB ends the grouping of some hundred million labels for lack of memory, however much of the disk it may use. A pass
counts one in four of them, or in sixteen, up to 256. All data are read again in each, so this is for what can be read
again, the same and fast: Parquet files on this machine. (What a view or a computed column of a database shows may
change with every reading, and a row could then count in several passes.) How many passes it takes depends on the data,
as all time does; what is counted does not, for all rows of a label are in the same pass.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError
from anonhist.ingest.query import ALL_LABELS, Pass, events_query, fetch

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.ingest.query import Columns

PASSES = (1, 4, 16, 64)
MOST_PASSES = 256


class Shares:
    """What receives the share done of a pass, and passes on that of all of them, which never goes back."""

    def __init__(self, receive: Callable[[float], None] | None) -> None:
        self._receive = receive
        self._pass = ALL_LABELS
        self._done_before = self._done = 0.0

    def begin(self, one: Pass) -> None:
        """Say which pass is counted from now on; after the first of several, only what is left is shared out."""
        if one.number == 0:
            self._done_before = self._done
        self._pass = one

    def __call__(self, share: float) -> None:
        """Receive the share done of this pass."""
        of_all = (self._pass.number + share) / self._pass.of
        self._done = max(self._done, self._done_before + (1 - self._done_before) * of_all)
        if self._receive is not None:
            self._receive(self._done)


def counted_events(table: Any, columns: Columns, files: tuple[str, ...], shares: Shares) -> list[tuple[Any, ...]]:
    """Return the rows of :func:`~anonhist.ingest.query.events_query` of a table that DuckDB reads from files.

    Parameters
    ----------
    table
        A Narwhals table.
    columns
        Which columns to read, without users.
    files
        The files the table is read from, to notice if one is replaced.
    shares
        Receives the share done.

    Raises
    ------
    DataError
        If one of the files is another one when a pass ends.
    Exception
        What DuckDB raises, for lack of memory once 256 passes do not help.
    """
    before = [_version(file) for file in files]
    for of in PASSES:
        try:
            return _in_passes(table, columns, of, shares, files, before)
        except Exception as error:
            if not _is_lack_of_memory(error):
                raise
    return _in_passes(table, columns, MOST_PASSES, shares, files, before)


def _in_passes(
    table: Any, columns: Columns, of: int, shares: Shares, files: tuple[str, ...], before: list[tuple[int, int, int]]
) -> list[tuple[Any, ...]]:
    added: Counter[tuple[Any, ...]] = Counter()
    for one in (Pass(number, of) for number in range(of)):
        shares.begin(one)
        for count, is_null, prevalence, *flags in fetch(events_query(table, columns, one)):
            added[count, is_null, *flags] += prevalence
        if of > 1 and [_version(file) for file in files] != before:
            raise DataError("The input was changed while it was read in passes: read it again.")
    return [(count, is_null, prevalence, *flags) for (count, is_null, *flags), prevalence in added.items()]


def _version(file: str) -> tuple[int, int, int]:
    info = Path(file).stat()
    return info.st_ino, info.st_size, info.st_mtime_ns


def _is_lack_of_memory(error: Exception) -> bool:
    return type(error).__name__ == "OutOfMemoryException"
