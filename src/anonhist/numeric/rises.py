"""Differences between successive values, the first from 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def rises(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the difference between each value and the one before it: a faster ``np.diff(values, prepend=0)``.

    Examples
    --------
    >>> import numpy as np
    >>> rises(np.array([3, 4, 9])).tolist()
    [3, 1, 5]
    """
    found = values.copy()
    found[1:] -= values[:-1]
    return found
