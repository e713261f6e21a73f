"""Weights of the rows of a Young diagram observed under noise: likelihood times prior, inside windows on a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric import decreasing_fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anonhist.mechanisms.frobenius.row_groups import NoisyRows

# Half-width of a window, and the largest distance of its center from the observed value, in noise scales 1/ε.
_REACH, _TRUST = 14.0, 9.0
# Weights beyond this exponent are negligible; they are cut there, so that products stay in the range of floats.
_STEEPEST = 600.0
# The same for adjacent rows, if ε is so large that noise never moves one: the product of both stays in range.
_STEEPEST_STEP = 100.0
# Upper bound of interpolated lengths.
_LARGEST_MEAN = 2.0**62


class RowWeights:
    """The weights of the rows in a window, for each position k of a batch of noisy sides.

    A row observed alone has weight ``x(y) q^{|y − ỹ_k|}``. A row of a longer group has weight ``x(y)``, and
    :meth:`weigh_sums` adds the weight of the group's sum.

    Parameters
    ----------
    noisy, epsilon, grid, scales
        See :class:`~anonhist.mechanisms.frobenius.row_posterior.RowPosterior`.

    Attributes
    ----------
    step : int
        Step of the grid of rows.
    places : ndarray of int64, shape (w,)
        The places 0..w − 1 of a window.
    low : ndarray of int64, shape (K, r)
        Where each window begins: its rows are ``(low + places) · step``.
    ends : ndarray of float64, shape (r, K + 1)
        ``ln(q^{Σ |S̃|} / Π_{j≤m} (1 − x(j)))`` for m = 0..K, over all groups that begin beyond m.
    grouped, opens, ends_group : ndarray of bool, shape (K, r)
        Whether a position belongs to a group of two or more, to one that continues beyond it, to one that ends there.
    rest : ndarray of float64, shape (K, r)
        The contribution of zero arms beyond k to the sum of the group, counted as in :meth:`offsets`.
    """

    def __init__(self, noisy: NoisyRows, epsilon: float, grid: float, scales: NDArray[np.float64] | None) -> None:
        # Position first, so that each step of the chain reads contiguous memory.
        sums = noisy.sums
        k = np.arange(1, sums.shape[1] + 1)[:, None]
        self._epsilon = epsilon
        self.step = step_of(epsilon, grid)
        self.places = np.arange(places_of(epsilon, grid))
        half = self.places.size // 2
        self.grouped, self.opens = _membership(noisy)
        self._alone, self.ends_group = ~self.grouped, self.grouped & ~self.opens
        self._centers = _centers(noisy, int(np.ceil(_TRUST / epsilon))).T
        # A window holds arms x = y − k on a grid of rows y that are multiples of the step.
        self.low: NDArray[np.int64] = (self._centers + k) // self.step - half
        # With o the distance from the observed value to the middle of a window, q^|o + j| = min(q^o · q^j, q^−o ·
        # q^−j): for rows observed alone, the chain computes no exponentials.
        offset = (self.low + half) * self.step - k - sums.T
        exponent = np.clip(epsilon * offset, -_STEEPEST, _STEEPEST)[:, :, None]
        along = np.clip(epsilon * self.step * (self.places - half), -_STEEPEST_STEP, _STEEPEST_STEP)
        self._rising = np.exp(exponent), np.exp(along)
        self._falling = np.exp(-exponent), np.exp(-along)
        # Arms are at least 0, and so rows at least k.
        self._least = (-(-k // self.step) - self.low)[:, :, None]
        self._is_cut = self._least.max(axis=(1, 2)) > 0
        self._lowest = (self.step * self.low.astype(np.float64))[:, :, None]
        self._mean = None if scales is None else self.step * scales[:, None] ** 2
        self._aim, self.rest = _aims(noisy, self._centers)
        cost = epsilon * np.abs(sums.astype(np.float64)) * noisy.begins
        self.ends = np.zeros((sums.shape[0], sums.shape[1] + 1))
        self.ends[:, :-1] -= np.cumsum(cost[:, ::-1], axis=1)[:, ::-1]
        if self._mean is not None:
            mean = self._mean / np.arange(1.0, sums.shape[1] + 1) ** 2
            self.ends[:, 1:] += np.cumsum(np.log1p(mean), axis=1) / self.step

    def at(self, k: int) -> NDArray[np.float64]:
        """Return the weights in the windows of position k (from 0), shape (r, w)."""
        weight: NDArray[np.float64] = np.minimum(
            self._rising[0][k] * self._rising[1], self._falling[0][k] * self._falling[1]
        )
        if not self._alone[k].all():
            weight = np.where(self._alone[k][:, None], weight, 1.0)
        if self._is_cut[k]:
            weight *= self.places >= self._least[k]
        if self._mean is not None:
            # x = λ / (1 + λ), and λ y² is the same for all rows.
            squares = self._lowest[k] + float(self.step) * self.places
            squares *= squares
            squares += self._mean
            weight *= np.divide(self._mean, squares, out=squares)
        return weight

    def offsets(self, k: int) -> NDArray[np.float64]:
        """Return the differences between the rows in the windows of position k and a first fit, shape (r, w)."""
        first = self.low[k] * self.step - (k + 1) - self._centers[k]
        return np.asarray(first[:, None] + float(self.step) * self.places)

    def weigh_sums(
        self, k: int, at: NDArray[np.bool_], weight: NDArray[np.float64], moments: Sequence[NDArray[np.float64]]
    ) -> None:
        """Multiply the weights of the runs ``at`` by the expectation of ``q^|S − S̃|``, S the sum of the group of k.

        S is relative to its first fit and assumed to be normal; three points have the same moments up to the fifth.
        """
        if not at.any():
            return
        mean, variance = (moment[at] for moment in moments)
        apart = self._epsilon * np.sqrt(3 * variance)
        middle = self._epsilon * (mean - self._aim[k][at, None])
        weight[at] *= (4 * _decay(middle) + _decay(middle + apart) + _decay(middle - apart)) / 6


def step_of(epsilon: float, grid: float) -> int:
    """Return the step of the grid of rows."""
    return max(1, int(grid / epsilon))


def places_of(epsilon: float, grid: float) -> int:
    """Return the number of places of a window."""
    return 2 * int(np.ceil(_REACH / (epsilon * step_of(epsilon, grid)))) + 1


def _decay(exponent: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.abs(exponent)
    np.negative(np.minimum(found, _STEEPEST, out=found), out=found)
    return np.asarray(np.exp(found, out=found))


def _membership(noisy: NoisyRows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return, position first, membership in a group of two or more, and in one that continues."""
    opens = np.zeros(noisy.begins.shape, dtype=np.bool_)
    opens[:, :-1] = ~noisy.begins[:, 1:]
    return (opens | ~noisy.begins).T, opens.T


