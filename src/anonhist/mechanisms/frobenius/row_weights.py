"""Noisy sums of groups of rows of a Young diagram, and the weights of rows given these sums, inside windows on a grid.

An isolated row is best released alone, but if adjacent rows differ by a gap g below the noise, one noisy sum of m rows
is better than m noisy rows; the best m is about ``(gε)^{−2/3}`` times a constant (docs/proofs/denoising.md §3).

Positions are processed in stages, each a quarter as long as all before it, and the gap is computed from the noisy sums
of the two stages before: these are released values, so no budget is spent on choosing. Each row is in exactly one
group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anonhist.mechanisms.noise import add_noise
from anonhist.numeric import decreasing_fit
from anonhist.numeric.arrays import Bools, Floats, Ints

# Half-width of a window, and the largest distance of its center from the observed value, in noise scales 1/ε.
REACH, _TRUST = 14.0, 9.0
# The same for simulated runs, for which only errors matter: means change by less than 1/5,000 on all shapes tried.
SIMULATED_REACH = 8.0
# Weights beyond this exponent are negligible; they are clipped there, so that products stay in the range of floats.
_STEEPEST = 600.0
# The same for adjacent rows, if ε is so large that noise never moves one: the product of both stays in range.
_STEEPEST_STEP = 100.0
# Upper bound of interpolated lengths.
_LARGEST_MEAN = 2.0**62


class RowWeights:
    """The weights of the rows in a window, for each position k of a batch of noisy sides: likelihood times prior.

    A row observed alone has weight ``x(y) q^{|y − ỹ_k|}``. A row of a longer group has weight ``x(y)``, and
    :meth:`weigh_sums` adds the weight of the group's sum. The rows of a window are ``(low + places) · step``. ``ends``
    is ``ln(q^{Σ |S̃|} / Π_{j≤m} (1 − x(j)))`` for m = 0..K, over all groups that begin beyond m; ``rest`` the
    contribution of zero arms beyond k to the sum of the group, counted as in :meth:`offsets`. A position is ``grouped``
    in a group of two or more, and ``opens`` if that continues beyond it. Positions come first in all shapes except that
    of ``ends``.
    """

    def __init__(
        self, noisy: NoisyRows, epsilon: float, grid: float, scales: Floats | None, *, reach: float = REACH
    ) -> None:
        # Positions come first, so that each step of the chain reads contiguous memory.
        sums = noisy.sums
        k = np.arange(1, sums.shape[1] + 1)[:, None]
        self._epsilon = epsilon
        self.step = step_of(epsilon, grid)
        self.places = np.arange(places_of(epsilon, grid, reach))
        half = self.places.size // 2
        # Positions come first: membership in a group of two or more, and in one that continues.
        opens = np.zeros(noisy.begins.shape, dtype=np.bool_)
        opens[:, :-1] = ~noisy.begins[:, 1:]
        self.grouped, self.opens = (opens | ~noisy.begins).T, opens.T
        self._alone, self.ends_group = ~self.grouped, self.grouped & ~self.opens
        self._centers = _centers(noisy, int(np.ceil(_TRUST / epsilon))).T
        # A window holds arms x = y − k on a grid of rows y that are multiples of the step.
        self.low: Ints = (self._centers + k) // self.step - half
        # With o the distance from the observed value to the middle of a window, q^|o + j| = min(q^o · q^j, q^−o ·
        # q^−j): for rows observed alone, the chain computes no exponentials.
        offset = (self.low + half) * self.step - k - sums.T
        exponent = np.clip(epsilon * offset, -_STEEPEST, _STEEPEST)[:, :, None]
        along = np.clip(epsilon * self.step * (self.places - half), -_STEEPEST_STEP, _STEEPEST_STEP)
        self._rising = np.exp(exponent), np.exp(along)
        self._falling = np.exp(-exponent), np.exp(-along)
        # Arms are at least 0, so rows are at least k.
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

    def at(self, k: int) -> Floats:
        """Return the weights in the windows of position k (from 0), shape (r, w)."""
        weight: Floats = np.minimum(self._rising[0][k] * self._rising[1], self._falling[0][k] * self._falling[1])
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

    def offsets(self, k: int) -> Floats:
        """Return the differences between the rows in the windows of position k and a first fit, shape (r, w)."""
        first = self.low[k] * self.step - (k + 1) - self._centers[k]
        return np.asarray(first[:, None] + float(self.step) * self.places)

    def weigh_sums(self, k: int, at: Bools, weight: Floats, moments: Sequence[Floats]) -> None:
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


def places_of(epsilon: float, grid: float, reach: float = REACH) -> int:
    """Return the number of positions in a window that reaches this many noise scales to either side."""
    return 2 * int(np.ceil(reach / (epsilon * step_of(epsilon, grid)))) + 1


def _decay(exponent: Floats) -> Floats:
    found = np.abs(exponent)
    np.negative(np.minimum(found, _STEEPEST, out=found), out=found)
    return np.asarray(np.exp(found, out=found))


def _centers(noisy: NoisyRows, reach: int) -> Ints:
    """Return the centers of the windows of arms: a decreasing fit, within reach of separately observed values."""
    shape = noisy.sums.shape
    k = np.arange(1, shape[1] + 1)
    starts, lengths = noisy.groups()
    middles = starts % shape[1] + (lengths + 1) / 2
    fit = decreasing_fit(np.repeat(noisy.sums.ravel()[starts] / lengths + middles, lengths).reshape(shape))
    alone = np.repeat(lengths == 1, lengths).reshape(shape)
    # Floats may round the fit for counts beyond 2⁵³; staying near the observed values keeps it accurate even then.
    offset = np.clip(np.rint(fit - k - noisy.sums), -reach, reach).astype(np.int64)
    centers = noisy.sums + np.where(alone, offset, 0)
    middle = np.repeat(middles, lengths).reshape(shape)
    for run in np.flatnonzero(~alone.all(axis=1)).tolist():
        begins = noisy.begins[run]
        between = np.interp(k, middle[run][begins], fit[run][begins]) - k
        centers[run] = np.where(alone[run], centers[run], np.minimum(between, _LARGEST_MEAN).astype(np.int64))
    return np.maximum(centers, 0)


def _aims(noisy: NoisyRows, centers: Ints) -> tuple[Floats, Floats]:
    """Return, position first, each group's observed sum and that of zero arms beyond k, relative to the centers."""
    (starts, lengths), fitted = noisy.groups(), centers.T.ravel()
    # Sums may overflow 2⁶³ and wrap around; their differences are correct.
    whole = np.add.reduceat(fitted, starts)
    before = np.cumsum(whole) - whole
    aim = noisy.sums.ravel() - np.repeat(whole, lengths)
    rest = np.cumsum(fitted) - np.repeat(before + whole, lengths)
    aim, rest = (each.reshape(noisy.sums.shape).T.astype(np.float64, order="C") for each in (aim, rest))
    return aim, rest


