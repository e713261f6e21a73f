"""Uniformly random subsets of a given size, drawn exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.randomness.arguments import LARGEST_BOUND, checked_size
from anonhist.randomness.source import RandomSource
from anonhist.randomness.uniform import fill_uniform

# Subsets are processed in blocks of about this many members, which stay in a level-2 cache while they are sorted.
BLOCK = 1 << 18


def random_subsets(population: int, chosen: int, size: int, *, source: RandomSource) -> NDArray[np.int64]:
    """Draw subsets of {0, …, population − 1} with exactly ``chosen`` members, each with the same probability.

    Parameters
    ----------
    population
        A whole number from 0 to 2⁶³.
    chosen
        A whole number from 0 to the population.
    size
        Number of subsets, ≥ 0.
    source
        Where the random words come from.

    Returns
    -------
    ndarray of int64, shape (size, chosen)
        A row is a subset, its members ascending; the rows are independent.

    Raises
    ------
    UsageError
        If an argument is not a whole number in its range.

    Guarantees
    ----------
    The distribution is exact: ``chosen`` members are drawn with replacement, and repeated ones are drawn again until
    all differ; all members are treated alike. For more than half of the population, the complement is drawn in this
    way. The time depends on the arguments and the random words.

    Examples
    --------
    >>> from anonhist.randomness import SystemSource
    >>> random_subsets(3, 3, 2, source=SystemSource()).tolist()
    [[0, 1, 2], [0, 1, 2]]
    >>> subsets = random_subsets(50, 7, 1000, source=SystemSource())
    >>> subsets.shape, bool((subsets[:, 1:] > subsets[:, :-1]).all())
    ((1000, 7), True)
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
