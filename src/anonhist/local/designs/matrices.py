"""How large a matrix of exact entries may be."""

from __future__ import annotations

from anonhist.errors import UsageError

MOST_ENTRIES = 2**20


def check_entries(entries: int) -> None:
    """Refuse a matrix that does not fit in memory.

    Raises
    ------
    UsageError
        If it has more than 2²⁰ entries.
    """
    if entries > MOST_ENTRIES:
        raise UsageError("The matrix of this survey has more than 2^20 entries; use a smaller survey.")
