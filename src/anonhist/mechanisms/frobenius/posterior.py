"""The partition with the smallest expected distance, given a noisy Durfee size, noisy arms and noisy legs.

One side of the diagram is ``y_1 ≥ y_2 ≥ … ≥ y_m ≥ m``, y_k = arm_k + k, observed as ``ỹ_k = y_k + noise`` for k ≤ m and
``ỹ_k = k + noise`` for m < k ≤ K. The weight of (m, y) is ``Π_k q^{|y_k − ỹ_k|}`` times a prior. The sum over y is a
chain in k,

    F_k(y) = x(y) q^{|y − ỹ_k|} Σ_{y' ≥ y} F_{k−1}(y'),
    A(m) = Σ_y F_m(y) · q^{Σ_{k>m} |ỹ_k − k|} / Π_{j≤m} (1 − x(j)),

by running sums inside a window around a first fit. Forward and backward sums give the distribution of every row. If
several rows were observed as one noisy sum, two more running sums carry the mean and the variance, given y, of the sum
of the group's rows so far; when the sum is weighed, it is assumed to be normal given y.

Two priors: uniform over partitions (x = 1, no normalizer), and a Zipf shape of scale s: the number of rows of length y
is geometric, ``P(φ) = (1 − x) x^φ``, with mean λ(y) = (s/y)², so that the expected Durfee size is s. On a grid of step
h, a point represents h lengths: its mean is hλ.

Everything here is post-processing of released numbers: priors, windows, grids and early stopping may cost accuracy, but
never privacy. ``epsilon`` is the rate of the noise, ε/Δ.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from anonhist.mechanisms.frobenius.row_weights import (
    ALONE_FROM,
    NEXT_TO_NOTHING,
    REACH,
    Future,
    NoisyRows,
    RowWeights,
    WindowSums,
    carried_moments,
    places_of,
)
from anonhist.numeric.arrays import Floats, Ints
from anonhist.numeric.pulse import pulse

_BLOCK_CELLS = 2**22
# The smallest number of positions after which to test whether the rest matters.
_FEWEST = 8


def _checks(first: int, last: int) -> list[int]:
    """Return the positions of a block after which to test whether the rest matters: each a quarter further on."""
    found = [first]
    while found[-1] < last:
        found.append(min(last, max(found[-1] + _FEWEST, found[-1] * 5 // 4)))
    return found


class RowPosterior:
    """Forward sums for a batch of noisy sides, all of one length K; arms and legs are not yet shifted by k.

    ``grid`` is the largest step of the grid of rows, in units of 1/ε; the step is at least 1. ``settled`` says, given
    ``ln A(m)`` for m from 0 to some M, whether larger m may be ignored. ``scales`` are Durfee sizes s of the Zipf
    prior; without them the prior is uniform. ``log_evidence`` is ``ln A(m)`` up to where it was settled, or K.
    """

    def __init__(
        self,
        noisy: NoisyRows,
        *,
        epsilon: float,
        grid: float,
        settled: Callable[[Floats], bool],
        scales: Floats | None = None,
        reach: float = REACH,
    ) -> None:
        self.epsilon = epsilon
        self._weights = RowWeights(noisy, epsilon, grid, scales, reach=reach)
        self._low, self._step, self._ends = self._weights.low, self._weights.step, self._weights.ends
        length, rows = self._low.shape
        width = self._weights.places.size
        # Windows that do not touch can be treated as adjacent: either everything or nothing is summed there.
        self._moved = np.clip(np.diff(self._low, axis=0, prepend=self._low[:1]), -width, width)
        self._block = max(1, _BLOCK_CELLS // (rows * width))
        self._sums = WindowSums(rows, width)
        self._starts: list[tuple[Floats, ...]] = []
        self._kept, self._kept_block = np.empty((min(self._block, length), rows, width)), -1
        # Mean and variance of the sum of a group so far; empty if all rows were observed separately.
        some = 2 if self._weights.grouped.any() else 0
        self._moments = np.zeros((some, *self._kept.shape))
        peaks, totals = np.empty((length, rows)), np.empty((length, rows))
        self.log_evidence = self._ends[:, :1]
        carried = tuple(np.zeros((1 + some, rows, width)))
        for first in range(0, length, self._block):
            last = min(first + self._block, length)
            self._starts.append(carried)
            for begun, end in pairwise(_checks(first, last)):
                forward = self._go_on(begun, end, peaks)
                totals[begun:end] = self._totals(forward, begun)
                self.log_evidence = self._ends[:, : end + 1].copy()
                with np.errstate(divide="ignore"):
                    self.log_evidence[:, 1:] += (np.cumsum(np.log(peaks[:end]), axis=0) + np.log(totals[:end])).T
                if is_settled := settled(self.log_evidence):
                    break
            if is_settled:
                break
            carried = (forward[-1].copy(), *self._moments[:, last - first - 1].copy())
        self._low = self._low[: self.log_evidence.shape[1] - 1]

    def _forward(self, block: int) -> Floats:
        """Return the forward sums of one block of positions, each scaled to a largest value of one."""
        first = block * self._block
        last = min(first + self._block, self._low.shape[0])
        if self._kept_block != block:
            self._go_on(first, last, None)
        return self._kept[: last - first]

    def _go_on(self, begun: int, end: int, peaks: Floats | None) -> Floats:
        """Compute the forward sums of some positions of one block; all earlier positions are done."""
        block = begun // self._block
        first = block * self._block
        at = begun - first - 1
        previous, *moments = self._starts[block] if at < 0 else (self._kept[at], *self._moments[:, at])
        for k in range(begun, end):
            pulse()
            i = k - first
            weight = self._weights.at(k)
            above = self._sums.upwards(previous, self._moved[k]) if k else None
            if moments:
                moments = self._join(k, previous, moments, above)
                self._weights.weigh_sums(k, self._weights.ends_group[k], weight, moments)
                self._moments[:, i] = moments
            if above is not None:
                weight *= above + NEXT_TO_NOTHING
            peak = np.maximum(weight.max(axis=1), 1e-300)
            if peaks is not None:
                peaks[k] = peak
            previous = np.divide(weight, peak[:, None], out=self._kept[i])
        self._kept_block = block
        return self._kept[begun - first : end - first]

    def _join(self, k: int, previous: Floats, moments: list[Floats], above: Floats | None) -> list[Floats]:
        """Return mean and variance, given row k, of the sum of the group's rows up to and including it."""
        weights = self._weights
        mean, variance = np.zeros((2, *previous.shape))
        if above is not None and weights.opens[k - 1].any():
            goes_on = weights.opens[k - 1][:, None]
            carried = carried_moments(lambda x: self._sums.upwards(x, self._moved[k]), previous, moments, above)
            mean, variance = (np.where(goes_on, moment, 0.0) for moment in carried)
        if weights.grouped[k].any():
            mean = mean + np.where(weights.grouped[k][:, None], weights.offsets(k), 0.0)
        return [mean, variance]

    def _totals(self, forward: Floats, first: int) -> Floats:
        """Sum the forward weights of each position of a block, as if no arm were longer than zero from there on."""
        totals = forward.sum(axis=2)
        for i in np.flatnonzero(self._weights.opens[first : first + forward.shape[0]].any(axis=1)).tolist():
            mean, variance = self._moments[:, (first + i) % self._block]
            moments = [mean + self._weights.rest[first + i][:, None], variance]
            complete = forward[i].copy()
            self._weights.weigh_sums(first + i, self._weights.opens[first + i], complete, moments)
            totals[i] = complete.sum(axis=1)
        return np.asarray(totals)

    def median_rows(self, log_weight: Floats, reaches: Floats, *, with_errors: bool = True) -> tuple[Ints, Floats]:
        """Return for each position k the largest y with ``P(y_k ≥ y and m ≥ k) ≥ 1/2``, or 0, and E|arm − median|.

        These are the rows of the diagram of all cells that are more likely in than out, which minimizes the expected
        sorted ℓ1 distance. ``log_weight`` is that of each m from all but this side, ``reaches`` is ``P(m ≥ k)``.
        Without errors, E|arm − median| is zero.
        """
        ends = np.ascontiguousarray((log_weight + self._ends[:, : log_weight.shape[1]])[:, 1:].T)
        result, off = np.zeros(self._low.shape, dtype=np.int64), np.zeros(self._low.shape)
        future = Future(self._weights, self._sums, self._moved, self._kept.shape[1:])
        for block in reversed(range(len(self._starts))):
            marginal = self._forward(block)
            self._kept_block = -1  # It is multiplied by the future in place.
            first = block * self._block
            here = slice(first, first + marginal.shape[0])
            for k in reversed(range(here.start, here.stop)):
                pulse()
                if k + 1 < ends.shape[0]:
                    future.step_back(k)
                future.may_end(k, ends[k])
                marginal[k - first] *= future.weight
                if self._weights.opens[k].any():
                    whole = [
                        known + ahead for known, ahead in zip(self._moments[:, k - first], future.moments, strict=True)
                    ]
                    self._weights.weigh_sums(k, self._weights.opens[k], marginal[k - first], whole)
            told = reaches[:, 1:].T[here]
            above = np.cumsum(marginal[:, :, ::-1], axis=2, out=marginal[:, :, ::-1])[:, :, ::-1]
            result[here], at = self._medians(above, self._low[here], told)
            if with_errors:
                shortest = np.arange(here.start + 1, here.stop + 1)[:, None]
                off[here] = self._errors(above, self._low[here], told, at, result[here] - shortest, shortest)
        return result.T, off.T

    def _medians(self, above: Floats, low: Ints, reaches: Floats) -> tuple[Ints, Ints]:
        """Return the medians of a block of positions, shape (positions, r), and where they are in their windows."""
        total = above[:, :, 0]
        wanted = 0.5 * total / np.maximum(reaches, 0.5)
        at = np.count_nonzero(above >= wanted[:, :, None], axis=2) - 1
        rows = (low + at) * self._step
        if self._step > 1:
            # Between grid points the tail is about linear: interpolate the median.
            here, following = (
                np.take_along_axis(above, np.minimum(places, above.shape[2] - 1)[:, :, None], axis=2)[:, :, 0]
                for places in (at, at + 1)
            )
            following[at + 1 == above.shape[2]] = 0.0
            share = np.where(here > following, (here - wanted) / np.where(here > following, here - following, 1.0), 0.0)
            rows += np.rint((share - 0.5) * self._step).astype(np.int64)
        return np.where((reaches >= 0.5) & (total > 0), rows, 0), at

    def _errors(self, above: Floats, low: Ints, reaches: Floats, at: Ints, arms: Ints, shortest: Ints) -> Floats:
        """Return E|arm − median| of a block of positions; an arm beyond the diagram is zero.

        E|y − median| = Σ_{y > median} P(Y ≥ y) + Σ_{y ≤ median} P(Y < y).
        """
        total, is_there = above[:, :, 0], reaches >= 0.5
        is_below = self._weights.places <= np.where(is_there, at, -1)[:, :, None]
        apart = np.where(is_below, total[:, :, None] - above, above).sum(axis=2) / np.where(total > 0, total, np.inf)
        apart = self._step * apart + np.where(is_there, 0, self._step * (low - 1) - shortest)
        return np.asarray(reaches * np.maximum(apart, 0) + (1 - reaches) * np.maximum(arms, 0))


