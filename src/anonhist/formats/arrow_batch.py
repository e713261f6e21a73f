"""The one record batch of an Arrow IPC file, where it lies: nothing is unpacked, so nothing grows.

Arrow unpacks compressed buffers before anybody can ask for their size. Whether a batch is compressed is said in its
header, a FlatBuffers table, and nowhere in Arrow's interface, so it is read there.

Source: Message.fbs and File.fbs of the Arrow columnar format, version 1.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from anonhist.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

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
