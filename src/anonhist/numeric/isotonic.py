"""Isotonic regression by pooling adjacent violators."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Noise is pooled in about so many passes over all violators at once; what is left then, block by block.
_PASSES = 16


def decreasing_fit(values: ArrayLike) -> NDArray[np.float64]:
    """Return the non-increasing sequence nearest to ``values`` in ℓ2: ``argmin_{y_1 ≥ y_2 ≥ …} Σ_i (x_i − y_i)²``.

    Neighbouring blocks whose means increase are pooled into one, until none do; y is the mean of each block. The order
    of pooling does not matter, and a whole increasing run of blocks may be pooled at once. O(k) time. (SciPy has the
    same; importing it costs more than the fits needed here.)

    Parameters
    ----------
    values
        x, finite numbers, shape (k,). Each sum of a block is taken in float64.

    Returns
    -------
    ndarray of float64, shape (k,)
        y, never increasing, with the sum of x and between its least and its largest value, up to rounding.

    Raises
    ------
    UsageError
        If the values are not finite or not a one-dimensional list.

    References
    ----------
    .. [1] R. E. Barlow, D. J. Bartholomew, J. M. Bremner, H. D. Brunk, *Statistical Inference under Order
       Restrictions*, Wiley, 1972, chapter 1.

    Examples
    --------
    >>> decreasing_fit([5, 1, 3, 0]).tolist()
    [5.0, 2.0, 2.0, 0.0]
    """
    sums = np.array(values, dtype=np.float64)
    if sums.ndim != 1 or not bool(np.isfinite(sums).all()):
        raise UsageError("An isotonic fit needs a one-dimensional list of finite numbers.")
    # Sums of the largest floats would overflow: powers of two shrink them without rounding what counts.
    shift = max(0, math.frexp(float(np.abs(sums).max(initial=0)))[1] + 2 * math.frexp(sums.size)[1] - 1023)
    sums = np.ldexp(sums, -shift) if shift else sums
    sizes = np.ones(sums.size)
    for _ in range(_PASSES):
        violates = sums[:-1] * sizes[1:] < sums[1:] * sizes[:-1]
        if not violates.any():
            break
        starts = np.flatnonzero(np.append(True, ~violates))
        sums, sizes = np.add.reduceat(sums, starts), np.add.reduceat(sizes, starts)
    else:
        sums, sizes = _pooled(sums.tolist(), sizes.tolist())
    # Means that are equal but for rounding may stand in the wrong order by an ulp.
    means = np.repeat(np.minimum.accumulate(sums / sizes), sizes.astype(np.int64))
    return np.ldexp(means, shift) if shift else means


def _pooled(sums: list[float], sizes: list[float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pool block by block, from the left, with a stack."""
    pooled_sums: list[float] = []
    pooled_sizes: list[float] = []
    for block_sum, block_size in zip(sums, sizes, strict=True):
        total, size = block_sum, block_size
        while pooled_sizes and pooled_sums[-1] * size < total * pooled_sizes[-1]:
            total += pooled_sums.pop()
            size += pooled_sizes.pop()
        pooled_sums.append(total)
        pooled_sizes.append(size)
    return np.array(pooled_sums), np.array(pooled_sizes)
