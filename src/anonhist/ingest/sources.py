"""What a source is: a file, a database, a table in memory, or plain labels."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonhist.errors import AnonhistError, MissingExtraError, UsageError, mask, public_error
from anonhist.ingest.columns import NamedTable, distinct_names, named_relation, named_table
from anonhist.ingest.engine import (
    NO_LIMITS,
    EngineLimits,
    Spilling,
    connect,
    followed,
    let_go_at_exit,
    translate_failures,
)
from anonhist.ingest.files import DATABASES, HOW_TO_NAME, file_table, has_schema, is_parquet, names_are_a_line
from anonhist.ingest.locations import match_files
from anonhist.ingest.naming import is_spark, is_sqlite
from anonhist.ingest.plain_types import with_known_texts, with_plain_types
from anonhist.ingest.spark_session import opened_files, opened_table, without_logs_of_rows
from anonhist.ingest.spark_source import SPARK_URLS, SparkFiles, without_collations_in_spark
from anonhist.ingest.sqlite_values import as_declared, sqlite_table, with_names_of_values
from anonhist.ingest.warehouses import check_engine, connect_to, materialized_views, without_collations
from anonhist.numeric.value_name import check_one_dimension

if TYPE_CHECKING:
    from anonhist.ingest.columns import Header

_SQLITE = "sqlite:///"
_SERVED = (*(scheme for scheme in DATABASES if not scheme.startswith("duckdb")), *SPARK_URLS)
_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*")
# Of batches.
_ROWS = 2**16
_TABLES = (
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "ibis",
    "_duckdb",
    "narwhals",
    "modin",
    "pyspark",
    "sqlframe",
    "dask",
)


@dataclass(frozen=True)
class Opened:
    """An open source: a Narwhals table, its columns' names, and the files that DuckDB can read again, and fast."""

    table: Any
    header: Header
    read_again: tuple[str, ...] = ()


@contextmanager
def open_source(
    source: Any,
    *,
    table: str | None = None,
    format: str | None = None,  # noqa: A002
    delimiter: str | None = None,
    header: bool = True,
    comment: str | None = None,
    twice: bool = False,
    keys: Iterable[str | None] = (),
    progress: Callable[[float], None] | None = None,
    spilling: Spilling = Spilling.TO_FOLDER,
    what: str = "The input",
    limits: EngineLimits | None = None,
) -> Iterator[Opened]:
    """Open a source as a Narwhals table; engine errors inside come out as one sentence without data.

    ``twice`` says that more than one query will run: standard input, which can be read only once, is kept then. Lines
    of delimited files that begin with ``comment`` are comments; ``keys`` are the keys of JSON lines to read. Sentences
    call a file ``what``. Engines that are not ours, a database server or the connection of a relation, spill where they
    are told to, and refuse ``limits``.
    """
    let_go_at_exit()
    limits = _checked_limits(limits, source)
    follow = followed(progress)
    is_database = isinstance(source, str) and source.startswith((*DATABASES, *SPARK_URLS))
    if table is not None and not is_database:
        scheme = source.partition("://")[0] if isinstance(source, str) and "://" in source else ""
        if _SCHEME.fullmatch(scheme):
            raise UsageError(f"Tables of {scheme}:// cannot be read: n{HOW_TO_NAME[1:]}")
        raise UsageError(f"`table` names a table of a database, but the source is not a database. {HOW_TO_NAME}")
    reading: dict[str, Any] = {"format": format, "delimiter": delimiter, "header": header, "keys": keys}
    if comment is not None:
        reading["comment"] = comment
    if isinstance(source, SparkFiles):
        opening = opened_files(source, reading, what=what)
    elif not isinstance(source, str):
        opening = _memory(source, spilling, limits)
    elif source.startswith(SPARK_URLS):
        opening = opened_table(source, table)
    elif source.startswith("duckdb://"):
        opening = _duckdb_table(source, table, follow, spilling, limits)
    elif is_database:
        opening = _ibis_table(source, table, spilling)
    else:
        opening = _file(source, reading, twice=twice, follow=follow, spilling=spilling, what=what, limits=limits)
    with opening as (opened, declared), follow, telling_of_rows(declared=declared), ExitStack() as stack:
        named = opened if isinstance(opened, NamedTable) else named_table(opened)
        table_of_source = _without_collations(named.table)
        if is_spark(table_of_source):
            stack.enter_context(without_logs_of_rows())
            table_of_source = without_collations_in_spark(table_of_source)
        names = named.header(is_line=names_are_a_line(source, format=format, header=header))
        read_again = _read_again(source, declared=is_parquet(source, format=format))
        yield Opened(with_plain_types(table_of_source), names, read_again)


