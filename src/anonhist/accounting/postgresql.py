"""A ledger in a PostgreSQL database, accessed with psycopg (the extra ``ledger``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Never
from urllib.parse import unquote

from anonhist.accounting.sql import TABLES, WITHOUT_SUMS, SqlStorage
from anonhist.errors import DataError, OutputError, UsageError, mask
from anonhist.storage.failure import Failure
from anonhist.storage.postgresql import begin, connect, failure_of, why_not_connected

_DEFAULT, _OF_OLD_VERSIONS = "anonhist", "public"
# These names need no quoting or case folding, so that there is one way to write each.
_NAME = re.compile("(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,62}")
# Parameters that would lead to another database than the one shown.
_ELSEWHERE = frozenset({"dbname", "service"})
# Everybody can see these two tables, whatever their rights to the schemas.
_FOUND = """SELECT n.nspname, c.relname, c.relkind FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname IN ('anonhist_ledger', 'anonhist_entries') AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    ORDER BY n.nspname"""
_EXISTS = "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = %s"
_MAY_CREATE = "SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')"


class Placed(NamedTuple):
    """The place of a ledger: its address in libpq's form, and its schema, which needs no quotes."""

    address: str
    schema: str


def placed(address: str) -> Placed:
    """Split off an address's schema, which libpq does not know; refuse one given twice or in need of quotes.

    The parameters begin at the first ``?`` after user and password, which end at the first ``@`` before a ``/``, as for
    libpq. The address must name the database itself.
    """
    scheme, _, rest = address.partition("://")
    user, at, _ = rest.partition("@")
    start = len(user) + 1 if at and "/" not in user else 0
    place, _, parameters = rest[start:].partition("?")
    if not place.partition("/")[2]:
        # Otherwise libpq would take a database named like the user, or one from the environment.
        raise UsageError("The address of a ledger must name the database: postgresql://host/database.")
    schemas, others = [_DEFAULT], []
    for each in filter(None, parameters.split("&")):
        name, _, value = each.partition("=")
        if unquote(name) in _ELSEWHERE:
            raise UsageError(
                f"The address of a ledger must name its database before the question mark, not by {unquote(name)!r}: "
                "postgresql://host/database."
            )
        if unquote(name) == "schema":
            schemas.append(unquote(value))
        else:
            others.append(each)
    if len(schemas) > 2 or not all(map(_NAME.fullmatch, schemas)):
        raise UsageError(
            "The address of a ledger can name one schema, in lower-case letters, digits and underscores: end it in "
            "?schema=budgets, for example."
        )
    return Placed(f"{scheme}://{rest[:start]}{place}{'?' if others else ''}{'&'.join(others)}", schemas[-1])


def ledgers(connection: Any) -> dict[str, frozenset[str]]:
    """Return all schemas of a database that have a ledger's tables, including temporary schemas, with these tables."""
    found: dict[str, set[str]] = {}
    for schema, table, kind in connection.execute(_FOUND).fetchall():
        found.setdefault(schema, set()).add(table if kind == "r" else f"{table}, which is not a table")
    return {schema: frozenset(tables) for schema, tables in found.items()}


def check_sole(found: Mapping[str, frozenset[str]], schema: str, shown: str) -> None:
    """Refuse a database that has a ledger elsewhere: a budget could be spent once in each."""
    others = [name for name in found if name != schema]
    if not others:
        return
    listed = " and ".join(map(repr, others))
    if all(map(is_temporary, others)):
        raise DataError(
            f"A session has temporary tables ({listed}) in the database of the ledger {shown!r} with names of tables "
            "of a ledger: end that session."
        )
    if schema in found or len(others) > 1:
        raise DataError(
            f"The database of the ledger {shown!r} has a ledger in {listed}{', too' if schema in found else ''}, and a "
            "budget could be spent once in each: keep one, and move the others to other databases first."
        )
    also = f", or name that schema in the address (?schema={others[0]})" if is_named_on_purpose(others[0]) else ""
    raise DataError(
        f"The ledger of this database is in the schema {others[0]!r}, not at {shown!r}: move it there with "
        f"'anonhist budget move'{also}."
    )


