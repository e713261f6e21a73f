"""Whether a machine can hold so many groups, by their number, which is public."""

from __future__ import annotations

import os

from anonhist.errors import DataError

# What the release of a group without data takes at ε = 1, without simulations: 6.2 kB, and more for every other.
_LEAST = 6_000
_GIGA = 10**9


def check_memory(groups: int) -> None:
    """Refuse more groups than this machine can hold, before they are read and before any noise is drawn for them.

    Raises
    ------
    DataError
        If their releases need more than all of its memory, even without data.

    Examples
    --------
    >>> check_memory(500)
    """
    have = _memory()
    if have is not None and groups * _LEAST > have:
        raise DataError(
            f"{groups:,} groups need at least {groups * _LEAST / _GIGA:,.1f} GB of memory, and this machine has "
            f"{have / _GIGA:,.1f} GB: list fewer groups, or use a larger machine."
        )


def _memory() -> int | None:
    """Return the memory of this machine in bytes, None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