# This lets the chain continue where windows do not touch; it is far below any significant weight.
NEXT_TO_NOTHING = 1e-250
# With a largest weight of one, the moments of weights below this are negligible.
_NOTHING = 1e-240


class WindowSums:
    """Running sums over windows of ``width`` positions, one window per row, padded with their values beyond either end.

    Windows may lie higher by ``moved``, −width ≤ moved ≤ width.
    """

    def __init__(self, rows: int, width: int) -> None:
        self._everyone, self._width = np.arange(rows), width
        padded = np.empty((rows, 3 * width))
        self._below, self._middle, self._beyond = np.split(padded, 3, axis=1)
        self._views = np.lib.stride_tricks.sliding_window_view(padded, width, axis=1)

    def upwards(self, values: Floats, moved: Ints) -> Floats:
        """Return for each position of windows that lie higher by ``moved`` the sum of the values there and above."""
        np.cumsum(values[:, ::-1], axis=1, out=self._middle[:, ::-1])
        self._below[:] = self._middle[:, :1]
        self._beyond[:] = 0.0
        return np.asarray(self._views[self._everyone, self._width + moved])

    def downwards(self, values: Floats, moved: Ints) -> Floats:
        """Return for each position of windows that lie higher by ``moved`` the sum of the values there and below."""
        np.cumsum(values, axis=1, out=self._middle)
        self._below[:] = 0.0
        self._beyond[:] = self._middle[:, -1:]
        return np.asarray(self._views[self._everyone, self._width + moved])


