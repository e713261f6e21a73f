"""Uniformly random whole numbers and subsets, drawn exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import UsageError
from anonhist.randomness.categorical import CHUNK
from anonhist.randomness.source import LARGEST_BOUND, RandomSource, checked_bound, checked_size

# Up to these bounds, at most one slot of 16 or 32 bits in sixteen, or one word in three, has to be drawn again.
SLOTS = ((1 << 12, "<u2"), (1 << 28, "<u4"), (1 << 63, "<u8"))


def uniform_integers(bound: int, size: int, *, source: RandomSource) -> NDArray[np.int64]:
    """Draw independent whole numbers, each of 0, 1, …, bound − 1 with probability exactly ``1/bound``, bound ≤ 2⁶³.

    A slot of b = 16, 32 or 64 random bits, X uniform below 2^b, is used if X < bound·⌊2^b/bound⌋, and the draw is then
    X mod bound; else a fresh slot is drawn: with probability below 1/16 for bounds up to 2²⁸, below bound/2⁶⁴ for
    larger ones, and never for powers of two. The bound 1 uses no words.
    """
    below, count = checked_bound(bound), checked_size(size)
    out = np.empty(count, dtype=np.int64)
    fill_uniform(out, below, source=source)
    return out


def uniform_integers_pmf(bound: int, k: ArrayLike) -> NDArray[np.float64]:
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
    words = source.words(-(-out.size // per_word))
    slots = words.astype("<u8", copy=False).view(slot)[: out.size]
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
BLOCK = 1 << 18


def random_subsets(population: int, chosen: int, size: int, *, source: RandomSource) -> NDArray[np.int64]:
    """Draw subsets of {0, …, population − 1} with exactly ``chosen`` members, each with the same probability.

    The population is at most 2⁶³. Rows are independent, their members ascending. The distribution is exact: ``chosen``
    members are drawn with replacement, and repeated ones are drawn again until all differ; all members are treated
    alike (docs/proofs/randomness.md, §8). For more than half of the population, the complement is drawn in this way.
    The time depends on the arguments and the random words.
    """
    among, members = checked_size(population, name="population"), checked_size(chosen, name="chosen")
    if not members <= among <= LARGEST_BOUND:
        raise UsageError(f"`chosen` must be at most the population and that at most 2^63, not {members} of {among}.")
    out = np.empty((checked_size(size), members), dtype=np.int64)
    fewer = min(members, among - members)
    rows = max(1, BLOCK // max(members, 1))
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
        still = at[np.flatnonzero(np.diff(at, prepend=-1))]  # ascending as they are, np.unique would sort them
        places, rows = places[still], rows[still]
        rows.sort(axis=1)
        subsets[places] = rows
    return subsets


def _complements(subsets: NDArray[np.signedinteger], population: int) -> NDArray[np.int64]:
    size, left_out = subsets.shape
    inside = np.ones((size, population), dtype=np.bool_)
    inside[np.arange(size)[:, np.newaxis], subsets] = False
    members = np.flatnonzero(inside).reshape(size, population - left_out)
    members -= (np.arange(size) * population)[:, np.newaxis]
    return members
