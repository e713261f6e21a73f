"""Draws among categories, exactly: with weights, by inversion of a distribution function, or with equal chances.

A uniform number U in [0, 1) is drawn bit by bit, as far as needed. With thresholds 0 ≤ T_1 ≤ T_2 ≤ …, the draw is the
number of thresholds at or below U. The first 16 bits decide almost every draw by one table look-up; if they leave it
open, 48 more are drawn, and on a tie with a threshold as many words as needed. See docs/proofs/randomness.md, §1.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import UsageError
from anonhist.numeric.arrays import Floats, Ints, read_only
from anonhist.randomness.source import LARGEST_BOUND, RandomSource, checked_bound, checked_size

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
    return source.words(-(-count // SLOTS_PER_WORD)).astype("<u8", copy=False).view("<u2")[:count]


def extend_slots(slots: NDArray[np.uint16], *, source: RandomSource) -> NDArray[np.uint64]:
    """Return uniform 64-bit numbers that begin with the given 16 bits; each uses 48 bits of a fresh word."""
    fresh = source.words(slots.size) >> np.uint64(SLOT_BITS)
    return slots.astype(np.uint64) << np.uint64(64 - SLOT_BITS) | fresh


@dataclass(frozen=True, eq=False)
class InversionTable:
    """A distribution on whole numbers, ready for look-up.

    ``thresholds`` gives ``T_1 < … < T_J``, the values of the distribution function, as floors at any precision;
    ``values[j]`` is drawn when exactly j of them are at or below U. A memoryless tail has a ``tail_step`` s > 0: if all
    J thresholds are at or below U, the draw is a new draw Z from the same distribution, moved outwards: Z + s if Z ≥ 0,
    else Z − s; ``values[J]`` is then not used. The tail must have probability below 2⁻¹⁶, so that no slot lies in the
    tail alone. The look-up table holds ``undecided`` where 16 bits leave the draw open. It may be one of the values,
    preferably a rare one: drawing more bits than necessary does not change the draw.
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


def draw_xor(tables: Sequence[InversionTable], size: int, *, source: RandomSource) -> Ints:
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


UNIT_ROUNDOFF = 2.0**-53
# Totals outside this range use exact arithmetic at once, because error bounds could underflow or sums overflow.
SMALLEST_TOTAL, LARGEST_TOTAL = 2.0**-900, 2.0**1000
# Rows are processed in blocks of about this many weights, which stay in a level-2 cache.
BLOCK = 1 << 16


def categorical(weights: Floats, *, source: RandomSource) -> int:
    """Draw an index: ``P(i) = weights[i] / Σ weights``, with floats as the exact binary numbers they are.

    Weights are finite, ≥ 0 and not all zero. Cumulative sums of floats decide the draw only where a proved error bound,
    (4k + 16)·2⁻⁵³ times the float total, leaves no doubt (docs/proofs/randomness.md, §6); otherwise whole numbers of
    any length decide, with more random bits if needed. This slower path is taken with a probability of at most about
    k²·2⁻⁵⁰, and always if the sum of the weights is outside 2⁻⁹⁰⁰..2^1000: scale such weights. Otherwise the time
    depends only on k and the random words.
    """
    checked = _check(weights, dimensions=1)
    word = int(source.words(1)[0])
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.add.accumulate(checked)
    total = float(sums[-1])
    if SMALLEST_TOTAL < total < LARGEST_TOTAL:
        target = word * 2.0**-64 * total
        index = int(sums.searchsorted(target, side="right"))
        slack = (4 * checked.size + 16) * UNIT_ROUNDOFF * total
        if index < checked.size and target <= sums[index] - slack and (index == 0 or target >= sums[index - 1] + slack):
            return index
    return _exact(checked, word, source=source)