#: A noisy Durfee size of at least this many noise scales serves as the scale of the prior; below, the scale is fitted.
SIZE_IS_ENOUGH = 8.0
_COARSE, _FINE = 0.1, 0.05
# A size whose weight is below the largest by this exponent is excluded, and so are larger ones: the likelihood falls
# this far below that of the truth, before reaching it, with probability e^−50.
_NEGLIGIBLE = 50.0


class Medians(NamedTuple):
    """The arms and legs of a fit, and their expected sorted ℓ1 distance by the posterior.

    ``apart`` is the distance of the Durfee size and the arms, ``apart_legs`` that of the legs, and ``beyond`` that of
    legs beyond the Durfee size of the fit.
    """

    arms: Ints
    legs: Ints
    apart: float
    apart_legs: float
    beyond: float


def posterior_medians(
    sizes: Ints, arms: NoisyRows, legs: NoisyRows, *, epsilon: float, reach: float = REACH, with_errors: bool = True
) -> list[Medians]:
    """Return arms and legs of the diagram of all cells that are more likely in than out.

    The weight of a partition with Durfee size m is ``q^{|m − D̃|} · A_arms(m) · A_legs(m)``, the two halves independent
    given m. These cells form a Young diagram (cells only get rarer away from the origin), and no diagram has a smaller
    expected sorted ℓ1 distance.

    The prior has the shape of Zipf's law. Its scale is the noisy Durfee size D̃, if that is at least eight noise
    scales; else it is fitted to all noisy values, first by a uniform prior on a coarse grid, then twice by the Zipf
    prior itself. Without errors, the expected distances are those of the Durfee size alone.
    """
    found: dict[int, Medians] = {}
    enough = epsilon * sizes >= SIZE_IS_ENOUGH
    for fit, chosen in ((False, enough), (True, ~enough)):
        if chosen.any():
            given = sizes[chosen], arms.of(chosen), legs.of(chosen), epsilon
            medians = _medians(*given, fit=fit, reach=reach, with_errors=with_errors)
            found.update(zip(np.flatnonzero(chosen).tolist(), medians, strict=True))
    return [found[run] for run in range(sizes.size)]


