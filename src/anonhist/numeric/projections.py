"""The nearest decreasing sequence and the nearest distribution."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import UsageError

# Noise is pooled in about this many passes over all violators at once; the rest is pooled block by block.
_PASSES = 16


def decreasing_fit(values: ArrayLike, *, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return the non-increasing sequence nearest to x in ℓ2: ``argmin_{y_1 ≥ y_2 ≥ …} Σ_i w_i·(x_i − y_i)²``.

    Adjacent blocks whose means increase are pooled into one, until none do; y is the mean of each block. The order of
    pooling does not matter, and a whole increasing run of blocks may be pooled at once. O(k) time; the rows of a table
    are fitted separately, in the same passes. Weights are from 2⁻⁶⁴ to 2⁶⁴; a whole number w_i stands for w_i adjacent
    values that are all x_i: their fit is one number, too. Up to rounding, y has the weighted sum of x and lies between
    its smallest and largest value. (SciPy has the same function, but importing it takes longer than the fits needed
    here.)

    Source: Barlow and others 1972, chapter 1.
    """
    sums = np.array(values, dtype=np.float64)
    if sums.ndim not in (1, 2) or not bool(np.isfinite(sums).all()):
        raise UsageError("An isotonic fit needs a list or a table of finite numbers.")
    sizes = np.ones(sums.shape) if weights is None else np.array(weights, dtype=np.float64)
    if sizes.shape != sums.shape or not bool(((sizes >= 2.0**-64) & (sizes <= 2.0**64)).all()):
        raise UsageError("An isotonic fit needs one weight for each value, from 2^-64 to 2^64.")
    shape = sums.shape
    # Sums of the largest floats would overflow: powers of two shrink them without rounding anything significant.
    heaviest = math.frexp(float(sizes.sum(axis=-1).max(initial=0)))[1]
    shift = max(0, math.frexp(float(np.abs(sums).max(initial=0)))[1] + 2 * heaviest - 1023)
    sums, sizes = ((np.ldexp(sums, -shift) if shift else sums) * sizes).ravel(), sizes.ravel()
    starts = np.arange(sums.size)
    # The first block of a row is not pooled with the row before.
    opens = starts % max(1, shape[-1]) == 0
    for _ in range(_PASSES):
        violates = (sums[:-1] * sizes[1:] < sums[1:] * sizes[:-1]) & ~opens[1:]
        if not violates.any():
            break
        pooled = np.flatnonzero(np.concatenate(([True], ~violates)))
        sums, sizes = np.add.reduceat(sums, pooled), np.add.reduceat(sizes, pooled)
        starts, opens = starts[pooled], opens[pooled]
    else:
        sums, sizes, pooled = _pool(sums.tolist(), sizes.tolist(), opens.tolist())
        starts = starts[pooled]
    lengths = np.concatenate((starts[1:], [math.prod(shape)])) - starts
    means = np.repeat(sums / sizes, lengths).reshape(shape)
    # Means that are equal up to rounding may be out of order by one ulp.
    np.minimum.accumulate(means, axis=-1, out=means)
    return np.ldexp(means, shift) if shift else means


def _pool(
    sums: list[float], sizes: list[float], opens: list[bool]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Pool block by block, from the left, with a stack; also return at which block each new one begins."""
    pooled_sums: list[float] = []
    pooled_sizes: list[float] = []
    starts: list[int] = []
    row = 0
    for place, (block_sum, block_size) in enumerate(zip(sums, sizes, strict=True)):
        total, size, start = block_sum, block_size, place
        if opens[place]:
            row = len(starts)
        while len(starts) > row and pooled_sums[-1] * size < total * pooled_sizes[-1]:
            total += pooled_sums.pop()
            size += pooled_sizes.pop()
            start = starts.pop()
        pooled_sums.append(total)
        pooled_sizes.append(size)
        starts.append(start)
    return np.array(pooled_sums), np.array(pooled_sizes), np.array(starts, dtype=np.int64)


def project_to_simplex(vector: ArrayLike, total: float = 1.0) -> NDArray[np.float64]:
    """Return the point of the simplex nearest to v in ℓ2: ``argmin_{w ≥ 0, Σw = total} Σ_i (w_i − v_i)²``, total > 0.

    ``w = max(v + λ, 0)``, where λ gives the right sum: with u the values in descending order,
    ``ρ = max{j : u_j + (total − Σ_{i≤j} u_i)/j > 0}`` and ``λ = (total − Σ_{i≤ρ} u_i)/ρ``. Only values less than
    ``total`` below the largest can stay above 0, and only those are sorted: O(k log k) time at most.

    Source: Duchi and others 2008, figure 1.
    """
    values = _check(vector, total)
    # Shifting all entries does not change the projection; with the largest at 0, no sum overflows or cancels.
    with np.errstate(over="ignore"):
        shifted = values - values.max()
    descending = -np.sort(-shifted[shifted > -total])
    sums = np.cumsum(descending)
    places = np.arange(1, descending.size + 1)
    last = np.count_nonzero(descending * places + (total - sums) > 0)
    # Pairwise summation is more accurate than the running sum.
    shift = (total - float(descending[:last].sum())) / last
    return np.asarray(np.maximum(shifted + shift, 0.0))


def project_to_solid_simplex(vector: ArrayLike, total: float = 1.0) -> NDArray[np.float64]:
    """Return the point nearest in ℓ2 with a sum of at most ``total``: ``argmin_{w ≥ 0, Σw ≤ total} Σ_i (w_i − v_i)²``.

    ``max(v, 0)`` if its sum is small enough, else the projection onto the simplex. O(k log k) time.
    """
    truncated = np.maximum(_check(vector, total), 0.0)
    with np.errstate(over="ignore"):
        fits = bool(truncated.sum() <= total)
    return truncated if fits else project_to_simplex(vector, total)


def truncate_and_renormalize(vector: ArrayLike, total: float = 1.0) -> NDArray[np.float64]:
    """Return ``max(v, 0)``, scaled so that it adds up to ``total`` > 0; equal entries if nothing is above 0."""
    truncated = np.maximum(_check(vector, total), 0.0)
    largest = float(truncated.max())
    if largest == 0.0:
        return np.full(truncated.size, total / truncated.size)
    shares = truncated / largest
    return np.asarray(shares * (total / float(shares.sum())))


def _check(vector: ArrayLike, total: float) -> NDArray[np.float64]:
    values = np.asarray(vector, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not bool(np.isfinite(values).all()):
        raise UsageError("A simplex needs a one-dimensional list of at least one finite number.")
    if not 0.0 < total < math.inf:
        raise UsageError(f"The total of a simplex must be a number above 0, not {total}.")
    return values
