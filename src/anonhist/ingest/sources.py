"""What a source is: a file, a database, a table in memory, or plain labels."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from anonhist.errors import AnonhistError, DataError, MissingExtraError, UsageError
from anonhist.ingest.files import file_relation

if TYPE_CHECKING:
    from collections.abc import Iterator

_IBIS = ("sqlite://", "postgres://", "postgresql://")
_TABLES = ("pandas", "polars", "pyarrow", "duckdb", "ibis", "_duckdb", "narwhals", "modin", "pyspark", "dask")


@contextmanager
def opened(
    source: Any,
    *,
    table: str | None,
    format: str | None,  # noqa: A002
    delimiter: str | None,
    header: bool,
    attach: Any = None,
) -> Iterator[Any]:
    """Open a source as a Narwhals table; engine errors inside come out as one sentence without data."""
    if not isinstance(source, str):
        with _translated("The table"):
            yield _memory(source)
        return
    if source.startswith(_IBIS):
        with _translated("The database"):
            yield _ibis_table(source, table)
        return
    import duckdb
    import narwhals as nw

    database = source.removeprefix("duckdb:///") if source.startswith("duckdb:///") else None
    if table is not None and database is None:
        raise UsageError("table names a table of a database; the source is a file.")
    with _translated("The input"):
        connection = _connect(duckdb, database)
        try:
            if attach is not None:
                attach(connection)
            if database is None:
                relation = file_relation(connection, source, format=format, delimiter=delimiter, header=header)
            else:
                relation = _table(connection, table)
            yield nw.from_native(relation)
        finally:
            connection.close()


def _connect(duckdb: Any, database: str | None) -> Any:
    # The network is asked for nothing: extensions that are not there are an error, not a download.
    config = {"autoinstall_known_extensions": "false", "preserve_insertion_order": "false"}
    if database is None:
        return duckdb.connect(config=config)
    from pathlib import Path

    if not Path(database).is_file():
        message = f"There is no database file {database!r}."
        raise DataError(message)
    return duckdb.connect(database, read_only=True, config=config)


def _table(connection: Any, table: str | None) -> Any:
    names = [row[0] for row in connection.execute("SELECT table_name FROM information_schema.tables").fetchall()]
    if table is None:
        message = f"Say which table of the database to read (--table); it has {', '.join(map(repr, names)) or 'none'}."
        raise UsageError(message)
    if table not in names:
        message = f"The database has no table {table!r}; it has {', '.join(map(repr, names)) or 'none'}."
        raise DataError(message)
    return connection.table('"' + table.replace('"', '""') + '"')


def _ibis_table(url: str, table: str | None) -> Any:
    try:
        import ibis
    except ImportError:
        raise MissingExtraError(
            "SQLite and PostgreSQL are read through Ibis; install it with: pip install 'anonhist[ibis]'."
        ) from None
    import narwhals as nw

    connection = ibis.connect(url)
    names = connection.list_tables()
    if table is None:
        message = f"Say which table of the database to read (--table); it has {', '.join(map(repr, names)) or 'none'}."
        raise UsageError(message)
    if table not in names:
        message = f"The database has no table {table!r}; it has {', '.join(map(repr, names)) or 'none'}."
        raise DataError(message)
    return nw.from_native(connection.table(table))


def _memory(source: Any) -> Any:
    import narwhals as nw

    if type(source).__module__.split(".")[0] in _TABLES:
        frame = nw.from_native(source, allow_series=True)
        return frame.alias("label").to_frame() if isinstance(frame, nw.Series) else frame
    raise UsageError("This source is neither a file, a database, a table, an array nor a list of labels.")


def plain_labels(source: Any) -> list[Any] | None:
    """Return the labels of an array or iterable, or None where the source is something else."""
    if isinstance(source, str | bytes) or type(source).__module__.split(".")[0] in _TABLES:
        return None
    if type(source).__module__.split(".")[0] == "numpy":
        if source.ndim != 1:
            raise UsageError("An array of labels must be one-dimensional; pass a table for more columns.")
        return list(source.tolist())
    return list(source) if isinstance(source, Iterable) else None


@contextmanager
def _translated(what: str) -> Iterator[None]:
    try:
        yield
    except AnonhistError:
        raise
    except OSError as error:
        message = f"{what} cannot be read: {error.strerror or 'the system gave no reason'}."
        raise DataError(message) from None
    except Exception as error:  # noqa: BLE001  # engines raise what they like
        # Engine messages quote the data they stumbled over, so only their kind is told.
        raise DataError(f"{what} {_explained(error)}") from None


def _explained(error: Exception) -> str:  # noqa: PLR0911  # one line per cause
    text, kind = str(error).lower(), type(error).__name__
    if "expected number of columns" in text or "sniffing" in text:
        return "is not a table: some row has more or fewer columns than the first (check --delimiter and quoting)."
    if "gzip" in text or "zstd" in text or "inflate" in text or "decompress" in text:
        return "cannot be decompressed: it is cut off or not what its ending says."
    if "parquet" in text or "magic bytes" in text:
        return "is not a Parquet file, whatever its ending says."
    if "json" in text:
        return "is not made of JSON lines, whatever its ending says."
    if "httpfs" in text or "extension" in text:
        return "is on a remote path for which the engine lacks an extension; download the file first."
    if "utf" in text or "unicode" in text:
        return "is not UTF-8 text."
    if "csv" in text:
        return "is not a table with this delimiter and quoting."
    if "memory" in text:
        return "is too large for the memory there is."
    if "overflow" in text or "out of range" in text or "conversion" in text:
        return "holds a number beyond 2^63 − 1."
    return f"could not be read by the engine ({kind})."
