"""What a collector keeps, in SQLite or PostgreSQL: which requests were counted, and the running tally; no report.

The tally is stored in parts that add up to it. A new part is merged with the last ones as long as those are not much
larger, so that a report is rewritten a logarithmic number of times even where each one is counted in a cell of its own.
The parts are in two tiers: those that add up to what the last look showed, and those since.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, OutputError
from anonhist.local.collection import Collection
from anonhist.local.collection_files import collection_text
from anonhist.local.reports import Tally
from anonhist.numeric.arrays import sum_equal

_VERSION = 1
# ``{bytes}`` is the type of bytes, and ``{keyed}`` makes a table that is stored in the order of its key.
_TABLES = (
    "CREATE TABLE anonhist_collector (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE anonhist_collections (
        number INTEGER PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        survey TEXT NOT NULL,
        description TEXT NOT NULL,
        counted BIGINT NOT NULL,
        shown BIGINT NOT NULL,
        waiting BIGINT NOT NULL,
        closed INTEGER NOT NULL
    )""",
    """CREATE TABLE anonhist_ids (
        collection INTEGER NOT NULL,
        day INTEGER NOT NULL,
        id {bytes} NOT NULL,
        PRIMARY KEY (collection, day, id)
    ){keyed}""",
    # Of an invitation, only its SHA-256: who reads the database cannot use those that are left.
    """CREATE TABLE anonhist_invitations (
        collection INTEGER NOT NULL,
        hash {bytes} NOT NULL,
        PRIMARY KEY (collection, hash)
    ){keyed}""",
    """CREATE TABLE anonhist_parts (
        collection INTEGER NOT NULL,
        place BIGINT NOT NULL,
        tier INTEGER NOT NULL,
        cells {bytes} NOT NULL,
        counts {bytes} NOT NULL,
        PRIMARY KEY (collection, place)
    )""",
    # A random key is the order, so nothing in the table tells when a report came.
    """CREATE TABLE anonhist_reports (
        collection INTEGER NOT NULL,
        waiting INTEGER NOT NULL,
        key {bytes} NOT NULL,
        report TEXT NOT NULL,
        PRIMARY KEY (collection, waiting, key)
    ){keyed}""",
)
# Merged parts have at most so many cells, unless the survey has few; at 16 bytes a cell, a megabyte.
_MOST_CELLS = 1 << 16
_AT_ONCE = 1_000
_NO_PLACE = (1 << 63) - 1


class StorageFullError(OutputError):
    """There is no room: nothing of the transaction was stored."""


class StorageDownError(OutputError):
    """The database cannot be used now: whether the last transaction was stored is unknown, and retries find out."""


class Tier(IntEnum):
    """Which sum a part belongs to."""

    SHOWN = 0
    SINCE = 1


class Head(NamedTuple):
    """How far a collection is.

    Attributes
    ----------
    counted
        How many reports are in the tally.
    shown
        How many of them the last look showed.
    waiting
        How many reports wait for their batch to be whole; when the collection is closed, how many were dropped.
    closed
        Whether it has ended.
    """

    counted: int
    shown: int
    waiting: int
    closed: bool


class Identifier(NamedTuple):
    """What recognizes a request: the day, counted from 1970-01-01, and 14 random bytes."""

    day: int
    random: bytes


