"""How far the data may be from a release on average, whatever they look like inside the groups of its noisy sums.

Let x be the rows of one side of the data, x̂ the released ones, and x⁺ the isotonic fit of the noisy rows, flat within
each group: then ``|x̂ − x| ≤ |x̂ − x⁺| + |x⁺ − x|`` in sums over rows. The first part is the misfit, which is known. An
isotonic fit is nowhere farther from a decreasing x than what it is fitted to (in any ℓp norm), so the second part is at
most the noises of all sums and what the rows of x differ from the mean of their group.

What is inside a group never enters the release. But rows are decreasing: those of group j, m_j > 1 rows of mean c_j,
lie between values t_j ≥ t_{j+1} at its borders, and c_{j−1} ≥ t_j ≥ c_j. With u_j = c_{j−1} − c_j and t_j = c_j + α_j
u_j, 0 ≤ α_j ≤ 1, they differ from their mean by at most

    F_j = 2 m_j h(α_j u_j, (1 − α_{j+1}) u_{j+1}),    h(p, q) = pq / (p + q),

with equality if they have two values: what one group has of the fall between two means, the other has not. ΣF_j is
concave in α, so that it is at most its value and half the sizes of its slopes, all at α = ½. Of rows that fall evenly
the slopes are zero. The means are those of x⁺; a group of one row differs by nothing.

The expectation of the sum of all three is not below the mean error, but for the means of x⁺ in place of the true ones
and for rows beyond the released Durfee size, of which one noise is counted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.frobenius.row_band import unsmoothed_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anonhist.mechanisms.frobenius.noisy_coordinates import NoisyCoordinates

    _Numbers = NDArray[np.float64]
    _Whole = NDArray[np.int64]

# From this rate on, noise is zero.
_SILENT = 500.0


def distance_bounds(
    sizes: Sequence[int], noisy: NoisyCoordinates, misfits: Sequence[float], *, epsilon: float
) -> list[float]:
    """Return an estimated upper bound of the mean sorted ℓ1 distance, in items, for each run.

    Parameters
    ----------
    sizes
        Durfee size of each release.
    noisy
        The noisy values of the runs.
    misfits
        How far they are from the fits to them.
    epsilon
        Rate of the noise, ε/Δ.

    Examples
    --------
    >>> from anonhist.mechanisms.frobenius.noisy_coordinates import NoisyCoordinates
    >>> from anonhist.mechanisms.frobenius.row_groups import NoisyRows
    >>> begins = np.array([[True, True, False, True, False]])
    >>> arms, legs = (NoisyRows(np.array([[20, 20, 20, 9, 9]]), each) for each in (begins, begins | True))
    >>> (bound,) = distance_bounds([5], NoisyCoordinates(np.array([5]), arms, legs), [3.0], epsilon=50.0)
    >>> round(bound - 3, 3)  # arms have rows 21, 12.5 and 9 on average, and none below 5
    13.401
    """
    rows = noisy.arms.beside(noisy.legs)
    seen, is_inside = unsmoothed_rows([*sizes, *sizes], rows)
    starts = np.flatnonzero(rows.begins)
    lengths = np.diff(starts, append=rows.begins.size)
    kept = is_inside.ravel()[starts]
    starts, lengths = starts[kept], lengths[kept]
    side = starts // seen.shape[1]
    inside = inside_groups(seen.ravel()[starts], np.where(lengths > 1, lengths, 0), side, np.array([*sizes, *sizes]))
    # E|G| = 1 / sinh ε for P(G = j) ∝ e^{−ε|j|}; half of that of the Durfee size counts with each side.
    many = 0.5 + np.bincount(side, minlength=len(seen))
    sides = inside + many / math.sinh(min(epsilon, _SILENT))
    runs = len(misfits)
    found: list[float] = (sides[:runs] + sides[runs:] + misfits).tolist()
    return found


def inside_groups(means: _Numbers, rows: _Whole, side: _Whole, sizes: _Whole) -> _Numbers:
    """Return for each side how far all its rows can be from the means of their groups.

    Parameters
    ----------
    means, rows, side : ndarray, shape (g,)
        Of each group of all sides in order: the mean, the number of rows that may differ, and which side it is of.
    sizes
        Durfee size of each side: no row inside the square is shorter.
    """
    is_last = np.diff(side, append=-1) != 0
    after = means - np.where(is_last, sizes[side], np.append(means[1:], 0.0))
    before = np.append(0.0, np.where(is_last, 0.0, after)[:-1])
    both = np.maximum(before + after, np.finfo(np.float64).tiny)
    middle = rows * before * after / both
    # Slopes with the share of the fall before, and after, that is inside the group.
    first, last = (2 * rows * fall * (1 - fall / both) ** 2 for fall in (before, after))
    slope = np.abs(last - np.append(np.where(is_last[:-1], 0.0, first[1:]), 0.0)) / 2
    return np.bincount(side, middle + slope, minlength=sizes.size).astype(np.float64)
