"""A ledger in a file, stored with the standard library's SQLite."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Never

from anonhist.accounting.charge import damaged
from anonhist.accounting.sql import TABLES, WITHOUT_SUMS, SqlStorage
from anonhist.errors import DataError, OutputError
from anonhist.storage.failure import Failure
from anonhist.storage.sqlite import begin, failure_of, opened, write_durably

_SQLITE = "sqlite:///"
# The files that SQLite keeps beside a database: the latest entries, their readers, and what a transaction replaces.
BESIDE = ("-wal", "-shm", "-journal")
_DATABASE = b"SQLite format 3\0"
# Their first bytes. They need not name their database, so those of any database count as a ledger's.
_WRITTEN_AHEAD, _OLD_PAGES = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"), b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
# The index of the write-ahead log begins with its version, in the machine's byte order, and repeats its header.
_INDEX, _INDEX_AGAIN = (b"\x18\xe2\x2d\x00", b"\x00\x2d\xe2\x18"), 48
# Its tables, as the schema has them; and entries, one page of which may survive the loss of the schema.
_LEDGER = re.compile(
    rb"(?:CREATE (?:TABLE|INDEX|TRIGGER)\s+|table)anonhist_|"
    rb'"kind":"(?:create|charge|complete|void)","ledger":"[0-9a-f]{32}","number":'
)
_AT_ONCE, _LONGEST = 1 << 20, 256


def files_of(address: str) -> tuple[str, ...]:
    """Return the files that a ledger at an address may have, whether or not they exist."""
    path = address.removeprefix(_SQLITE)
    if not path or "://" in path or "\0" in path:
        return ()
    # Named after the file itself: its latest entries are beside it.
    names = dict.fromkeys((path, os.path.realpath(path)))
    return tuple(name + ending for name in names for ending in ("", *BESIDE))


def is_ledger(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a ledger or belongs to one, in whatever state, under any of its names.

    Only regular files are opened. A database without tables, such as a truncated one, may have been a ledger.
    """
    file = os.path.realpath(path)
    owners = [file.removesuffix(ending) for ending in BESIDE if file.endswith(ending)]
    # The file beside a young ledger may hold all of it, and is checked first: it is gone only when the ledger has its
    # content.
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
    """Return whether a database has no tables, so that those of a ledger may have been lost."""
    is_database = next(_parts(path), b"").startswith(_DATABASE)
    return is_database and not any(b"CREATE " in part.replace(b"\0", b"") for part in _parts(path))


