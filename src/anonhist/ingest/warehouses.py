"""Engines that Ibis writes SQL for: which compare texts as they are written, how others are made to, and which cannot.

A label is what is written. Where a column has a collation under which "de" and "DE" are equal, texts are taken through
something that has none. Engines that always compare otherwise, or take an empty text for a missing one, are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

_BY_CASE = "takes texts for equal that differ in case or in spaces at the end"
_BY_NOTHING = "takes empty texts for missing ones"
_DAY = 24 * 60 * 60
_OTHERWISE = {
    "druid": _BY_NOTHING,
    "exasol": _BY_NOTHING,
    "mssql": _BY_CASE,
    "mysql": _BY_CASE,
    "oracle": _BY_NOTHING,
    "singlestoredb": _BY_CASE,
}


def check_engine(table: Any) -> None:
    """Refuse a table of Ibis whose engine does not compare texts as they are written."""
    engine = engine_of(table)
    if engine in _OTHERWISE:
        raise UsageError(
            f"Tables of {engine} are not read, since it {_OTHERWISE[engine]}: export the table to a Parquet file and "
            "read that."
        )


def engine_of(table: Any) -> str:
    """Return what Ibis calls the engine that holds one of its tables, given as a Narwhals table."""
    name: str = table.to_native().get_backend().name
    return name


def without_collations(table: Any) -> Any:
    """Return a Narwhals table of Ibis whose texts are equal only if they are the same, whatever their collation."""
    import narwhals as nw

    plain = _PLAIN.get(engine_of(table))
    if plain is None:
        return table
    native = table.to_native()
    if engine_of(table) == "duckdb":
        _check_default_collation(native)
    texts = [name for name, kind in native.schema().items() if kind.is_string()]
    return nw.from_native(native.mutate(**{name: plain(native[name]) for name in texts})) if texts else table


def _check_default_collation(native: Any) -> None:
    """Refuse a table of a connection of DuckDB under which all texts are compared otherwise, whatever is made of them.

    A table that belongs to no connection, but only to queries that are looked at, passes.
    """
    connection = getattr(native.get_backend(), "con", None)
    if connection is None:
        return
    ((collation,),) = connection.sql("SELECT current_setting('default_collation')").fetchall()
    if collation:
        raise UsageError(
            "This connection of DuckDB has a default collation, under which different texts are equal: run "
            "RESET default_collation, or pass the table as a relation of DuckDB."
        )


def with_query_name(table: Any, name: str) -> Any:
    """Return the same rows; SQLite gets them as a query with a name, since it limits how deep queries are nested."""
    import narwhals as nw

    is_limited = table.implementation.is_ibis() and engine_of(table) == "sqlite"
    return nw.from_native(table.to_native().alias(name)) if is_limited else table


def with_bytes(table: Any, names: list[str]) -> tuple[Any, list[str]]:
    """Return a Narwhals table, and the names of columns by which its texts are ordered as the bytes of their UTF-8.

    That is how engines order texts, but for PostgreSQL, which orders them as the language of a database does: there,
    columns of bytes are added.
    """
    import narwhals as nw

    if not table.implementation.is_ibis() or engine_of(table) != "postgres":
        return table, names
    native = table.to_native()
    encoded = {f"{name}_bytes": _bytes_of_postgres(native[name]) for name in names}
    return nw.from_native(native.mutate(**encoded)), list(encoded)


def in_utc_of_ibis(table: Any, columns: list[str]) -> Any:
    """Return a Narwhals table of Ibis in which those of these columns that hold times with a zone hold those of UTC.

    Some engines show a time in the zone it was stored with, or in that of their session.
    """
    import narwhals as nw

    in_utc = _IN_UTC.get(engine_of(table))
    if in_utc is None:
        return table
    native = table.to_native()
    kinds = native.schema()
    zoned = [name for name in columns if kinds[name].is_timestamp() and kinds[name].timezone is not None]
    return nw.from_native(native.mutate(**{name: in_utc(native[name]) for name in zoned})) if zoned else table


def engine_function(name: str, *types: str) -> Callable[..., Any]:
    """Return a function that an engine has, of the types that it takes, one or two, and the type that it returns."""
    from ibis import udf

    *taken, returned = types
    of_engine = (lambda value: value) if len(taken) == 1 else (lambda value, other: (value, other))
    function: Callable[..., Any] = udf.scalar.builtin(of_engine, name=name, signature=(tuple(taken), returned))
    return function


def _through_bytes(text: Any) -> Any:
    return text.cast("binary").cast("string")


def _of_snowflake(text: Any) -> Any:
    return engine_function("collate", "string", "string", "string")(text, "utf8")


def _of_postgres(text: Any) -> Any:
    # Joined with nothing, names of enumerations become text, and padding goes.
    return engine_function("convert_from", "binary", "string", "string")(_bytes_of_postgres(text + ""), "UTF8")


def _bytes_of_postgres(text: Any) -> Any:
    return engine_function("convert_to", "string", "string", "binary")(text, "UTF8")


def _of_duckdb(text: Any) -> Any:
    encoded = engine_function("encode", "string", "binary")(text + "")
    return engine_function("decode", "binary", "string")(encoded)


def _zone_of_clickhouse(time: Any) -> Any:
    return engine_function("toTimeZone", "timestamp", "string", "timestamp")(time, "UTC")


def _zone_of_snowflake(time: Any) -> Any:
    return engine_function("convert_timezone", "string", "timestamp", "timestamp")("UTC", time)


def _zone_of_trino(time: Any) -> Any:
    return engine_function("at_timezone", "timestamp", "string", "timestamp")(time, "UTC")


def _day_of_databricks(time: Any) -> Any:
    seconds = engine_function("unix_seconds", "timestamp", "int64")(time)
    return engine_function("date_from_unix_date", "int32", "date")((seconds // _DAY).cast("int32"))


_PLAIN = {
    "bigquery": _through_bytes,
    "databricks": _through_bytes,
    "duckdb": _of_duckdb,
    "postgres": _of_postgres,
    "pyspark": _through_bytes,
    "snowflake": _of_snowflake,
}
_IN_UTC = {
    "athena": _zone_of_trino,
    "clickhouse": _zone_of_clickhouse,
    "databricks": _day_of_databricks,
    "snowflake": _zone_of_snowflake,
    "trino": _zone_of_trino,
}
