"""What SQLite and PostgreSQL have in common: tables, migrations, queries, and one connection at a time."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from contextlib import contextmanager
from fractions import Fraction
from threading import RLock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from anonhist.accounting.budget import Cost
from anonhist.accounting.forking import tell_of_forks
from anonhist.accounting.storage import Row
from anonhist.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

# One tuple of statements leads from each version of the schema to the next, from none to 1 first.
TABLES = (
    "CREATE TABLE anonhist_ledger (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE anonhist_entries (
        number BIGINT PRIMARY KEY,
        dataset TEXT NOT NULL,
        about BIGINT UNIQUE,
        document TEXT NOT NULL,
        digest TEXT NOT NULL
    )""",
    # What entries add up to, kept so that a charge need not read them all; verification compares.
    """CREATE TABLE anonhist_accounts (
        dataset TEXT PRIMARY KEY,
        created BIGINT NOT NULL,
        spent_epsilon TEXT NOT NULL,
        spent_delta TEXT NOT NULL
    )""",
    "CREATE INDEX anonhist_entries_of ON anonhist_entries (dataset, number)",
)
_COLUMNS = "number, dataset, about, document, digest"


class SqlTransaction:
    """The queries, in the words of both databases."""

    def __init__(self, connection: Any, mark: str) -> None:
        self._connection, self._mark = connection, mark

    def _all(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        found: list[Any] = self._connection.execute(query.replace("?", self._mark), values).fetchall()
        return found

    def _do(self, query: str, values: Sequence[object]) -> None:
        self._connection.execute(query.replace("?", self._mark), values)

    def ledger_id(self) -> str:
        """Return the id of the ledger."""
        found: str = self._all("SELECT value FROM anonhist_ledger WHERE name = 'id'")[0][0]
        return found

    def last(self) -> tuple[int, str]:
        """Return number and digest of the last entry."""
        found = self._all("SELECT number, digest FROM anonhist_entries ORDER BY number DESC LIMIT 1")
        return found[0] if found else (0, "")

    def append(self, row: Row) -> None:
        """Add an entry."""
        self._do(f"INSERT INTO anonhist_entries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", row)  # noqa: S608  # no input

    def row(self, number: int) -> Row | None:
        """Return an entry, or None."""
        found = self._all(f"SELECT {_COLUMNS} FROM anonhist_entries WHERE number = ?", (number,))  # noqa: S608
        return Row(*found[0]) if found else None

    def about(self, number: int) -> Row | None:
        """Return the entry about a charge, or None."""
        found = self._all(f"SELECT {_COLUMNS} FROM anonhist_entries WHERE about = ?", (number,))  # noqa: S608
        return Row(*found[0]) if found else None

    def account(self, dataset: str) -> tuple[int, Cost] | None:
        """Return the number of the entry that made a budget, and what is spent of it."""
        query = "SELECT created, spent_epsilon, spent_delta FROM anonhist_accounts WHERE dataset = ?"
        found = self._all(query, (dataset,))
        if not found:
            return None
        created, epsilon, delta = found[0]
        return created, Cost(Fraction(epsilon), Fraction(delta))

    def set_account(self, dataset: str, created: int, spent: Cost) -> None:
        """Keep what is spent of a budget."""
        self._do(
            "INSERT INTO anonhist_accounts (dataset, created, spent_epsilon, spent_delta) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (dataset) DO UPDATE SET spent_epsilon = excluded.spent_epsilon, "
            "spent_delta = excluded.spent_delta",
            (dataset, created, str(spent.epsilon), str(spent.delta)),
        )

    def accounts(self) -> tuple[str, ...]:
        """Return the names of all data sets that have a budget."""
        return tuple(name for (name,) in self._all("SELECT dataset FROM anonhist_accounts ORDER BY created"))

    def rows(self, dataset: str | None) -> list[Row]:
        """Return the entries of a data set, or all, in order."""
        where, values = ("", ()) if dataset is None else (" WHERE dataset = ?", (dataset,))
        query = f"SELECT {_COLUMNS} FROM anonhist_entries{where} ORDER BY number"  # noqa: S608  # no input
        return [Row(*each) for each in self._all(query, values)]


class SqlStorage(ABC):
    """A database with one connection, which threads take in turns and a forked process does not share.

    It is closed before a fork, when the transaction of another thread has ended. Otherwise the child would have copies
    of locks that no thread of it holds; and SQLite keeps for each process which locks it has of a file, so that it
    would not take those of the child, whose charges would be lost when the parent closes the file.
    """

    mark: str
    migrations: tuple[tuple[str, ...], ...]

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._turn = RLock()
        self._open: tuple[int, Any] | None = None
        self._is_used = False
        tell_of_forks(self)

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
        """Tell whether the tables are there."""

    @abstractmethod
    def _translated(self) -> AbstractContextManager[None]:
        """Turn errors of the database into sentences."""

    def make(self) -> None:
        """Make the tables, if they are not there."""
        with self._turn, self._translated():
            self._ready(make=True)

    @contextmanager
    def writing(self) -> Iterator[SqlTransaction]:
        """Return a transaction that is on the disk when its block ends, and left out if it raises."""
        with self._turn, self._translated(), self._transaction(self._ready(), write=True) as connection:
            yield SqlTransaction(connection, self.mark)

    @contextmanager
    def reading(self) -> Iterator[SqlTransaction]:
        """Return a transaction that sees one state and changes nothing."""
        with self._turn, self._translated(), self._transaction(self._ready(), write=False) as connection:
            yield SqlTransaction(connection, self.mark)

    def close(self) -> None:
        """Close what is open; it is opened again when used."""
        with self._turn:
            if self._open is not None and self._open[0] == os.getpid():
                self._open[1].close()
            self._open = None

    def before_fork(self) -> None:
        """Wait until no other thread uses it, keep them from it, and close what is open."""
        self._turn.acquire()
        # This thread itself may be in a transaction, if a signal came.
        if not self._is_used:
            self.close()

    def after_fork(self, *, is_child: bool) -> None:
        """Let it be used again, in a child with a new lock."""
        if is_child:
            self._turn = RLock()
        else:
            self._turn.release()

    def _ready(self, *, make: bool = False) -> Any:
        """Return the connection of this process, with the tables of this version."""
        if self._open is not None and self._open[0] == os.getpid() and not self._is_lost(self._open[1]):
            return self._open[1]
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
            if self._version(seen, make=make) == newest:
                return
        with self._transaction(connection, write=True) as ours:
            # Another process may have done it meanwhile.
            version = self._version(ours, make=make)
            for statements in self.migrations[version:]:
                for statement in statements:
                    ours.execute(statement)
            if version == 0:
                self._set(ours, "id", uuid4().hex)
            self._set(ours, "schema", str(newest))

    def _set(self, connection: Any, name: str, value: str) -> None:
        query = (
            "INSERT INTO anonhist_ledger (name, value) VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        )
        connection.execute(query.replace("?", self.mark), (name, value))

    def _version(self, connection: Any, *, make: bool) -> int:
        if not self._has_tables(connection):
            if make:
                return 0
            raise DataError(
                f"There is no ledger in {self._shown!r}: make one with 'anonhist budget create', or Ledger.create."
            )
        found = connection.execute("SELECT value FROM anonhist_ledger WHERE name = 'schema'").fetchone()
        version = int(found[0])
        if version > len(self.migrations):
            raise DataError(
                f"The ledger {self._shown!r} was changed by a newer version of anonhist (its schema is {version}, and "
                f"this one knows {len(self.migrations)}): install that version."
            )
        return version

    @contextmanager
    def _transaction(self, connection: Any, *, write: bool) -> Iterator[Any]:
        self._is_used = True
        try:
            self._begin(connection, write=write)
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()
        finally:
            self._is_used = False
