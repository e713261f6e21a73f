"""Parquet files from strangers: opened and read in parts that a small file cannot make large."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from anonhist.errors import DataError
from anonhist.formats.parquet_footer import codecs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    import pyarrow.parquet as pq

# What is written has two columns of interest, a few more, and a group of rows for each million of them.
_MOST_LISTED = 10_000
# Snappy, which is written, unpacks to some twenty times the size at most; others to thousands of times.
_UNCOMPRESSED, _SNAPPY = 0, 1
_ROWS_AT_ONCE = 2**16


@contextmanager
def refuse_damage() -> Iterator[None]:
    """Turn what Arrow raises on a damaged file into one sentence."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError):  # the last where the name of a column is no text
        raise DataError("it is not a Parquet file, or a damaged one") from None


def open_parquet(content: bytes) -> pq.ParquetFile:
    """Open a file without unpacking any of its rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pq.ParquetFile(
        pa.BufferReader(content),
        # Its own limit of 10^8 is passed by profiles of a million counts.
        thrift_string_size_limit=max(1, min(len(content), 2**31 - 1)),
        thrift_container_size_limit=_MOST_LISTED,
    )


def check_codecs(content: bytes) -> None:
    """Refuse columns that may unpack to any size."""
    if not codecs_of(content) <= {_UNCOMPRESSED, _SNAPPY}:
        raise DataError("its columns are compressed otherwise than this program does it (Snappy)")


def batches(file: pq.ParquetFile, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Read columns in batches, up to the first that has more rows than the file says that it has."""
    rows = file.metadata.num_rows
    seen = 0
    for batch in file.iter_batches(_ROWS_AT_ONCE, columns=columns, use_threads=False):
        seen += batch.num_rows
        if seen > rows:
            break
        yield batch
    if seen != rows:
        raise DataError("it is not a Parquet file, or a damaged one")
