"""What a collector keeps in a file of SQLite, which one process writes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from anonhist.collect.storage import Identifier, Storage, StorageDownError, StorageFullError, Transaction
from anonhist.errors import DataError, OutputError
from anonhist.storage import sqlite
from anonhist.storage.failure import Failure

_PREFIX = "sqlite:///"
# Commands that read wait for a commit; another server would wait for as long.
_PATIENCE = 20.0


class SqliteStorage(Storage):
    """A file whose transactions are on the disk before their blocks end, and where deleted rows are overwritten.

    The latest transactions are in a file beside it (``-wal``), with what was deleted since, until the server ends.
    """

    bytes_type, keyed, mark = "BLOB", " WITHOUT ROWID", "?"

    def __init__(self, address: str) -> None:
        self._address = address
        self._path = Path(address.removeprefix(_PREFIX))
        # Pages of 4,096 bytes; only tests of a full disk set it.
        self.most_pages: int | None = None

    @property
    def shown(self) -> str:
        """Its address."""
        return self._address

    def connect(self, *, make: bool) -> Any:
        """Open the file; only the server makes and writes it."""
        if not make and not self._path.is_file():
            raise DataError(f"There is no database {self._address!r}.")
        if self._path.exists() and not self._path.is_file():
            raise OutputError(f"{self._address!r} is not a file: name one, or a new file.")
        if not self._path.absolute().parent.is_dir():
            raise OutputError(f"{self._address!r} cannot be made there: name a file in a folder that exists.")
        if make:
            # Others may not read what it holds, nor its log, which has the rights of the file.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite.opened(self._path, "rwc" if make else "rw", patience=_PATIENCE)
        try:
            sqlite.write_durably(connection, make=make)
            connection.execute("PRAGMA secure_delete = ON")
            if self.most_pages is not None:
                connection.execute(f"PRAGMA max_page_count = {self.most_pages}")
        except BaseException:
            connection.close()
            raise
        return connection

    def begin(self, connection: Any, *, write: bool) -> None:
        """Begin a transaction."""
        sqlite.begin(connection, write=write)

    def roll_back(self, connection: Any) -> None:
        """Undo a transaction; SQLite has done so already after some errors."""
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")

    def tables_of(self, ours: Transaction) -> set[str]:
        """Return the names of the tables of the file."""
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        return {name for (name,) in ours.run(query).fetchall()}

    def add_identifiers(self, ours: Transaction, number: int, given: Sequence[Identifier]) -> set[Identifier]:
        """Store identifiers, each given once, and return those that are new."""
        query = "INSERT INTO anonhist_ids VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        return {each for each in given if ours.run(query, number, *each).rowcount == 1}

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn errors of SQLite into sentences."""
        try:
            yield
        except sqlite3.Error as error:
            failure = sqlite.failure_of(error)
            if failure is Failure.NO_ROOM:
                raise StorageFullError(f"There is no room for {self._address!r}: make room on its disk.") from None
            if failure is Failure.DAMAGED:
                raise DataError(f"{self._address!r} is damaged, or no database: restore the last backup.") from None
            raise StorageDownError(
                f"{self._address!r} cannot be used ({error.sqlite_errorname}): check the rights to it and its folder, "
                "and that no other program locks it."
                if hasattr(error, "sqlite_errorname")
                else f"{self._address!r} cannot be used."
            ) from None