def _read_again(source: Any, *, declared: bool) -> tuple[str, ...]:
    """Return the files of a source that DuckDB can read again, the same and fast: Parquet files on this machine.

    Nothing for what comes through a pipe or the network, for text, and for databases: what a view or a computed column
    shows may change with every reading.
    """
    return tuple(match_files(source)) if isinstance(source, str) and declared else ()


def _checked_limits(limits: EngineLimits | None, source: Any) -> EngineLimits:
    """Return the limits of our engine, or refuse some for another engine."""
    if limits is None:
        return NO_LIMITS
    is_ours = package_of(source) in {"pyarrow", "sqlframe"} or (
        isinstance(source, str) and not source.startswith(_SERVED)
    )
    if limits != NO_LIMITS and not is_ours:
        raise UsageError(
            "`memory_limit`, `threads` and `temp_directory` are for DuckDB, which reads files and its own databases; "
            "this source is held by another engine: set its limits there, and leave these out."
        )
    return limits


@contextmanager
def telling_of_rows(*, declared: bool) -> Iterator[None]:
    """Mark errors that may depend on rows: all but those about columns, if their names and types were declared.

    Those of a Parquet file, of a text with a header line, of a table of DuckDB, SQLite or PostgreSQL and of most tables
    in memory are. Views of DuckDB may infer types from files.
    """
    try:
        yield
    except AnonhistError as error:
        if not declared or not (isinstance(error, UsageError) or error.is_public):
            error.may_tell_rows = True
        raise


@contextmanager
def _file(
    source: str,
    reading: dict[str, Any],
    *,
    twice: bool,
    follow: followed,
    spilling: Spilling,
    what: str,
    limits: EngineLimits,
) -> Iterator[Any]:
    import narwhals as nw

    with translate_failures(what, path=source), connect(spilling=spilling, limits=limits) as connection:
        follow.attach(connection)
        named = file_table(connection, source, **reading)
        if source == "-" and twice:
            named.table.to_native().create("input")
            named = replace(named, table=nw.from_native(connection.table("input")))
        yield named, has_schema(source, format=reading["format"], header=reading["header"])


@contextmanager
def _duckdb_table(
    url: str, table: str | None, follow: followed, spilling: Spilling, limits: EngineLimits
) -> Iterator[Any]:
    import narwhals as nw

    path = _database_path(url, "duckdb:///")
    opening = connect(path, read_only=True, spilling=spilling, limits=limits)
    with translate_failures("The database", path=path), opening as connection:
        follow.attach(connection)
        query = (
            "SELECT table_name, table_type FROM information_schema.tables "
            "WHERE table_schema = current_schema() ORDER BY 1"
        )
        kinds = dict(connection.execute(query).fetchall())
        _check_table(list(kinds), table)
        native = connection.table('"' + str(table).replace('"', '""') + '"')
        yield nw.from_native(native), kinds[str(table)] == "BASE TABLE"


@contextmanager
def _ibis_table(url: str, table: str | None, spilling: Spilling) -> Iterator[Any]:
    try:
        import ibis
    except ImportError:
        raise MissingExtraError(
            "SQLite, PostgreSQL and warehouses are read through Ibis; install it with: pip install 'anonhist[ibis]'."
        ) from None
    import narwhals as nw

    # SQLite would make a database that is not there, and Ibis reads a relative path as an absolute one.
    path = _database_path(url, _SQLITE) if url.startswith("sqlite") else ""
    is_postgresql = url.startswith("postgres")
    with translate_failures("The database", path=path):
        connection = ibis.sqlite.connect(path) if path else connect_to(url)
        try:
            if path and spilling is Spilling.FORBIDDEN:
                connection.con.execute("PRAGMA temp_store = MEMORY")
            names = sorted([*connection.list_tables(), *(materialized_views(connection) if is_postgresql else ())])
            _check_table(names, table)
            yield nw.from_native(sqlite_table(connection, str(table)) if path else connection.table(table)), True
        finally:
            connection.disconnect()


def _database_path(url: str, prefix: str) -> str:
    path = url.removeprefix(prefix)
    if path == url or not path:
        message = f"Name the database file as {prefix}PATH, with three slashes (four where the path is absolute)."
        raise UsageError(message)
    if not Path(path).is_file():
        raise public_error(f"There is no database file {mask(path)!r}.")
    return path


def _check_table(names: list[str], table: str | None) -> None:
    have = ", ".join(map(repr, names)) or "none"
    if table is None:
        raise UsageError(f"Say which table of the database to read (`table`); it has {have}.")
    if table not in names:
        raise public_error(f"The database has no table {table!r}; it has {have}.")


