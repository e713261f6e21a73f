"""What Spark is asked to read: files by their path, or a table by its name at an address."""

from __future__ import annotations

import os
from typing import Any

from anonhist.errors import UsageError, mask
from anonhist.frozen import Converted, converted, frozen

# What reads files: the first, unless the other is asked for.
ENGINES = ("duckdb", "spark")
# A standalone cluster, and a server of Spark Connect.
SPARK_URLS = ("spark://", "sc://")
_NO_FILES = ("duckdb://", "sqlite://", "postgres://", "postgresql://", *SPARK_URLS)


def _parse_file(path: str) -> str:
    if path.startswith(_NO_FILES):
        raise UsageError(f"`engine` says what reads files, and {mask(path)!r} names none: leave it out.")
    return path


def _parse_path(given: str | os.PathLike[str]) -> str:
    path = os.fspath(given)
    if path == "-":
        raise UsageError("Spark cannot read standard input: write it to a file, or let DuckDB read it.")
    return _parse_file(path)


@frozen
class SparkFiles:
    """Files that Spark reads: a source for every reader, as a path is one that DuckDB reads.

    Spark is the session of this process if there is one, else a new one with your settings (``spark-defaults.conf``,
    ``SPARK_REMOTE``), which by default has all cores of this machine.

    Attributes
    ----------
    path
        Path, folder or pattern of .csv, .tsv, .txt, .jsonl or .parquet, the first four also with .gz, wherever Spark
        reads, as in ``"hdfs://host/events/*.parquet"``.

    Raises
    ------
    UsageError
        If it names no files.

    Examples
    --------
    >>> SparkFiles("events/*.parquet")
    SparkFiles(path='events/*.parquet')
    """

    path: Converted[str | os.PathLike[str], str] = converted(_parse_path)


def read_by(engine: str | None, source: str) -> str | SparkFiles:
    """Return a source as its engine takes it.

    Parameters
    ----------
    engine
        What reads files, ``"duckdb"`` or ``"spark"``; None where nothing is said of it.
    source
        What a person names.

    Raises
    ------
    UsageError
        If there is no such engine, or the source names no files.

    Examples
    --------
    >>> read_by("spark", "events/*.parquet"), read_by(None, "events/*.parquet")
    (SparkFiles(path='events/*.parquet'), 'events/*.parquet')
    """
    if engine is None:
        return source
    if engine not in ENGINES:
        raise UsageError(f"`engine` must be one of {', '.join(ENGINES)}, not {engine!r}.")
    return SparkFiles(source) if engine == "spark" else _parse_file(source)


def without_collations_in_spark(table: Any) -> Any:
    """Return a Narwhals table of Spark whose texts are compared as they are written.

    Under some collations "de" and "DE" are equal: one row could then give the labels of others another name, and two
    users would be bounded as one. Names of columns must be such that Spark reads them.
    """
    import narwhals as nw

    native = table.to_native()
    collated = {field.name for field in native.schema.fields if " collate " in field.dataType.simpleString().lower()}
    if not collated:
        return table
    quoted = {name: f"`{name}`" for name in native.columns}
    plain = {name: f"collate({column}, 'UTF8_BINARY') AS {column}" for name, column in quoted.items()}
    return nw.from_native(native.selectExpr(*(plain[name] if name in collated else quoted[name] for name in quoted)))
