"""Storage of entries: tables and migrations of SQLite and PostgreSQL, and one connection at a time."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import RLock
from typing import Any, NamedTuple
from uuid import uuid4
from weakref import WeakSet

from anonhist.accounting.charge import damaged
from anonhist.errors import DataError, OutputError

_COLUMNS = "number, dataset, about, document, digest"


class Row(NamedTuple):
    """A stored entry: ``number`` is its position from 1 on, ``digest`` that of the chain up to it.

    ``about`` is the number of the charge that it completes or voids; None for other entries. No two entries are about
    the same charge.
    """

    number: int
    dataset: str
    about: int | None
    document: str
    digest: str


class SqlTransaction:
    """Reads and appends that are kept together or not at all; no other transaction runs meanwhile."""

    def __init__(self, connection: Any, worded: Callable[[str], str], shown: str) -> None:
        self._connection, self._worded, self._shown = connection, worded, shown

    def _all(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        found: list[Any] = self._connection.execute(self._worded(query), values).fetchall()
        return found

    def ledger_id(self) -> str:
        """Return the id of the ledger, which was drawn when it was created."""
        found = self._all("SELECT value FROM anonhist_ledger WHERE name = 'id'")
        if not found or not isinstance(found[0][0], str):
            raise damaged(self._shown, "it has no id")
        own: str = found[0][0]
        return own

    def last(self) -> tuple[int, str]:
        """Return number and digest of the last entry; 0 and an empty text if there is none."""
        found = self._all("SELECT number, digest FROM anonhist_entries ORDER BY number DESC LIMIT 1")
        number, digest = found[0] if found else (0, "")
        if not isinstance(number, int) or not isinstance(digest, str):
            raise damaged(self._shown, "its last entry has no number or no digest")
        return number, digest

    def append(self, row: Row) -> None:
        """Add an entry."""
        query = f"INSERT INTO anonhist_entries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)"  # noqa: S608  # no input
        self._connection.execute(self._worded(query), row)

    def row(self, number: int) -> Row | None:
        """Return an entry, or None."""
        found = self._all(f"SELECT {_COLUMNS} FROM anonhist_entries WHERE number = ?", (number,))  # noqa: S608
        return _row(found[0]) if found else None

    def about(self, number: int) -> Row | None:
        """Return the entry about a charge, or None."""
        found = self._all(f"SELECT {_COLUMNS} FROM anonhist_entries WHERE about = ?", (number,))  # noqa: S608
        return _row(found[0]) if found else None

    def datasets(self) -> tuple[str, ...]:
        """Return the names of all data sets, in the order of their first entries."""
        query = "SELECT dataset FROM anonhist_entries GROUP BY dataset ORDER BY min(number)"
        return tuple(name for (name,) in self._all(query))

    def rows(self, dataset: str | None) -> list[Row]:
        """Return the entries of a data set, or all, in order."""
        where, values = ("", ()) if dataset is None else (" WHERE dataset = ?", (dataset,))
        query = f"SELECT {_COLUMNS} FROM anonhist_entries{where} ORDER BY number"  # noqa: S608  # no input
        return [_row(each) for each in self._all(query, values)]

    def rows_after(self, number: int) -> list[Row]:
        """Return the entries after a given one, in order."""
        query = f"SELECT {_COLUMNS} FROM anonhist_entries WHERE number > ? ORDER BY number"  # noqa: S608  # no input
        return [_row(each) for each in self._all(query, (number,))]


def _row(found: Sequence[Any]) -> Row:
    """Return an entry; values that are not text become empty, which is invalid."""
    number, dataset, about, document, digest = found
    return Row(number, dataset, about, *(each if isinstance(each, str) else "" for each in (document, digest)))


class _Forks:
    """All databases to prepare for forks, and those prepared for the current fork."""

    def __init__(self) -> None:
        self.turn = RLock()
        self.known: WeakSet[SqlStorage] = WeakSet()
        self.told: list[SqlStorage] = []

    def before(self) -> None:
        self.turn.acquire()
        for each in tuple(self.known):
            each.before_fork()
            self.told.append(each)

    def after(self, *, is_child: bool) -> None:
        while self.told:
            self.told.pop().after_fork(is_child=is_child)
        if is_child:
            self.turn = RLock()
        else:
            self.turn.release()


_forks = _Forks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_forks.before,
        after_in_parent=lambda: _forks.after(is_child=False),
        after_in_child=lambda: _forks.after(is_child=True),
    )


# One tuple of statements leads from each schema version to the next; the first leads from none to 1.
TABLES = (
    "CREATE TABLE anonhist_ledger (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE anonhist_entries (
        number BIGINT PRIMARY KEY,
        dataset TEXT NOT NULL,
        about BIGINT UNIQUE,
        document TEXT NOT NULL,
        digest TEXT NOT NULL
    )""",
    # The sums of entries, which version 1 relied on. Anybody who could change them could overspend.
    """CREATE TABLE anonhist_accounts (
        dataset TEXT PRIMARY KEY,
        created BIGINT NOT NULL,
        spent_epsilon TEXT NOT NULL,
        spent_delta TEXT NOT NULL
    )""",
    "CREATE INDEX anonhist_entries_of ON anonhist_entries (dataset, number)",
)
WITHOUT_SUMS = ("DROP TABLE anonhist_accounts",)
_NUMBER = re.compile("[1-9][0-9]{0,8}")


