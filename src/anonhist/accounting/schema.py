"""The schema of a ledger in PostgreSQL: named, never searched for, and the only one of its database with a ledger."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from anonhist.errors import DataError, OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULT, _OF_OLD_VERSIONS = "anonhist", "public"
# Nothing to quote or to fold, so that there is one way to write it.
_NAME = re.compile("(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,62}")
# Parameters that lead to another database than the one that is shown.
_ELSEWHERE = frozenset({"dbname", "service"})
# Everybody sees these two tables, whatever rights they have to the schemas.
_FOUND = """SELECT n.nspname, c.relname, c.relkind FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname IN ('anonhist_ledger', 'anonhist_entries') AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    ORDER BY n.nspname"""
_EXISTS = "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = %s"
_MAY_CREATE = "SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')"


class Placed(NamedTuple):
    """Where a ledger is.

    Attributes
    ----------
    address
        The address as libpq takes it.
    schema
        The schema, which needs no quotes.
    """

    address: str
    schema: str


def placed(address: str) -> Placed:
    """Take the schema out of an address, which libpq does not know.

    The parameters begin at the first ``?`` after user and password, which end at the first ``@`` before a ``/``, as for
    libpq.

    Raises
    ------
    UsageError
        If it is named twice, or would need quotes; or if the address does not name the database itself.

    Examples
    --------
    >>> placed("postgresql://db/shop")
    Placed(address='postgresql://db/shop', schema='anonhist')
    >>> placed("postgresql://db/shop?schema=budgets&sslmode=require")
    Placed(address='postgresql://db/shop?sslmode=require', schema='budgets')
    """
    scheme, _, rest = address.partition("://")
    user, at, _ = rest.partition("@")
    start = len(user) + 1 if at and "/" not in user else 0
    place, _, parameters = rest[start:].partition("?")
    if not place.partition("/")[2]:
        # libpq would take one named like the user, or what the environment says.
        raise UsageError("The address of a ledger must name the database: postgresql://host/database.")
    schemas, others = [_DEFAULT], []
    for each in filter(None, parameters.split("&")):
        name, _, value = each.partition("=")
        if unquote(name) in _ELSEWHERE:
            raise UsageError(
                f"The address of a ledger names its database before the question mark, and not by {unquote(name)!r}: "
                "postgresql://host/database."
            )
        if unquote(name) == "schema":
            schemas.append(unquote(value))
        else:
            others.append(each)
    if len(schemas) > 2 or not all(map(_NAME.fullmatch, schemas)):
        raise UsageError(
            "The address of a ledger names one schema, or none, in lower-case letters, digits and underscores: end it "
            "in ?schema=budgets, for example."
        )
    plain = f"{scheme}://{rest[:start]}{place}{'?' if others else ''}{'&'.join(others)}"
    return Placed(plain, schemas[-1])


def ledgers(connection: Any) -> dict[str, frozenset[str]]:
    """Return all schemas of a database that have tables of a ledger, temporary ones too, and which."""
    found: dict[str, set[str]] = {}
    for schema, table, kind in connection.execute(_FOUND).fetchall():
        found.setdefault(schema, set()).add(table if kind == "r" else f"{table}, which is no table")
    return {schema: frozenset(tables) for schema, tables in found.items()}


def check_sole(found: Mapping[str, frozenset[str]], schema: str, shown: str) -> None:
    """Refuse a database that has a ledger elsewhere: a budget could be spent once in each.

    Raises
    ------
    DataError
        If so; the sentence names the schemas.
    """
    others = [name for name in found if name != schema]
    if not others:
        return
    listed = " and ".join(map(repr, others))
    if all(map(is_temporary, others)):
        raise DataError(
            f"Somebody's session has temporary tables ({listed}) in the database of the ledger {shown!r} that are "
            "named like those of a ledger: have that session ended."
        )
    if schema in found or len(others) > 1:
        raise DataError(
            f"The database of the ledger {shown!r} has a ledger in {listed}{', too' if schema in found else ''}, and a "
            "budget could be spent once in each: keep one, and take the others to other databases first."
        )
    also = f", or name that schema in the address (?schema={others[0]})" if is_named_on_purpose(others[0]) else ""
    raise DataError(
        f"The ledger of this database is in the schema {others[0]!r}, not at {shown!r}: move it there with "
        f"'anonhist budget move'{also}."
    )


def is_temporary(schema: str) -> bool:
    """Return whether a schema ends with a session."""
    return schema.startswith("pg_temp_")


def is_named_on_purpose(schema: str) -> bool:
    """Return whether an address can name a schema, and it is not where old versions made their tables."""
    return bool(_NAME.fullmatch(schema)) and schema != _OF_OLD_VERSIONS


def make_schema(connection: Any, schema: str, shown: str) -> None:
    """Make a schema if it is not there, for its owner alone.

    Raises
    ------
    OutputError
        If this login may not.
    """
    if connection.execute(_EXISTS, (schema,)).fetchone()[0]:
        return
    if not connection.execute(_MAY_CREATE).fetchone()[0]:
        raise OutputError(
            f"This login may not make the schema of the ledger {shown!r}: have the owner of the database run CREATE "
            f"SCHEMA {schema} AUTHORIZATION with the name of this login."
        )
    connection.execute(f"CREATE SCHEMA {schema}")
