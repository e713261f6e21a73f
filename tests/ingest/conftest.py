"""Sources to read: one table, held by every engine; standard input; a PostgreSQL server where one is installed."""

import csv
import json
import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import date, datetime
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.ingest import query, read, read_profile, unit_sizes
from anonhist.ingest.columns import MissingColumnError, RepeatedColumnError, UnnamedColumnError
from anonhist.ingest.parts import counting, files
from anonhist.profiles import Profile
from anonhist_testing.way_in import engines

Table = dict[str, list[Any]]
Read = Callable[..., Profile]
Held = Callable[[Table], AbstractContextManager[tuple[Any, dict[str, Any]]]]
Refused = Callable[..., str]
Feed = Callable[..., None]
WriteTable = Callable[[Path, Table], str]

FILES = ["csv", "parquet"]
MEMORY = ["pandas", "pandas pyarrow", "polars", "polars lazy", "arrow", "duckdb relation", "ibis duckdb"]
DATABASES = ["duckdb", "sqlite", "postgresql"]
SPARK = ["spark", "spark repartitioned", "spark connect"]
ALL = [*FILES, *MEMORY, "sqlframe", *DATABASES, *(pytest.param(kind, marks=pytest.mark.slow) for kind in SPARK)]
SQL_TYPES = {
    str: "TEXT",
    int: "BIGINT",
    float: "DOUBLE PRECISION",
    bool: "BOOLEAN",
    date: "DATE",
    datetime: "TIMESTAMP",
}
SPARK_TYPES = {
    str: "string",
    int: "long",
    float: "double",
    bool: "boolean",
    date: "date",
    datetime: "timestamp_ntz",
}


@cache
def _callers_engine() -> duckdb.DuckDBPyConnection:
    """Open DuckDB once in this process, as whoever hands us a relation has it."""
    return duckdb.connect()


