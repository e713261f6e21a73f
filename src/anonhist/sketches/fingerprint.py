"""Fingerprints of counters: those of a sum are the sum of fingerprints, so that a ledger knows merged sketches."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LANES, _BLOCK = 4, 1 << 16


def fingerprint(counters: NDArray[np.int64]) -> str:
    """Return a fingerprint of counters, as 64 hexadecimal digits.

    It consists of four sums modulo 2^64 of all counters, each times a number of its place: those numbers are public,
    and as if random (SHAKE-256). States that differ have one fingerprint with a probability of about 2^−256, more if
    all differences are multiples of a power of two. It does not withstand somebody who makes up counters for that.

    Parameters
    ----------
    counters
        Of a sketch, shape (d,).

    Examples
    --------
    >>> fingerprint(np.zeros(3, dtype=np.int64)) == "0" * 64
    True
    """
    total = np.zeros(_LANES, dtype=np.uint64)
    for start in range(0, counters.size, _BLOCK):
        part = counters[start : start + _BLOCK].astype(np.uint64)
        # Numbers wrap around, as they should.
        total += part @ _numbers(start // _BLOCK)[: part.size]
    return "".join(f"{int(each):016x}" for each in total)


def _numbers(block: int) -> NDArray[np.uint64]:
    """Return the numbers of the places of a block, shape (block, lanes)."""
    digest = hashlib.shake_256(b"anonhist fingerprint %d" % block).digest(8 * _LANES * _BLOCK)
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64).reshape(_BLOCK, _LANES)
