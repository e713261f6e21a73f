"""Content of untrusted files: values of documents and Parquet, each refused unless it has the right type.

Parquet is read in parts that a small file cannot make large. The single record batch of an Arrow IPC file is read in
place: nothing is unpacked, so nothing grows. Arrow unpacks compressed buffers before their size can be checked. Only a
batch's header, a FlatBuffers table, says whether it is compressed; Arrow's interface does not, so the header is parsed
here.

The layout is that of Message.fbs and File.fbs of the Arrow columnar format, version 1.
"""

from __future__ import annotations

import json
import struct
import sys
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from anonhist.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa
    import pyarrow.parquet as pq
    from numpy.typing import NDArray

Member = TypeVar("Member", bound=Enum)
T = TypeVar("T")
_LONGEST_TEXT = 4096
_LARGEST_FLOAT = sys.float_info.max


def mapping(value: object, names: set[str], what: str) -> Mapping[str, Any]:
    """Return an object that has exactly these fields."""
    if not isinstance(value, dict) or set(value) != names:
        raise DataError(f"it must describe {what} by exactly the fields {', '.join(sorted(names))}")
    return value


def text(value: object, what: str) -> str:
    """Return text that is short and can be shown anywhere."""
    # Control characters could take over the terminal that shows the text; lone surrogates could not be written.
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT or not all(map(_is_plain, value)):
        raise DataError(f"{what} must be plain text")
    return value


def member(members: type[Member], value: object, what: str) -> Member:
    """Return the member of an enumeration whose value is this text."""
    known = {each.value: each for each in members}
    if (found := known.get(text(value, what))) is None:
        raise DataError(f"{what} must be one of {', '.join(known)}")
    return found


def _is_plain(character: str) -> bool:
    return character.isprintable() or character in "\n\t"


def names_of(value: object) -> set[str]:
    """Return an object's field names; empty for other values."""
    return set(value) if isinstance(value, dict) else set()


def optional(read: Callable[[Any], T], value: object) -> T | None:
    """Read a field that may be null."""
    return None if value is None else read(value)


def whole(value: object, what: str) -> NDArray[np.int64]:
    """Return a list of whole numbers."""
    if not isinstance(value, list) or not all(type(number) is int and abs(number) < 2**63 for number in value):
        raise DataError(f"{what} must be a list of whole numbers below 2^63")
    return np.array(value, dtype=np.int64)


def floats(value: object, what: str) -> NDArray[np.float64]:
    """Return a list of finite numbers."""
    numbers: list[Any] = value if isinstance(value, list) else [None]
    # The comparison also refuses infinities and NaN; whole numbers may be longer than a float can hold.
    if not all(type(number) in (int, float) and abs(number) <= _LARGEST_FLOAT for number in numbers):
        raise DataError(f"{what} must be finite numbers")
    return np.array(numbers, dtype=np.float64)


def check_version(document: object, kind: str, version: int = 1) -> None:
    """Refuse a document of another format, or of a version that this program does not know."""
    top = document if isinstance(document, dict) else {}
    if top.get("format") != kind:
        raise DataError(f"its format is not {kind!r}")
    if type(top.get("version")) is not int or top["version"] != version:
        raise DataError(f"its version is not {version}, the one that this program reads; a newer program may read it")


def document_text(document: Mapping[str, Any]) -> str:
    """Write a document with objects spread over lines and lists on one line: readable, and no longer than needed."""
    return _spread(document, 0) + "\n"


def _spread(value: object, depth: int) -> str:
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = "  " * (depth + 1)
    fields = [f"{inner}{json.dumps(name)}: {_spread(field, depth + 1)}" for name, field in value.items()]
    return "{\n" + ",\n".join(fields) + "\n" + "  " * depth + "}"


def parse_json(content: bytes) -> object:
    """Parse JSON; reject repeated fields, NaN and infinities."""
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant, object_pairs_hook=_unique)
    except DataError:
        raise
    except (ValueError, RecursionError):  # besides bad syntax: bad UTF-8, endless numbers and endless nesting.
        raise DataError("it is not valid JSON") from None