@pytest.fixture(scope="module")
def lent_duckdb() -> Iterator[None]:
    """Lend what is read in memory one engine, of which each reading has a connection of its own.

    To start DuckDB takes as long as to read the few rows here. Tests of how it is started and ended do without.
    """
    with engines.lent_duckdb():
        yield


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the rows of parts come a few at a time, as those of large files do."""
    for module in (files, counting):
        monkeypatch.setattr(module, "AT_ONCE", 3)


@pytest.fixture(params=FILES + MEMORY + DATABASES, scope="session")
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Read:
    """Read a table of columns with the engine of that name; None is null."""
    return _reader(request, request.param, tmp_path_factory.mktemp("engine"))


@pytest.fixture(params=MEMORY + DATABASES, scope="session")
def typed_engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Read:
    """Read a table whose columns have the types of their values."""
    return _reader(request, request.param, tmp_path_factory.mktemp("engine"))


@pytest.fixture(params=[*FILES, "jsonl", *MEMORY, *DATABASES], scope="session")
def hold_grouped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Held:
    """Hold a table whose columns are named when it is read, as :func:`read_groups` has it."""
    return _holder(request, request.param, tmp_path_factory.mktemp("engine"))


@pytest.fixture(params=FILES + MEMORY + DATABASES, scope="session")
def hold(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Held:
    """Hold a table of columns with the engine of that name, as a source and what is to be said of it."""
    return _holder(request, request.param, tmp_path_factory.mktemp("engine"))


@pytest.fixture(params=ALL, scope="session")
def hold_anywhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Held:
    """Hold a table of columns with any engine there is."""
    return _holder(request, request.param, tmp_path_factory.mktemp("engine"))


@pytest.fixture(scope="session")
def spark_connect(spark_server: tuple[Any, str]) -> Iterator[Any]:
    """Connect to Spark over the network."""
    with warnings.catch_warnings():
        # It warns of the newest pandas.
        warnings.simplefilter("ignore")
        pytest.importorskip("grpc", reason="what Spark Connect needs is not installed (pyspark[connect])")
        from pyspark.sql.connect.session import SparkSession

        session = SparkSession.builder.remote(spark_server[1]).create()
        yield session
        session.stop()


def _reader(request: pytest.FixtureRequest, kind: str, folder: Path) -> Read:
    hold = _holder(request, kind, folder)

    def read(table: Table, **options: Any) -> Profile:
        with hold(table) as (source, said):
            return read_profile(source, **said, **options)

    return read


def _holder(request: pytest.FixtureRequest, kind: str, folder: Path) -> Held:
    server = request.getfixturevalue("postgresql") if kind == "postgresql" else None
    session = (
        request.getfixturevalue("spark_connect" if kind == "spark connect" else "spark") if kind in SPARK else None
    )
    numbers = count()

    @contextmanager
    def hold(table: Table) -> Iterator[tuple[Any, dict[str, Any]]]:
        path = folder / f"{next(numbers)}"
        if kind in FILES or kind == "jsonl":
            yield _write_file(path.with_suffix(f".{kind}"), table), {}
        elif kind in SPARK:
            held = in_spark(session, table)
            yield (held.repartition(5) if kind == "spark repartitioned" else held), {}
        elif kind in DATABASES:
            yield _database(kind, path, server, table), {"table": "the table"}
        else:
            yield _in_memory(kind, table), {}

    return hold


def _write_file(path: Path, table: Table) -> str:
    """Write a table as the ending says."""
    rows = list(zip(*table.values(), strict=True))
    plain = path.with_suffix("") if path.suffix in (".gz", ".zst") else path
    if path.suffix == ".parquet":
        pq.write_table(pa.table(table), path)
        return str(path)
    with plain.open("w", newline="", encoding="utf-8") as file:
        if plain.suffix == ".jsonl":
            file.writelines(json.dumps(dict(zip(table, row, strict=True)), default=str) + "\n" for row in rows)
        else:
            writer = csv.writer(file, delimiter="\t" if plain.suffix == ".tsv" else ",")
            writer.writerows([list(table), *rows])
    if plain != path:
        _compress(path, plain.read_bytes())
    return str(path)


def _compress(path: Path, data: bytes) -> None:
    """Write data compressed as the ending says."""
    with pa.output_stream(path, compression={".gz": "gzip", ".zst": "zstd"}[path.suffix]) as stream:
        stream.write(data)


def _in_memory(kind: str, table: Table) -> Any:
    makers: dict[str, Callable[[], Any]] = {
        "pandas": lambda: pd.DataFrame(table),
        "pandas pyarrow": lambda: pa.table(table).to_pandas(types_mapper=pd.ArrowDtype),
        "polars": lambda: pl.DataFrame(table),
        "polars lazy": lambda: pl.LazyFrame(table),
        "arrow": lambda: pa.table(table),
        "duckdb relation": lambda: _callers_engine().from_arrow(pa.table(table)),
        "ibis duckdb": lambda: ibis.memtable(pa.table(table)),
        "sqlframe": lambda: _sqlframe().createDataFrame(pa.table(table).to_pandas(types_mapper=pd.ArrowDtype)),
    }
    return makers[kind]()


@cache
def _sqlframe() -> Any:
    from sqlframe.duckdb import DuckDBSession

    return DuckDBSession(duckdb.connect())


def in_spark(session: Any, table: Table) -> Any:
    """Return a table of Spark whose columns have the types of their values."""

    def typed(name: str, values: list[Any]) -> str:
        value = next((value for value in values if value is not None), "")
        quoted = "`" + name.replace("`", "``") + "`"
        return f"{quoted} {'timestamp' if getattr(value, 'tzinfo', None) is not None else SPARK_TYPES[type(value)]}"

    rows = list(zip(*table.values(), strict=True))
    return session.createDataFrame(rows, ", ".join(typed(name, values) for name, values in table.items()))


def _database(kind: str, path: Path, server: str | None, table: Table) -> str:
    def sql_type(values: list[Any]) -> str:
        value = next((value for value in values if value is not None), "")
        return "TIMESTAMPTZ" if getattr(value, "tzinfo", None) is not None else SQL_TYPES[type(value)]

    columns = ", ".join(f'"{name}" {sql_type(values)}' for name, values in table.items())
    if kind == "duckdb":
        with _callers_engine().cursor() as engine:
            engine.execute(f"ATTACH '{path}' AS made")
            engine.execute(f'CREATE TABLE made."the table" ({columns})')
            engine.from_arrow(pa.table(table)).insert_into('made."the table"')
            engine.execute("DETACH made")
        return f"duckdb:///{path}"
    mark = "%s" if kind == "postgresql" else "?"
    insert = f'INSERT INTO "the table" VALUES ({", ".join([mark] * len(table))})'  # noqa: S608  # marks only
    rows = list(zip(*table.values(), strict=True))
    connection: Any = {
        "sqlite": lambda: sqlite3.connect(path),
        "postgresql": lambda: psycopg.connect(server),
    }[kind]()
    with closing(connection):
        cursor = connection.cursor()
        cursor.execute('DROP TABLE IF EXISTS "the table"')
        cursor.execute(f'CREATE TABLE "the table" ({columns})')
        if rows:
            cursor.executemany(insert, rows)
        connection.commit()
    return server if kind == "postgresql" and server else f"{kind}:///{path}"


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Start a server on a socket in a folder of its own and return its URL."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = str(installed[-1]) if installed else shutil.which("initdb")
    if initdb is None:
        pytest.skip("no PostgreSQL server is installed (initdb)")
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0:
        # The server refuses to run as root.
        known = {entry.pw_name: entry for entry in pwd.getpwall()}
        entry = known.get("postgres") or known.get("nobody")
        if entry is None:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres or nobody")
        as_user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    # The path of a socket is short, and its folder open to that user.
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        if as_user:
            os.chown(folder, as_user["user"], as_user["group"])
        data, control = f"{folder}/data", str(Path(initdb).with_name("pg_ctl"))

        def run(*command: str) -> None:
            # A server keeps what it inherits, so it gets no pipe of ours.
            subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **as_user)

        run(initdb, "-D", data, "-U", "tester", "--auth=trust", "--locale=C", "--encoding=UTF8", "--no-sync")
        settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        run(control, "-D", data, "-w", "-l", f"{folder}/log", "-o", settings, "start")
        try:
            yield f"postgresql://tester@/postgres?host={folder}"
        finally:
            run(control, "-D", data, "-w", "-m", "immediate", "stop")


@pytest.fixture(scope="session")
def write_table() -> WriteTable:
    """Write columns to a file as its ending says."""
    return _write_file


@pytest.fixture(scope="session")
def compress() -> Callable[[Path, bytes], None]:
    """Write bytes compressed as the ending says."""
    return _compress


@pytest.fixture
def refuse() -> Refused:
    """Read what must be refused and return the sentence that says why."""

    of_columns = {DataError: (MissingColumnError, RepeatedColumnError), UsageError: (UnnamedColumnError,)}

    def attempt(kind: type[AnonhistError], *args: Any, secret: str | None = None, **options: Any) -> str:
        with pytest.raises(AnonhistError) as caught:
            read_profile(*args, **options)
        message = str(caught.value)
        assert type(caught.value) in (kind, *of_columns.get(kind, ())), message
        assert message.endswith(".")
        assert "\n" not in message
        # A traceback shows the cause, and what the error came from unless that is suppressed.
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        if secret is not None:
            assert secret not in message
        return message

    return attempt


@pytest.fixture(params=["pipe", "file"])
def stdin(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Feed]:
    """Put data on standard input: in a pipe, as from another command, and as a file the shell opened."""
    before = os.dup(0)
    threads: list[threading.Thread] = []

    def feed(data: str | bytes, *, read_before: int = 0) -> None:
        data = data.encode() if isinstance(data, str) else data
        if request.param == "file":
            path = tmp_path / "stdin"
            path.write_bytes(data)
            descriptor = os.open(path, os.O_RDONLY)
        else:
            descriptor, writing = os.pipe()
            threads.append(threading.Thread(target=_pour, args=(data, writing)))
            threads[-1].start()
        os.dup2(descriptor, 0)
        os.close(descriptor)
        if read_before:
            os.read(0, read_before)

    yield feed
    os.dup2(before, 0)
    os.close(before)
    for thread in threads:
        thread.join()


def _pour(data: bytes, writing: int) -> None:
    with os.fdopen(writing, "wb") as file:
        file.write(data)


@pytest.fixture
def rows_fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each query has brought to Python."""
    rows_of_queries: list[int] = []
    fetch = read.fetch

    def spy(query: Any) -> list[tuple[Any, ...]]:
        rows = fetch(query)
        rows_of_queries.append(len(rows))
        return rows

    for module in (read, query, unit_sizes):
        monkeypatch.setattr(module, "fetch", spy)
    return rows_of_queries
