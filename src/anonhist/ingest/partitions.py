"""What the processes that work on the partitions of a Spark table send to the driver: sums, and never rows.

They import this package, so it must be installed on the executors, with PyArrow.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.ingest.query import record_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

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