class Transaction:
    """Reads and writes that are stored together or not at all."""

    def __init__(self, connection: Any, storage: Storage) -> None:
        self._connection, self._storage = connection, storage

    def run(self, query: str, *values: object) -> Any:
        """Run one statement; ``?`` stands for each value."""
        return self._connection.execute(self._storage.worded(query), values)

    def _all(self, query: str, *values: object) -> list[Any]:
        found: list[Any] = self.run(query, *values).fetchall()
        return found

    # Collections

    def number_of(self, collection: Collection) -> int:
        """Return the number of a collection here, registered if it is new."""
        query = "SELECT number FROM anonhist_collections WHERE digest = ?"
        if found := self._all(query, collection.digest):
            return int(found[0][0])
        ((last,),) = self._all("SELECT coalesce(max(number), 0) FROM anonhist_collections")
        self.run(
            "INSERT INTO anonhist_collections VALUES (?, ?, ?, ?, 0, 0, 0, 0)",
            last + 1,
            collection.digest,
            collection.survey.digest,
            collection_text(collection),
        )
        return int(last) + 1

    def of_survey(self, digest: str) -> dict[str, int]:
        """Return the collections that asked a survey: their numbers by their digests."""
        query = "SELECT digest, number FROM anonhist_collections WHERE survey = ? ORDER BY number"
        return {found: int(number) for found, number in self._all(query, digest)}

    def head(self, number: int) -> Head:
        """Return how far a collection is."""
        query = "SELECT counted, shown, waiting, closed FROM anonhist_collections WHERE number = ?"
        ((counted, shown, waiting, closed),) = self._all(query, number)
        return Head(int(counted), int(shown), int(waiting), bool(closed))

    def set_head(self, number: int, head: Head) -> None:
        """Store how far a collection is."""
        query = "UPDATE anonhist_collections SET counted = ?, shown = ?, waiting = ?, closed = ? WHERE number = ?"
        self.run(query, head.counted, head.shown, head.waiting, int(head.closed), number)

    # Requests

    def write_something(self) -> None:
        """Make a transaction that changes nothing else wait for the disk: SQLite skips rows that stay as they are."""
        self.run("UPDATE anonhist_collector SET value = CASE value WHEN '0' THEN '1' ELSE '0' END WHERE name = 'turn'")

    def add_identifiers(self, number: int, given: Sequence[Identifier]) -> set[Identifier]:
        """Store identifiers, each given once, and return those that are new."""
        return self._storage.add_identifiers(self, number, given)

    def forget(self, number: int, before: int) -> bool:
        """Delete some identifiers of days before one, and return whether more may be left."""
        query = (
            "DELETE FROM anonhist_ids WHERE collection = ? AND (day, id) IN "
            "(SELECT day, id FROM anonhist_ids WHERE collection = ? AND day < ? LIMIT ?)"
        )
        return int(self.run(query, number, number, before, _AT_ONCE).rowcount) == _AT_ONCE

    # The tally

    def add(self, number: int, tally: Tally, tier: Tier, *, cells: int) -> None:
        """Add a tally to a tier, merged with the last parts; ``cells`` is how many the survey has."""
        if tally.cells.size:
            self._put(number, tier, tally.cells, tally.counts, cells)

    def show_all(self, number: int, *, cells: int) -> None:
        """Make everything since the last look part of what is shown."""
        query = "UPDATE anonhist_parts SET tier = ? WHERE collection = ? AND tier = ?"
        self.run(query, int(Tier.SHOWN), number, int(Tier.SINCE))
        if (last := self._before(number, None)) is not None:
            self.run("DELETE FROM anonhist_parts WHERE collection = ? AND place = ?", number, last.place)
            self._put(number, Tier.SHOWN, last.cells, last.counts, cells)

    def tally(self, number: int, survey: str, *, shown: bool) -> Tally:
        """Return the tally that the last look showed, or that of everything counted."""
        head = self.head(number)
        query = "SELECT cells, counts FROM anonhist_parts WHERE collection = ? AND tier <= ? ORDER BY place"
        parts = [(_numbers(cells), _numbers(counts)) for cells, counts in self._all(query, number, int(not shown))]
        if not parts:
            return Tally(survey, 0, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        cells, counts = sum_equal(*(np.concatenate(each) for each in zip(*parts, strict=True)))
        return Tally(survey, head.shown if shown else head.counted, cells, counts)

    def _before(self, number: int, place: int | None) -> _Part | None:
        """Return the last part, or the last one before a place."""
        query = (
            "SELECT place, tier, cells, counts FROM anonhist_parts WHERE collection = ? AND place < ? "
            "ORDER BY place DESC LIMIT 1"
        )
        found = self._all(query, number, _NO_PLACE if place is None else place)
        return _Part(int(found[0][0]), int(found[0][1]), *map(_numbers, found[0][2:])) if found else None

    def _put(
        self, number: int, tier: Tier, cells: NDArray[np.int64], counts: NDArray[np.int64], of_survey: int
    ) -> None:
        """Store a part, merged with the last ones of its tier until each is more than twice as large as the next."""
        last = self._before(number, None)
        place, merged = (0 if last is None else last.place) + 1, 0
        while last is not None and last.tier == tier and last.cells.size <= 2 * cells.size:
            together = last.cells.size + cells.size
            if together > _MOST_CELLS and 2 * together < of_survey:
                break
            cells, counts = sum_equal(np.concatenate((last.cells, cells)), np.concatenate((last.counts, counts)))
            place, merged = last.place, merged + 1
            last = self._before(number, place)
        contents = cells.astype("<i8").tobytes(), counts.astype("<i8").tobytes()
        if merged > 1:
            self.run("DELETE FROM anonhist_parts WHERE collection = ? AND place > ?", number, place)
        if merged:
            query = "UPDATE anonhist_parts SET cells = ?, counts = ? WHERE collection = ? AND place = ?"
            self.run(query, *contents, number, place)
        else:
            self.run("INSERT INTO anonhist_parts VALUES (?, ?, ?, ?, ?)", number, place, int(tier), *contents)


class _Part(NamedTuple):
    place: int
    tier: int
    cells: NDArray[np.int64]
    counts: NDArray[np.int64]


def _numbers(content: bytes) -> NDArray[np.int64]:
    return np.frombuffer(content, dtype="<i8").astype(np.int64)


class Session:
    """A connection to a database, for one thread at a time."""

    def __init__(self, storage: Storage, connection: Any) -> None:
        self._storage, self._connection = storage, connection

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Return a transaction that is on the disk when its block ends, and rolled back if it raises."""
        with self._in_transaction(write=True) as ours:
            yield ours

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Return a transaction that sees one state."""
        with self._in_transaction(write=False) as ours:
            yield ours

    @contextmanager
    def _in_transaction(self, *, write: bool) -> Iterator[Transaction]:
        with self._storage.translated():
            self._storage.begin(self._connection, write=write)
            try:
                yield Transaction(self._connection, self._storage)
            except BaseException:
                self._storage.roll_back(self._connection)
                raise
            try:
                self._connection.execute("COMMIT")
            except BaseException:
                self._storage.roll_back(self._connection)
                raise

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


class Storage(ABC):
    """A database at an address; sessions are opened by whoever uses it."""

    bytes_type: str
    keyed: str
    mark: str

    @property
    @abstractmethod
    def shown(self) -> str:
        """Its address without secrets."""

    @abstractmethod
    def connect(self, *, make: bool) -> Any:
        """Open a connection, and the database if asked to."""

    @abstractmethod
    def begin(self, connection: Any, *, write: bool) -> None:
        """Begin a transaction; one that writes waits until no other does."""

    @abstractmethod
    def translated(self) -> AbstractContextManager[None]:
        """Turn database errors into sentences."""

    @abstractmethod
    def tables_of(self, ours: Transaction) -> set[str]:
        """Return the names of the tables at the address."""

    @abstractmethod
    def add_identifiers(self, ours: Transaction, number: int, given: Sequence[Identifier]) -> set[Identifier]:
        """Store identifiers, each given once, and return those that are new."""

    def roll_back(self, connection: Any) -> None:
        """Undo a transaction, as far as the connection still can."""
        connection.rollback()

    def worded(self, query: str) -> str:
        """Return a query in the dialect of the database."""
        return query.replace("?", self.mark)

    def make_place(self, ours: Transaction) -> None:  # noqa: B027  # a file needs nothing
        """Create what holds the tables, if anything does."""

    def make(self) -> None:
        """Create the tables if they do not exist, or refuse tables of others and of newer versions."""
        session = self.session(make=True)
        try:
            with session.writing() as ours:
                if not self._check(ours):
                    self.make_place(ours)
                    for table in _TABLES:
                        ours.run(table.format(bytes=self.bytes_type, keyed=self.keyed))
                    ours.run("INSERT INTO anonhist_collector VALUES ('schema', ?), ('turn', '0')", str(_VERSION))
        finally:
            session.close()

    def _check(self, ours: Transaction) -> bool:
        """Return whether the tables are there, or refuse others."""
        found = self.tables_of(ours)
        if "anonhist_collector" not in found:
            if found:
                raise OutputError(
                    f"{self.shown!r} is a database of another program: give the collector one of its own."
                )
            return False
        version = ours.run("SELECT value FROM anonhist_collector WHERE name = 'schema'").fetchone()
        if version is None or version[0] != str(_VERSION):
            raise DataError(
                f"The tables of {self.shown!r} are not those of this version of anonhist: use the version that made "
                "them."
            )
        return True

    def session(self, *, make: bool = False) -> Session:
        """Return a new connection."""
        with self.translated():
            return Session(self, self.connect(make=make))

    @contextmanager
    def seen(self) -> Iterator[Transaction]:
        """Return one state of a database that exists, and close it."""
        session = self.session()
        try:
            with session.reading() as ours:
                if not self._check(ours):
                    raise DataError(f"Nothing was collected in {self.shown!r}.")
                yield ours
        finally:
            session.close()
