"""What a collector keeps in a schema of a PostgreSQL database, which several processes may write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from anonhist.collect.storage import Identifier, Storage, StorageDownError, StorageFullError, Transaction
from anonhist.errors import AnonhistError, DataError, MissingExtraError, mask

_SCHEMA = "anonhist_collect"
# Any number that nobody else in the database uses: whoever writes holds it.
_LOCK = 6_215_907_434
_SECONDS, _PATIENCE = 20, "60s"


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
            import psycopg
        except ImportError:
            raise MissingExtraError(
                "PostgreSQL needs psycopg; install it with: pip install 'anonhist[ledger]'."
            ) from None
        # No statements are prepared, because a pool may hand the next transaction to a session without them.
        return psycopg.connect(
            self._address,
            connect_timeout=_SECONDS,
            autocommit=True,
            prepare_threshold=None,
            client_encoding="utf8",
        )

    def begin(self, connection: Any, *, write: bool) -> None:
        """Begin a transaction; settings are made for each, because a pool may hand it to another session."""
        level = "READ COMMITTED" if write else "REPEATABLE READ READ ONLY"
        settings = (
            f"SET LOCAL search_path TO {_SCHEMA}",
            "SET LOCAL synchronous_commit TO on",
            f"SET LOCAL lock_timeout TO '{_PATIENCE}'",
        )
        lock = (f"SELECT pg_catalog.pg_advisory_xact_lock({_LOCK})",) if write else ()
        connection.execute("; ".join((f"BEGIN ISOLATION LEVEL {level}", *settings, *lock)))

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
        except AnonhistError:
            raise
        except Exception as error:
            state = getattr(error, "sqlstate", ...)
            if state is ...:
                raise
            if state == "53100":  # disk_full
                raise StorageFullError(f"There is no room for {self.shown!r}: make room on its disk.") from None
            if state in {"42501", "3F000", "42P01"}:  # insufficient_privilege, or the tables are not there
                raise DataError(
                    f"This login cannot use the schema {_SCHEMA!r} of {self.shown!r}: ask its owner to make it or to "
                    "grant the rights."
                ) from None
            reason = f" (SQL state {state})" if state else ""
            raise StorageDownError(f"{self.shown!r} cannot be used{reason}: check that its server runs.") from None
