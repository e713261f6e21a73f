"""How large a matrix of exact entries may be."""

from __future__ import annotations

from anonhist.errors import UsageError

MOST_ENTRIES = 2**20


def check_entries(entries: int) -> None:
    """Refuse a matrix that would fill the memory.

    Raises
    ------
    UsageError
        If it has more than 2^20 entries.
    """
    if entries > MOST_ENTRIES:
        raise UsageError("The matrix of this survey would have more than 2^20 entries; ask for that of a smaller one.")