class Future:
    """Weight of everything after position k, for each row y_k in its window, scaled to a largest value of one.

    ``moments`` are mean and variance, given y_k, of the sum of the rows after k in the group of k; ``moved`` says how
    much higher each window lies than the one before.
    """

    def __init__(self, weights: RowWeights, sums: WindowSums, moved: Ints, shape: tuple[int, ...]) -> None:
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

    def may_end(self, k: int, log_end: Floats) -> None:
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

    def _down(self, values: Floats, k: int) -> Floats:
        return self._sums.downwards(values, -self._moved[k + 1])


def carried_moments(
    summed: Callable[[Floats], Floats], weight: Floats, moments: Sequence[Floats], total: Floats
) -> list[Floats]:
    """Return mean and variance of a mixture over the rows that ``summed`` adds up, with total weight ``total``."""
    mean, variance = moments
    held = np.maximum(total, _NOTHING)
    mixed = summed(weight * mean) / held
    return [mixed, np.maximum(summed(weight * (mean**2 + variance)) / held - mixed**2, 0.0)]


_STAGE = 1.25
# These are good on all data tried; the error hardly changes around them.
_LENGTH, _LESS, _CAUTION, _NEAR = 5.0, 1.0, 0.5, 1.0
# From this ε/Δ on, rows are released separately: noise is often zero there, and a sum would hide that.
ALONE_FROM = 0.9
# Before a sum is weighed, impossible diagrams may outweigh the truth by the number of ways to choose the rows of its
# group; longer groups would exceed the range of floats.
_LONGEST = 64


@dataclass(frozen=True)
class NoisyRows:
    """Arms (or legs) of several runs, as the noisy sums of their groups.

    ``sums`` has the sum of its group at each position, ``begins`` whether a group begins there; shape (runs, K).
    """

    sums: Ints
    begins: Bools

    @classmethod
    def alone(cls, noisy: Ints) -> NoisyRows:
        """Make each row a separate group."""
        return cls(noisy, np.ones(noisy.shape, dtype=np.bool_))

    def groups(self) -> tuple[Ints, Ints]:
        """Return the starts of the groups of all runs, run after run, and their lengths."""
        starts = np.flatnonzero(self.begins)
        return starts, np.diff(starts, append=self.begins.size)

    def of(self, runs: Bools | Ints) -> NoisyRows:
        """Keep only these runs."""
        return NoisyRows(self.sums[runs], self.begins[runs])

    def at(self, run: int) -> NoisyRows:
        """Keep only one run."""
        return NoisyRows(self.sums[run : run + 1], self.begins[run : run + 1])

    def append(self, other: NoisyRows) -> NoisyRows:
        """Append the groups of further positions."""
        return NoisyRows(np.hstack((self.sums, other.sums)), np.hstack((self.begins, other.begins)))

    def beside(self, other: NoisyRows) -> NoisyRows:
        """Append further runs as rows."""
        return NoisyRows(np.concatenate((self.sums, other.sums)), np.concatenate((self.begins, other.begins)))