def _centers(noisy: NoisyRows, reach: int) -> NDArray[np.int64]:
    """Return the centers of the windows of arms: a decreasing fit, within reach of values observed alone."""
    shape = noisy.sums.shape
    k = np.arange(1, shape[1] + 1)
    starts, lengths = _groups(noisy)
    middles = starts % shape[1] + (lengths + 1) / 2
    fit = decreasing_fit(np.repeat(noisy.sums.ravel()[starts] / lengths + middles, lengths).reshape(shape))
    alone = np.repeat(lengths == 1, lengths).reshape(shape)
    # Floats may round the fit for counts beyond 2⁵³; staying near the observed values keeps it accurate there, too.
    offset = np.clip(np.rint(fit - k - noisy.sums), -reach, reach).astype(np.int64)
    centers = noisy.sums + np.where(alone, offset, 0)
    middle = np.repeat(middles, lengths).reshape(shape)
    for run in np.flatnonzero(~alone.all(axis=1)).tolist():
        begins = noisy.begins[run]
        between = np.interp(k, middle[run][begins], fit[run][begins]) - k
        centers[run] = np.where(alone[run], centers[run], np.minimum(between, _LARGEST_MEAN).astype(np.int64))
    return np.maximum(centers, 0)


def _aims(noisy: NoisyRows, centers: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, position first, each group's observed sum and that of zero arms beyond k, relative to the centers."""
    (starts, lengths), fitted = _groups(noisy), centers.T.ravel()
    # Sums may overflow 2⁶³ and wrap back: differences are correct.
    whole = np.add.reduceat(fitted, starts)
    before = np.cumsum(whole) - whole
    aim = noisy.sums.ravel() - np.repeat(whole, lengths)
    rest = np.cumsum(fitted) - np.repeat(before + whole, lengths)
    aim, rest = (each.reshape(noisy.sums.shape).T.astype(np.float64, order="C") for each in (aim, rest))
    return aim, rest


def _groups(noisy: NoisyRows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the starts of the groups of all runs, run after run, and their lengths."""
    starts = np.flatnonzero(noisy.begins)
    return starts, np.diff(starts, append=noisy.begins.size)
