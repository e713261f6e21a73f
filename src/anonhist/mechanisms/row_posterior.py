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

from anonhist.numeric import decreasing_fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Half-width of a window, and how far its centre may be from what was seen, in units of the noise scale 1/epsilon.
_REACH, _TRUST = 14.0, 9.0
_BLOCK_CELLS = 2**23
# Lets the chain go on where windows do not touch; far below any weight that matters.
_FLOOR = 1e-60


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
        self._noisy = noisy
        self._scales = scales
        rows, length = noisy.shape
        self._step = max(1, int(grid / epsilon))
        half = int(np.ceil(_REACH / (epsilon * self._step)))
        self._window = np.arange(2 * half + 1)
        self._low = self._windows(half)
        self._block = max(1, _BLOCK_CELLS // (rows * self._window.size))
        cost = epsilon * np.abs(noisy.astype(np.float64))
        self._beyond = np.zeros((rows, length + 1))
        self._beyond[:, :-1] = np.cumsum(cost[:, ::-1], axis=1)[:, ::-1]
        self._log_prior = np.zeros((rows, length + 1))
        if scales is not None:
            mean = self._step * (scales[:, None] / np.arange(1, length + 1)) ** 2
            self._log_prior[:, 1:] = np.cumsum(np.log1p(mean), axis=1) / self._step
        self.log_evidence = np.empty((rows, length + 1))
        self.log_evidence[:, 0] = -self._beyond[:, 0]
        self._starts: list[NDArray[np.float64]] = []
        self._kept: tuple[int, list[NDArray[np.float64]]] = (-1, [])
        self._scale = np.zeros((rows, length + 1))
        carried = np.zeros((rows, self._window.size))
        for block in range(-(-length // self._block)):
            self._starts.append(carried)
            carried = self._forward(block)[-1]

    def _windows(self, half: int) -> NDArray[np.int64]:
        rows, length = self._noisy.shape
        k = np.arange(1, length + 1)
        reach = int(np.ceil(_TRUST / self.epsilon))
        centre = np.empty((rows, length), dtype=np.int64)
        for row in range(rows):
            # The fit may be rounded at counts beyond 2^53; staying near what was seen keeps it right there too.
            seen = self._noisy[row]
            fit = decreasing_fit(seen + k.astype(np.float64)) - k
            offset = np.clip(np.rint(fit - seen), -reach, reach).astype(np.int64)
            centre[row] = np.maximum(seen + offset, 0)
        # A window holds arms x = y − k on a grid of rows y that are multiples of the step.
        return (centre + k) // self._step - half

    def _rows(self, k: int) -> NDArray[np.int64]:
        """Rows y of the window of position k (from 0), on the grid; shape (r, window)."""
        return (self._low[:, k, None] + self._window) * self._step

    def _likelihood(self, k: int) -> NDArray[np.float64]:
        arms = self._rows(k) - (k + 1)
        weight: NDArray[np.float64] = np.exp(-self.epsilon * np.abs(arms - self._noisy[:, k, None]))
        weight[arms < 0] = 0.0
        if self._scales is not None:
            mean = self._step * (self._scales[:, None] / np.maximum(arms + (k + 1), 1)) ** 2
            weight *= mean / (1 + mean)
        return weight

    def _shifted(self, sums: NDArray[np.float64], of: int, at: int) -> NDArray[np.float64]:
        """Read running sums kept for the window of position ``of`` at the rows of the window of ``at``."""
        index = self._window + (self._low[:, at] - self._low[:, of])[:, None]
        return self._read(sums, index)

    def _read(self, sums: NDArray[np.float64], index: NDArray[np.int64]) -> NDArray[np.float64]:
        """Read each row of ``sums`` at its own places, those outside at its ends."""
        inside = np.minimum(np.maximum(index, 0), sums.shape[1] - 1)
        inside += (np.arange(sums.shape[0]) * sums.shape[1])[:, None]
        return np.asarray(sums.ravel()[inside])

    def _forward(self, block: int) -> list[NDArray[np.float64]]:
        """Make the forward sums of one block of positions (again), each scaled to a largest value of one."""
        if self._kept[0] == block:
            return self._kept[1]
        previous, kept = self._starts[block], []
        first = block * self._block
        for k in range(first, min(first + self._block, self._noisy.shape[1])):
            weight = self._likelihood(k)
            if k:
                sums = np.zeros((weight.shape[0], weight.shape[1] + 1))
                sums[:, :-1] = np.cumsum(previous[:, ::-1], axis=1)[:, ::-1]
                weight *= self._shifted(sums, k - 1, k) + _FLOOR
            peak = np.maximum(weight.max(axis=1), 1e-300)
            previous = weight / peak[:, None]
            kept.append(previous)
            self._scale[:, k + 1] = self._scale[:, k] + np.log(peak)
            with np.errstate(divide="ignore"):
                total = np.log(previous.sum(axis=1))
            self.log_evidence[:, k + 1] = self._scale[:, k + 1] + total - self._beyond[:, k + 1]
            self.log_evidence[:, k + 1] += self._log_prior[:, k + 1]
        self._kept = (block, kept)
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
        rows, length = self._noisy.shape
        result = np.zeros((rows, length), dtype=np.int64)
        future = np.zeros((rows, self._window.size))
        scale = np.full(rows, -np.inf)
        for block in reversed(range(len(self._starts))):
            forward = self._forward(block)
            for k in reversed(range(block * self._block, block * self._block + len(forward))):
                if k + 1 < length:
                    sums = np.zeros((rows, self._window.size + 1))
                    np.cumsum(future * self._likelihood(k + 1), axis=1, out=sums[:, 1:])
                    # Rows y_{k+1} ≤ y_k: the sum up to and including the same row.
                    future = self._shifted_below(sums, k + 1, k)
                ends = log_weight[:, k + 1] - self._beyond[:, k + 1] + self._log_prior[:, k + 1]
                top = np.maximum(scale, ends)
                safe = np.where(np.isfinite(top), top, 0.0)
                future = future * np.exp(scale - safe)[:, None] + np.exp(ends - safe)[:, None]
                peak = np.maximum(future.max(axis=1), 1e-300)
                future /= peak[:, None]
                scale = safe + np.log(peak)
                result[:, k] = self._median(forward[k - block * self._block] * future, k, reaches[:, k + 1])
        return result

    def _shifted_below(self, sums: NDArray[np.float64], of: int, at: int) -> NDArray[np.float64]:
        index = self._window + 1 + (self._low[:, at] - self._low[:, of])[:, None]
        return self._read(sums, index) + _FLOOR

    def _median(self, marginal: NDArray[np.float64], k: int, reaches: NDArray[np.float64]) -> NDArray[np.int64]:
        above = np.cumsum(marginal[:, ::-1], axis=1)[:, ::-1]
        total = above[:, 0]
        wanted = 0.5 * total / np.maximum(reaches, 0.5)
        at = (above >= wanted[:, None]).sum(axis=1) - 1
        rows = (self._low[:, k] + at) * self._step
        if self._step > 1:
            everyone = np.arange(at.size)
            # Between grid points the tail falls about linearly: read the median off the line.
            here = above[everyone, at]
            following = np.where(at + 1 < above.shape[1], above[everyone, np.minimum(at + 1, above.shape[1] - 1)], 0.0)
            share = np.where(here > following, (here - wanted) / np.where(here > following, here - following, 1.0), 0.0)
            rows += np.rint(share * self._step - 0.5).astype(np.int64)
        return np.where((reaches >= 0.5) & (total > 0), rows, 0)
