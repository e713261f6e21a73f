"""Running sums over windows of many rows at once, read where other windows lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class WindowSums:
    """Sums over windows of ``width`` places, one window per row, kept between what they are beyond either end.

    Parameters
    ----------
    rows, width
        Shape of the windows.

    Examples
    --------
    >>> sums, one_up = WindowSums(1, 3), np.array([1])
    >>> sums.upwards(np.array([[5.0, 2.0, 1.0]]), one_up).tolist()
    [[3.0, 1.0, 0.0]]
    >>> sums.downwards(np.array([[5.0, 2.0, 1.0]]), one_up).tolist()
    [[7.0, 8.0, 8.0]]
    """

    def __init__(self, rows: int, width: int) -> None:
        self._everyone, self._width = np.arange(rows), width
        padded = np.empty((rows, 3 * width))
        self._below, self._middle, self._beyond = np.split(padded, 3, axis=1)
        self._views = np.lib.stride_tricks.sliding_window_view(padded, width, axis=1)

    def upwards(self, values: NDArray[np.float64], moved: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return for each place of windows that lie higher by ``moved`` the sum of the values there and above.

        Parameters
        ----------
        values : ndarray of float64, shape (r, width)
        moved : ndarray of int64, shape (r,)
            From −width to width.
        """
        np.cumsum(values[:, ::-1], axis=1, out=self._middle[:, ::-1])
        self._below[:] = self._middle[:, :1]
        self._beyond[:] = 0.0
        return np.asarray(self._views[self._everyone, self._width + moved])

    def downwards(self, values: NDArray[np.float64], moved: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return for each place of windows that lie higher by ``moved`` the sum of the values there and below."""
        np.cumsum(values, axis=1, out=self._middle)
        self._below[:] = 0.0
        self._beyond[:] = self._middle[:, -1:]
        return np.asarray(self._views[self._everyone, self._width + moved])
