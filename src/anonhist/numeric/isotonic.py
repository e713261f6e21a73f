"""Isotonic regression by pooling adjacent violators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def decreasing_fit(values: ArrayLike) -> NDArray[np.float64]:
    """Return the non-increasing sequence nearest to ``values`` in ℓ2.

    Pool adjacent violators, O(length) time. (SciPy has the same for increasing sequences; importing it costs more than
    the fits needed here.)

    Examples
    --------
    >>> decreasing_fit([5, 1, 3, 0]).tolist()
    [5.0, 2.0, 2.0, 0.0]
    """
    sums: list[float] = []
    sizes: list[int] = []
    for value in np.asarray(values, dtype=np.float64).tolist():
        total, size = value, 1
        while sizes and sums[-1] * size < total * sizes[-1]:
            total += sums.pop()
            size += sizes.pop()
        sums.append(total)
        sizes.append(size)
    return np.repeat(np.array(sums) / np.maximum(sizes, 1), sizes) if sizes else np.zeros(0)
