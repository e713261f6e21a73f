"""A ledger in PostgreSQL that another schema has is moved to the schema of its address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from anonhist.accounting.address import storage_at
from anonhist.accounting.postgresql import PostgresqlStorage
from anonhist.accounting.schema import check_sole, is_temporary, ledgers, make_schema
from anonhist.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_TABLES = """SELECT pg_catalog.format('%%I.%%I', n.nspname, c.relname), pg_catalog.pg_get_userbyid(c.relowner)
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = %s AND c.relname = ANY(%s) AND c.relkind = 'r' ORDER BY c.relname"""
# What the triggers of its tables run.
_FUNCTIONS = """SELECT DISTINCT pg_catalog.format('%%I.%%I()', n.nspname, p.proname)
    FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid JOIN pg_catalog.pg_namespace o ON o.oid = c.relnamespace
    WHERE NOT t.tgisinternal AND n.nspname = o.nspname AND n.nspname = %s AND c.relname = ANY(%s)"""


class Moved(NamedTuple):
    """What was moved.

    Attributes
    ----------
    source
        The schema where it was; None if it was in its place already.
    schema
        The schema where it is.
    owner
        The role that owns its tables, if they were moved.
    """

    source: str | None
    schema: str
    owner: str = ""


def move(address: str) -> Moved:
    """Move the only ledger of a database to the schema of its address: all of it, or nothing.

    Nobody charges meanwhile. Rights to the tables stay; those to the schema are given anew.

    Raises
    ------
    UsageError
        If the address is a file.
    DataError
        If there is no ledger, or more than one.
    OutputError
        If this login does not own the tables, or may not make the schema.
    """
    storage = storage_at(address)
    if not isinstance(storage, PostgresqlStorage):
        raise UsageError(f"A ledger in a file is moved as files are: {storage.shown!r} is no database of PostgreSQL.")
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
            raise DataError(f"The schema {source!r} has parts of a ledger, and no whole one: nothing was moved.")
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
    """Return the tables of a ledger in a schema, as SQL names them, and their owners."""
    found: list[tuple[str, str]] = connection.execute(_TABLES, (schema, list(names))).fetchall()
    return found


def _last(connection: Any, entries: str) -> tuple[Any, ...]:
    """Return how many entries there are, and the digest of the last, which is of all."""
    found: tuple[Any, ...] = connection.execute(
        f"SELECT count(*), (SELECT digest FROM {entries} ORDER BY number DESC LIMIT 1) FROM {entries}"  # noqa: S608
    ).fetchone()
    return found
