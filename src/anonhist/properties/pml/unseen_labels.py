"""The most likely number of unseen labels of a uniform distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def maximize_unseen(labels: NDArray[np.int64], items: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the u ≥ 0 that maximizes ``L(u) = ln((u + T)!/u!) − N·ln(u + T)``.

    This is the log-likelihood of u if N draws from u + T equally likely labels show T of them. Its steps
    ``D(u) = L(u + 1) − L(u)`` change sign once, from positive to negative, at the latest at ``u + 1 ≥ T²/(2(N − T))``,
    so bisection finds the maximum. With ``y = 1/(u + T + 1)`` and ``h(z) = −ln(1 − z) − z``,
    ``D(u) = h(T·y) − T·h(y) + (N − T)·ln(1 − y)``: in this form nothing cancels for large T.

    Parameters
    ----------
    labels, items
        T ≥ 1 and N ≥ T, shape (m,).

    Returns
    -------
    ndarray of float64, shape (m,)
        Whole numbers, as exact as floats; infinite if there are at least two labels and each was seen once; 0 for one
        label.

    Examples
    --------
    >>> maximize_unseen(np.array([4, 4, 1, 3]), np.array([5, 40, 1, 3])).tolist()
    [4.0, 0.0, 0.0, inf]
    """
    seen, repeats = labels.astype(np.float64), (items - labels).astype(np.float64)
    unseen = np.where((repeats == 0) & (seen > 1), np.inf, 0.0)
    open_ = np.flatnonzero((repeats > 0) & (seen > 1))
    seen, repeats = seen[open_], repeats[open_]
    # The answer is the first u with D(u) ≤ 0; it lies above `low` and is at most `high`.
    low, high = np.full(open_.size, -1.0), np.ceil(seen**2 / (2 * repeats))
    while open_.size:
        middle = np.floor((low + high) / 2)
        rising = _step(middle, seen, repeats) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
        unseen[open_] = high
        # Beyond 2⁵³ floats are more than 1 apart.
        middle = np.floor((low + high) / 2)
        going = (middle > low) & (middle < high)
        open_, low, high = open_[going], low[going], high[going]
        seen, repeats = seen[going], repeats[going]
    return unseen


def _step(u: NDArray[np.float64], seen: NDArray[np.float64], repeats: NDArray[np.float64]) -> NDArray[np.float64]:
    y = 1.0 / (u + seen + 1.0)
    # 1 − seen·y is computed directly: for many labels, the difference would round to 0.
    return _beyond_first(seen * y, (u + 1.0) * y) - seen * _beyond_first(y, 1.0 - y) + repeats * np.log1p(-y)


def _beyond_first(z: NDArray[np.float64], rest: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``−ln(1 − z) − z = Σ_{m≥2} z^m/m``, rest = 1 − z."""
    series = np.zeros_like(z)
    small = np.minimum(z, 0.1)
    for power in range(17, 1, -1):
        series = small * (series + 1.0 / power)
    return np.where(z <= 0.1, small * series, -np.log(rest) - z)