def is_temporary(schema: str) -> bool:
    """Return whether a schema disappears at the end of a session."""
    return schema.startswith("pg_temp_")


def is_named_on_purpose(schema: str) -> bool:
    """Return whether an address can name a schema, and it is not where old versions created their tables."""
    return bool(_NAME.fullmatch(schema)) and schema != _OF_OLD_VERSIONS


def make_schema(connection: Any, schema: str, shown: str) -> None:
    """Create a schema if it does not exist, for its owner alone."""
    if connection.execute(_EXISTS, (schema,)).fetchone()[0]:
        return
    if not connection.execute(_MAY_CREATE).fetchone()[0]:
        raise OutputError(
            f"This login may not make the schema of the ledger {shown!r}: have the owner of the database run CREATE "
            f"SCHEMA {schema} AUTHORIZATION with the name of this login."
        )
    connection.execute(f"CREATE SCHEMA {schema}")


# How long to wait for the transactions of other processes.
_PATIENCE = "60s"
_LOCK = 6_215_907_433  # any number that nobody else in the database uses: whoever creates the tables holds it
_FUNCTION = """CREATE FUNCTION anonhist_never_changed() RETURNS trigger AS
    $$ BEGIN RAISE EXCEPTION 'entries are never changed'; END $$ LANGUAGE plpgsql"""
_TRIGGER = """CREATE TRIGGER anonhist_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON anonhist_entries
    FOR EACH STATEMENT EXECUTE FUNCTION anonhist_never_changed()"""
# Objects that are created in the ledger's schema, and named with it wherever they are used.
_TABLE, _MADE = re.compile(r"CREATE TABLE (\w+)"), re.compile(r"CREATE (?:OR REPLACE )?(?:TABLE|FUNCTION) (\w+)")


