"""Arrow streams as gateways of any kind make them, and streams that were changed on purpose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

SOME_ID = {"id": f"{7:032x}"}
NUMBERS = [0, 1, 2, 3, 4, 7, 8, 16, 127, 255, 256, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 63) - 1]


def stream_of(
    columns: dict[str, Any],
    *,
    metadata: dict[str, str] | None = SOME_ID,
    rows_at_once: int | None = None,
    **options: Any,
) -> bytes:
    """Return a stream as Arrow writes it."""
    table = pa.table(columns).replace_schema_metadata(metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, rows_at_once)
    return bytes(sink.getvalue())


def changed(content: bytes, numbers: np.random.Generator) -> bytes:
    """Change some bytes or numbers, cut something out, or put something in."""
    made = bytearray(content)
    for _ in range(numbers.integers(1, 4)):
        place = int(numbers.integers(len(made)))
        way = numbers.integers(5)
        if way == 0:
            made[place] = numbers.integers(256)
        elif way == 1:
            made[place] ^= 1 << int(numbers.integers(8))
        elif way == 2:
            width = int(numbers.choice([2, 4, 8]))
            place -= place % width
            value = int(NUMBERS[numbers.integers(len(NUMBERS))]) * int(numbers.choice([1, -1]))
            made[place : place + width] = (value % (1 << 8 * width)).to_bytes(width, "little")
        elif way == 3:
            del made[place : place + int(numbers.integers(1, 9))]
        else:
            made[place:place] = bytes(int(numbers.integers(1, 9)))
        made = made or bytearray(b"\0")
    return bytes(made)
