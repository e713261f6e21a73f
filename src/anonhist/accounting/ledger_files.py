"""Which files a ledger is, by its address and by what is in them: also one that is damaged is still a ledger."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SQLITE = "sqlite:///"
# What SQLite keeps beside a database: its last entries, who reads which of them, and what a transaction replaces.
BESIDE = ("-wal", "-shm", "-journal")
_DATABASE = b"SQLite format 3\0"
# How those begin. They need not say whose they are, so those of any database count as a ledger's.
_WRITTEN_AHEAD, _OLD_PAGES = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"), b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
# The index of what was written ahead begins with its version, in the order of bytes of the machine, and says all twice.
_INDEX, _INDEX_AGAIN = (b"\x18\xe2\x2d\x00", b"\x00\x2d\xe2\x18"), 48
# Its tables, as the schema has them; and entries, of which a page is left where the schema is lost.
_LEDGER = re.compile(
    rb"(?:CREATE (?:TABLE|INDEX|TRIGGER)\s+|table)anonhist_|"
    rb'"kind":"(?:create|charge|complete|void)","ledger":"[0-9a-f]{32}","number":'
)
_AT_ONCE, _LONGEST = 1 << 20, 256


def files_of(address: str) -> tuple[str, ...]:
    """Return the files that a ledger at an address has or may have, whether they are there or not.

    Examples
    --------
    >>> files_of("sqlite:///budget.db")[:2], files_of("postgresql://db/shop")
    (('budget.db', 'budget.db-wal'), ())
    """
    path = address.removeprefix(_SQLITE)
    if not path or "://" in path or "\0" in path:
        return ()
    # By the name of the file itself: beside that are its last entries.
    names = dict.fromkeys((path, os.path.realpath(path)))
    return tuple(name + ending for name in names for ending in ("", *BESIDE))


def is_ledger(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a ledger or belongs to one, in whatever state it is, by any of its names.

    Nothing but regular files is looked into. A database without tables, as one that was cut off, may have been one.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    file = os.path.realpath(path)
    owners = [file.removesuffix(ending) for ending in BESIDE if file.endswith(ending)]
    # What is beside a young ledger may be all of it, and comes first: it is gone only when the ledger has it.
    named = (*(file + ending for ending in BESIDE), path, *owners)
    return _is_beside(path) or any(map(_says_ledger, named)) or _is_blank(path)


def _is_beside(path: str | os.PathLike[str]) -> bool:
    start = next(_parts(path), b"")[: _INDEX_AGAIN + 4]
    return start.startswith((*_WRITTEN_AHEAD, _OLD_PAGES)) or (
        start.startswith(_INDEX) and start[:4] == start[_INDEX_AGAIN:]
    )


def _says_ledger(path: str | os.PathLike[str]) -> bool:
    # Without zeros, texts of both 8 and 16 bits read alike.
    return any(_LEDGER.search(part.replace(b"\0", b"")) for part in _parts(path))


def _is_blank(path: str | os.PathLike[str]) -> bool:
    """Return whether a database has no tables that say whose it is: those of a ledger may be lost."""
    is_database = next(_parts(path), b"").startswith(_DATABASE)
    return is_database and not any(b"CREATE " in part.replace(b"\0", b"") for part in _parts(path))


def _parts(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Read a file in parts, each of which begins with the end of the one before."""
    if not os.path.isfile(path):  # noqa: PTH113  # pathlib may raise
        return
    with suppress(FileNotFoundError), Path(path).open("rb") as file:
        end = b""
        while part := file.read(_AT_ONCE):
            yield end + part
            end = (end + part)[-_LONGEST:]
