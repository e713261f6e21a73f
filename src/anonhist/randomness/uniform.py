"""Uniformly random whole numbers, drawn exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.randomness.arguments import checked_bound, checked_size
from anonhist.randomness.inversion import CHUNK
from anonhist.randomness.source import RandomSource

# Up to these bounds, at most one slot of 16 or 32 bits in sixteen, or one word in three, has to be drawn again.
SLOTS = ((1 << 12, "<u2"), (1 << 28, "<u4"), (1 << 63, "<u8"))


def uniform_integers(bound: int, size: int, *, source: RandomSource) -> NDArray[np.int64]:
    """Draw whole numbers, each of 0, 1, …, bound − 1 with probability ``1/bound``.

    Parameters
    ----------
    bound
        A whole number from 1 to 2⁶³.
    size
        Number of draws, ≥ 0.
    source
        Where the random words come from.

    Returns
    -------
    ndarray of int64, shape (size,)
        Independent draws.

    Raises
    ------
    UsageError
        If the bound is not a whole number from 1 to 2⁶³, or the size is not a whole number ≥ 0.

    Guarantees
    ----------
    The distribution is exact. A slot of b = 16, 32 or 64 random bits, X uniform below 2^b, is used if X <
    bound·⌊2^b/bound⌋, and the draw is then X mod bound; else a fresh slot is drawn: with probability below
    1/16 for bounds up to 2²⁸, below bound/2⁶⁴ for larger ones, and never for powers of two. The bound 1 uses no
    words.

    Examples
    --------
    >>> from anonhist.randomness import SystemSource
    >>> draws = uniform_integers(6, 1000, source=SystemSource())
    >>> draws.size, sorted(set(draws.tolist()))
    (1000, [0, 1, 2, 3, 4, 5])
    """
    below, count = checked_bound(bound), checked_size(size)
    out = np.empty(count, dtype=np.int64)
    fill_uniform(out, below, source=source)
    return out


def uniform_integers_pmf(bound: int, k: ArrayLike) -> NDArray[np.float64]:
    """Return the probability of each k: ``1/bound`` for 0, 1, …, bound − 1, and 0 for anything else.

    Examples
    --------
    >>> uniform_integers_pmf(4, [-1, 0, 3, 4]).tolist()
    [0.0, 0.25, 0.25, 0.0]
    """
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
