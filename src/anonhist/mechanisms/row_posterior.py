"""Posterior of the rows of a Young diagram that were seen under two-sided geometric noise.

One side of the diagram is ``y_1 ≥ y_2 ≥ … ≥ y_m ≥ m``, y_k = arm_k + k, observed as ``ỹ_k = y_k + noise`` for k ≤ m and
``ỹ_k = k + noise`` for m < k ≤ K. The weight of (m, y) is ``Π_k q^{|y_k − ỹ_k|}`` times a prior. The sum over y is
a chain in k,

    F_k(y) = x(y) q^{|y − ỹ_k|} Σ_{y' ≥ y} F_{k−1}(y'),
    A(m) = Σ_y F_m(y) · q^{Σ_{k>m} |ỹ_k − k|} / Π_{j≤m} (1 − x(j)),

by running sums inside a window around a first fit. Forward and backward sums give the law of every row.

Two priors: uniform over partitions (x = 1, no normaliser), and a Zipf shape of scale s: the number of rows of length y
is geometric, ``P(φ) = (1 − x) x^φ``, with mean λ(y) = (s/y)², so that a diagram is expected to have Durfee size s.
On a grid of step h a point stands for h lengths: its mean is hλ.

Everything here works on released numbers: post-processing, so priors, windows and grids cost accuracy at most, never
privacy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.window_sums import WindowSums
from anonhist.numeric import decreasing_fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Half-width of a window, and how far its centre may be from what was seen, in units of the noise scale 1/epsilon.
_REACH, _TRUST = 14.0, 9.0
_BLOCK_CELLS = 2**23
# Lets the chain go on where windows do not touch; far below any weight that matters.
_FLOOR = 1e-60
# Weights beyond this exponent are as good as zero; cut there, no product leaves the range of floats.
_STEEPEST = 600.0


class RowPosterior:
    """Forward sums for a batch of noisy sides, all of one length K.

    Parameters
    ----------
    noisy : ndarray of int64, shape (r, K)
        Noisy arms or legs ``ã_k`` (not yet shifted by k).
    epsilon
        Decay of the noise per cell, > 0.
    grid
        Largest step of the grid of rows, in units of 1/epsilon; the step is at least 1.
    scales : ndarray of float64, shape (r,), optional
        Durfee sizes s of the Zipf prior; without it the prior is uniform.

    Attributes
    ----------
    log_evidence : ndarray of float64, shape (r, K + 1)
        ``ln A(m)`` for m = 0..K.
    """

    def __init__(
        self,
        noisy: NDArray[np.int64],
        *,
        epsilon: float,
        grid: float,
        scales: NDArray[np.float64] | None = None,
    ) -> None:
        self.epsilon = epsilon
        self._step = max(1, int(grid / epsilon))
        self._half = int(np.ceil(_REACH / (epsilon * self._step)))
        self._mean = None if scales is None else self._step * scales[:, None] ** 2
        self._prepare(noisy)
        length, rows = self._low.shape
        width = self._places.size
        self._block = max(1, _BLOCK_CELLS // (rows * width))
        self._sums = WindowSums(rows, width)
        self._starts: list[NDArray[np.float64]] = []
        self._kept, self._kept_block = np.empty((min(self._block, length), rows, width)), -1
        peaks, totals = np.empty((length, rows)), np.empty((length, rows))
        carried = np.zeros((rows, width))
        for first in range(0, length, self._block):
            self._starts.append(carried)
            here = slice(first, first + self._block)
            forward = self._forward(len(self._starts) - 1, peaks[here])
            totals[here] = forward.sum(axis=2)
            carried = forward[-1].copy()
        self._ends = self._beyond(noisy)
        self.log_evidence = self._ends.copy()
        with np.errstate(divide="ignore"):
            self.log_evidence[:, 1:] += (np.cumsum(np.log(peaks), axis=0) + np.log(totals)).T

    def _prepare(self, noisy: NDArray[np.int64]) -> None:
        """Lay out what the weights of each position need, position first: shape (K, r) or (K, r, 1).

        With o the distance from what was seen to the middle of a window, ``q^|o + j| = min(q^o · q^j, q^−o · q^−j)``:
        no exponential is left to be taken inside the chain.
        """
        k = np.arange(1, noisy.shape[1] + 1)[:, None]
        # A window holds arms x = y − k on a grid of rows y that are multiples of the step.
        self._low = (_centres(noisy, int(np.ceil(_TRUST / self.epsilon))).T + k) // self._step - self._half
        self._places = np.arange(2 * self._half + 1)
        # Windows that do not touch are as good as neighbours: all or nothing is summed up there.
        self._moved = np.clip(np.diff(self._low, axis=0, prepend=self._low[:1]), -self._places.size, self._places.size)
        offset = (self._low + self._half) * self._step - k - noisy.T
        exponent = np.clip(self.epsilon * offset, -_STEEPEST, _STEEPEST)[:, :, None]
        along = self.epsilon * self._step * (self._places - self._half)
        self._rising = np.exp(exponent), np.exp(along)
        self._falling = np.exp(-exponent), np.exp(-along)
        # Arms are at least 0, and so rows at least k.
        self._least = (-(-k // self._step) - self._low)[:, :, None]
        self._is_cut = self._least.max(axis=(1, 2)) > 0
        self._lowest = (self._step * self._low.astype(np.float64))[:, :, None]

    def _beyond(self, noisy: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return ``ln(q^{Σ_{k>m} |ã_k|} / Π_{j≤m} (1 − x(j)))`` for m = 0..K, shape (r, K + 1)."""
        ends = np.zeros((noisy.shape[0], noisy.shape[1] + 1))
        cost = self.epsilon * np.abs(noisy.astype(np.float64))
        ends[:, :-1] -= np.cumsum(cost[:, ::-1], axis=1)[:, ::-1]
        if self._mean is not None:
            mean = self._mean / np.arange(1.0, noisy.shape[1] + 1) ** 2
            ends[:, 1:] += np.cumsum(np.log1p(mean), axis=1) / self._step
        return ends

    def _weight(self, k: int) -> NDArray[np.float64]:
        """Return likelihood times x of each row y in the windows of position k (from 0), shape (r, window)."""
        weight = np.minimum(self._rising[0][k] * self._rising[1], self._falling[0][k] * self._falling[1])
        if self._is_cut[k]:
            weight *= self._places >= self._least[k]
        if self._mean is not None:
            # x = λ / (1 + λ), and λ y² is the same for all rows.
            squares = self._lowest[k] + float(self._step) * self._places
            squares *= squares
            squares += self._mean
            weight *= np.divide(self._mean, squares, out=squares)
        return weight

    def _forward(self, block: int, peaks: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Make the forward sums of one block of positions (again), each scaled to a largest value of one."""
        previous, first = self._starts[block], block * self._block
        kept = self._kept[: self._low.shape[0] - first]
        if self._kept_block == block:
            return kept
        for i in range(kept.shape[0]):
            weight = self._weight(first + i)
            if first + i:
                weight *= self._sums.upwards(previous, self._moved[first + i]) + _FLOOR
            peak = np.maximum(weight.max(axis=1), 1e-300)
            if peaks is not None:
                peaks[i] = peak
            previous = np.divide(weight, peak[:, None], out=kept[i])
        self._kept_block = block
        return kept

    def median_rows(self, log_weight: NDArray[np.float64], reaches: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return for each position k the largest y with ``P(y_k ≥ y and m ≥ k) ≥ 1/2``, or 0 where there is none.

        These are the rows of the diagram of all cells that are more likely in than out, which minimises the
        expected sorted ℓ1 distance.

        Parameters
        ----------
        log_weight : ndarray of float64, shape (r, K + 1)
            Log weight of each m from everything but this side.
        reaches : ndarray of float64, shape (r, K + 1)
            ``P(m ≥ k)`` for k = 0..K.
        """
        ends = np.ascontiguousarray((log_weight + self._ends)[:, 1:].T)
        result = np.zeros(self._low.shape, dtype=np.int64)
        future = np.zeros((self._low.shape[1], self._places.size))
        scale = np.full(self._low.shape[1], -np.inf)
        for block in reversed(range(len(self._starts))):
            marginal = self._forward(block)
            self._kept_block = -1  # it is multiplied by the future in its place
            first = block * self._block
            here = slice(first, first + marginal.shape[0])
            for k in reversed(range(here.start, here.stop)):
                if k + 1 < ends.shape[0]:
                    # Rows y_{k+1} ≤ y_k: the sum up to and including the same row.
                    future = self._sums.downwards(future * self._weight(k + 1), -self._moved[k + 1])
                    future += _FLOOR
                top = np.maximum(scale, ends[k])
                safe = np.where(np.isfinite(top), top, 0.0)
                future *= np.exp(scale - safe)[:, None]
                future += np.exp(ends[k] - safe)[:, None]
                peak = np.maximum(future.max(axis=1), 1e-300)
                future /= peak[:, None]
                scale = safe + np.log(peak)
                marginal[k - first] *= future
            result[here] = self._medians(marginal, self._low[here], reaches[:, 1:].T[here])
        return result.T

    def _medians(
        self, marginal: NDArray[np.float64], low: NDArray[np.int64], reaches: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the medians of a block of positions, shape (positions, r); ``marginal`` is used up."""
        above = np.cumsum(marginal[:, :, ::-1], axis=2, out=marginal[:, :, ::-1])[:, :, ::-1]
        total = above[:, :, 0]
        wanted = 0.5 * total / np.maximum(reaches, 0.5)
        at = np.count_nonzero(above >= wanted[:, :, None], axis=2) - 1
        rows = (low + at) * self._step
        if self._step > 1:
            # Between grid points the tail falls about linearly: read the median off the line.
            here, following = (
                np.take_along_axis(above, np.minimum(places, above.shape[2] - 1)[:, :, None], axis=2)[:, :, 0]
                for places in (at, at + 1)
            )
            following[at + 1 == above.shape[2]] = 0.0
            share = np.where(here > following, (here - wanted) / np.where(here > following, here - following, 1.0), 0.0)
            rows += np.rint(share * self._step - 0.5).astype(np.int64)
        return np.where((reaches >= 0.5) & (total > 0), rows, 0)


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
