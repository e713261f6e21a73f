"""Weights of single rows of a Young diagram seen under noise: likelihood times prior, inside windows on a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric import decreasing_fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Half-width of a window, and how far its centre may be from what was seen, in units of the noise scale 1/epsilon.
_REACH, _TRUST = 14.0, 9.0
# Weights beyond this exponent are as good as zero; cut there, no product leaves the range of floats.
_STEEPEST = 600.0


class RowWeights:
    """The weight ``x(y) q^{|y − ỹ_k|}`` of each row y in a window, for each position k of a batch of noisy sides.

    Parameters
    ----------
    noisy, epsilon, grid, scales
        See :class:`~anonhist.mechanisms.row_posterior.RowPosterior`.

    Attributes
    ----------
    step : int
        Step of the grid of rows.
    places : ndarray of int64, shape (w,)
        The places 0..w − 1 of a window.
    low : ndarray of int64, shape (K, r)
        Where each window begins: its rows are ``(low + places) · step``.
    ends : ndarray of float64, shape (r, K + 1)
        ``ln(q^{Σ_{k>m} |ã_k|} / Π_{j≤m} (1 − x(j)))`` for m = 0..K.
    """

    def __init__(
        self, noisy: NDArray[np.int64], epsilon: float, grid: float, scales: NDArray[np.float64] | None
    ) -> None:
        # Position first, so that each step of the chain reads one piece of memory.
        k = np.arange(1, noisy.shape[1] + 1)[:, None]
        self.step = max(1, int(grid / epsilon))
        half = int(np.ceil(_REACH / (epsilon * self.step)))
        self.places = np.arange(2 * half + 1)
        # A window holds arms x = y − k on a grid of rows y that are multiples of the step.
        self.low: NDArray[np.int64] = (_centres(noisy, int(np.ceil(_TRUST / epsilon))).T + k) // self.step - half
        # With o the distance from what was seen to the middle of a window, q^|o + j| = min(q^o · q^j, q^−o · q^−j):
        # no exponential is left to be taken inside the chain.
        offset = (self.low + half) * self.step - k - noisy.T
        exponent = np.clip(epsilon * offset, -_STEEPEST, _STEEPEST)[:, :, None]
        along = epsilon * self.step * (self.places - half)
        self._rising = np.exp(exponent), np.exp(along)
        self._falling = np.exp(-exponent), np.exp(-along)
        # Arms are at least 0, and so rows at least k.
        self._least = (-(-k // self.step) - self.low)[:, :, None]
        self._is_cut = self._least.max(axis=(1, 2)) > 0
        self._lowest = (self.step * self.low.astype(np.float64))[:, :, None]
        self._mean = None if scales is None else self.step * scales[:, None] ** 2
        cost = epsilon * np.abs(noisy.astype(np.float64))
        self.ends = np.zeros((noisy.shape[0], noisy.shape[1] + 1))
        self.ends[:, :-1] -= np.cumsum(cost[:, ::-1], axis=1)[:, ::-1]
        if self._mean is not None:
            mean = self._mean / np.arange(1.0, noisy.shape[1] + 1) ** 2
            self.ends[:, 1:] += np.cumsum(np.log1p(mean), axis=1) / self.step

    def at(self, k: int) -> NDArray[np.float64]:
        """Return the weights in the windows of position k (from 0), shape (r, w)."""
        weight: NDArray[np.float64] = np.minimum(
            self._rising[0][k] * self._rising[1], self._falling[0][k] * self._falling[1]
        )
        if self._is_cut[k]:
            weight *= self.places >= self._least[k]
        if self._mean is not None:
            # x = λ / (1 + λ), and λ y² is the same for all rows.
            squares = self._lowest[k] + float(self.step) * self.places
            squares *= squares
            squares += self._mean
            weight *= np.divide(self._mean, squares, out=squares)
        return weight


def _centres(noisy: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    """Return where the windows of arms are to lie: at a decreasing fit, but within reach of what was seen."""
    k = np.arange(1, noisy.shape[1] + 1)
    centres = np.empty_like(noisy)
    for row, seen in enumerate(noisy):
        # The fit may be rounded at counts beyond 2^53; staying near what was seen keeps it right there too.
        fit = decreasing_fit(seen + k.astype(np.float64)) - k
        offset = np.clip(np.rint(fit - seen), -reach, reach).astype(np.int64)
        centres[row] = np.maximum(seen + offset, 0)
    return centres