def fit_work(size: int, epsilon: float, *, margin: float) -> int:
    """Return the approximate number of values that a run computes: rows times window positions, for each pass.

    Rows observed in groups take four times as long; rows are read up to ``margin`` noise scales beyond the size.
    """
    passes = 1.0 if epsilon * size >= SIZE_IS_ENOUGH else 2 + _FINE / _COARSE
    grouped = 4 if epsilon < ALONE_FROM else 1
    return int(pass_work(size + margin / epsilon, epsilon) * passes * grouped)


def pass_work(length: float, epsilon: float) -> int:
    """Return the number of values in one pass over this many arms and legs: rows times window positions."""
    return int(2 * length * places_of(epsilon, _FINE))


def _medians(
    sizes: Ints, arms: NoisyRows, legs: NoisyRows, epsilon: float, *, fit: bool, reach: float, with_errors: bool
) -> list[Medians]:
    count, noisy = sizes.size, arms.beside(legs)

    def is_settled(evidence: Floats) -> bool:
        joint = _log_weights(sizes, evidence, epsilon) + evidence[:count] + evidence[count:]
        # Up to the noisy size, only its own weight can still rise.
        most = joint[:, -1] + epsilon * np.maximum(sizes - (evidence.shape[1] - 1), 0)
        return bool(np.all(most < joint.max(axis=1) - _NEGLIGIBLE))

    def posterior(grid: float, scales: Floats | None = None) -> RowPosterior:
        return RowPosterior(noisy, epsilon=epsilon, grid=grid, settled=is_settled, scales=scales, reach=reach)

    def of_size(size: Ints) -> RowPosterior:
        scale = np.maximum(size, 1).astype(np.float64)
        return posterior(_FINE, np.concatenate((scale, scale)))

    size = sizes
    if fit:
        size = _size(_durfee(posterior(_COARSE), sizes)[0])
        size = _size(_durfee(of_size(size), sizes)[0])
    sides = of_size(size)
    reaches, others = _durfee(sides, sizes)
    rows, apart = sides.median_rows(others, np.concatenate((reaches, reaches)), with_errors=with_errors)
    found = _size(reaches)
    # E|m − median|, from P(m ≥ k).
    k = np.arange(1, reaches.shape[1])
    apart_sizes = np.where(k <= found[:, None], 1 - reaches[:, 1:], reaches[:, 1:]).sum(axis=1)
    medians: list[Medians] = []
    for run, size in enumerate(found.tolist()):
        arm, leg = (_coordinates(rows[side], size) for side in (run, count + run))
        of_arms, of_legs = apart[run].sum(), apart[count + run]
        whole = float(apart_sizes[run] + of_arms)
        medians.append(Medians(arm, leg, whole, float(of_legs[:size].sum()), float(of_legs[size:].sum())))
    return medians