def _no_constant(name: str) -> NoReturn:
    raise DataError(f"it holds {name} where a number must be")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise DataError("it names a field twice")
    return fields


# This program's files have a few columns, and one row group per million rows.
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
    """Turn Arrow's errors about a damaged file into one sentence."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError):  # The last one is raised if a column name is not text.
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
        raise DataError("its columns are not compressed with Snappy, as this program compresses them")


def batches(file: pq.ParquetFile, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Read columns in batches, up to the first with more rows than the file declares."""
    rows = file.metadata.num_rows
    seen = 0
    for batch in file.iter_batches(_ROWS_AT_ONCE, columns=columns, use_threads=False):
        seen += batch.num_rows
        if seen > rows:
            break
        yield batch
    if seen != rows:
        raise DataError("it is not a Parquet file, or a damaged one")


def holds(file: pq.ParquetFile, expected: Mapping[str, Sequence[Any]]) -> bool:
    """Return whether a file holds these columns, value by value; other columns, or more rows, are not unpacked."""
    rows = len(next(iter(expected.values())))
    if file.metadata.num_rows != rows or any(file.schema_arrow.names.count(name) != 1 for name in expected):
        return False
    seen = 0
    for batch in batches(file, list(expected)):
        end = seen + batch.num_rows
        if any(batch.column(name).to_pylist() != list(column[seen:end]) for name, column in expected.items()):
            return False
        seen = end
    return True


def whole_parquet(
    content: bytes,
    kind: str,
    what: str,
    decode: Callable[[object], T],
    is_same: Callable[[pq.ParquetFile, T], bool],
) -> T:
    """Rebuild a value from the document in a Parquet file, and check that the rows match.

    The check is needed because tools that filter a table keep its metadata.
    """
    with refuse_damage():
        file = open_parquet(content)
        document = (file.schema_arrow.metadata or {}).get(kind.encode())
        if document is None:
            raise DataError(f"it is a Parquet file, but not one of {what}")
        found = decode(parse_json(document))
        check_codecs(content)
        if is_same(file, found):
            return found
    raise DataError("its rows are not those that were released; they were changed later")


def codecs_of(content: bytes) -> set[int]:
    """Return the numbers of all codecs, 0 for none and 1 for Snappy."""
    try:
        length = int.from_bytes(content[-_TAIL:-4], "little")
        footer, _ = _Footer(content[-_TAIL - length : -_TAIL]).struct(0, 0)
        chunks = [column[_CHUNK] for group in footer[_GROUPS] for column in group[_COLUMNS]]
        return {chunk[_CODEC] for chunk in chunks}
    except (IndexError, KeyError, TypeError, ValueError):
        raise DataError("it is not a Parquet file, or a damaged one") from None


class _Footer:
    """The footer of a Parquet file: a struct in Thrift's compact protocol. Only its shape is read.

    Arrow's own function for the codecs crashes the process on some damaged files, and unpacking a column to find out is
    what must be avoided. Each method reads a value at a position, and returns it (None if it is irrelevant) and its
    end.

    The layout is that of parquet.thrift of the Parquet format, version 2; Thrift compact protocol, version 1.
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
            if kind not in (_TRUE, _FALSE):  # The type of a boolean is its value.
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
        raise ValueError  # Footers have no maps.

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


# An IPC file is its magic word, padded, followed by an IPC stream.
_STREAM_BEGINS = 8
# Positions of fields in their tables: Message.header_type, Message.header, RecordBatch.compression.
_HEADER_TYPE, _HEADER, _COMPRESSION = 1, 2, 3
_IS_BATCH = 3


def only_batch(content: pa.Buffer) -> pa.RecordBatch:
    """Return the uncompressed batch of a file that has exactly one, with its columns in place in the file."""
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
    """Return the position of a table's field; 0 if it is absent."""
    (back,) = struct.unpack_from("<i", metadata, table)
    vtable = table - back
    (length,) = struct.unpack_from("<H", metadata, vtable)
    if 4 + 2 * place >= length:
        return 0
    (offset,) = struct.unpack_from("<H", metadata, vtable + 4 + 2 * place)
    return table + offset if offset else 0
