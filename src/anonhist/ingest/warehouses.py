"""Engines that Ibis writes SQL for: which compare texts as they are written, how others are made to, and which cannot.

A label is what is written. Where a column has a collation under which "de" and "DE" are equal, texts are taken through
something that has none. Engines that always compare otherwise, or take an empty text for a missing one, are refused.
Addresses of PostgreSQL are read by libpq (several hosts, services, passwords, options): Ibis knows one host alone.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from anonhist.errors import DataError, MissingExtraError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

# The settings with which values are written: a person, a database or an address may have set others.
_SETTINGS = {"DateStyle": "ISO", "extra_float_digits": "3"}
# The schema may follow the database, or be one of the options: libpq knows neither.
_SCHEMA_IN_PATH = re.compile(r"^(postgres(?:ql)?://[^/?]*/[^/?]*)/([^?]*)")
_SCHEMA_IN_OPTIONS = re.compile(r"(?<=[?&])schema=([^&]*)&?")
_VIEWS = (
    "SELECT matviewname FROM pg_matviews WHERE schemaname = current_schema() "
    "AND has_table_privilege(format('%I.%I', schemaname, matviewname), 'SELECT')"
)
_DOMAINS_OF_TEXT = "SELECT typname FROM pg_type WHERE typtype = 'd' AND typcategory = 'S'"


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
    """Refuse a table of Ibis whose connection rounds floats, or writes dates in another way than ISO 8601.

    Different floats would have one name. A table that belongs to no connection, but only to queries that are looked at,
    passes.
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


_BY_CASE = "treats texts as equal that differ only in case or in trailing spaces"
_BY_NOTHING = "treats empty texts as missing"
_DAY = 24 * 60 * 60
_NANO = 9
_OTHERWISE = {
    "druid": _BY_NOTHING,
    "exasol": _BY_NOTHING,
    "mssql": _BY_CASE,
    "mysql": _BY_CASE,
    "oracle": _BY_NOTHING,
    "singlestoredb": _BY_CASE,
}


def check_engine(engine: str) -> None:
    """Refuse a table of Ibis whose engine does not compare texts as they are written."""
    if engine in _OTHERWISE:
        raise UsageError(
            f"Tables of {engine} are not read, since it {_OTHERWISE[engine]}: export the table to a Parquet file and "
            "read that."
        )


def engine_of(table: Any) -> str:
    """Return what Ibis calls the engine that holds one of its tables, given as a Narwhals table."""
    name: str = table.to_native().get_backend().name
    return name


def _without_collations(native: Any, engine: str) -> Any:
    """Return a table of Ibis whose texts are equal only if they are the same, whatever their collation."""
    plain = _PLAIN.get(engine)
    if plain is None:
        return native
    if engine == "duckdb":
        _check_default_collation(native)
    if engine == "postgres":
        check_session(native)
        if (collated := _collated_by_postgres(native)) is not None:
            return collated
    texts = [name for name, kind in native.schema().items() if kind.is_string()]
    if engine == "postgres":
        texts += _domains_of_text(native)
    return native.mutate(**{name: plain(native[name].cast("string")) for name in texts}) if texts else native


def _collated_by_postgres(native: Any) -> Any | None:
    """Return a table of PostgreSQL whose texts have the collation "C", which compares bytes; None for a formula.

    That takes no function for each text, but Ibis has no word for it. Joined with nothing, names of enumerations become
    text, and padding goes.
    """
    import ibis
    from ibis.expr import operations

    held = native.op()
    if not isinstance(held, operations.DatabaseTable):
        return None
    place = ".".join(_in_quotes(each) for each in (held.namespace.catalog, held.namespace.database, held.name) if each)
    kinds = dict(native.schema()) | dict.fromkeys(_domains_of_text(native), "string")
    schema = ibis.schema(kinds)
    texts = {name for name, kind in schema.items() if kind.is_string()}
    columns = [
        f"({quoted} || '') COLLATE \"C\" AS {quoted}" if name in texts else quoted
        for name, quoted in ((name, _in_quotes(name)) for name in native.columns)
    ]
    query = f"SELECT {', '.join(columns)} FROM {place}"  # noqa: S608  # names are quoted
    return operations.SQLQueryResult(query, schema, held.source).to_expr()


def _domains_of_text(native: Any) -> list[str]:
    """Return the columns whose types are called as domains of text: Ibis does not know them; they may ignore case."""
    unknown = {name: kind.raw_type for name, kind in native.schema().items() if kind.is_unknown()}
    connection = getattr(native.get_backend(), "con", None)
    if connection is None or not unknown:
        return []
    with connection.cursor() as cursor, connection.transaction():
        domains = {name for (name,) in cursor.execute(_DOMAINS_OF_TEXT).fetchall()}
    return [
        name for name, kind in unknown.items() if str(kind.args.get("kind")).rpartition(".")[2].strip('"') in domains
    ]


