"""Confidence intervals for the true φ_{k+}, for all data, from noisy arms and legs alone.

With λ the counts in descending order and arm_i = max(λ_i − i, 0), a noisy sum of consecutive arms is their sum plus G.
Counts are non-increasing, so for rows up to j and rows from j on

    Σ_{i≤j} arm_i ≥ Σ_{i≤j} (λ_j − i),          Σ_{i≥j} arm_i ≤ Σ_{i≥j} max(λ_j − i, 0),

and with a quantile of the noise in the sum the first bounds λ_j from above, the second from below. Of windows of
1, 2, 4, … noisy sums, the one is used whose bound would be best if the released profile were the truth. No shape is
assumed, so no tuning is needed. Columns, λ'_k = φ_{k+}, are bounded by legs in the same way; and because φ_{k+} ≥ i is
equivalent to λ_i ≥ k, rows bound φ_{k+}, too, which is what matters if k exceeds the Durfee size.

Two bounds from above and two from below, each wrong in at most 1.25 % of releases for a fixed window: 95 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.basis.noise_quantile import noise_quantile
from anonhist.mechanisms.basis.noisy_band import merge_steps
from anonhist.numeric import decreasing_fit
from anonhist.numeric.falling import widen_to_falling
from anonhist.numeric.rises import rises
from anonhist.profiles.whole import MAX_ITEMS
from anonhist.releases.evidence import KPlusBand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.frobenius.row_groups import NoisyRows
    from anonhist.profiles import Profile

    _Numbers = NDArray[np.float64]

TAIL = 0.0125
_LONGEST = 256
# Floats may not represent whole numbers above this.
_SURE = 2.0**52


def k_plus_band(
    released: Profile, arms: NoisyRows, legs: NoisyRows, *, epsilon: float, tail: float = TAIL
) -> KPlusBand:
    """Return the intervals from the noisy arms and legs of one run (the first).

    Parameters
    ----------
    released
        The fit to them: a public guess of the truth, which decides which windows are used.
    arms, legs
        Noisy sums, K of each.
    epsilon
        Rate of the noise, ε/Δ.
    tail
        Probability that each of the four bounds of an interval is wrong.

    Examples
    --------
    >>> from anonhist.mechanisms.frobenius.row_groups import NoisyRows
    >>> from anonhist.profiles import Profile
    >>> sure = [NoisyRows.alone(np.array([[lengths, 0, 0]])) for lengths in (4, 2)]
    >>> band = k_plus_band(Profile.from_counts([5, 1, 1]), *sure, epsilon=50.0)
    >>> [ends.tolist() for ends in band.at([1, 2, 5, 6])]
    [[3, 1, 1, 0], [3, 2, 1, 0]]
    """
    positions = arms.sums.shape[1]
    here = np.arange(1, positions + 1)
    ranked = np.append(np.repeat(released.counts[::-1], _first(released.prevalences[::-1], positions)), 0)
    rows = _pad(ranked[:-1][:positions].astype(np.float64), positions)
    columns = released.cumulative_prevalence(here).astype(np.float64)
    row_lows, row_highs = _bounds(arms, rows, epsilon, tail)
    column_lows, column_highs = _bounds(legs, columns, epsilon, tail)
    # Beyond the square, all arms and legs are zero, and windows there give weaker bounds than the last one before.
    beyond = min(released.durfee_size, positions - 1)
    row_highs[beyond:], column_highs[beyond:] = row_highs[beyond], column_highs[beyond]
    # An upper bound of a row or column holds for all after it, and a lower bound for all before it.
    row_highs, column_highs = (np.maximum.accumulate(side[::-1])[::-1] for side in (row_highs, column_highs))
    row_lows, column_lows = (np.minimum.accumulate(side) for side in (row_lows, column_lows))
    ends = np.concatenate((here.astype(np.float64), row_highs, row_lows))
    ends = np.unique(ends[(ends >= 1) & (ends <= _SURE)])
    inside = np.minimum(ends.astype(np.int64), positions) - 1
    is_column = ends <= positions
    reached = np.searchsorted(-row_highs, -ends, side="right")
    highs = np.minimum(column_highs[inside], np.where(reached == positions, np.inf, reached))
    lows = np.maximum(np.where(is_column, column_lows[inside], 0), np.searchsorted(-row_lows, -ends, side="right"))
    return _band(ends, lows, highs, goes_on=bool(row_highs[0] > _SURE))


def unsmoothed_misfit(arms: list[NDArray[np.int64]], legs: list[NDArray[np.int64]], rows: NoisyRows) -> list[float]:
    """Return how far each run's arms and legs are from the isotonic fits of its noisy rows, in ℓ1.

    Parameters
    ----------
    arms, legs
        The fits, with as many arms as legs in each run.
    rows
        The noisy arms of all runs, then their noisy legs.
    """
    positions = rows.sums.shape[1]
    here = np.arange(1, positions + 1, dtype=np.float64)
    group = np.cumsum(rows.begins, axis=1) - 1
    group += positions * np.arange(len(group))[:, None]
    sizes, places = np.bincount(group.ravel()), np.bincount(group.ravel(), np.broadcast_to(here, group.shape).ravel())
    with np.errstate(invalid="ignore", divide="ignore"):
        means = rows.sums / sizes[group] + (places / sizes)[group]
    runs = len(arms)
    found = []
    for run in range(runs):
        total = 0.0
        for fitted, noisy in ((arms[run], means[run]), (legs[run], means[runs + run])):
            seen = decreasing_fit(noisy[: fitted.size]) - here[: fitted.size]
            total += float(np.abs(np.maximum(seen, fitted.size - here[: fitted.size]) - fitted).sum())
        found.append(total)
    return found


def _first(labels: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Cut prevalences so that their sum is at most ``most``."""
    before = np.minimum(np.cumsum(np.minimum(labels, most)), most)
    return rises(before)


