"""A ledger in a PostgreSQL database, by psycopg (the extra ``ledger``)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Never

from anonhist.accounting.sql import TABLES, SqlStorage
from anonhist.errors import DataError, MissingExtraError, OutputError, mask

if TYPE_CHECKING:
    from collections.abc import Iterator

# How long to wait for other processes: for a connection, and for their transactions.
_CONNECT_SECONDS, _PATIENCE = 20, "60s"
_LOCK = 6_215_907_433  # any number that nobody else in the database takes: who makes the tables holds it
_FUNCTION = """CREATE FUNCTION anonhist_never_changed() RETURNS trigger AS
    $$ BEGIN RAISE EXCEPTION 'entries are never changed'; END $$ LANGUAGE plpgsql"""
_TRIGGER = """CREATE TRIGGER anonhist_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON anonhist_entries
    FOR EACH STATEMENT EXECUTE FUNCTION anonhist_never_changed()"""


class PostgresqlStorage(SqlStorage):
    """A database that others may use, too: the names of its tables begin with ``anonhist_``.

    A transaction is on the server's disk before its block ends: ``synchronous_commit`` is on.

    Parameters
    ----------
    address
        ``postgresql://…``, as libpq has it. A password in it is never shown; better keep it in ``~/.pgpass``.

    Examples
    --------
    >>> PostgresqlStorage("postgresql://eve:secret@db.example.org/budgets").shown
    'postgresql://***@db.example.org/budgets'
    """

    mark = "%s"
    migrations = ((*TABLES, _FUNCTION, _TRIGGER),)

    def __init__(self, address: str) -> None:
        super().__init__(mask(address))
        self._address = address

    def _connect(self, *, make: bool) -> Any:
        try:
            import psycopg
        except ImportError:
            raise MissingExtraError(
                "A ledger in PostgreSQL needs psycopg; install it with: pip install 'anonhist[ledger]'."
            ) from None
        try:
            connection = psycopg.connect(self._address, connect_timeout=_CONNECT_SECONDS, autocommit=True)
            connection.execute("SET synchronous_commit TO on")
            connection.execute(f"SET lock_timeout TO '{_PATIENCE}'")
            # Else rows that an earlier transaction saw would be seen again after the lock was had.
            connection.execute("SET default_transaction_isolation TO 'read committed'")
        except psycopg.Error:
            raise DataError(
                f"The ledger {self.shown!r} cannot be reached: check address and password, and that it runs."
            ) from None
        return connection

    def _begin(self, connection: Any, *, write: bool) -> None:
        connection.execute("BEGIN" if write else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if write:
            connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")

    def _has_tables(self, connection: Any) -> bool:
        return connection.execute("SELECT to_regclass('anonhist_ledger')").fetchone()[0] is not None

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            state = getattr(error, "sqlstate", ...)
            if state is ...:
                raise
            self._refuse(state)

    def _refuse(self, state: str | None) -> Never:
        name = repr(self.shown)
        if state == "55P03":  # lock_not_available
            raise DataError(f"The ledger {name} is locked by another program: try again when that has ended.") from None
        if state in {"25006", "42501"}:  # read_only_sql_transaction, insufficient_privilege
            raise OutputError(f"The ledger {name} cannot be written to: ask for the right to write it.") from None
        if state == "53100":  # disk_full
            raise OutputError(f"The ledger {name} could not be written: make room on its disk.") from None
        if state is None or state[:2] in {"08", "57"}:  # the connection broke, or the server ends
            raise DataError(
                f"The connection to the ledger {name} broke: a charge may have been recorded or not; see 'anonhist "
                "budget show', and void it if it was."
            ) from None
        raise DataError(
            f"The ledger {name} refused with the SQL state {state}: it may be damaged, or changed by another program."
        ) from None
