"""Results of queries as Arrow batches, whichever engine ran them, and texts of theirs as bytes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.ingest.naming import is_sqlite
from anonhist.ingest.sqlite_values import with_used_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


def record_batches(query: Any, rows: int) -> Iterator[Any]:
    """Run a query once and return its result as Arrow batches of this many rows, as they come where the engine can."""
    native = query.to_native()
    if type(native).__name__ == "DuckDBPyRelation":
        yield from batches(native, rows)
    elif query.implementation.is_ibis():
        yield from _ibis_batches(with_used_columns(query).to_native() if is_sqlite(query) else native, rows)
    else:
        collected = query.collect() if hasattr(query, "collect") else query
        yield from collected.to_arrow().to_batches(max_chunksize=rows)


def batches(relation: Any, rows: int) -> Iterator[Any]:
    """Run a query once and return its result as record batches that have some rows."""
    # Older engines have the same by another name.
    reader = (
        relation.to_arrow_reader(rows) if hasattr(relation, "to_arrow_reader") else relation.fetch_record_batch(rows)
    )
    for batch in reader:
        if batch.num_rows:
            yield batch


def _ibis_batches(query: Any, rows: int) -> Iterator[Any]:
    """Run a query; Ibis takes SQLite's rows through parts of pandas that are going away: nothing to tell its caller."""
    rest: Iterator[Any] | None = None
    if query.get_backend().name == "duckdb":
        # It asks the engine for batches by a name that newer engines no longer know.
        yield from query.to_pyarrow().to_batches(max_chunksize=rows)
        return
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            rest = iter(query.to_pyarrow_batches(chunk_size=rows)) if rest is None else rest
            batch = next(rest, None)
        if batch is None:
            return
        yield batch


def whole_column(column: Any) -> NDArray[np.int64]:
    """Return an Arrow array of whole numbers, none of them missing, without pandas, which Arrow itself would load.

    Examples
    --------
    >>> import pyarrow as pa
    >>> whole_column(pa.array([7, 2, 9], pa.uint8())[1:]).tolist()
    [2, 9]
    """
    import pyarrow as pa

    whole = column.cast(pa.int64())
    if not len(whole):
        return np.zeros(0, dtype=np.int64)
    return np.frombuffer(whole.buffers()[1], dtype=np.int64)[whole.offset : whole.offset + len(whole)]


def text_buffers(labels: Any) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Return the bytes of an Arrow array of texts, and where each begins: shapes (bytes,) and (labels + 1,)."""
    import pyarrow as pa

    if not pa.types.is_string(labels.type) and not pa.types.is_large_string(labels.type):
        labels = labels.cast(pa.large_string())
    if not len(labels):
        return np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    kind = np.int64 if pa.types.is_large_string(labels.type) else np.int32
    _, offsets, data = labels.buffers()
    begins = np.frombuffer(offsets, dtype=kind)[labels.offset : labels.offset + len(labels) + 1]
    return np.frombuffer(data, dtype=np.uint8), begins
