"""Files of reports: a row a person, and in every row the digest of the survey that it answers."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import numpy as np

from anonhist.formats.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from anonhist.formats.tables import Columns
    from anonhist.local.surveys.reports import Reports

ENDINGS = (".csv", ".jsonl", ".ndjson", ".parquet")
# Bytes of reports written at a time: texts beyond 2^31 bytes would not fit an array.
_PART_BYTES = 1 << 26
_HEX = np.array([f"{byte:02x}".encode() for byte in range(256)], dtype="S2").view(np.uint16)


class ReportsWriter(Protocol):
    """Writes reports to a file, as often as there are some."""

    def write(self, reports: Reports) -> None:
        """Add reports, all of one survey."""


@contextmanager
def reports_writer(ending: str, file: BinaryIO) -> Iterator[ReportsWriter]:
    """Give what writes reports as files of this ending hold them; at the end of the block, the file is whole.

    In Parquet, whole numbers are INT64 and bytes BINARY. In CSV and JSON lines, bytes are lower-case hexadecimal text.
    """
    if ending != ".parquet":
        yield _Lines(file, is_csv=ending == ".csv")
        return
    writer = _Parquet(file)
    try:
        yield writer
    finally:
        # Also after a failure: a writer that is left open writes to a file that was closed when it is let go.
        writer.close()


def _columns(reports: Reports) -> Columns:
    """Return all rows at once, as CSV has them."""
    columns: dict[str, Any] = {"survey": [reports.survey] * len(reports)}
    for name, column in reports.columns.items():
        columns[name] = [bytes(row).hex() for row in column] if column.ndim == 2 else column
    return columns


TABLE = Table(_columns)


def write_reports(reports: Reports, file: BinaryIO, ending: str) -> None:
    """Write all there are."""
    with reports_writer(ending, file) as writer:
        writer.write(reports)


class _Parquet:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._writer: Any = None

    def write(self, reports: Reports) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        for rows in _parts(reports):
            columns: dict[str, Any] = {"survey": pa.repeat(reports.survey, rows.stop - rows.start)}
            for name, column in reports.columns.items():
                columns[name] = _bytes(column[rows]) if column.ndim == 2 else pa.array(column[rows], pa.int64())
            table = pa.table(columns)
            if self._writer is None:
                # Bytes of reports are as good as random: neither a dictionary nor a codec makes them shorter.
                few = [name for name, column in columns.items() if column.type != pa.binary()]
                self._writer = pq.ParquetWriter(self._file, table.schema, use_dictionary=few)
            self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


class _Lines:
    """CSV, or JSON lines: pieces of text around the columns of each row."""

    def __init__(self, file: BinaryIO, *, is_csv: bool) -> None:
        self._file, self._is_csv, self._begun = file, is_csv, False

    def write(self, reports: Reports) -> None:
        if self._is_csv and not self._begun:
            self._file.write(",".join(("survey", *reports.columns)).encode() + b"\n")
        self._begun = True
        for rows in _parts(reports):
            pieces: list[Any] = [reports.survey if self._is_csv else f'{{"survey":"{reports.survey}"']
            for name, column in reports.columns.items():
                quote = '"' if column.ndim == 2 and not self._is_csv else ""
                pieces += ["," if self._is_csv else f',"{name}":{quote}', _texts(column[rows]), quote]
            _write_lines(self._file, [*pieces, "\n" if self._is_csv else "}\n"])


def _parts(reports: Reports) -> list[slice]:
    """Return the rows in parts of about this many bytes; one empty part if there are no rows."""
    width = sum(column[:1].nbytes for column in reports.columns.values()) or 1
    step = max(1, _PART_BYTES // (3 * width + 64))
    return [slice(start, min(start + step, len(reports))) for start in range(0, len(reports) or 1, step)]


def _bytes(column: NDArray[Any]) -> pa.Array:
    """Return rows of bytes as values of an Arrow array, without a loop over them."""
    import pyarrow as pa

    rows, width = column.shape
    data = pa.py_buffer(np.ascontiguousarray(column))
    offsets = pa.py_buffer(np.arange(rows + 1, dtype=np.int32) * np.int32(width))
    return pa.Array.from_buffers(pa.binary(), rows, [None, offsets, data])


def _texts(column: NDArray[Any]) -> pa.Array:
    import pyarrow as pa

    if column.ndim == 2:
        return _bytes(_HEX[column].view(np.uint8).reshape(len(column), 2 * column.shape[1])).cast(pa.string())
    return pa.array(column).cast(pa.string())


def _write_lines(file: BinaryIO, pieces: list[Any]) -> None:
    """Join pieces of every row; texts of one array lie one after the other, so they are the file already."""
    import pyarrow.compute as pc

    lines = pc.binary_join_element_wise(*pieces, "")
    if len(lines):
        _, offsets, data = lines.buffers()
        ends = np.frombuffer(offsets, dtype=np.int32)[lines.offset : lines.offset + len(lines) + 1]
        file.write(memoryview(data)[ends[0] : ends[-1]])
