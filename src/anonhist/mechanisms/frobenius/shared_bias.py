"""What the fits of many groups have wrong in common, learned from all of them together.

A fit to noisy coordinates relies on a prior. Where data have another shape, it is off in the same direction in every
group, so that a sum over groups is off by that many times as much. The noise is not: the residuals of position k,
noisy coordinate minus fit, have a sum over groups whose noise has the standard deviation σ√G only. What of that sum
exceeds two standard deviations is taken for a bias and added to the fits again,

    C_k = round(max(0, 1 − 4V_k/S_k²)·S_k),   S_k = Σ_g r_gk,   V_k = Σ_g σ²/m_gk²,

m_gk the length of the group of rows that has one noisy sum, r_gk its residual divided by that length. Each fit moves by
the whole part of C_k/G, and those with the largest residuals by one more: they are the likeliest to be too low.

This is a function of released values. It makes sums over groups far better and single groups, too, where shapes differ
from the prior's, and changes hardly anything where they do not: docs/benchmarks.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.noise import deviation
from anonhist.numeric import decreasing_fit
from anonhist.profiles.counts import MAX_ITEMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anonhist.mechanisms.frobenius.noisy_coordinates import NoisyCoordinates
    from anonhist.mechanisms.frobenius.row_weights import NoisyRows

    _Sides = list[NDArray[np.int64]]

# With fewer groups, a bias that they share cannot be told from their noise.
_FEWEST = 8
# Sums of residuals within this many standard deviations are taken for noise.
_DEVIATIONS = 2.0


@dataclass(frozen=True)
class Fits:
    """Fits to the noisy coordinates of some groups.

    Attributes
    ----------
    places : ndarray of int64, shape (r,)
        Which groups these are.
    noisy
        Their noisy coordinates.
    arms, legs
        The fit of each, as many arms as legs.
    """

    places: NDArray[np.int64]
    noisy: NoisyCoordinates
    arms: _Sides
    legs: _Sides


def without_shared_bias(fits: Sequence[Fits], *, epsilon: float) -> list[Fits]:
    """Return the fits with the bias removed that all groups have in common.

    Parameters
    ----------
    fits
        Those of all groups.
    epsilon
        Rate of the noise, ε/Δ.

    Examples
    --------
    >>> from anonhist.mechanisms.frobenius.noisy_coordinates import NoisyCoordinates
    >>> from anonhist.mechanisms.frobenius.row_weights import NoisyRows
    >>> seen = NoisyRows.alone(np.full((9, 2), 7))
    >>> sides = [np.array([5])] * 9
    >>> fits = Fits(np.arange(9), NoisyCoordinates(np.ones(9, dtype=int), seen, seen), sides, sides)
    >>> (better,) = without_shared_bias([fits], epsilon=1.0)
    >>> sorted(int(arms[0]) for arms in better.arms)
    [6, 6, 6, 6, 7, 7, 7, 7, 7]
    """
    if sum(each.places.size for each in fits) < _FEWEST:
        return [*fits]
    arms = _moved([each.arms for each in fits], [each.noisy.arms for each in fits], epsilon)
    legs = _moved([each.legs for each in fits], [each.noisy.legs for each in fits], epsilon)
    return [replace(each, arms=arm, legs=leg) for each, arm, leg in zip(fits, arms, legs, strict=True)]


def _moved(batches: Sequence[_Sides], noisy: Sequence[NoisyRows], epsilon: float) -> list[_Sides]:
    """Return one side of all fits, moved by the shared bias."""
    fitted = [side for batch in batches for side in batch]
    sizes = np.array([side.size for side in fitted], dtype=np.int64)
    if not sizes.any():
        return [*batches]
    found = [_residuals(batch, rows) for batch, rows in zip(batches, noisy, strict=True)]
    residuals, weights = (np.concatenate(each) for each in zip(*found, strict=True))
    position = np.concatenate([np.arange(size) for size in sizes.tolist()])
    total = np.bincount(position, residuals)
    groups = np.bincount(position[weights > 0], minlength=total.size)
    variance = np.bincount(position, weights) * deviation(epsilon) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total**2 > _DEVIATIONS**2 * variance, 1 - _DEVIATIONS**2 * variance / total**2, 0)
    share[groups < _FEWEST] = 0
    change = np.rint(share * total).astype(np.int64)
    if not change.any():
        return [*batches]
    each, rest = np.divmod(np.abs(change), np.maximum(groups, 1))
    sign = np.sign(change)
    # Where a residual is unknown, nothing moves. Of the others, those go first that are the farthest off.
    moves = np.where(weights > 0, (sign * each)[position], 0)
    order = np.lexsort((-residuals * sign[position], weights == 0, position))
    rank = np.empty(order.size, dtype=np.int64)
    begins = np.cumsum(np.bincount(position)) - np.bincount(position)
    rank[order] = np.arange(order.size) - begins[position[order]]
    moves += sign[position] * ((rank < rest[position]) & (weights > 0))
    whole = np.concatenate(fitted) + moves
    ends = np.cumsum(sizes)
    moved = [_ordered(whole[end - size : end]) for size, end in zip(sizes.tolist(), ends.tolist(), strict=True)]
    stops = np.cumsum([len(batch) for batch in batches]).tolist()
    return [moved[stop - len(batch) : stop] for batch, stop in zip(batches, stops, strict=True)]


def _residuals(fitted: _Sides, rows: NoisyRows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, for all positions of all fits of a batch, the residual, and 1/m², or 0 where it is not known."""
    runs, length = rows.sums.shape
    sizes = np.array([side.size for side in fitted], dtype=np.int64)
    is_inside = np.arange(max(length, int(sizes.max(initial=0)))) < sizes[:, None]
    table = np.zeros(is_inside.shape)
    table[is_inside] = np.concatenate(fitted) if runs else 0
    starts = np.flatnonzero(rows.begins)
    many = np.diff(starts, append=rows.begins.size)
    sums = rows.sums.ravel()[starts]
    apart = (sums - np.add.reduceat(table[:, :length].ravel(), starts)) / many
    # A sum at the limit of the range may have been cut.
    weight = np.where(np.abs(sums) == MAX_ITEMS, 0.0, 1.0 / many.astype(np.float64) ** 2)
    residuals, weights = np.zeros((2, *is_inside.shape))
    residuals[:, :length] = np.repeat(np.where(weight > 0, apart, 0), many).reshape(runs, length)
    weights[:, :length] = np.repeat(weight, many).reshape(runs, length)
    return residuals[is_inside], weights[is_inside]


def _ordered(side: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the nearest arms (or legs) of a diagram of this size: strictly decreasing, the last at least 0."""
    here = np.arange(1, side.size + 1)
    rows = side + here
    if bool((rows[1:] > rows[:-1]).any()):
        rows = np.rint(decreasing_fit(rows)).astype(np.int64)
    return np.asarray(np.maximum(rows, side.size) - here)
