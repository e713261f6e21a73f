"""Reads one form of Arrow's streams from strangers: whole numbers and fixed-size binary, uncompressed, without lists.

A stream says where its parts are, and how long. Arrow's own reader follows that: it unpacks compressed parts of any
size, and maps 25 MB. Here, whatever lies outside of the stream or is not needed makes it a bad one, and nothing is
copied before that is known. Layout: "Serialization and Interprocess Communication" in Arrow's columnar format, version
1.5, whose metadata are FlatBuffers.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError

# A message is these four bytes, the length of its metadata, the metadata, and a body of the length that they say.
_BEGIN = b"\xff\xff\xff\xff"
_MOST_BATCHES, _MOST_KEYS, _LONGEST = 100, 100, 100
_SCHEMA, _RECORD_BATCH = 1, 3
_INT, _FIXED_SIZE_BINARY = 2, 15
_VERSIONS = (3, 4)  # V4 and V5


class ColumnType(NamedTuple):
    """The type of a column: ``<i8`` and the like, or that of so many bytes."""

    name: str
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]


class Stream(NamedTuple):
    """The columns of a stream by name, which rows have all values, and the text of one key in the schema's metadata."""

    columns: dict[str, NDArray[np.generic]]
    present: NDArray[np.bool_]
    text: bytes


def read_stream(content: bytes, names: Collection[str], key: bytes) -> Stream:
    """Return what a stream of columns with these names holds, in any order, or refuse it.

    The text of ``key`` is empty if there is none.

    Raises
    ------
    DataError
        If it is not such a stream from its beginning to its end marker.
    """
    try:
        return _read(content, names, key)
    except (struct.error, ValueError, OverflowError, IndexError):
        raise DataError("This is not an Arrow stream of whole numbers and fixed-size binary.") from None


def _read(content: bytes, names: Collection[str], key: bytes) -> Stream:
    messages = _messages(content)
    kind, table, body = next(messages, (0, None, b""))
    if kind != _SCHEMA or table is None or body:
        raise ValueError
    types, text = _schema(table, len(names), key)
    if sorted(each.name for each in types) != sorted(names):
        raise ValueError
    parts: list[tuple[list[NDArray[np.generic]], NDArray[np.bool_]]] = []
    for kind, table, body in messages:
        if kind != _RECORD_BATCH or len(parts) == _MOST_BATCHES:
            raise ValueError
        parts.append(_batch(table, body, types))
    if not parts:
        raise ValueError
    if len(parts) == 1:
        ((columns, present),) = parts
    else:
        columns = [np.concatenate(each) for each in zip(*(values for values, _ in parts), strict=True)]
        present = np.concatenate([each for _, each in parts])
    return Stream(dict(zip((each.name for each in types), columns, strict=True)), present, text)


def _messages(content: bytes) -> Iterator[tuple[int, _Table, memoryview]]:
    """Yield the kind, the header and the body of each message; nothing may follow the end marker."""
    view, place = memoryview(content), 0
    while True:
        if view[place : place + 4] != _BEGIN:
            raise ValueError
        (length,) = struct.unpack_from("<i", view, place + 4)
        place += 8
        if not length:
            if place != len(view):
                raise ValueError
            return
        metadata = _part(view, place, length)
        place += length
        message = _Table(metadata, _offset(metadata, 0))
        body = _part(view, place, message.number(3, "<q"))
        place += len(body)
        if message.number(0, "<h") not in _VERSIONS:
            raise ValueError
        yield message.number(1, "<B"), message.table(2), body


def _schema(schema: _Table, columns: int, key: bytes) -> tuple[list[ColumnType], bytes]:
    # Fields and texts may share their bytes: what is copied is bounded by how many there are and how long they may be.
    fields = schema.tables(1)
    found = [each.text(1) for each in schema.tables(2) if each.text(0) == key]
    if schema.number(0, "<h") or len(fields) != columns or len(found) > 1:  # big-endian, or ambiguous
        raise ValueError
    text = found[0] if found else memoryview(b"")
    if len(text) > _LONGEST:
        raise ValueError
    return [_type(field) for field in fields], text.tobytes()


