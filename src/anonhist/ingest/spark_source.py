"""What Spark is asked to read, files or a table at an address, and what its partitions send: sums, and never rows.

Executors import this package, so it must be installed on them, with PyArrow.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import UsageError, mask
from anonhist.frozen import Converted, converted, frozen
from anonhist.ingest.query import record_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

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
    """Return a source as its engine takes it: ``"duckdb"``, ``"spark"``, or None where nothing is said of it."""
    if engine is None:
        return source
    if engine not in ENGINES:
        raise UsageError(f"`engine` must be one of {', '.join(ENGINES)}, not {engine!r}.")
    return SparkFiles(source) if engine == "spark" else _parse_file(source)


_NUMBERS = "place long, number long"
_ROWS = 1 << 20


def work_on_partitions(frame: Any, work: Callable[[Iterator[Any]], Iterator[Any]], schema: str) -> Iterator[Any]:
    """Run a function on the Arrow batches of each partition of a Spark table, and return the batches it yields."""
    import narwhals as nw

    with warnings.catch_warnings():
        # Spark asks for pandas first, and warns of versions that it does not know: none of it is used here.
        warnings.simplefilter("ignore", FutureWarning)
        worked = frame.mapInArrow(work, schema)
    return record_batches(nw.from_native(worked), _ROWS)


def numbers_of_partitions(
    frame: Any, work: Callable[[Iterator[Any]], Iterator[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Run a function that yields batches of numbers on each partition; return all places and all numbers."""
    batches = list(work_on_partitions(frame, work, _NUMBERS))
    nothing = np.zeros(0, dtype=np.int64)
    places, numbers = ([batch.column(name).to_numpy() for batch in batches] for name in ("place", "number"))
    return np.concatenate([nothing, *places]), np.concatenate([nothing, *numbers])


def numbers_batch(places: NDArray[np.int64], numbers: NDArray[np.int64]) -> Any:
    """Return places and their numbers as an Arrow batch."""
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array(places), pa.array(numbers)], names=["place", "number"])