def categorical_rows(weights: Floats, *, source: RandomSource) -> Ints:
    """Draw an index per row: ``P(i in row r) = weights[r, i] / Σ_i weights[r, i]``, the rows independently.

    No row may be all zero. Each draw is as exact as one of :func:`categorical`.
    """
    checked = _check(weights, dimensions=2)
    words = source.words(checked.shape[0])
    drawn = np.empty(checked.shape[0], dtype=np.int64)
    rows = max(1, BLOCK // checked.shape[1])
    for start in range(0, drawn.size, rows):
        block = slice(start, start + rows)
        _fill_block(drawn[block], checked[block], words[block], source=source)
    return drawn


def categorical_pmf(weights: Floats) -> Floats:
    """Return ``weights[i] / Σ weights`` for every i; relative error below 10⁻¹² for normal floats."""
    checked = _check(weights, dimensions=1)
    largest = checked.max()
    if not 0 < largest < math.inf:
        raise _bad_weights()
    # Divided by a power of two, exactly, so that the sum does not overflow and small weights lose no digits.
    scaled = np.ldexp(checked, -int(np.frexp(largest)[1]))
    return np.asarray(scaled / math.fsum(scaled))


def _fill_block(drawn: Ints, weights: Floats, words: NDArray[np.uint64], *, source: RandomSource) -> None:
    size = weights.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.add.accumulate(weights, axis=1)
        totals = sums[:, -1]
        targets = words.astype(np.float64) * 2.0**-64 * totals
        drawn[:] = np.count_nonzero(sums <= targets[:, np.newaxis], axis=1)
        slack = (4 * size + 16) * UNIT_ROUNDOFF * totals
        rows = np.arange(drawn.size)
        above = sums[rows, np.minimum(drawn, size - 1)]
        below = sums[rows, np.maximum(drawn, 1) - 1]
        sure = (
            (totals > SMALLEST_TOTAL)
            & (totals < LARGEST_TOTAL)
            & (drawn < size)
            & (targets <= above - slack)
            & ((drawn == 0) | (targets >= below + slack))
        )
    for row in np.flatnonzero(~sure).tolist():
        drawn[row] = _exact(weights[row], int(words[row]), source=source)


def _exact(weights: Floats, word: int, *, source: RandomSource) -> int:
    """Draw with whole numbers; ``word`` is the first 64 bits of U."""
    if not (np.isfinite(weights).all() and weights.any()):
        raise _bad_weights()
    mantissas, exponents = np.frexp(weights)
    wholes = (mantissas * 2.0**53).astype(np.int64).tolist()
    shifts = (exponents - exponents[weights > 0].min()).clip(min=0).tolist()
    cumulative = list(accumulate(whole << shift for whole, shift in zip(wholes, shifts, strict=True)))
    total = cumulative[-1]

    def thresholds(bits: int) -> Sequence[int]:
        return [(part << bits) // total for part in cumulative]

    return resolve(word, bits=64, thresholds=thresholds, source=source)


def _check(weights: ArrayLike, *, dimensions: int) -> Floats:
    checked = np.asarray(weights, dtype=np.float64)
    if checked.ndim != dimensions or not checked.shape[-1]:
        raise UsageError(f"`weights` must be an array with {dimensions} dimension(s), the last one not empty.")
    # NaN fails every comparison. Infinity passes, but makes the total infinite, and the exact path refuses it.
    if checked.size and not np.minimum.reduce(checked, axis=None) >= 0:
        raise _bad_weights()
    return checked


def _bad_weights() -> UsageError:
    return UsageError("`weights` must be finite, at least 0 and not all zero.")


# Up to these bounds, at most one slot of 16 or 32 bits in sixteen, or one word in three, has to be redrawn.
SLOTS = ((1 << 12, "<u2"), (1 << 28, "<u4"), (1 << 63, "<u8"))


def uniform_integers(bound: int, size: int, *, source: RandomSource) -> Ints:
    """Draw independent whole numbers, each of 0, 1, …, bound − 1 with probability exactly ``1/bound``, bound ≤ 2⁶³.

    A slot of b = 16, 32 or 64 random bits, X uniform below 2^b, is used if X < bound·⌊2^b/bound⌋, and the draw is then
    X mod bound; else a fresh slot is drawn: with probability below 1/16 for bounds up to 2²⁸, below bound/2⁶⁴ for
    larger ones, and never for powers of two. The bound 1 uses no words.
    """
    below, count = checked_bound(bound), checked_size(size)
    out = np.empty(count, dtype=np.int64)
    fill_uniform(out, below, source=source)
    return out


def uniform_integers_pmf(bound: int, k: ArrayLike) -> Floats:
    """Return the probability of each k: ``1/bound`` for 0, 1, …, bound − 1, and 0 for anything else."""
    below, at = checked_bound(bound), np.asarray(k)
    return np.where((at >= 0) & (at < below), 1 / below, 0.0)


def fill_uniform(out: NDArray[np.signedinteger], bound: int, *, source: RandomSource) -> None:
    """Overwrite an array of one dimension, of a type that holds bound − 1, with independent draws below the bound."""
    if bound == 1:
        out[:] = 0
        return
    for start in range(0, out.size, CHUNK):
        _fill(out[start : start + CHUNK], bound, source=source)


def _fill(out: NDArray[np.signedinteger], bound: int, *, source: RandomSource) -> None:
    slot = np.dtype(next(name for largest, name in SLOTS if bound <= largest))
    per_word, bits = 8 // slot.itemsize, 8 * slot.itemsize
    slots = source.words(-(-out.size // per_word)).astype("<u8", copy=False).view(slot)[: out.size]
    # NumPy turns division by a single number into multiplication, but not the remainder.
    quotients = slots // slot.type(bound)
    np.subtract(slots, quotients * slot.type(bound), out=out, casting="unsafe")
    whole = (1 << bits) // bound
    if bound * whole < 1 << bits:
        again = np.flatnonzero(quotients == whole)
        if again.size:
            fresh = np.empty(again.size, dtype=out.dtype)
            _fill(fresh, bound, source=source)
            out[again] = fresh


# Subsets are processed in blocks of about this many members, which stay in a level-2 cache while they are sorted.
SUBSETS_BLOCK = 1 << 18


def random_subsets(population: int, chosen: int, size: int, *, source: RandomSource) -> Ints:
    """Draw subsets of {0, …, population − 1} with exactly ``chosen`` members, each with the same probability.

    The population is at most 2⁶³. Rows are independent, their members ascending. The distribution is exact: ``chosen``
    members are drawn with replacement, and repeated ones are redrawn until all differ; all members are treated alike
    (docs/proofs/randomness.md, §8). For more than half of the population, the complement is drawn in this way. The time
    depends on the arguments and the random words.
    """
    among, members = checked_size(population, name="population"), checked_size(chosen, name="chosen")
    if not members <= among <= LARGEST_BOUND:
        raise UsageError(f"`chosen` must be at most the population and that at most 2^63, not {members} of {among}.")
    out = np.empty((checked_size(size), members), dtype=np.int64)
    fewer = min(members, among - members)
    rows = max(1, SUBSETS_BLOCK // max(members, 1))
    for start in range(0, out.shape[0] if members else 0, rows):
        part = out[start : start + rows]
        subsets = _subsets(among, fewer, part.shape[0], source=source)
        part[:] = subsets if fewer == members else _complements(subsets, among)
    return out


def _subsets(population: int, chosen: int, size: int, *, source: RandomSource) -> NDArray[np.signedinteger]:
    """Return sorted rows of ``chosen`` distinct numbers, at most half of the population."""
    # Short integers are sorted several times faster.
    kind = np.result_type(np.int16, np.min_scalar_type(-population))
    subsets = np.empty((size, chosen), dtype=kind)
    fill_uniform(subsets.reshape(-1), population, source=source)
    subsets.sort(axis=1)
    places, rows = np.arange(size), subsets
    while places.size and chosen > 1:
        at, before = np.divmod(np.flatnonzero(rows[:, 1:] == rows[:, :-1]), chosen - 1)
        fresh = np.empty(at.size, dtype=kind)
        fill_uniform(fresh, population, source=source)
        rows[at, before + 1] = fresh
        still = at[np.flatnonzero(np.diff(at, prepend=-1))]  # Already ascending; np.unique would sort them again.
        places, rows = places[still], rows[still]
        rows.sort(axis=1)
        subsets[places] = rows
    return subsets


def _complements(subsets: NDArray[np.signedinteger], population: int) -> Ints:
    size, left_out = subsets.shape
    inside = np.ones((size, population), dtype=np.bool_)
    inside[np.arange(size)[:, np.newaxis], subsets] = False
    members = np.flatnonzero(inside).reshape(size, population - left_out)
    members -= (np.arange(size) * population)[:, np.newaxis]
    return members
