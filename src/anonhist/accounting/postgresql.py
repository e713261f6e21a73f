"""A ledger in a PostgreSQL database, by psycopg (the extra ``ledger``)."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Never

from anonhist.accounting.schema import check_sole, ledgers, make_schema, placed
from anonhist.accounting.sql import TABLES, WITHOUT_SUMS, SqlStorage
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
# What is made in the schema of the ledger, and named with it wherever it is used.
_TABLE, _MADE = re.compile(r"CREATE TABLE (\w+)"), re.compile(r"CREATE (?:OR REPLACE )?(?:TABLE|FUNCTION) (\w+)")


class PostgresqlStorage(SqlStorage):
    """A schema of a database that others may use, too: no other schema of it may have a ledger.

    Every name is written with its schema, and nothing else is looked for but what PostgreSQL brings: settings of a
    person, a database or an address lead nowhere else. They are made anew for each transaction, since a pool may hand
    each to another session. A transaction is on the server's disk before its block ends: ``synchronous_commit`` is on.

    Parameters
    ----------
    address
        ``postgresql://…``, as libpq has it, but for its parameter ``schema``, by default ``anonhist``. A password in it
        is never shown; better keep it in ``~/.pgpass``.

    Examples
    --------
    >>> PostgresqlStorage("postgresql://eve:secret@db.example.org/budgets").shown
    'postgresql://***@db.example.org/budgets?schema=anonhist'
    """

    mark = "%s"
    migrations = ((*TABLES, _FUNCTION, _TRIGGER), WITHOUT_SUMS)

    def __init__(self, address: str) -> None:
        self._address, self.schema = placed(address)
        shown = mask(self._address)
        super().__init__(f"{shown}{'&' if '?' in shown else '?'}schema={self.schema}")
        made = "|".join(name for each in self._statements() for name in _MADE.findall(each))
        self._made = re.compile(rf"\b(?:{made})\b")

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables."""
        return tuple(name for each in self._statements() for name in _TABLE.findall(each))

    def _statements(self) -> Iterator[str]:
        return (each for statements in self.migrations for each in statements)

    @contextmanager
    def alone(self) -> Iterator[Any]:
        """Return a connection in a transaction that writes, wherever there are ledgers; nobody charges meanwhile."""
        with self._turn, self._translated():
            connection = self._connect(make=False)
            try:
                with self._transaction(connection, write=True):
                    yield connection
            finally:
                connection.close()

    def _connect(self, *, make: bool) -> Any:
        try:
            import psycopg
        except ImportError:
            raise MissingExtraError(
                "A ledger in PostgreSQL needs psycopg; install it with: pip install 'anonhist[ledger]'."
            ) from None
        try:
            # No statements are prepared: a pool may hand the next transaction to a session that does not have them.
            # Databases without an encoding would hand over bytes.
            return psycopg.connect(
                self._address,
                connect_timeout=_CONNECT_SECONDS,
                autocommit=True,
                prepare_threshold=None,
                client_encoding="utf8",
            )
        except psycopg.Error as error:
            self._refuse_connection(error)

    def _refuse_connection(self, error: Exception) -> Never:
        """Say why there is no connection, which libpq tells in words alone: ask the server whether it answers at all.

        For that it takes neither user nor password.
        """
        import psycopg

        answers = psycopg.pq.Ping
        if isinstance(error, psycopg.errors.ConnectionTimeout):
            answer = answers.NO_RESPONSE
        else:
            try:
                asked = psycopg.conninfo.make_conninfo(self._address, connect_timeout=_CONNECT_SECONDS)
                answer = answers(psycopg.pq.PGconn.ping(asked.encode()))
            except psycopg.Error:
                answer = answers.NO_ATTEMPT
        why = {
            answers.OK: "refuses this login: check user, password and database, or try again if it may be full",
            answers.REJECT: "takes nobody at the moment, as it starts or ends: try again",
            answers.NO_RESPONSE: "cannot be reached: check host, port and sslmode, and that it runs",
            answers.NO_ATTEMPT: "has an address that PostgreSQL does not take: check its parameters",
        }[answer]
        raise DataError(f"The server of the ledger {self.shown!r} {why}.") from None

    def _begin(self, connection: Any, *, write: bool) -> None:
        settings = {"search_path": "pg_catalog, pg_temp", "synchronous_commit": "on", "lock_timeout": f"'{_PATIENCE}'"}
        # Else, if it writes, rows that an earlier transaction saw would be seen again after the lock was had.
        level = "READ COMMITTED" if write else "REPEATABLE READ READ ONLY"
        lock = (f"SELECT pg_catalog.pg_advisory_xact_lock({_LOCK})",) if write else ()
        set_them = (f"SET LOCAL {name} TO {value}" for name, value in settings.items())
        connection.execute("; ".join((f"BEGIN ISOLATION LEVEL {level}", *set_them, *lock)))

    def _has_tables(self, connection: Any) -> bool:
        found = ledgers(connection)
        check_sole(found, self.schema, self.shown)
        return "anonhist_ledger" in found.get(self.schema, ())

    def _make_place(self, connection: Any) -> None:
        make_schema(connection, self.schema, self.shown)

    def _placed(self, query: str) -> str:
        return self._made.sub(rf"{self.schema}.\g<0>", query)

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
        if state == "42501":  # insufficient_privilege
            raise OutputError(
                f"This login has too few rights to the ledger {name}: have its owner grant those to its schema and its "
                "tables that this takes."
            ) from None
        if state == "25006":  # read_only_sql_transaction
            raise OutputError(
                f"The ledger {name} cannot be written to: its server, or this login, only reads."
            ) from None
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