@dataclass(frozen=True)
class NoisyCoordinates:
    """Noisy Durfee sizes D̃ of several runs, and K noisy arms and legs of each, single ones or sums."""

    sizes: Ints
    arms: NoisyRows
    legs: NoisyRows

    def numbers(self, run: int) -> Ints:
        """Return all noisy numbers of a run, each once: n is the sum of the true ones."""
        sides = (side.sums[run, side.begins[run]] for side in (self.arms, self.legs))
        return np.concatenate((self.sizes[run : run + 1], *sides))

    def of(self, runs: Bools) -> NoisyCoordinates:
        """Keep only these runs."""
        return NoisyCoordinates(self.sizes[runs], self.arms.of(runs), self.legs.of(runs))


def noisy_rows(lengths: Ints, noise: Ints, sizes: Ints, *, epsilon: float) -> NoisyRows:
    """Release the first K lengths, zero beyond their end, group by group.

    ``lengths`` are private and descending: those of each run, or of one profile for all runs. Within a stage, groups
    use the independent noises of a run in order; the rest are discarded. Near the released Durfee ``sizes`` rows may
    end abruptly. ``epsilon`` is the public rate of the noise, ε/Δ.
    """
    runs, positions = noise.shape
    padded = np.zeros((len(lengths), positions), dtype=np.int64)
    padded[:, : lengths.shape[1]] = lengths[:, :positions]
    if epsilon >= ALONE_FROM:
        return NoisyRows.alone(add_noise(np.broadcast_to(padded, noise.shape), noise))
    sums, begins = np.empty(noise.shape, dtype=np.int64), np.empty(noise.shape, dtype=np.bool_)
    stages: list[_Stage] = []
    first = 0
    while first < positions:
        last = min(positions, max(first + 1, math.ceil(_STAGE * first)))
        most = max(1, min(last - first, first // 2, _LONGEST))
        each = _group_sizes(stages[-2:], sizes, epsilon, most=most)
        group = np.arange(last - first) // each[:, None]
        whole = np.zeros(group.shape, dtype=np.int64)
        np.add.at(whole, (np.arange(runs)[:, None], group), padded[:, first:last])
        seen = add_noise(whole, noise[:, first:last])
        stages.append(_Stage.of(seen, group, first))
        sums[:, first:last] = np.take_along_axis(seen, group, axis=1)
        begins[:, first:last] = np.diff(group, axis=1, prepend=-1) > 0
        first = last
    return NoisyRows(sums, begins)


@dataclass(frozen=True)
class _Stage:
    """Summary of a stage's noisy sums: mean row y = arm + k, its variance in units of one noise's, and the middle."""

    mean: Floats
    variance: Floats
    middle: float

    @classmethod
    def of(cls, seen: Ints, group: Ints, first: int) -> _Stage:
        count = group.shape[1]
        groups = group[:, -1] + 1
        inside = np.arange(seen.shape[1]) < groups[:, None]
        middle = first + (count + 1) / 2
        return cls((seen.astype(np.float64) * inside).sum(axis=1) / count + middle, groups / count**2, middle)


def _group_sizes(stages: list[_Stage], sizes: Ints, epsilon: float, *, most: int) -> Ints:
    """Return the length of the groups of the next stage in each run."""
    if most == 1 or len(stages) < 2:
        return np.ones(sizes.size, dtype=np.int64)
    nearer, later = stages
    apart = later.middle - nearer.middle
    # Gaps mostly shrink from stage to stage. But rows must reach the Durfee size in time.
    past = np.maximum(nearer.mean - later.mean, 0) / apart
    ahead = (later.mean - sizes) / np.maximum(sizes - later.middle, _NEAR / epsilon)
    # If noise dominates the gap, the gap is assumed to be as large as the noise allows.
    doubt = np.sqrt(2 * (nearer.variance + later.variance)) / (epsilon * apart)
    gap = np.maximum(past, ahead) + _CAUTION * doubt
    return np.asarray(np.clip(_LENGTH * (epsilon * gap) ** (-2 / 3) - _LESS, 1, most), dtype=np.int64)
