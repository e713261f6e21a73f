"""PostgreSQL by its address, as libpq reads it: several hosts, services, passwords, options.

Ibis takes addresses apart itself, and knows one host. It is handed a connection instead.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from anonhist.errors import UsageError

# By which values are written: a person, a database or an address may have set them otherwise.
_SETTINGS = {"DateStyle": "ISO", "extra_float_digits": "3"}
# The schema may follow the database, or be one of the options: libpq knows neither.
_SCHEMA_IN_PATH = re.compile(r"^(postgres(?:ql)?://[^/?]*/[^/?]*)/([^?]*)")
_SCHEMA_IN_OPTIONS = re.compile(r"(?<=[?&])schema=([^&]*)&?")
_VIEWS = (
    "SELECT matviewname FROM pg_matviews WHERE schemaname = current_schema() "
    "AND has_table_privilege(format('%I.%I', schemaname, matviewname), 'SELECT')"
)


def connect_to_postgresql(url: str) -> Any:
    """Return a connection of Ibis to the PostgreSQL of an address, which writes values as every other does."""
    import ibis
    import psycopg

    found = _SCHEMA_IN_PATH.match(url)
    schema = found[2] if found else ""
    plain = _SCHEMA_IN_PATH.sub(r"\1", url)
    if option := _SCHEMA_IN_OPTIONS.search(plain):
        schema, plain = option[1], _SCHEMA_IN_OPTIONS.sub("", plain)
    # Databases without an encoding would hand over bytes.
    connection = psycopg.connect(plain, autocommit=True, client_encoding="utf8")
    settings = _SETTINGS | ({"search_path": '"' + unquote(schema).replace('"', '""') + '"'} if schema else {})
    for setting in settings.items():
        connection.execute("SELECT set_config(%s, %s, false)", setting)
    return ibis.postgres.from_connection(connection)


def materialized_views(connection: Any) -> list[str]:
    """Return the materialized views of a connection of Ibis, which lists none."""
    return [name for (name,) in connection.con.execute(_VIEWS).fetchall()]


def check_session(table: Any) -> None:
    """Refuse a table of Ibis whose connection rounds floats, so that different ones would have one name.

    A table that belongs to no connection, but only to queries that are looked at, passes.

    Raises
    ------
    UsageError
        If so, or if the connection writes dates in another way than ISO 8601.
    """
    connection = getattr(table.get_backend(), "con", None)
    if connection is None:
        return
    query = "SELECT current_setting('extra_float_digits')::int > 0 AND current_setting('DateStyle') LIKE 'ISO%'"
    with connection.cursor() as cursor, connection.transaction():
        ((is_plain,),) = cursor.execute(query).fetchall()
    if not is_plain:
        raise UsageError(
            "This connection of PostgreSQL rounds floats or does not write dates as in 2026-11-22: run "
            "SET extra_float_digits TO 1 and SET DateStyle TO ISO, or name the database by its URL."
        )
