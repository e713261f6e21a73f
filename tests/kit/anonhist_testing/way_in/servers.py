"""Sources of rows that must be started first: PostgreSQL and Spark."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import warnings
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from anonhist.ingest import SparkFiles
from anonhist_testing import postgresql as server_of_postgresql
from anonhist_testing.way_in.databases import postgresql
from anonhist_testing.way_in.sources import IN_FILES, Held, Rows, Source
from anonhist_testing.way_in.values import Kind, as_kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

_OF_SPARK = ("spark", "spark connect")
# Spark reads Parquet files of one pattern with one schema: their writer decides whether they can be read.
_FILES_OF_SPARK = [source for source in IN_FILES if source.name != "parquet files of several types"]
SERVED = ("postgresql", *_OF_SPARK, *(f"spark of {source.name}" for source in _FILES_OF_SPARK))


@contextmanager
def served(wanted: Collection[str]) -> Iterator[list[Source]]:
    """Start what is installed and wanted, and return its sources.

    Parameters
    ----------
    wanted
        The names of the sources that will be read.
    """
    with ExitStack() as stack:
        found = []
        if "postgresql" in wanted and server_of_postgresql.programs() is not None:
            found.append(postgresql(stack.enter_context(server_of_postgresql.server()).database()))
        if any(name.startswith("spark") for name in wanted) and shutil.which("java") and find_spec("pyspark"):
            session, address = stack.enter_context(spark_sessions())
            found += of_spark(session)
            if "spark connect" in wanted and find_spec("grpc"):
                found.append(_tables_of("spark connect", stack.enter_context(_connected(address))))
        yield [source for source in found if source.name in wanted]


def of_spark(session: Any) -> list[Source]:
    """Return what a session of Spark reads: its tables, and files."""
    return [_tables_of("spark", session), *map(_files_of_spark, _FILES_OF_SPARK)]


@contextmanager
def spark_sessions() -> Iterator[tuple[Any, str]]:
    """Start Spark; yield a session, in a time zone far from UTC, and the address at which others connect.

    A process has one at a time: whoever asks for a second would be given this one, and end it for all.
    """
    from pyspark.sql import SparkSession

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings: dict[str, Any] = {
        # For a few rows, planning anew and compiling take longer than counting.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(sys.path),
        "spark.sql.session.timeZone": "Asia/Tokyo",
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": str(port),
    }
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        try:
            yield session, f"sc://127.0.0.1:{port}"
        finally:
            session.stop()


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(address).create()
    try:
        yield session
    finally:
        session.stop()


_TYPES = {
    Kind.TEXT: "string",
    Kind.WHOLE: "long",
    Kind.FLOATS: "double",
    Kind.DECIMALS: "decimal(20, 4)",
    Kind.TRUTH: "boolean",
    Kind.DATES: "date",
    Kind.TIMES: "timestamp_ntz",
}


def _tables_of(name: str, session: Any) -> Source:
    """Return tables of a Spark session, in several partitions."""

    @contextmanager
    def hold(columns: dict[str, str], rows: Rows, _: Path) -> Iterator[Held]:
        declared = ", ".join(f"{column} {_TYPES[Kind(kind)]}" for column, kind in columns.items())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = session.createDataFrame(rows, declared)
        yield table.repartition(3), {}

    kinds = tuple(Kind)
    return Source(name, hold, lambda value, kind: as_kind(value, Kind(kind)), kinds, binds=True, is_slow=True)


def _files_of_spark(files: Source) -> Source:
    """Return files that Spark reads."""

    @contextmanager
    def hold(columns: dict[str, str], rows: Rows, folder: Path) -> Iterator[Held]:
        with files.hold(columns, rows, folder) as (path, said):
            yield SparkFiles(path), said

    return Source(f"spark of {files.name}", hold, files.fit, files.kinds, files.binds, files.declarations, is_slow=True)