def _durfee(sides: RowPosterior, sizes: Ints) -> tuple[Floats, Floats]:
    """Return ``P(m ≥ k)``, shape (r, M + 1), and for each side the log weight of m from all but that side."""
    count, evidence = sizes.size, sides.log_evidence
    seen = _log_weights(sizes, evidence, sides.epsilon)
    joint = seen + evidence[:count] + evidence[count:]
    probability = np.exp(joint - joint.max(axis=1, keepdims=True))
    probability /= probability.sum(axis=1, keepdims=True)
    reaches = np.cumsum(probability[:, ::-1], axis=1)[:, ::-1]
    return reaches, np.concatenate((seen + evidence[count:], seen + evidence[:count]))


def _log_weights(sizes: Ints, evidence: Floats, epsilon: float) -> Floats:
    """Return the log weight of each m from the noisy Durfee size."""
    return np.asarray(-epsilon * np.abs(np.arange(evidence.shape[1]) - sizes[:, None].astype(np.float64)))


def _size(reaches: Floats) -> Ints:
    """Return the median Durfee size: the largest k that is reached with probability at least one half."""
    return np.asarray((reaches[:, 1:] >= 0.5).sum(axis=1))


def _coordinates(rows: Ints, size: int) -> Ints:
    """Clip rows to the Durfee size, and repair small violations of order that windows and grids may leave."""
    return np.maximum(np.minimum.accumulate(rows[:size]), size) - np.arange(1, size + 1)
