"""Draws among categories with probabilities exactly proportional to given floats."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.randomness.inversion import resolve
from anonhist.randomness.source import RandomSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

UNIT_ROUNDOFF = 2.0**-53
# Totals outside this range use exact arithmetic at once, because error bounds could underflow or sums overflow.
SMALLEST_TOTAL, LARGEST_TOTAL = 2.0**-900, 2.0**1000
# Rows are processed in blocks of about this many weights, which stay in a level-2 cache.
BLOCK = 1 << 16


def categorical(weights: NDArray[np.float64], *, source: RandomSource) -> int:
    """Draw an index: ``P(i) = weights[i] / Σ weights``, with floats as the exact binary numbers they are.

    Parameters
    ----------
    weights : ndarray of float64, shape (k,)
        Finite, ≥ 0, not all zero, k ≥ 1.
    source
        Where the random words come from; one word suffices, except with probability about k²·2⁻⁵⁰.

    Returns
    -------
    int
        An index of a weight > 0.

    Raises
    ------
    UsageError
        If the weights are invalid.

    Guarantees
    ----------
    The distribution is exact. Cumulative sums of floats decide the draw only where a proved error bound leaves no
    doubt; otherwise whole numbers of any length decide, with more random bits if needed. This slower path is taken with
    a probability of at most about k²·2⁻⁵⁰, and always if the sum of the weights is outside 2⁻⁹⁰⁰..2^1000: scale
    weights that may be. Otherwise the time depends on k and the random words alone.

    Notes
    -----
    With u = 2⁻⁵³ and exact sums C_i, S = C_k: each float sum is off by at most k·u·S(1 + k·u); the target
    U·S, computed from one 64-bit word and the float total, by at most (k + 3)·u·S(1 + k·u). So a target farther
    than (4k + 16)·u times the float total from the boundaries beside it lies where it seems to lie.

    Examples
    --------
    >>> from anonhist.randomness import SystemSource
    >>> categorical(np.array([0.0, 2.5, 0.0]), source=SystemSource())
    1
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


def categorical_rows(weights: NDArray[np.float64], *, source: RandomSource) -> NDArray[np.int64]:
    """Draw one index per row: ``P(i in row r) = weights[r, i] / Σ_i weights[r, i]``, the rows independently.

    Parameters
    ----------
    weights : ndarray of float64, shape (m, k)
        Finite, ≥ 0, no row all zero, m ≥ 0, k ≥ 1.
    source
        Where the random words come from; one word per row suffices, except with probability about k²·2⁻⁵⁰.

    Returns
    -------
    ndarray of int64, shape (m,)

    Raises
    ------
    UsageError
        If the weights are invalid.

    Guarantees
    ----------
    Those of :func:`categorical`, for every row.

    Examples
    --------
    >>> from anonhist.randomness import SystemSource
    >>> categorical_rows(np.array([[0.0, 1.0], [3.0, 0.0]]), source=SystemSource()).tolist()
    [1, 0]
    """
    checked = _check(weights, dimensions=2)
    words = source.words(checked.shape[0])
    drawn = np.empty(checked.shape[0], dtype=np.int64)
    rows = max(1, BLOCK // checked.shape[1])
    for start in range(0, drawn.size, rows):
        block = slice(start, start + rows)
        _fill_block(drawn[block], checked[block], words[block], source=source)
    return drawn


def categorical_pmf(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``weights[i] / Σ weights`` for every i, shape (k,); relative error below 10⁻¹² for normal floats.

    Examples
    --------
    >>> categorical_pmf(np.array([1.0, 3.0])).tolist()
    [0.25, 0.75]
    """
    checked = _check(weights, dimensions=1)
    largest = checked.max()
    if not 0 < largest < math.inf:
        raise _bad_weights()
    # Divided by a power of two, exactly, so that the sum does not overflow and small weights lose no digits.
    scaled = np.ldexp(checked, -int(np.frexp(largest)[1]))
    pmf: NDArray[np.float64] = scaled / math.fsum(scaled)
    return pmf


def _fill_block(
    drawn: NDArray[np.int64],
    weights: NDArray[np.float64],
    words: NDArray[np.uint64],
    *,
    source: RandomSource,
) -> None:
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


def _exact(weights: NDArray[np.float64], word: int, *, source: RandomSource) -> int:
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


def _check(weights: ArrayLike, *, dimensions: int) -> NDArray[np.float64]:
    checked = np.asarray(weights, dtype=np.float64)
    if checked.ndim != dimensions or not checked.shape[-1]:
        raise UsageError(f"`weights` must be an array with {dimensions} dimension(s), the last one not empty.")
    # NaN fails every comparison. Infinity passes, but makes the total infinite, and the exact path refuses it.
    if checked.size and not np.minimum.reduce(checked, axis=None) >= 0:
        raise _bad_weights()
    return checked


def _bad_weights() -> UsageError:
    return UsageError("`weights` must be finite, at least 0 and not all zero.")
