"""Bounds of numbers that never rise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def widen_to_falling(lows: NDArray[Any], highs: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Keep of bounds that hold for all places beyond (from above) or before (from below) the widest: they never rise.

    The narrowest of many would be wrong too often.

    Examples
    --------
    >>> low, high = widen_to_falling(np.array([1, 2, 0]), np.array([3, 5, 4]))
    >>> low.tolist(), high.tolist()
    ([1, 1, 0], [5, 5, 4])
    """
    highs = np.maximum.accumulate(highs[::-1])[::-1]
    return np.minimum(np.minimum.accumulate(lows), highs), highs
