"""Parquet files from strangers: opened and read in parts that a small file cannot make large.

The one record batch of an Arrow IPC file, where it lies: nothing is unpacked, so nothing grows.

Arrow unpacks compressed buffers before anybody can ask for their size. Whether a batch is compressed is said in its
header, a FlatBuffers table, and nowhere in Arrow's interface, so it is read there.

Source: Message.fbs and File.fbs of the Arrow columnar format, version 1.
"""

from __future__ import annotations

import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    import pyarrow.parquet as pq

# Files of this program have a few columns, and a row group for each million rows.
_MOST_LISTED = 10_000
# Snappy, which this program writes, unpacks to at most about 20 times the size; other codecs to thousands of times.
_UNCOMPRESSED, _SNAPPY = 0, 1
_ROWS_AT_ONCE = 2**16
# Types of the compact protocol.
_TRUE, _FALSE, _BYTE, _INT_32, _INT_64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 5, 6, 7, 8, 9, 10, 12
# FileMetaData.row_groups, RowGroup.columns, ColumnChunk.meta_data and ColumnMetaData.codec, each with its type.
_GROUPS, _COLUMNS, _CHUNK, _CODEC = (4, _LIST), (1, _LIST), (3, _STRUCT), (4, _INT_32)
_DEEPEST = 16
_TAIL = 8


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
        # Profiles of a million counts exceed Arrow's own limit of 10^8.
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


def codecs_of(content: bytes) -> set[int]:
    """Return the numbers of all codecs, 0 for none and 1 for Snappy.

    Raises
    ------
    DataError
        If the footer does not name them.
    """
    try:
        length = int.from_bytes(content[-_TAIL:-4], "little")
        footer, _ = _Footer(content[-_TAIL - length : -_TAIL]).struct(0, 0)
        chunks = [column[_CHUNK] for group in footer[_GROUPS] for column in group[_COLUMNS]]
        return {chunk[_CODEC] for chunk in chunks}
    except (IndexError, KeyError, TypeError, ValueError):
        raise DataError("it is not a Parquet file, or a damaged one") from None


class _Footer:
    """The footer of a Parquet file: a struct in Thrift's compact protocol. Only its shape is read.

    Arrow's own way to ask for the codecs ends the whole process on some damaged files, and unpacking a column to find
    out is what this prevents. Each method reads a value at a position, and returns it (None if it is of no interest)
    and where it ends.

    Source: parquet.thrift of the Parquet format, version 2; Thrift compact protocol, version 1.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content

    def struct(self, at: int, depth: int) -> tuple[dict[tuple[int, int], Any], int]:
        """Read fields by their number and type."""
        if depth > _DEEPEST:
            raise ValueError
        fields: dict[tuple[int, int], Any] = {}
        number = 0
        while header := self._content[at]:
            step, kind = divmod(header, 16)
            at += 1
            if step:
                number += step
            else:
                number, at = self._read_signed(at)
            if kind not in (_TRUE, _FALSE):  # whose value is their type
                fields[number, kind], at = self._value(kind, at, depth)
        return fields, at + 1

    def _value(self, kind: int, at: int, depth: int) -> tuple[Any, int]:
        if kind in (_BYTE, _TRUE, _FALSE):
            return None, at + 1
        if _BYTE < kind <= _INT_64:
            return self._read_signed(at)
        if kind == _DOUBLE:
            return None, at + 8
        if kind == _BINARY:
            length, at = self._read_unsigned(at)
            return None, at + length
        if kind in (_LIST, _SET):
            return self._list(at, depth + 1)
        if kind == _STRUCT:
            return self.struct(at, depth + 1)
        raise ValueError  # maps are in no footer

    def _list(self, at: int, depth: int) -> tuple[list[Any], int]:
        if depth > _DEEPEST:
            raise ValueError
        size, kind = divmod(self._content[at], 16)
        at += 1
        if size == 15:
            size, at = self._read_unsigned(at)
        values = []
        for _ in range(size):
            value, at = self._value(kind, at, depth)
            values.append(value)
            if at > len(self._content):
                raise ValueError
        return values, at

    def _read_unsigned(self, at: int) -> tuple[int, int]:
        number = 0
        for shift in range(0, 70, 7):
            byte = self._content[at]
            at += 1
            number |= (byte & 127) << shift
            if byte < 128:
                return number, at
        raise ValueError

    def _read_signed(self, at: int) -> tuple[int, int]:
        number, at = self._read_unsigned(at)
        return number >> 1 ^ -(number & 1), at


# An IPC file is its magic word, padded, and then an IPC stream.
_STREAM_BEGINS = 8
# Places of fields in their tables: Message.header_type, Message.header, RecordBatch.compression.
_HEADER_TYPE, _HEADER, _COMPRESSION = 1, 2, 3
_IS_BATCH = 3


def only_batch(content: pa.Buffer) -> pa.RecordBatch:
    """Return the batch of a file that has one, its columns where they lie in the file.

    Raises
    ------
    DataError
        If there is not exactly one, or it is compressed.
    pyarrow.ArrowException
        If it is not an Arrow IPC file.
    """
    import pyarrow as pa

    file = pa.ipc.open_file(content)
    messages = list(pa.ipc.MessageReader.open_stream(content.slice(_STREAM_BEGINS)))
    if file.num_record_batches != 1 or [message.type for message in messages] != ["schema", "record batch"]:
        raise DataError("it is an Arrow file, but not one of a sketch")
    if _is_compressed(messages[1].metadata.to_pybytes()):
        raise DataError("its columns are compressed; this program writes them uncompressed")
    batch = pa.ipc.read_record_batch(messages[1], file.schema)
    batch.validate(full=True)
    return batch


def _is_compressed(metadata: bytes) -> bool:
    try:
        (message,) = struct.unpack_from("<I", metadata)
        kind, header = _field(metadata, message, _HEADER_TYPE), _field(metadata, message, _HEADER)
        if not kind or metadata[kind] != _IS_BATCH or not header:
            raise DataError("it is an Arrow file, but not one of a sketch")
        return bool(_field(metadata, header + struct.unpack_from("<I", metadata, header)[0], _COMPRESSION))
    except (struct.error, IndexError):
        raise DataError("it is not an Arrow file, or a damaged one") from None


def _field(metadata: bytes, table: int, place: int) -> int:
    """Return where a field of a table lies, 0 where it is absent."""
    (back,) = struct.unpack_from("<i", metadata, table)
    vtable = table - back
    (length,) = struct.unpack_from("<H", metadata, vtable)
    if 4 + 2 * place >= length:
        return 0
    (offset,) = struct.unpack_from("<H", metadata, vtable + 4 + 2 * place)
    return table + offset if offset else 0