class SqlStorage(ABC):
    """A database with one connection, which threads use in turn and a forked process does not share.

    It is closed before a fork, when the transaction of another thread has ended. Otherwise the child would have copies
    of locks that none of its threads holds; and SQLite records a process's file locks in its memory, so the child would
    not acquire its own, and its charges would be lost when the parent closes the file.
    """

    mark: str
    migrations: tuple[tuple[str, ...], ...]

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._turn = RLock()
        self._open: tuple[int, Any] | None = None
        self._is_used = False
        with _forks.turn:  # No fork is under way.
            _forks.known.add(self)

    @property
    def shown(self) -> str:
        """Its address without secrets."""
        return self._shown

    @abstractmethod
    def _connect(self, *, make: bool) -> Any:
        """Open a connection, and the database if asked to."""

    @abstractmethod
    def _begin(self, connection: Any, *, write: bool) -> None:
        """Begin a transaction; one that writes waits until no other does."""

    @abstractmethod
    def _has_tables(self, connection: Any) -> bool:
        """Return whether the tables exist."""

    @abstractmethod
    def _make_place(self, connection: Any) -> None:
        """Create the place of the tables, if it does not exist."""

    def _placed(self, query: str) -> str:
        """Return a query with the location of the tables filled in."""
        return query

    def _worded(self, query: str) -> str:
        """Return a query in the SQL dialect of the database."""
        return self._placed(query).replace("?", self.mark)

    @abstractmethod
    def _translated(self) -> AbstractContextManager[None]:
        """Turn database errors into sentences."""

    def make(self) -> None:
        """Create the tables, if they do not exist."""
        with self._turn, self._translated():
            self._ready(make=True)

    @contextmanager
    def writing(self) -> Iterator[SqlTransaction]:
        """Return a transaction that is on the disk when its block ends, and rolled back if it raises."""
        with self._in_turn(write=True) as connection:
            yield SqlTransaction(connection, self._worded, self._shown)

    @contextmanager
    def reading(self) -> Iterator[SqlTransaction]:
        """Return a transaction that sees one state and changes nothing."""
        with self._in_turn(write=False) as connection:
            yield SqlTransaction(connection, self._worded, self._shown)

    @contextmanager
    def _in_turn(self, *, write: bool) -> Iterator[Any]:
        with self._turn, self._translated():
            self._is_used = True
            try:
                connection = self._ready()
                try:
                    self._begin_or_leave(connection, write=write)
                except Exception:
                    # An idle connection may have been dropped: nothing has been written yet.
                    if not self._is_lost(connection):
                        raise
                    connection = self._ready()
                    self._begin_or_leave(connection, write=write)
                with self._ending(connection):
                    if write:
                        self._bring_up_to_date(connection)
                    yield connection
            finally:
                self._is_used = False

    def close(self) -> None:
        """Close what is open; it is reopened when used."""
        with self._turn:
            if self._open is not None and self._open[0] == os.getpid():
                self._open[1].close()
            self._open = None

    def before_fork(self) -> None:
        """Wait until no other thread uses it, lock them out, and close what is open."""
        self._turn.acquire()
        # This thread itself may be in a transaction, if a signal arrived.
        if not self._is_used:
            self.close()

    def after_fork(self, *, is_child: bool) -> None:
        """Allow its use again, in a child with a new lock."""
        if is_child:
            self._turn = RLock()
        else:
            self._turn.release()

    def _ready(self, *, make: bool = False) -> Any:
        """Return the connection of this process, with the tables of this version."""
        if self._open is not None and self._open[0] == os.getpid():
            if not self._is_lost(self._open[1]):
                return self._open[1]
            self._open[1].close()
            self._open = None
        connection = self._connect(make=make)
        try:
            self._migrate(connection, make=make)
        except BaseException:
            connection.close()
            raise
        self._open = os.getpid(), connection
        return connection

    def _is_lost(self, connection: Any) -> bool:
        return bool(getattr(connection, "closed", False))

    def _migrate(self, connection: Any, *, make: bool) -> None:
        newest = len(self.migrations)
        with self._transaction(connection, write=False) as seen:
            # An older version can be read by users who may not change it.
            if self._version(seen, make=make) == newest or not make:
                return
        with self._transaction(connection, write=True) as ours:
            # Another process may have done it meanwhile.
            version = self._version(ours, make=make)
            if version == 0:
                self._make_place(ours)
            self._run_migrations(ours, version)
            if version == 0:
                self._set(ours, "id", uuid4().hex)

    def _bring_up_to_date(self, ours: Any) -> None:
        version = self._schema(ours)
        if version == len(self.migrations):
            return
        try:
            with self._translated():
                self._run_migrations(ours, version)
        except OutputError as error:
            raise OutputError(
                f"{error.sentence} Its tables are from an older version of anonhist: the next charge or budget by "
                "their owner migrates them."
            ) from None

    def _run_migrations(self, ours: Any, version: int) -> None:
        for statements in self.migrations[version:]:
            for statement in statements:
                ours.execute(self._placed(statement))
        self._set(ours, "schema", str(len(self.migrations)))

    def _set(self, connection: Any, name: str, value: str) -> None:
        query = (
            "INSERT INTO anonhist_ledger (name, value) VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        )
        connection.execute(self._worded(query), (name, value))

    def _version(self, connection: Any, *, make: bool) -> int:
        if not self._has_tables(connection):
            if make:
                return 0
            raise DataError(
                f"There is no ledger in {self._shown!r}: create one with 'anonhist budget create' or Ledger.create."
            )
        return self._schema(connection)

    def _schema(self, connection: Any) -> int:
        found = connection.execute(self._placed("SELECT value FROM anonhist_ledger WHERE name = 'schema'")).fetchone()
        if found is None or not _NUMBER.fullmatch(str(found[0])):
            raise damaged(self._shown, "its schema version is missing")
        version = int(found[0])
        if version > len(self.migrations):
            raise DataError(
                f"The ledger {self._shown!r} was changed by a newer version of anonhist (its schema is {version}, and "
                f"this version reads up to {len(self.migrations)}): install that version."
            )
        return version

    @contextmanager
    def _transaction(self, connection: Any, *, write: bool) -> Iterator[Any]:
        self._begin_or_leave(connection, write=write)
        with self._ending(connection):
            yield connection

    def _begin_or_leave(self, connection: Any, *, write: bool) -> None:
        try:
            self._begin(connection, write=write)
        except BaseException:
            if not self._is_lost(connection):
                connection.rollback()
            raise

    @contextmanager
    def _ending(self, connection: Any) -> Iterator[None]:
        try:
            yield
        except BaseException:
            connection.rollback()
            raise
        self._end(connection)

    def _end(self, connection: Any) -> None:
        connection.commit()