class PostgresqlStorage(SqlStorage):
    """A schema of a database that others may use, too; no other schema of it may hold a ledger.

    Every name is written with its schema, and otherwise only PostgreSQL's own names are looked up, so settings of a
    user, a database or an address cannot lead elsewhere. The settings are made again for each transaction, because a
    pool may hand each one to another session. A transaction is on the server's disk before its block ends:
    ``synchronous_commit`` is on. A password in the address is never shown.
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
        """Return a connection in a writing transaction; it locks all ledgers of the database against other charges."""
        with self._turn, self._translated():
            connection = self._connect(make=False)
            try:
                with self._transaction(connection, write=True):
                    yield connection
            finally:
                connection.close()

    def _connect(self, *, make: bool) -> Any:
        try:
            return connect(self._address, "A ledger in PostgreSQL")
        except Exception as error:
            if failure_of(error) is None:
                raise
            why = why_not_connected(self._address, error)
            raise DataError(f"The server of the ledger {self.shown!r} {why}.") from None

    def _begin(self, connection: Any, *, write: bool) -> None:
        begin(connection, write=write, lock=_LOCK, search_path="pg_catalog, pg_temp", patience=_PATIENCE)

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
            if (failure := failure_of(error)) is None:
                raise
            self._refuse(failure, getattr(error, "sqlstate", None))

    def _refuse(self, failure: Failure, state: str | None) -> Never:
        name = repr(self.shown)
        if failure is Failure.LOCKED:
            raise DataError(f"The ledger {name} is locked by another program: try again when that has ended.") from None
        if failure is Failure.NOT_ALLOWED:
            raise OutputError(
                f"This login has too few rights to the ledger {name}: ask its owner to grant the missing rights to its "
                "schema and tables."
            ) from None
        if failure is Failure.READ_ONLY:
            raise OutputError(
                f"The ledger {name} cannot be written to: its server, or this login, is read-only."
            ) from None
        if failure is Failure.NO_ROOM:
            raise OutputError(f"The ledger {name} could not be written: make room on its disk.") from None
        if failure is Failure.DISCONNECTED:
            raise DataError(
                f"The connection to the ledger {name} broke, and a charge may have been recorded: see 'anonhist budget "
                "show', and void it if it was."
            ) from None
        raise DataError(
            f"The ledger {name} refused with the SQL state {state}: it may be damaged, or was changed by another "
            "program."
        ) from None


_TABLES = """SELECT pg_catalog.format('%%I.%%I', n.nspname, c.relname), pg_catalog.pg_get_userbyid(c.relowner)
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = %s AND c.relname = ANY(%s) AND c.relkind = 'r' ORDER BY c.relname"""
# The functions that the triggers of its tables run.
_FUNCTIONS = """SELECT DISTINCT pg_catalog.format('%%I.%%I()', n.nspname, p.proname)
    FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid JOIN pg_catalog.pg_namespace o ON o.oid = c.relnamespace
    WHERE NOT t.tgisinternal AND n.nspname = o.nspname AND n.nspname = %s AND c.relname = ANY(%s)"""


class Moved(NamedTuple):
    """The result of a move: the source and target schemas, and the role that owns the tables if they were moved.

    ``source`` is None if the ledger was already in place.
    """

    source: str | None
    schema: str
    owner: str = ""


def move(storage: SqlStorage) -> Moved:
    """Move the only ledger of a database to the schema of its address, entirely or not at all.

    Nobody can charge meanwhile. Rights to the tables stay; rights to the schema are granted again.
    """
    if not isinstance(storage, PostgresqlStorage):
        raise UsageError(f"{storage.shown!r} is not a PostgreSQL database: move a ledger in a file as you move files.")
    with storage.alone() as connection:
        found = ledgers(connection)
        others = [name for name in found if name != storage.schema]
        if len(others) != 1 or storage.schema in found or is_temporary(others[0]):
            check_sole(found, storage.schema, storage.shown)
        if not found:
            raise DataError(f"There is no ledger in the database of {storage.shown!r}.")
        if not others:
            return Moved(None, storage.schema)
        source = others[0]
        tables = _tables(connection, source, storage.tables)
        if "anonhist_ledger" not in found[source] or "anonhist_entries" not in found[source]:
            raise DataError(f"The schema {source!r} has an incomplete ledger: nothing was moved.")
        make_schema(connection, storage.schema, storage.shown)
        connection.execute(f"LOCK TABLE {', '.join(name for name, _ in tables)}")
        before = _last(connection, next(name for name, _ in tables if name.endswith(".anonhist_entries")))
        functions = [name for (name,) in connection.execute(_FUNCTIONS, (source, list(storage.tables))).fetchall()]
        for kind, names in (("TABLE", [name for name, _ in tables]), ("FUNCTION", functions)):
            for name in names:
                connection.execute(f"ALTER {kind} {name} SET SCHEMA {storage.schema}")
        if _last(connection, f"{storage.schema}.anonhist_entries") != before:
            raise DataError(f"The entries of the schema {source!r} changed while they were moved: nothing was moved.")
        return Moved(source, storage.schema, tables[0][1])


def _tables(connection: Any, schema: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the tables of a ledger in a schema, under their SQL names, and their owners."""
    found: list[tuple[str, str]] = connection.execute(_TABLES, (schema, list(names))).fetchall()
    return found


def _last(connection: Any, entries: str) -> tuple[Any, ...]:
    """Return the number of entries, and the digest of the last, which depends on all of them."""
    found: tuple[Any, ...] = connection.execute(
        f"SELECT count(*), (SELECT digest FROM {entries} ORDER BY number DESC LIMIT 1) FROM {entries}"  # noqa: S608
    ).fetchone()
    return found
