"""Files of SQLite, from the standard library."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

from anonhist.storage.failure import Failure

_FAILURES = {
    sqlite3.SQLITE_BUSY: Failure.LOCKED,
    sqlite3.SQLITE_LOCKED: Failure.LOCKED,
    sqlite3.SQLITE_READONLY: Failure.READ_ONLY,
    sqlite3.SQLITE_PERM: Failure.NOT_ALLOWED,
    sqlite3.SQLITE_AUTH: Failure.NOT_ALLOWED,
    sqlite3.SQLITE_FULL: Failure.NO_ROOM,
    sqlite3.SQLITE_IOERR: Failure.BROKEN_DISK,
    sqlite3.SQLITE_CANTOPEN: Failure.NOT_OPENED,
    sqlite3.SQLITE_CORRUPT: Failure.DAMAGED,
    sqlite3.SQLITE_NOTADB: Failure.DAMAGED,
}


def opened(path: Path, mode: str, *, patience: float) -> sqlite3.Connection:
    """Open a file whose transactions are begun in words; ``patience`` is how many seconds to wait for others."""
    address = f"file:{quote(str(path.absolute()))}?mode={mode}"
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=patience, check_same_thread=False)


def write_durably(connection: sqlite3.Connection, *, make: bool) -> None:
    """Have transactions on the disk when they end; ``make`` has the last ones kept in a file beside it (``-wal``)."""
    if make:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")


def begin(connection: sqlite3.Connection, *, write: bool) -> None:
    """Begin a transaction; one that writes waits until no other does."""
    connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")


def failure_of(error: sqlite3.Error) -> Failure:
    """Return what an error means."""
    return _FAILURES.get((getattr(error, "sqlite_errorcode", None) or 0) & 0xFF, Failure.OTHER)
