"""Exact inversion of a distribution function: compare random bits with its binary expansion, refine on a tie.

A uniform number U in [0, 1) is drawn bit by bit, as far as needed. With thresholds 0 ≤ T_1 ≤ T_2 ≤ …, the draw is
the number of thresholds at or below U. The first 16 bits of U decide almost every draw with one table look-up: only the
few of the 65,536 intervals that contain a threshold leave it open. Those draw 48 more bits, and if all 64 bits equal
those of a threshold, more words, which are compared with more digits of the threshold, as many as needed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.numeric.read_only import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.randomness.source import RandomSource

# Given a number of bits, ⌊T_j·2^bits⌋ for every threshold, in ascending order.
Thresholds = Callable[[int], Sequence[int]]

SLOT_BITS = 16
SLOTS_PER_WORD = 64 // SLOT_BITS
UNDECIDED = np.iinfo(np.int64).min
# 64 KiB of entropy, 256 KiB of draws and a look-up table of 512 KiB stay together in a level-2 cache of 1 MiB.
CHUNK = 1 << 15


def resolve(prefix: int, *, bits: int, thresholds: Thresholds, source: RandomSource) -> int:
    """Return how many thresholds are at or below a uniform U whose first ``bits`` binary digits are ``prefix``.

    While the digits of U equal those of a threshold, 64 more are drawn; each round decides, except with probability
    2⁻⁶⁴ per threshold still equal. (A U that begins like a dyadic threshold is at or above it. The next digit 1 of U
    decides that, so such thresholds need no special case.)
    """
    while True:
        floors = thresholds(bits)
        count = bisect_right(floors, prefix)
        if count == 0 or floors[count - 1] != prefix:
            return count
        prefix = prefix << 64 | int(source.words(1)[0])
        bits += 64


def fresh_slots(count: int, *, source: RandomSource) -> NDArray[np.uint16]:
    """Return ``count`` independent uniform 16-bit numbers, four to a word, lowest bits first on every machine."""
    words = source.words(-(-count // SLOTS_PER_WORD))
    return words.astype("<u8", copy=False).view("<u2")[:count]


def extend_slots(slots: NDArray[np.uint16], *, source: RandomSource) -> NDArray[np.uint64]:
    """Return uniform 64-bit numbers that begin with the given 16 bits; each uses 48 bits of a fresh word."""
    fresh = source.words(slots.size) >> np.uint64(SLOT_BITS)
    return slots.astype(np.uint64) << np.uint64(64 - SLOT_BITS) | fresh


@dataclass(frozen=True, eq=False)
class InversionTable:
    """A distribution on whole numbers, ready for look-up.

    Parameters
    ----------
    thresholds
        ``T_1 < … < T_J``, the values of the distribution function, as floors at any precision.
    values : ndarray of int64 or a smaller type, shape (J + 1,)
        ``values[j]`` is drawn when exactly j thresholds are at or below U.
    tail_step
        0, or the step s > 0 of a memoryless tail: if all J thresholds are at or below U, the draw is a new draw Z from
        the same distribution, moved outwards: Z + s if Z ≥ 0, else Z − s; ``values[J]`` is then not used. The tail must
        have probability below 2⁻¹⁶, so that no slot lies in the tail alone.
    undecided
        The entry of the look-up table where 16 bits leave the draw open. It may be one of the values, preferably a rare
        one: drawing more bits than necessary does not change the draw.
    """

    thresholds: Thresholds
    values: NDArray[Any]
    tail_step: int = 0
    undecided: int = UNDECIDED

    def __post_init__(self) -> None:
        read_only(self.values)

    @cached_property
    def _floors(self) -> NDArray[np.uint64]:
        return read_only(np.array(self.thresholds(64), dtype=np.uint64))

    @cached_property
    def _lookup(self) -> NDArray[Any]:
        holding = (self._floors >> np.uint64(64 - SLOT_BITS)).astype(np.intp)
        lookup = self.values[np.cumsum(np.bincount(holding, minlength=1 << SLOT_BITS))]
        lookup[holding] = self.undecided
        return read_only(lookup)

    def fill(self, out: NDArray[Any], *, source: RandomSource) -> None:
        """Overwrite a contiguous ``out``, of the type of the values, with independent draws."""
        slots = fresh_slots(out.size, source=source)
        np.take(self._lookup, slots, out=out, mode="clip")
        undecided = np.flatnonzero(out == self.undecided)
        if undecided.size:
            out[undecided] = self._decide(slots[undecided], source=source)

    def _decide(self, slots: NDArray[np.uint16], *, source: RandomSource) -> NDArray[Any]:
        prefix = extend_slots(slots, source=source)
        count = self._floors.searchsorted(prefix, side="right")
        tied = np.flatnonzero(self._floors[np.maximum(count, 1) - 1] == prefix)
        for i in tied.tolist():
            count[i] = resolve(int(prefix[i]), bits=64, thresholds=self.thresholds, source=source)
        drawn = self.values[count]
        if self.tail_step:
            tail = np.flatnonzero(count == self._floors.size)
            if tail.size:
                beyond = np.empty(tail.size, dtype=np.int64)
                # Each level of recursion has probability below 2⁻¹⁶ per draw, so its depth needs no bound.
                self.fill(beyond, source=source)
                drawn[tail] = beyond + np.where(beyond >= 0, self.tail_step, -self.tail_step)
        return drawn


def draw_xor(tables: Sequence[InversionTable], size: int, *, source: RandomSource) -> NDArray[np.int64]:
    """Return ``size`` independent draws, each the exclusive or of one draw per table."""
    out = np.empty(size, dtype=np.int64)
    digits = np.empty(min(size, CHUNK), dtype=np.int64)
    for start in range(0, size, CHUNK):
        part = out[start : start + CHUNK]
        tables[0].fill(part, source=source)
        for table in tables[1:]:
            low = digits[: part.size]
            table.fill(low, source=source)
            part ^= low
    return out
