"""Backward sums of the chain over rows: the weight of the rows after one, and their share in the sum of its group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from anonhist.mechanisms.frobenius.row_weights import RowWeights

# Lets the chain continue where windows do not touch; far below any significant weight.
NEXT_TO_NOTHING = 1e-250
# With a largest weight of one, the moments of weights below this are negligible.
_NOTHING = 1e-240


class WindowSums:
    """Running sums over windows of ``width`` places, one window per row, padded with their values beyond either end.

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


class Future:
    """Weight of everything after position k, for each row y_k in its window, scaled to a largest value of one.

    Parameters
    ----------
    weights, sums, moved
        Weights of rows, running sums over their windows, and how much higher each window lies than the one before.
    shape
        Runs and places of a window.

    Attributes
    ----------
    weight : ndarray of float64, shape (r, w)
    moments : list of ndarray of float64, shape (r, w)
        Mean and variance, given y_k, of the sum of the rows after k in the group of k.
    """

    def __init__(self, weights: RowWeights, sums: WindowSums, moved: NDArray[np.int64], shape: tuple[int, ...]) -> None:
        self._weights, self._sums, self._moved = weights, sums, moved
        self.weight = np.zeros(shape)
        self._none = [np.zeros(shape)] * 2
        self.moments = self._none
        self._scale = np.full(shape[0], -np.inf)

    def step_back(self, k: int) -> None:
        """Go from position k + 1 to k: rows y_{k+1} ≤ y_k, the sum up to and including the same row."""
        weights, following = self._weights, self.weight * self._weights.at(k + 1)
        mean, variance = self.moments
        if weights.grouped[k + 1].any():
            mean = mean + weights.offsets(k + 1)
            weights.weigh_sums(k + 1, weights.grouped[k + 1] & ~weights.opens[k], following, (mean, variance))
        self.weight = self._down(following, k)
        if weights.opens[k].any():
            goes_on = weights.opens[k][:, None]
            carried = carried_moments(lambda x: self._down(x, k), following, [mean, variance], self.weight)
            self.moments = [np.where(goes_on, moment, 0.0) for moment in carried]
        else:
            self.moments = self._none
        self.weight = self.weight + NEXT_TO_NOTHING

    def may_end(self, k: int, log_end: NDArray[np.float64]) -> None:
        """Add the possibility, with this log weight, that position k is the last."""
        top = np.maximum(self._scale, log_end)
        safe = np.where(np.isfinite(top), top, 0.0)
        going_on = self.weight * np.exp(self._scale - safe)[:, None]
        ending = np.exp(log_end - safe)[:, None]
        self.weight = going_on + ending
        if self._weights.opens[k].any():
            rest, (mean, variance) = self._weights.rest[k][:, None], self.moments
            share = going_on / np.maximum(self.weight, _NOTHING)
            spread = variance * share + share * (1 - share) * (mean - rest) ** 2
            self.moments = [rest + share * (mean - rest), spread]
        peak = np.maximum(self.weight.max(axis=1), 1e-300)
        self.weight = self.weight / peak[:, None]
        self._scale = safe + np.log(peak)

    def _down(self, values: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        return self._sums.downwards(values, -self._moved[k + 1])


def carried_moments(
    summed: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    weight: NDArray[np.float64],
    moments: Sequence[NDArray[np.float64]],
    total: NDArray[np.float64],
) -> list[NDArray[np.float64]]:
    """Return mean and variance of a mixture over the rows that ``summed`` adds up, with total weight ``total``."""
    mean, variance = moments
    held = np.maximum(total, _NOTHING)
    mixed = summed(weight * mean) / held
    return [mixed, np.maximum(summed(weight * (mean**2 + variance)) / held - mixed**2, 0.0)]
