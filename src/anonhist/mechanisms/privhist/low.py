"""PrivHist for ε > 1, LowPrivacy: both parts are smoothed and joined, and the made-up labels removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.basis.published import profile_of_fit
from anonhist.profiles import Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray


def low_privacy(small: NDArray[np.int64], large: NDArray[np.int64], *, border: int) -> Profile:
    """Return H^e of steps L1 to L4: post-processing of noisy numbers.

    Parameters
    ----------
    small : ndarray of int64, shape (T,)
        ``φ^cs_{r+}``, the noisy cumulative prevalences for r = 1..T.
    large : ndarray of int64, shape (m,)
        ``N^cl_i``, the noisy large counts.
    border
        M, the number of labels made up at T, and as many at T + 1.
    """
    from scipy.optimize import isotonic_regression

    threshold = small.size
    # L1.
    smooth = profile_of_fit(np.arange(1, threshold + 1), isotonic_regression(small, increasing=False).x)
    # L2., L3.
    counts, prevalences = np.unique(np.maximum(large, threshold), return_counts=True)
    both = np.concatenate((smooth.counts, counts))
    order = np.argsort(both, kind="stable")
    values, labels = both[order], np.concatenate((smooth.prevalences, prevalences))[order]
    # L4.
    for middle in (threshold + 1, threshold):
        labels = without_nearest(values, labels, middle, border)
    return _profile(values, labels)


def without_nearest(
    values: NDArray[np.int64], labels: NDArray[np.int64], middle: int, number: int
) -> NDArray[np.int64]:
    """Remove the ``number`` elements of a multiset nearest to ``middle``, the larger of equally near ones first.

    Parameters
    ----------
    values, labels : ndarray of int64, shape (k,)
        Values ≥ 1, ascending, and the number of elements with each.

    Returns
    -------
    ndarray of int64, shape (k,)
        The number left of each: 0 if there are no more than ``number`` in all.

    Examples
    --------
    >>> without_nearest(np.array([3, 4, 6, 9]), np.array([5, 1, 1, 1]), 5, 2).tolist()
    [5, 0, 0, 1]
    >>> without_nearest(np.array([3, 4, 6, 9]), np.array([5, 1, 1, 1]), 5, 3).tolist()
    [4, 0, 0, 1]
    """
    order = np.lexsort((-values, np.abs(values - middle)))
    seen = np.cumsum(labels[order])
    taken = np.empty_like(labels)
    taken[order] = np.diff(np.minimum(seen, number), prepend=0)
    return labels - taken


def _profile(values: NDArray[np.int64], labels: NDArray[np.int64]) -> Profile:
    """Add up equal values, and cut the largest counts if n would exceed 2⁶²."""
    present = labels > 0
    levels, first = np.unique(values[present], return_index=True)
    if not levels.size:
        return Profile([], [])
    kept = np.add.reduceat(labels[present], first)
    reaching = np.cumsum(kept[::-1].astype(np.float64))[::-1]
    if float(levels.astype(np.float64) @ kept) < 2.0**62:
        return Profile(levels, kept)
    return profile_of_fit(levels, reaching)