def _pad(values: _Numbers, length: int) -> _Numbers:
    return np.concatenate((values, np.zeros(length - values.size)))


def _bounds(noisy: NoisyRows, guess: _Numbers, epsilon: float, tail: float) -> tuple[_Numbers, _Numbers]:
    """Return lower and upper bounds of λ_j for j = 1..K; 0 and infinity if there is no bound."""
    begins = np.flatnonzero(noisy.begins[0])
    ends = np.append(begins[1:], guess.size)
    places = np.arange(1, guess.size + 1, dtype=np.float64)
    length = (ends - begins).astype(np.float64)
    sums = noisy.sums[0, begins].astype(np.float64)
    sums[noisy.sums[0, begins] == MAX_ITEMS] = np.inf  # it may have been cut
    # Of each window: noisy sum, sum according to the guess, number of rows, sum of their positions.
    windows = [sums, np.add.reduceat(np.maximum(guess - places, 0), begins), length, (begins + 1 + ends) / 2 * length]
    groups = begins.size
    upper, lower = np.full(groups, np.inf), np.zeros(groups)
    best_upper, best_lower = np.full(groups, np.inf), np.full(groups, -np.inf)
    count = 1
    while True:
        seen, guessed, rows, positions = windows
        reach = noise_quantile(epsilon, count, tail)
        last, first = slice(count - 1, groups), slice(0, groups - count + 1)
        hoped = (guessed + reach + positions) / rows
        better = hoped < best_upper[last]
        best_upper[last][better] = hoped[better]
        upper[last][better] = np.floor(_widen((seen + reach + positions) / rows, 1))[better]
        hoped = _least(guessed - reach, begins[first], rows)
        better = hoped > best_lower[first]
        best_lower[first][better] = hoped[better]
        sure = np.where(np.isinf(seen), float(MAX_ITEMS), seen) - reach
        lower[first][better] = np.maximum(_least(sure, begins[first], rows), 0)[better]
        if 2 * count > min(groups, _LONGEST):
            break
        windows = [values[:-count] + values[count:] for values in windows]
        count *= 2
    # Inside a group, a row is bounded by the adjacent groups.
    group = np.cumsum(noisy.begins[0]) - 1
    highs = np.where(places == ends[group], upper[group], np.append(np.inf, upper)[group])
    lows = np.where(places == begins[group] + 1, lower[group], np.append(lower, 0.0)[group + 1])
    return lows, highs


def _least(total: _Numbers, before: NDArray[np.int64], rows: _Numbers) -> _Numbers:
    """Return the least whole λ with ``Σ_{t<m} max(λ − b − 1 − t, 0) ≥ total``, below 0 if there is no bound."""
    positive = np.maximum(total, 0)
    within = np.ceil(_widen((np.sqrt(1 + 8 * positive) - 1) / 2, -1))
    beyond = np.ceil(_widen((positive + rows * (rows - 1) / 2) / rows, -1))
    return np.where(total > 0, before + 1 + np.where(within <= rows, within, beyond), total - 1)


def _widen(values: _Numbers, sign: int) -> _Numbers:
    """Move bounds outwards by more than the rounding of floats, so that rounding to whole numbers keeps them valid."""
    return values + sign * (1e-9 + 2.0**-50 * np.abs(values))


def _band(ends: _Numbers, lows: _Numbers, highs: _Numbers, *, goes_on: bool) -> KPlusBand:
    """Make a band of whole steps; the last one is unlimited if nothing bounds the largest count."""
    largest = MAX_ITEMS
    sides = widen_to_falling(lows, highs)
    least, most = (np.where(side > _SURE, largest, side.clip(0, _SURE).astype(np.int64)) for side in sides)
    steps = ends.astype(np.int64)
    if goes_on and steps.size:
        steps, least, most = np.append(steps, largest), np.append(least, 0), np.append(most, most[-1])
    return KPlusBand(*merge_steps(steps, least, most))
