"""Bounds of non-increasing sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def widen_to_falling(lows: NDArray[Any], highs: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Widen bounds of a non-increasing sequence until they are non-increasing themselves.

    An upper bound holds for all later values, too, and a lower bound for all earlier ones. The rows of a table are
    sequences of their own.

    Taking the narrowest bound instead would be wrong too often.

    Examples
    --------
    >>> low, high = widen_to_falling(np.array([1, 2, 0]), np.array([3, 5, 4]))
    >>> low.tolist(), high.tolist()
    ([1, 1, 0], [5, 5, 4])
    """
    highs = np.maximum.accumulate(highs[..., ::-1], axis=-1)[..., ::-1]
    return np.minimum(np.minimum.accumulate(lows, axis=-1), highs), highs