def _parts(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Read a file in parts, each of which begins with the end of the previous one."""
    if not os.path.isfile(path):  # noqa: PTH113  # pathlib may raise
        return
    with suppress(FileNotFoundError), Path(path).open("rb") as file:
        end = b""
        while part := file.read(_AT_ONCE):
            yield end + part
            end = (end + part)[-_LONGEST:]


# How long to wait for other processes, each of which takes a few milliseconds.
_PATIENCE = 60.0
_APPEND_ONLY = tuple(
    f"CREATE TRIGGER anonhist_no_{what.lower()} BEFORE {what} ON anonhist_entries "
    "BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END"
    for what in ("UPDATE", "DELETE")
)


class SqliteStorage(SqlStorage):
    """A file whose transactions are on the disk before their blocks end.

    ``synchronous`` is ``FULL``, and entries first go to a file beside it (``-wal``), which the last process to close
    the ledger merges into it. Copy both files, and neither while a process runs. It cannot be on a network drive. A
    link leads to the file, but a file with several names is refused: each name would have entries beside it that the
    others do not see. If neither it nor its folder is writable, it can be read, as long as no entries are beside it.
    """

    mark = "?"
    migrations = ((*TABLES, *_APPEND_ONLY), WITHOUT_SUMS)

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._path = path
        self._file = Path(path)
        self._as_found: tuple[int, ...] = ()
        self._is_still = False
        self._beside = 0

    def _connect(self, *, make: bool) -> Any:
        path = Path(self._path)
        if not make and not path.exists():
            raise DataError(
                f"There is no ledger {self._path!r}: create one with 'anonhist budget create' or Ledger.create."
            )
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise OutputError(f"The ledger {self._path!r} cannot be made there: name a file in a folder that exists.")
        # SQLite takes such files for those beside another database, and removes them.
        if path.name.endswith(BESIDE) or os.path.realpath(path).endswith(BESIDE):
            raise OutputError(
                f"The ledger {self._path!r} has the ending of a temporary file of SQLite, which may remove it: give it "
                "another name first."
            )
        # Reading from a pipe would wait for a writer.
        if path.exists() and not path.is_file():
            raise OutputError(f"The ledger {self._path!r} is not a regular file: name one, or a new file.")
        # Named after the file itself: its latest entries are beside it.
        self._file = Path(os.path.realpath(path))
        connection = self._opened("rwc" if make else "rw")
        self._as_found = self._state()
        self._check_sole_name()
        try:
            if make:
                self._check_no_other(connection)
            write_durably(connection, make=make)
            self._has_tables(connection)
            self._beside = self._file_beside()
        except sqlite3.OperationalError as error:
            connection.close()
            if make or failure_of(error) not in {Failure.NOT_OPENED, Failure.READ_ONLY}:
                raise
            self._check_nothing_beside()
            connection, self._is_still = self._opened("ro&immutable=1"), True
        return connection

    def _check_no_other(self, connection: sqlite3.Connection) -> None:
        query = "SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'anonhist%' AND name NOT LIKE 'sqlite%'"
        if not self._has_tables(connection) and connection.execute(query).fetchone()[0]:
            raise OutputError(f"{self._path!r} is a database of another program: keep the ledger in a file of its own.")

    def _opened(self, mode: str) -> sqlite3.Connection:
        self._is_still = False
        connection = opened(self._file, mode, patience=_PATIENCE)
        # Closed at the latest when nothing refers to it any more.
        weakref.finalize(self, _close, connection)
        return connection

    def _state(self) -> tuple[int, ...]:
        """Return which file it is, its number of names, and its time of last change; nothing if it does not exist."""
        try:
            found = self._file.stat()
        except OSError:
            return ()
        return found.st_dev, found.st_ino, found.st_nlink, found.st_size, found.st_mtime_ns

    def _check_sole_name(self) -> None:
        _, _, names, *_ = self._state() or (0, 0, 1)
        if names > 1:
            raise OutputError(
                f"The ledger {self._path!r} has other names (hard links), under which charges would not be seen; "
                "remove them first."
            )

    def _file_beside(self) -> int:
        """Return which file holds the latest entries, from the first use on; 0 if there is none."""
        try:
            return self._file.with_name(f"{self._file.name}-wal").stat().st_ino
        except OSError:
            return 0

    def _removed_beside(self) -> OutputError:
        return OutputError(
            f"The file {f'{self._file.name}-wal'!r} beside the ledger {self._path!r}, which holds its last entries, "
            "was removed while programs used it: end them all, and compare the ledger with all releases ('anonhist "
            "budget verify')."
        )

    def _check_nothing_beside(self) -> None:
        beside = self._file.with_name(f"{self._file.name}-wal")
        if beside.exists() and beside.stat().st_size:
            raise DataError(
                f"The ledger {self._path!r} cannot be read on a read-only disk, since its last entries are in "
                f"{beside.name!r} beside it: copy both files to another folder."
            )

    def _is_lost(self, connection: Any) -> bool:
        # Another file has its name, or what is remembered of a file that nobody changes may be outdated.
        return self._is_still or self._state()[:2] != self._as_found[:2]

    def _begin(self, connection: Any, *, write: bool) -> None:
        if write:
            self._check_sole_name()
        begin(connection, write=write)
        if write and self._beside and self._file_beside() != self._beside:
            raise self._removed_beside()

    def _end(self, connection: Any) -> None:
        super()._end(connection)
        if self._is_still:
            self._check_nothing_beside()
            if self._state() != self._as_found:
                raise DataError(f"The ledger {self._path!r} was changed while it was read: try again.")

    def _has_tables(self, connection: Any) -> bool:
        query = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'anonhist_ledger'"
        return bool(connection.execute(query).fetchone()[0])

    def _make_place(self, connection: Any) -> None:
        """Create nothing: the file exists since it was opened."""

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            self._refuse(error)
        except UnicodeDecodeError:
            raise damaged(self._path, "its schema is not text") from None

    def _refuse(self, error: sqlite3.Error) -> Never:
        failure, name = failure_of(error), repr(self._path)
        if failure is Failure.LOCKED:
            raise DataError(f"The ledger {name} is locked by another program: try again when that has ended.") from None
        if failure in {Failure.READ_ONLY, Failure.NOT_ALLOWED}:
            raise OutputError(
                f"The ledger {name} cannot be written to: ask for the right to write the file and its folder."
            ) from None
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_IOERR_SHORT_READ:
            raise self._removed_beside() from None
        if failure in {Failure.NO_ROOM, Failure.BROKEN_DISK}:
            raise OutputError(
                f"The ledger {name} could not be written: make room on its disk, and check that it works."
            ) from None
        if failure is Failure.NOT_OPENED:
            raise DataError(
                f"The ledger {name} cannot be opened: check the rights to the file and its folder."
            ) from None
        raise DataError(
            f"The ledger {name} is damaged, or not a ledger: restore the last backup, and compare it with all releases "
            "('anonhist budget verify')."
        ) from None


def _close(connection: sqlite3.Connection) -> None:
    with contextlib.suppress(sqlite3.Error):
        connection.close()
