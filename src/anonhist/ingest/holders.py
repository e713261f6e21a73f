"""Sources of rows: each source is recognized by its type once, and never again below.

A type says how it is opened, and what is known of it before: whether its rows have keys, and what its files are.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from anonhist.errors import AnonhistError, MissingExtraError, UsageError, mask, public_error
from anonhist.ingest.columns import Header, Opened, Schema, distinct_names, opened_frame, opened_relation, quoted
from anonhist.ingest.engine import NO_LIMITS, Spilling, connect, followed, let_go_at_exit, translate_failures
from anonhist.ingest.files import (
    DATABASES,
    DELIMITERS,
    HOW_TO_NAME,
    SPARK_URLS,
    Form,
    SparkFiles,
    ending_of,
    file_table,
    form_of,
    how_to_name,
    layout_of,
)
from anonhist.ingest.locations import match_files
from anonhist.ingest.memory import TABLES, package_of, with_known_texts
from anonhist.ingest.naming import is_sqlite
from anonhist.ingest.plain_types import is_spark, with_plain_types
from anonhist.ingest.spark import is_declared, opened_files, opened_table, without_logs_of_rows
from anonhist.ingest.sqlite_values import as_declared, beside_sqlite, sqlite_table, with_names_of_values
from anonhist.ingest.warehouses import connect_to, materialized_views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from anonhist.ingest.engine import EngineLimits

_SQLITE = "sqlite:///"
_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*")
_BATCH_ROWS = 2**16
# What people call files and databases.
_LINES = {Form.LABELS: "text with one label per line", Form.UNIQ: "lines of uniq -c"}
_NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL", "postgresql": "PostgreSQL"}


@dataclass(frozen=True)
class Reading:
    """How a source is read.

    ``twice`` says that more than one query will run: standard input, which can be read only once, is kept then. Lines
    of delimited files that begin with ``comment`` are comments; ``keys`` are the keys of JSON lines to read. Sentences
    call a file ``what``. Engines that are not ours, a database server or the connection of a relation, spill where they
    are told to, and refuse ``limits``.
    """

    keys: Iterable[str | None] = ()
    comment: str | None = None
    twice: bool = False
    what: str = "The input"
    progress: Callable[[float], None] | None = None
    spilling: Spilling = Spilling.TO_FOLDER
    limits: EngineLimits | None = None

    def connect(self, path: str = ":memory:", *, read_only: bool = False) -> AbstractContextManager[Any]:
        """Open DuckDB."""
        return connect(path, read_only=read_only, spilling=self.spilling, limits=self.limits or NO_LIMITS)


_READING = Reading()


@dataclass(frozen=True)
class Holder(ABC):
    """What holds rows: ``of`` is its address or the thing itself, ``form`` what its files are, if it has any."""

    # It may be an address with a password, or a table: neither is shown.
    of: Any = field(repr=False)
    table: str | None = None
    form: Form | None = None
    # Whether our own DuckDB reads it, whether it has tables to name, and whether an engine of SQL may write its values.
    is_ours: ClassVar[bool] = False
    has_tables: ClassVar[bool] = False
    may_be_sql: ClassVar[bool] = True

    @property
    def told(self) -> str:
        """What it is, in words, without its address."""
        return "a table in memory"

    def declares(self) -> bool:
        """Return whether its columns and their types are declared, or said by a header line, so that no row does.

        What a header line says is text. Nothing is asked of what is not declared.
        """
        return True

    @contextmanager
    def open(self, asked: Reading = _READING) -> Iterator[Opened]:
        """Open it as a Narwhals table; what engines raise inside comes out as one sentence without data."""
        let_go_at_exit()
        if not self.is_ours and asked.limits not in (None, NO_LIMITS):
            raise UsageError(
                "`memory_limit`, `threads` and `temp_directory` are for DuckDB, which reads files and its own "
                "databases; this source is held by another engine: set its limits there, and leave these out."
            )
        if self.table is not None and not self.has_tables:
            scheme = self.of.partition("://")[0] if isinstance(self.of, str) and "://" in self.of else ""
            if _SCHEME.fullmatch(scheme):
                raise UsageError(f"Tables of {scheme}:// cannot be read: n{HOW_TO_NAME[1:]}")
            told = how_to_name(self.of)
            raise UsageError(f"`table` names a table of a database, but the source is not a database. {told}")
        with self._opened(asked) as opened, telling_of_rows(opened.header.schema), ExitStack() as stack:
            if self.may_be_sql and is_spark(opened.table):
                stack.enter_context(without_logs_of_rows())
            if self.may_be_sql and is_sqlite(opened.table):
                stack.enter_context(beside_sqlite(opened.table, asked.connect()))
            yield replace(opened, table=with_plain_types(opened.table)) if self.may_be_sql else opened

    @abstractmethod
    def _opened(self, asked: Reading) -> AbstractContextManager[Opened]:
        """Open it, each of its columns by its name."""


def holder_of(
    source: Any,
    *,
    table: str | None = None,
    format: str | None = None,  # noqa: A002
    delimiter: str | None = None,
    header: bool = True,
) -> Holder:
    """Return what holds the rows of a source, by its type and by how its text begins."""
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    if isinstance(source, str):
        database = next((kind for schemes, kind in _DATABASES.items() if source.startswith(schemes)), None)
        if database is not None:
            return database(source, table)
        files: type[Files] = StandardInput if source == "-" else Files
        return files(source, table, form_of(source, format), format, delimiter, header)
    if isinstance(source, SparkFiles):
        return FilesOfSpark(source, table, form_of(source, format), format, delimiter, header)
    return _IN_MEMORY.get(package_of(source), NoTable)(source, table)


@contextmanager
def telling_of_rows(schema: Schema) -> Iterator[None]:
    """Mark errors that may depend on rows: all but those about columns, if their names and types were declared."""
    try:
        yield
    except AnonhistError as error:
        if schema in (Schema.NAMED, Schema.FOUND) or not (isinstance(error, UsageError) or error.is_public):
            error.may_tell_rows = True
        raise


@dataclass(frozen=True)
class Files(Holder):
    """A path, a pattern or a URL, whose files DuckDB reads."""

    format: str | None = None
    delimiter: str | None = None
    header: bool = True
    is_ours: ClassVar[bool] = True

    @property
    def told(self) -> str:
        """What its files are, and whether a line names their columns."""
        if self.form is not None and self.form is not Form.DELIMITED:
            return _LINES.get(self.form, str(self.form.value))
        sign = self.delimiter or DELIMITERS.get(ending_of(self.of) or "", ",")
        kind = {",": "CSV text", "\t": "TSV text"}.get(sign, f"text with columns separated by {sign!r}")
        return f"{kind} with{'' if self.header else 'out'} a header line"

    def declares(self) -> bool:
        """Return whether they are Parquet, or have a header line."""
        return self.form is Form.PARQUET or (self.form is Form.DELIMITED and self.header)

    @contextmanager
    def _opened(self, asked: Reading) -> Iterator[Opened]:
        with translate_failures(asked.what, path=self.of), asked.connect() as connection:
            opened = self._kept(connection, asked)
            with followed(connection, asked.progress):
                yield opened

    def _kept(self, connection: Any, asked: Reading) -> Opened:
        """Return the files as a table."""
        opened = file_table(
            connection,
            self.of,
            format=self.format,
            delimiter=self.delimiter,
            header=self.header,
            comment=asked.comment,
            keys=asked.keys,
        )
        return replace(opened, read_again=self.read_again)

    @property
    def read_again(self) -> tuple[str, ...]:
        """The files that DuckDB can read again, the same and fast: Parquet files on this machine.

        What comes through a pipe or the network, text, and databases are none: what a view or a computed column shows
        may change with every reading.
        """
        return tuple(match_files(self.of)) if self.form is Form.PARQUET else ()


class StandardInput(Files):
    """Standard input, of which nothing is guessed."""

    @property
    def told(self) -> str:
        """What its lines are."""
        return f"{super().told}, on standard input"

    def _kept(self, connection: Any, asked: Reading) -> Opened:
        import narwhals as nw

        opened = super()._kept(connection, asked)
        if asked.twice:
            opened.table.to_native().create("input")
            opened = replace(opened, table=nw.from_native(connection.table("input")))
        return opened


class FilesOfSpark(Files):
    """Files that Spark reads."""

    is_ours: ClassVar[bool] = False

    @property
    def told(self) -> str:
        """What its files are."""
        return f"{super().told}, read by Spark"

    @contextmanager
    def _opened(self, asked: Reading) -> Iterator[Opened]:
        layout = None
        if self.form is Form.DELIMITED:
            layout = layout_of(ending_of(self.of) or "", self.format, self.delimiter, header=self.header)
        with opened_files(self.of.path, self.form, layout, asked.keys, asked.what) as opened:
            yield opened


class SparkTable(Holder):
    """A table of Spark, at an address."""

    has_tables: ClassVar[bool] = True

    @property
    def told(self) -> str:
        """Which table it is."""
        return f"table {self.table!r} of Spark"

    def declares(self) -> bool:
        """Return whether it is no path of files in whose rows columns are found."""
        return is_declared(self.table)

    def _opened(self, asked: Reading) -> AbstractContextManager[Opened]:
        return opened_table(self.of, self.table)


class DuckDBTable(Holder):
    """A table of a file of DuckDB; its views may infer types from files."""

    is_ours: ClassVar[bool] = True
    has_tables: ClassVar[bool] = True

    @property
    def told(self) -> str:
        """Which table it is."""
        return f"table {self.table!r} of DuckDB"

    def declares(self) -> bool:
        """Return whether it is no view, which is not looked into for that."""
        path = _database_path(self.of, "duckdb:///")
        with translate_failures("The database", path=path), _READING.connect(path, read_only=True) as connection:
            return self._is_base(connection)

    def _is_base(self, connection: Any) -> bool:
        query = (
            "SELECT table_name, table_type FROM information_schema.tables "
            "WHERE table_schema = current_schema() ORDER BY 1"
        )
        kinds = dict(connection.execute(query).fetchall())
        _check_table(list(kinds), self.table)
        return bool(kinds[str(self.table)] == "BASE TABLE")

    @contextmanager
    def _opened(self, asked: Reading) -> Iterator[Opened]:
        import narwhals as nw

        path = _database_path(self.of, "duckdb:///")
        with translate_failures("The database", path=path), asked.connect(path, read_only=True) as connection:
            schema = Schema.DECLARED if self._is_base(connection) else Schema.FOUND
            opened = opened_frame(nw.from_native(connection.table(quoted(str(self.table)))), schema)
            with followed(connection, asked.progress):
                yield opened


class IbisTable(Holder):
    """A table of SQLite, of PostgreSQL or of a warehouse."""

    has_tables: ClassVar[bool] = True

    @property
    def told(self) -> str:
        """Which table it is, of what."""
        scheme = self.of.partition("://")[0]
        return f"table {self.table!r} of {_NAMES.get(scheme, scheme)}"

    @contextmanager
    def _opened(self, asked: Reading) -> Iterator[Opened]:
        try:
            import ibis
        except ImportError:
            raise MissingExtraError(
                "SQLite, PostgreSQL and warehouses are read through Ibis; install it with: pip install "
                "'anonhist[ibis]'."
            ) from None
        import narwhals as nw

        # SQLite would make a database that is not there, and Ibis reads a relative path as an absolute one.
        path = _database_path(self.of, _SQLITE) if self.of.startswith("sqlite") else ""
        with translate_failures("The database", path=path):
            connection = ibis.sqlite.connect(path) if path else connect_to(self.of)
            try:
                if path and asked.spilling is Spilling.FORBIDDEN:
                    connection.con.execute("PRAGMA temp_store = MEMORY")
                views = materialized_views(connection) if self.of.startswith("postgres") else []
                _check_table(sorted([*connection.list_tables(), *views]), self.table)
                named = str(self.table)
                if path:
                    yield _opened_sqlite(nw.from_native(sqlite_table(connection, named)), Schema.DECLARED)
                else:
                    yield opened_frame(nw.from_native(connection.table(named)), Schema.DECLARED)
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


def _opened_sqlite(table: Any, schema: Schema) -> Opened:
    """Return a table of SQLite, whose types do not bind: each value is named for itself."""
    return replace(opened_frame(table, schema), table=with_names_of_values(table))


def _check_table(names: list[str], table: str | None) -> None:
    have = ", ".join(map(repr, names)) or "none"
    if table is None:
        raise UsageError(f"Name the table of the database to read (`table`); it has {have}.")
    if table not in names:
        raise public_error(f"The database has no table {table!r}; it has {have}.")


class NoTable(Holder):
    """Labels in memory, or what cannot be read."""

    def _opened(self, asked: Reading) -> AbstractContextManager[Opened]:
        raise UsageError("This source is neither a file, a database, a table, an array nor a list of labels.")


class Frame(Holder):
    """A table in memory, or one that its own engine holds, as a relation of DuckDB or a table of Ibis or Spark.

    Relations and tables of Spark may infer their columns from files, and pandas its types from rows.
    """

    schema: ClassVar[Schema] = Schema.FOUND

    def declares(self) -> bool:
        """Return whether its package declares them."""
        return self.schema is not Schema.FOUND

    @contextmanager
    def _opened(self, asked: Reading) -> Iterator[Opened]:
        if type(self.of).__module__.startswith("pyspark.pandas"):
            raise UsageError(
                "A table of pandas on Spark cannot be read directly: pass its Spark table, table.to_spark()."
            )
        with translate_failures("The table"):
            yield self._named(self.of)

    def _named(self, native: Any) -> Opened:
        import narwhals as nw

        frame = nw.from_native(native, allow_series=True)
        table = frame.alias("label").to_frame() if isinstance(frame, nw.Series) else frame
        if not self.may_be_sql:
            return Opened(table, Header(table.collect_schema().names(), self.schema))
        return _opened_sqlite(as_declared(table), self.schema) if is_sqlite(table) else opened_frame(table, self.schema)


class FrameOfPolars(Frame):
    """A table or a Series of Polars, whose types are declared."""

    schema: ClassVar[Schema] = Schema.DECLARED
    may_be_sql: ClassVar[bool] = False


class FrameOfPandas(Frame):
    """A table or a Series of pandas or Modin, whose columns may have equal names."""

    schema: ClassVar[Schema] = Schema.NAMED
    may_be_sql: ClassVar[bool] = False

    def _named(self, native: Any) -> Opened:
        import narwhals as nw

        native = with_known_texts(native)
        if not hasattr(native, "columns") or native.columns.is_unique:
            return super()._named(native)
        names = list(map(str, native.columns))
        held = distinct_names(names)
        header = Header(names, self.schema, dict(zip(names, held, strict=True)))
        return Opened(nw.from_native(native.set_axis(held, axis=1)), header)


class ArrowTable(Holder):
    """What Arrow holds, which has no windows, which bounding users takes: DuckDB reads its memory where it lies."""

    is_ours: ClassVar[bool] = True

    @contextmanager
    def _opened(self, asked: Reading) -> Iterator[Opened]:
        import pyarrow as pa

        with translate_failures("The table"), asked.connect() as connection:
            table = self.of
            if isinstance(table, pa.Array | pa.ChunkedArray):
                table = pa.table({"label": table})
            elif isinstance(table, pa.RecordBatchReader):
                table = table.read_all()
            # Of a table, batch or data set, or of a scanner.
            names = (table.projected_schema if hasattr(table, "projected_schema") else table.schema).names
            yield opened_relation(connection.from_arrow(table), Schema.DECLARED, names)


class TableOfSqlFrame(Holder):
    """A table of SQLFrame, which has no types or functions of its own: the table of its engine is read."""

    is_ours: ClassVar[bool] = True

    @contextmanager
    def _opened(self, asked: Reading) -> Iterator[Opened]:
        import narwhals as nw

        with translate_failures("The table"), asked.connect() as connection:
            try:
                batches = self.of.toArrow(batch_size=_BATCH_ROWS)
            except NotImplementedError:
                raise UsageError(
                    "Tables of SQLFrame are read only from DuckDB: for another engine, use Ibis, or write a Parquet "
                    "file."
                ) from None
            connection.from_arrow(batches).create("input")
            yield opened_frame(nw.from_native(connection.table("input")), Schema.DECLARED)


# Whose addresses begin so; the first that matches counts.
_DATABASES: dict[tuple[str, ...], type[Holder]] = {
    SPARK_URLS: SparkTable,
    ("duckdb://",): DuckDBTable,
    DATABASES: IbisTable,
}
_IN_MEMORY: dict[str, type[Holder]] = {
    **dict.fromkeys(TABLES, Frame),
    **dict.fromkeys(("pandas", "modin"), FrameOfPandas),
    "polars": FrameOfPolars,
    "pyarrow": ArrowTable,
    "sqlframe": TableOfSqlFrame,
}