@contextmanager
def _memory(source: Any, spilling: Spilling, limits: EngineLimits) -> Iterator[Any]:
    import narwhals as nw

    if type(source).__module__.startswith("pyspark.pandas"):
        raise UsageError("A table of pandas on Spark is not read as it is: pass its Spark table, table.to_spark().")
    if not is_table(source):
        raise UsageError("This source is neither a file, a database, a table, an array nor a list of labels.")
    with translate_failures("The table"):
        if package_of(source) == "pyarrow":
            # Arrow has no windows, which bounding users takes: DuckDB reads its memory where it lies.
            with connect(spilling=spilling, limits=limits) as connection:
                table = _arrow_table(source)
                yield named_relation(connection.from_arrow(table), _names_of_arrow(table)), True
            return
        if package_of(source) == "sqlframe":
            with connect(spilling=spilling, limits=limits) as connection:
                connection.from_arrow(_batches_of_sqlframe(source)).create("input")
                yield nw.from_native(connection.table("input")), True
            return
        if package_of(source) in ("pandas", "modin") and hasattr(source, "columns") and not source.columns.is_unique:
            names = list(map(str, source.columns))
            held = distinct_names(names)
            yield NamedTable(nw.from_native(source.set_axis(held, axis=1)), tuple(names), tuple(held)), False
            return
        frame = nw.from_native(with_known_texts(source), allow_series=True)
        # Relations and tables of Spark may infer their columns from files, and pandas its types from rows.
        declared = package_of(source) == "polars"
        frame = as_declared(frame) if is_sqlite(frame) else frame
        yield frame.alias("label").to_frame() if isinstance(frame, nw.Series) else frame, declared


def _without_collations(table: Any) -> Any:
    """Return a table of SQL whose texts are equal only if they are the same, whatever its columns were made for.

    Under some collations "de" and "DE" are equal: one row could then give the labels of others another name.
    """
    import narwhals as nw

    if is_sqlite(table):
        return with_names_of_values(table)
    if table.implementation.is_ibis():
        check_engine(table)
        return without_collations(table)
    if not table.implementation.is_duckdb():
        return table
    native = table.to_native()
    texts = [name for name, kind in zip(native.columns, native.types, strict=True) if str(kind) == "VARCHAR"]
    quoted = ['"' + name.replace('"', '""') + '"' for name in texts]
    replaced = ", ".join(f'{name} COLLATE "binary" AS {name}' for name in quoted)
    return nw.from_native(native.project(f"* REPLACE ({replaced})")) if texts else table


def _batches_of_sqlframe(source: Any) -> Any:
    """Return a table of SQLFrame, which has no types or functions of its own, as what its engine hands over."""
    try:
        return source.toArrow(batch_size=_ROWS)
    except NotImplementedError:
        raise UsageError(
            "A table of SQLFrame is read where DuckDB holds it: read that of another engine through Ibis, or write it "
            "to a Parquet file."
        ) from None


def _arrow_table(source: Any) -> Any:
    import pyarrow as pa

    if isinstance(source, pa.Array | pa.ChunkedArray):
        return pa.table({"label": source})
    return source.read_all() if isinstance(source, pa.RecordBatchReader) else source


def _names_of_arrow(table: Any) -> list[str]:
    """Return the names of the columns of what DuckDB reads of Arrow: a table, batch, data set or scanner."""
    schema = table.projected_schema if hasattr(table, "projected_schema") else table.schema
    return list(schema.names)


def is_table(source: Any) -> bool:
    """Return whether something in memory is a table or a column of one, by the package that it comes from."""
    return package_of(source) in _TABLES


def package_of(source: Any) -> str:
    """Return the package that something in memory comes from: of NumPy or of tables, what it is derived from does."""
    names = [each.__module__.split(".")[0] for each in type(source).__mro__]
    return next((name for name in names if name in (*_TABLES, "numpy")), names[0])


def as_path(source: Any) -> Any:
    """Return the text of a path object, and anything else as it is."""
    return os.fspath(source) if isinstance(source, os.PathLike) else source


def plain_labels(source: Any) -> list[Any] | None:
    """Return the labels of an array or iterable, or None where the source is something else."""
    if isinstance(source, str | bytes) or is_table(source):
        return None
    if isinstance(source, Mapping):
        raise UsageError("A mapping is not a list: pass its keys, or a table with named columns.")
    if package_of(source) == "numpy":
        check_one_dimension(source)
        return list(source.tolist())
    return list(source) if isinstance(source, Iterable) else None
