"""Reports of many bits, packed: bit j of a row is bit j mod 8, counted from the lowest, of byte ⌊j/8⌋."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Sums of this many bits fit in a byte.
_ROWS = 255


def overwrite_bits(rows: NDArray[np.uint8], places: NDArray[np.int64], bits: NDArray[np.bool_]) -> None:
    """Give bit ``places[i]`` of row i the value ``bits[i]``, in place."""
    users = np.arange(len(rows))
    masks = np.left_shift(np.uint8(1), (places & 7).astype(np.uint8))
    at = places >> 3
    rows[users, at] = np.where(bits, rows[users, at] | masks, rows[users, at] & ~masks)


def bit_counts(rows: NDArray[np.uint8], size: int) -> NDArray[np.int64]:
    """Return in how many rows each of the first ``size`` bits is set, shape (size,)."""
    total = np.zeros(size, dtype=np.int64)
    for start in range(0, len(rows), _ROWS):
        bits = np.unpackbits(rows[start : start + _ROWS], axis=1, count=size, bitorder="little")
        total += np.add.reduce(bits, axis=0, dtype=np.uint8)
    return total
