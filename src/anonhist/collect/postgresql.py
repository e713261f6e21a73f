"""What a collector keeps in a schema of a PostgreSQL database, which several processes may write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from anonhist.collect.storage import Identifier, Storage, StorageDownError, StorageFullError, Transaction
from anonhist.errors import DataError, mask
from anonhist.storage import postgresql
from anonhist.storage.failure import Failure

_SCHEMA = "anonhist_collect"
# Any number that nobody else in the database uses: whoever writes holds it.
_LOCK = 6_215_907_434
_PATIENCE = "60s"


class PostgresqlStorage(Storage):
    """A schema of its own. A transaction is on the server's disk before its block ends, whatever its settings say."""

    bytes_type, keyed, mark = "BYTEA", "", "%s"

    def __init__(self, address: str) -> None:
        self._address = address

    @property
    def shown(self) -> str:
        """Its address without user, password and parameters."""
        return mask(self._address)

    def connect(self, *, make: bool) -> Any:
        """Open a connection."""
        try:
            return postgresql.connect(self._address, "PostgreSQL")
        except Exception as error:
            if postgresql.failure_of(error) is None:
                raise
            why = postgresql.why_not_connected(self._address, error)
            raise StorageDownError(f"The server of {self.shown!r} {why}.") from None

    def begin(self, connection: Any, *, write: bool) -> None:
        """Begin a transaction; one that writes waits until no other does."""
        postgresql.begin(connection, write=write, lock=_LOCK, search_path=_SCHEMA, patience=_PATIENCE)

    def roll_back(self, connection: Any) -> None:
        """Undo a transaction, unless the connection is gone."""
        import psycopg

        with suppress(psycopg.Error):
            connection.rollback()

    def tables_of(self, ours: Transaction) -> set[str]:
        """Return the names of the tables of the schema."""
        query = "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = ?"
        return {name for (name,) in ours.run(query, _SCHEMA).fetchall()}

    def make_place(self, ours: Transaction) -> None:
        """Create the schema, for its owner alone."""
        ours.run(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")

    def add_identifiers(self, ours: Transaction, number: int, given: Sequence[Identifier]) -> set[Identifier]:
        """Store identifiers, each given once, and return those that are new."""
        query = (
            "INSERT INTO anonhist_ids SELECT ?::int, d, i FROM unnest(?::int[], ?::bytea[]) AS given(d, i) "
            "ON CONFLICT DO NOTHING RETURNING day, id"
        )
        days, randoms = ([each[place] for each in given] for place in (0, 1))
        return {Identifier(day, bytes(found)) for day, found in ours.run(query, number, days, randoms).fetchall()}

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn errors of PostgreSQL into sentences."""
        try:
            yield
        except Exception as error:
            failure = postgresql.failure_of(error)
            if failure is None:
                raise
            if failure is Failure.NO_ROOM:
                raise StorageFullError(f"There is no room for {self.shown!r}: make room on its disk.") from None
            if failure in {Failure.NOT_ALLOWED, Failure.NOT_THERE}:
                raise DataError(
                    f"This login cannot use the schema {_SCHEMA!r} of {self.shown!r}: ask its owner to make it or to "
                    "grant the rights."
                ) from None
            state = getattr(error, "sqlstate", None)
            reason = f" (SQL state {state})" if state else ""
            raise StorageDownError(f"{self.shown!r} cannot be used{reason}: check that its server runs.") from None
