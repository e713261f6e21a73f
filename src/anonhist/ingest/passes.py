"""Counting in passes, each of some of the labels by a hash, where all at once do not fit in memory.

DuckDB ends the grouping of some hundred million labels for lack of memory, however much of the disk it may use. A pass
counts one in four of them, or in sixteen, up to 256. All data are read again in each, so this is for what can be read
again and fast: Parquet files on this machine and databases of DuckDB. How many passes it takes depends on the data, as
all time does; what is counted does not, for all rows of a label are in the same pass.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from anonhist.ingest.query import ALL_LABELS, Pass, events_query, fetch

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.ingest.query import Columns

PASSES = (1, 4, 16, 64, 256)


class Shares:
    """What receives the share done of a pass, and passes on that of all of them."""

    def __init__(self, receive: Callable[[float], None] | None) -> None:
        self._receive = receive
        self._pass = ALL_LABELS

    def begin(self, one: Pass) -> None:
        """Say which pass is counted from now on."""
        self._pass = one

    def __call__(self, share: float) -> None:
        """Receive the share done of this pass."""
        if self._receive is not None:
            self._receive((self._pass.number + share) / self._pass.of)


def counted_events(table: Any, columns: Columns, shares: Shares) -> list[tuple[Any, ...]]:
    """Return the rows of :func:`~anonhist.ingest.query.events_query` of a table of DuckDB that can be read again.

    Raises
    ------
    Exception
        What DuckDB raises, for lack of memory once 256 passes do not help.
    """
    for of in PASSES:
        added: Counter[tuple[Any, ...]] = Counter()
        try:
            for one in (Pass(number, of) for number in range(of)):
                shares.begin(one)
                for count, is_null, prevalence, *flags in fetch(events_query(table, columns, one)):
                    added[count, is_null, *flags] += prevalence
        except Exception as error:
            if of == PASSES[-1] or not _is_lack_of_memory(error):
                raise
        else:
            return [(count, is_null, prevalence, *flags) for (count, is_null, *flags), prevalence in added.items()]
    raise AssertionError


def _is_lack_of_memory(error: Exception) -> bool:
    return type(error).__name__ == "OutOfMemoryException"