def _type(field: _Table) -> ColumnType:
    kind, name = field.number(2, "<B"), field.text(0).tobytes().decode()
    if field.has(4) or field.tables(5):  # a dictionary, or children
        raise ValueError
    if kind == _INT:
        bits, signed = field.table(3).number(0, "<i"), field.table(3).number(1, "<B")
        if bits not in {8, 16, 32, 64}:
            raise ValueError
        return ColumnType(name, np.dtype(f"<{'i' if signed else 'u'}{bits // 8}"), ())
    width = field.table(3).number(0, "<i")
    if kind != _FIXED_SIZE_BINARY or width < 1:
        raise ValueError
    return ColumnType(name, np.dtype(np.uint8), (width,))


def _batch(
    batch: _Table, body: memoryview, types: list[ColumnType]
) -> tuple[list[NDArray[np.generic]], NDArray[np.bool_]]:
    """Return the columns of a batch, and which rows have all values."""
    rows, nodes, buffers = batch.number(0, "<q"), batch.pairs(1, len(types)), batch.pairs(2, 2 * len(types))
    if rows < 0 or batch.has(3) or batch.pairs(4, 0):  # compression, and columns of several parts
        raise ValueError
    columns: list[NDArray[np.generic]] = []
    # No array is made for more rows than there are bytes.
    if rows > len(body):
        raise ValueError
    present = np.ones(rows, dtype=np.bool_)
    for place, each in enumerate(types):
        length, missing = nodes[place]
        if length != rows or missing < 0:
            raise ValueError
        values = _part(body, *buffers[2 * place + 1])
        size = int(np.prod(each.shape, dtype=np.int64))
        columns.append(np.frombuffer(values, each.dtype, rows * size).reshape(rows, *each.shape))
        if missing:
            bits = np.frombuffer(_part(body, *buffers[2 * place]), np.uint8, -(-rows // 8))
            present &= np.unpackbits(bits, count=rows, bitorder="little").astype(np.bool_)
    return columns, present


def _part(view: memoryview, place: int, length: int) -> memoryview:
    if place < 0 or length < 0 or place + length > len(view):
        raise ValueError
    return view[place : place + length]


def _offset(view: memoryview, place: int) -> int:
    """Return where a reference leads: forward, and inside."""
    return place + int(struct.unpack("<I", _part(view, place, 4))[0])


class _Table:
    """A table of a FlatBuffer: fields by number, each at a place that another table has, or missing."""

    def __init__(self, view: memoryview, place: int) -> None:
        (back,) = struct.unpack("<i", _part(view, place, 4))
        self._view, self._place, self._fields = view, place, place - back
        (self._length,) = struct.unpack("<H", _part(view, self._fields, 2))

    def _at(self, field: int) -> int | None:
        entry = 4 + 2 * field
        if entry + 2 > self._length:
            return None
        (offset,) = struct.unpack("<H", _part(self._view, self._fields + entry, 2))
        return self._place + offset if offset else None

    def has(self, field: int) -> bool:
        """Return whether a field is there."""
        return self._at(field) is not None

    def number(self, field: int, kind: str) -> int:
        """Return a number; one that is missing is 0."""
        place = self._at(field)
        if place is None:
            return 0
        return int(struct.unpack(kind, _part(self._view, place, struct.calcsize(kind)))[0])

    def table(self, field: int) -> _Table:
        """Return a table that must be there."""
        place = self._at(field)
        if place is None:
            raise ValueError
        return _Table(self._view, _offset(self._view, place))

    def tables(self, field: int) -> list[_Table]:
        """Return a list of tables."""
        place, length = self._list(field)
        if length > _MOST_KEYS:
            raise ValueError
        return [_Table(self._view, _offset(self._view, place + 4 * each)) for each in range(length)]

    def pairs(self, field: int, expected: int) -> list[tuple[int, int]]:
        """Return a list of so many pairs of numbers."""
        place, length = self._list(field)
        if length != expected:
            raise ValueError
        return list(struct.iter_unpack("<qq", _part(self._view, place, 16 * length)))

    def text(self, field: int) -> memoryview:
        """Return a text, which may be missing; it is not copied."""
        place, length = self._list(field)
        return _part(self._view, place, length)

    def _list(self, field: int) -> tuple[int, int]:
        """Return where a list begins, and how many members it says to have."""
        place = self._at(field)
        if place is None:
            return 0, 0
        place = _offset(self._view, place)
        (length,) = struct.unpack("<I", _part(self._view, place, 4))
        return place + 4, int(length)