def _in_quotes(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


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


def with_bytes(table: Any, names: list[str]) -> Any:
    """Return a table of PostgreSQL some texts of which are ordered as bytes are; all have "C" or no collation yet."""
    import narwhals as nw

    native = table.to_native()
    collation = engine_function("name", "string", "string")("")
    return nw.from_native(native.mutate(**{name: native[name] + collation for name in names}))


def has_utf8(native: Any) -> bool:
    """Return whether a table of Ibis or a column, in PostgreSQL or in none that is looked at, holds texts in UTF-8."""
    connection = getattr(native.get_backend(), "con", None)
    return connection is None or connection.info.parameter_status("server_encoding") == "UTF8"


def with_utf8(table: Any, names: list[str]) -> Any:
    """Return a table of PostgreSQL with columns ``…_bytes`` of what some texts are in UTF-8."""
    import narwhals as nw

    native = table.to_native()
    return nw.from_native(native.mutate(**{f"{name}_bytes": utf8_of_postgres(native[name]) for name in names}))


def is_postgresql(table: Any) -> bool:
    """Return whether PostgreSQL holds a Narwhals table."""
    return bool(table.implementation.is_ibis()) and engine_of(table) == "postgres"


def batch_of_postgresql(query: Any) -> Any:
    """Run a query without a cursor of the server, for which only one process would work; its result fits in memory."""
    import pyarrow as pa

    native = query.to_native()
    # Ibis registers functions and tables in memory of a caller's formula.
    native.limit(0).to_pyarrow()
    backend = native.get_backend()
    with backend.con.transaction(), backend.con.cursor() as cursor:
        rows = cursor.execute(backend.compile(native)).fetchall()
    return pa.RecordBatch.from_struct_array(pa.array(rows, native.schema().as_struct().to_pyarrow()))


# Those of others would be literals of the session's zone, or floats.
_EXACT_ZONES = {"bigquery", "duckdb", "postgres"}
_EXACT_LITERALS = {*_EXACT_ZONES, "athena", "databricks", "snowflake", "trino"}


def compares_exactly(table: Any, name: str) -> bool:
    """Return whether the decimals or times of a column are compared with literals exactly, whatever a session says.

    This is true except on some engines of Ibis, which take some times that had a zone for times in the session's.
    """
    if not table.implementation.is_ibis():
        return True
    engine = engine_of(table)
    return engine in _EXACT_ZONES or (engine in _EXACT_LITERALS and not _had_zone(table.to_native()[name]))


def _had_zone(column: Any) -> bool:
    """Return whether a column is a formula of a time with a zone, as :func:`plain_types_of_ibis` makes them."""
    from ibis.expr import operations

    rows, name = column.op().rel, column.op().name
    formula = rows.values[name] if isinstance(rows, operations.Project) else column.op()
    inside = (each for each in formula.args if isinstance(each, operations.Field))
    return any(each.dtype.is_timestamp() and each.dtype.timezone is not None for each in inside)


def takes_times_as_text(table: Any) -> bool:
    """Return whether a time of Python would go through the zone of an engine's session on its way there."""
    return bool(table.implementation.is_ibis()) and engine_of(table) in {"athena", "trino"}


def plain_types_of_ibis(table: Any) -> Any:
    """Return a Narwhals table of Ibis with plain types: see :mod:`~anonhist.ingest.plain_types`."""
    import narwhals as nw

    engine = engine_of(table)
    check_engine(engine)
    native = _without_collations(table.to_native(), engine)
    made = {}
    for name, kind in native.schema().items():
        if kind.is_timestamp() and kind.timezone is not None and engine in _IN_UTC:
            made[name] = _IN_UTC[engine](native[name])
        elif kind.is_interval() and engine in _SECONDS:
            made[name] = _SECONDS[engine](native[name])
        elif kind.is_decimal() and engine == "postgres":
            made[name] = _without_nan(native[name])
    return nw.from_native(native.mutate(**made) if made else native)


def finite(table: Any, name: str) -> Any:
    """Return a column of dates, without the infinite ones of PostgreSQL: it finds no year in them, and stops."""
    import narwhals as nw

    column = nw.col(name)
    if not table.implementation.is_ibis() or engine_of(table) != "postgres":
        return column
    return nw.when((column >= datetime.min) & (column <= datetime.max)).then(column)  # noqa: DTZ901  # no zone


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
    return engine_function("convert_from", "binary", "string", "string")(utf8_of_postgres(text + ""), "UTF8")


def utf8_of_postgres(text: Any) -> Any:
    """Return what a text of PostgreSQL is in UTF-8."""
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


def _zone_of_bigquery(time: Any) -> Any:
    return engine_function("datetime", "timestamp", "string", "timestamp")(time, "UTC")


def _zone_of_duckdb(time: Any) -> Any:
    text, is_nano = time.cast("string"), time.type().scale == _NANO
    since, make = ("epoch_ns", "make_timestamp_ns") if is_nano else ("epoch_us", "make_timestamp")
    made = engine_function(make, "int64", "timestamp")(engine_function(since, "timestamp", "int64")(time))
    return text.isin(["infinity", "-infinity"]).ifelse(text.cast("timestamp"), made)


def _zone_of_postgres(time: Any) -> Any:
    return engine_function("timezone", "string", "timestamp", "timestamp")("UTC", time)


def _text_of_databricks(time: Any) -> Any:
    """Return the text of a time in UTC: what else this engine has for it goes through the zone of the session."""
    from ibis import udf

    remainder = engine_function("pmod", "int64", "int64", "int64")
    seconds = engine_function("unix_seconds", "timestamp", "int64")(time)
    micros = remainder(engine_function("unix_micros", "timestamp", "int64")(time), 10**6)
    of_day = remainder(seconds, _DAY)
    day = engine_function("date_from_unix_date", "int32", "date")(((seconds - of_day) // _DAY).cast("int32"))
    types = ("string", "string", "int64", "int64", "int64", "int64")
    given = lambda form, day, hour, minute, second, micro: (form, day, hour, minute, second, micro)  # noqa: E731
    write = udf.scalar.builtin(given, name="format_string", signature=(types, "string"))
    clock = (of_day // 3600, of_day // 60 % 60, of_day % 60, micros)
    text = write("%s %02d:%02d:%02d.%06d", day.cast("string"), *clock).re_replace(r"\.0+$", "")
    return time.notnull().ifelse(text, None)


def _seconds_of_duckdb(duration: Any) -> Any:
    return _millionth(engine_function("epoch_us", str(duration.type()), "int64")(duration), "decimal(25, 6)")


def _seconds_of_postgres(duration: Any) -> Any:
    part = engine_function("date_part", "string", str(duration.type()), "float64")
    # Years have 365¼ days here, but twelve months of thirty where durations are compared.
    seconds = part("epoch", duration) - part("year", duration) * (5.25 * _DAY)
    # Newer versions hold infinite ones.
    exact = _millionth((seconds * 10**6).round().cast("int64"), "decimal")
    return seconds.isinf().ifelse(seconds.cast("decimal"), exact)


def _millionth(number: Any, kind: str) -> Any:
    import ibis

    return number.cast(kind) * ibis.literal("0.000001").cast(kind)


def _without_nan(number: Any) -> Any:
    # Ibis takes money for a decimal.
    import ibis

    return number.cast("decimal").nullif(ibis.literal("NaN").cast("decimal"))


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
    "bigquery": _zone_of_bigquery,
    "clickhouse": _zone_of_clickhouse,
    "databricks": _text_of_databricks,
    "duckdb": _zone_of_duckdb,
    "postgres": _zone_of_postgres,
    "snowflake": _zone_of_snowflake,
    "trino": _zone_of_trino,
}
_SECONDS = {"duckdb": _seconds_of_duckdb, "postgres": _seconds_of_postgres}


# How each is called, and what its URL is made of.
WAREHOUSES = {
    "bigquery": ("BigQuery", "bigquery://PROJECT/DATASET"),
    "clickhouse": ("ClickHouse", "clickhouse://USER:PASSWORD@HOST:PORT/DATABASE"),
    "databricks": ("Databricks", "databricks://token:TOKEN@HOST/CATALOG/SCHEMA?http_path=PATH"),
    "snowflake": ("Snowflake", "snowflake://USER:PASSWORD@ACCOUNT/DATABASE/SCHEMA?warehouse=WAREHOUSE"),
    "trino": ("Trino", "trino://USER@HOST:PORT/CATALOG/SCHEMA"),
}


def connect_to(url: str) -> Any:
    """Return a connection of Ibis to the database of a URL.

    Passwords may stand in the URL, as in that of PostgreSQL, or wherever the driver looks for them. If a warehouse does
    not answer, the error has no part of the URL.
    """
    import ibis

    scheme = url.partition("://")[0]
    if scheme not in WAREHOUSES:
        return connect_to_postgresql(url)
    name, form = WAREHOUSES[scheme]
    try:
        return _databricks(url) if scheme == "databricks" else ibis.connect(url)
    except ImportError:
        raise MissingExtraError(
            f"{name} is read through Ibis and a driver; install both with: pip install 'ibis-framework[{scheme}]'."
        ) from None
    except Exception:  # noqa: BLE001  # drivers raise what they like, with the URL and what is in it
        raise DataError(
            f"{name} cannot be reached: check the URL, whose form is {form}, your credentials and your permissions."
        ) from None


def _databricks(url: str) -> Any:
    """Connect to Databricks, for which Ibis takes no URL; the driver looks for missing parts in the environment."""
    import ibis

    parts = urlsplit(url)
    catalog, _, schema = parts.path.strip("/").partition("/")
    token = None if parts.password is None else unquote(parts.password)
    named = {"server_hostname": parts.hostname, "access_token": token, "catalog": catalog, "schema": schema}
    return ibis.databricks.connect(
        **{name: value for name, value in named.items() if value}, **dict(parse_qsl(parts.query))
    )
