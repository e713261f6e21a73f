"""Normal intervals for whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

NORMAL_95 = 1.959963984540054


def whole_interval(values: ArrayLike, errors: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of 95 % intervals for numbers of labels: ``value ± max(1, ⌈1.96·error⌉)``, clipped at 0.

    The truth is a whole number, so a normal interval that contains only one has less than its stated coverage. An error
    that no run showed may still occur: after B runs without it, its probability is up to 3/B (95 % confidence).

    Parameters
    ----------
    values, errors
        Whole numbers ≥ 0 and their standard errors ≥ 0, of one shape.

    Returns
    -------
    low, high : ndarray of float64
        ``0 ≤ low ≤ value < high``, whole; from 2⁵³ on, where floats skip whole numbers, at least the adjacent floats.

    Examples
    --------
    >>> low, high = whole_interval([12, 7, 0], [2.0, 0.3, 0.0])
    >>> low.tolist(), high.tolist()
    ([8.0, 6.0, 0.0], [16.0, 8.0, 1.0])
    """
    middle = np.asarray(values).astype(np.float64)
    half = np.maximum(1.0, np.ceil(NORMAL_95 * np.asarray(errors, dtype=np.float64)))
    low = np.minimum(middle - half, np.nextafter(middle, -np.inf))
    return np.maximum(low, 0.0), np.maximum(middle + half, np.nextafter(middle, np.inf))
