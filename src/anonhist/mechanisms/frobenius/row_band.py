"""Confidence intervals for the true φ_{k+} and φ_r, for all data, from noisy arms and legs alone.

With λ the counts in descending order and arm_i = max(λ_i − i, 0), a noisy sum of consecutive arms is their sum plus G.
Counts are non-increasing, so for rows up to j and rows from j on

    Σ_{i≤j} arm_i ≥ Σ_{i≤j} (λ_j − i),          Σ_{i≥j} arm_i ≤ Σ_{i≥j} max(λ_j − i, 0),

and with a quantile of the noise in the sum the first bounds λ_j from above, the second from below. Among windows of 1,
2, 4, … noisy sums, the algorithm uses the one whose bound would be best if the released profile were the truth; no
shape is assumed. Legs bound columns, λ'_k = φ_{k+}, in the same way. As φ_{k+} ≥ i is equivalent to λ_i ≥ k, rows bound
φ_{k+}, too, which is what matters if k exceeds the Durfee size. Two bounds from above and two from below, each wrong in
at most 1.25% of releases for a fixed window: 95%.

Intervals [L_r, U_r] for φ_{r+} give max(L_r − U_{r+1}, 0) ≤ φ_r ≤ U_r − L_{r+1}, with 0.625% for each of eight bounds.
Below the Durfee size φ_r = leg_r − leg_{r+1} − 1: if both legs have separate noises and L_{r+1} ≥ r + 1, which implies
that the square extends beyond r (wrong in 1.25%), their difference is mostly sharper, each side wrong in 1.875%. The
narrower of the two intervals is used. The proof, and its limits, are in docs/proofs/frobenius.md §6. ``epsilon`` is the
rate of the noise, ε/Δ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from anonhist.mechanisms.noise import noise_quantile
from anonhist.numeric import decreasing_fit
from anonhist.numeric.arrays import Bools, Floats, Ints, rises, widen_to_falling
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.releases.evidence import KPlusBand, PrevalenceBand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anonhist.mechanisms.frobenius.row_weights import NoisyRows
    from anonhist.profiles import Profile

    _RowNumbers = TypeVar("_RowNumbers", Floats, Ints)

_Band = TypeVar("_Band", KPlusBand, PrevalenceBand)


@dataclass(frozen=True)
class BandRows:
    """Bounds of numbers of labels in steps of counts, one row per run; all arrays have shape (runs, steps).

    Steps end at ascending counts ≥ 1. A row with fewer steps repeats some: bounds are equal where ends are.
    """

    ends: Ints
    lows: Ints
    highs: Ints

    def at(self, counts: Ints) -> tuple[Ints, Ints]:
        """Return the bounds at counts ≥ 1 of each run, shape (r, m); beyond the last end they are zero."""
        steps = search_rows(self.ends, counts, side="left")
        inside = np.minimum(steps, self.ends.shape[1] - 1)
        is_beyond = steps > inside
        low, high = (np.take_along_axis(side, inside, axis=1) for side in (self.lows, self.highs))
        low[is_beyond] = high[is_beyond] = 0
        return low, high

    def bands(self, kind: type[_Band]) -> list[_Band]:
        """Return the band of each run, adjacent steps with the same bounds as one."""
        kept = np.ones(self.ends.shape, dtype=np.bool_)
        kept[:, :-1] = (np.diff(self.lows, axis=1) != 0) | (np.diff(self.highs, axis=1) != 0)
        stops: list[int] = np.cumsum(np.count_nonzero(kept, axis=1)).tolist()
        ends, lows, highs = self.ends[kept], self.lows[kept], self.highs[kept]
        return [
            kind(ends[start:stop], lows[start:stop], highs[start:stop])
            for start, stop in zip([0, *stops], stops, strict=False)
        ]


def search_rows(ascending: _RowNumbers, wanted: _RowNumbers, *, side: Literal["left", "right"]) -> Ints:
    """Return, row by row, the insertion positions of numbers among ascending ones: ``np.searchsorted`` for tables."""
    found = np.empty(wanted.shape, dtype=np.int64)
    for place, row, numbers in zip(found, ascending, wanted, strict=True):
        place[:] = row.searchsorted(numbers, side)
    return found


TAIL = 0.0125
_LONGEST = 256
# Floats may not represent whole numbers above this.
_SURE = 2.0**52


@dataclass(frozen=True)
class Guess:
    """Rows and columns of released diagrams, the first K of each: a public guess of the truth for each run.

    ``rows`` (counts in descending order) and ``columns`` (φ_{k+}) are zero beyond the last; ``sizes`` are Durfee sizes.
    """

    rows: Floats
    columns: Floats
    sizes: Ints

    @classmethod
    def of(cls, released: Sequence[Profile], positions: int) -> Guess:
        """Read K rows and columns off each released profile."""
        here = np.arange(1, positions + 1)
        rows, columns = np.zeros((2, len(released), positions))
        for row, column, profile in zip(rows, columns, released, strict=True):
            # Enough of the largest counts that there is one for each position.
            up_to = np.minimum(np.cumsum(np.minimum(profile.prevalences[::-1], positions)), positions)
            largest = np.repeat(profile.counts[::-1], rises(up_to))
            row[: largest.size] = largest
            column[:] = profile.cumulative_prevalence(here)
        return cls(rows, columns, np.array([profile.durfee_size for profile in released], dtype=np.int64))


def k_plus_rows(guess: Guess, arms: NoisyRows, legs: NoisyRows, *, epsilon: float, tail: float = TAIL) -> BandRows:
    """Return the intervals for φ_{k+} from K noisy arms and legs of each run; every count from 1 to K ends a step.

    The guess only determines the windows. Each of the four bounds is wrong with probability ``tail``.
    """
    runs, positions = guess.rows.shape
    row_lows, row_highs = _bounds(arms, guess.rows, epsilon, tail)
    column_lows, column_highs = _bounds(legs, guess.columns, epsilon, tail)
    # Beyond the square, all arms and legs are zero, and windows there give weaker bounds than the last one before.
    last = np.minimum(np.arange(positions), guess.sizes[:, None])
    # An upper bound of a row or column holds for all later ones, and a lower bound for all earlier ones.
    row_highs, column_highs = (
        np.maximum.accumulate(np.take_along_axis(side, last, axis=1)[:, ::-1], axis=1)[:, ::-1]
        for side in (row_highs, column_highs)
    )
    row_lows, column_lows = (np.minimum.accumulate(side, axis=1) for side in (row_lows, column_lows))
    here = np.broadcast_to(np.arange(1.0, positions + 1), (runs, positions))
    ends = np.concatenate((here, row_highs, row_lows), axis=1)
    ends = np.sort(np.where((ends >= 1) & (ends <= _SURE), ends, 1.0), axis=1)
    inside = np.minimum(ends.astype(np.int64), positions) - 1
    is_column = ends <= positions
    reached = search_rows(-row_highs, -ends, side="right")
    # Inside the square, at least as many labels as its size have k items: there, rows bound φ_{k+} from above only if
    # their noise exceeds its quantile, and then the bound is far too low.
    is_bound = (reached < positions) & (ends > guess.sizes[:, None])
    highs = np.minimum(np.take_along_axis(column_highs, inside, axis=1), np.where(is_bound, reached, np.inf))
    lows = np.maximum(
        np.where(is_column, np.take_along_axis(column_lows, inside, axis=1), 0),
        search_rows(-row_lows, -ends, side="right"),
    )
    return _whole_steps(ends, lows, highs, goes_on=row_highs[:, :1] > _SURE)


def unsmoothed_misfit(arms: list[Ints], legs: list[Ints], rows: NoisyRows) -> list[float]:
    """Return the ℓ1 distance of each run's arms and legs from the isotonic fits of its noisy rows.

    Each run has as many arms as legs; ``rows`` are the noisy arms of all runs, then their noisy legs.
    """
    seen, is_inside = unsmoothed_rows([side.size for side in (*arms, *legs)], rows)
    rest = np.zeros(seen.shape)
    rest[is_inside] = np.concatenate([*arms, *legs])
    here = np.arange(1, seen.shape[1] + 1)
    apart = np.where(is_inside, np.abs(seen - here - rest), 0).sum(axis=1)
    found: list[float] = (apart[: len(arms)] + apart[len(arms) :]).tolist()
    return found


def unsmoothed_rows(sizes: list[int], rows: NoisyRows) -> tuple[Floats, Bools]:
    """Return the isotonic fits of noisy rows y_k = arm_k + k, flat within each group, and which are in the square.

    ``sizes`` are the assumed Durfee sizes of the sides: no row inside the square is shorter.
    """
    positions = rows.sums.shape[1]
    here = np.arange(1, positions + 1, dtype=np.float64)
    group = np.cumsum(rows.begins, axis=1) - 1
    group += positions * np.arange(len(group))[:, None]
    groups, places = np.bincount(group.ravel()), np.bincount(group.ravel(), np.broadcast_to(here, group.shape).ravel())
    with np.errstate(invalid="ignore", divide="ignore"):
        means = rows.sums / groups[group] + (places / groups)[group]
    least = np.array(sizes)[:, None]
    is_inside = here <= least
    # A value below all earlier ones is not pooled.
    fitted = decreasing_fit(np.where(is_inside, means, means.min(axis=1, keepdims=True) - 1))
    return np.maximum(fitted, least), is_inside


def _bounds(noisy: NoisyRows, guess: Floats, epsilon: float, tail: float) -> tuple[Floats, Floats]:
    """Return lower and upper bounds of λ_j for j = 1..K in each run; 0 and infinity if there is no bound."""
    runs, length = guess.shape
    places = np.arange(1, length + 1, dtype=np.float64)
    starts, sizes = noisy.groups()
    group = np.cumsum(noisy.begins, axis=1) - 1
    shape = runs, int(group[:, -1].max()) + 1
    at = starts // length, group.ravel()[starts]

    def table(values: NDArray[Any], beyond: float) -> Floats:
        """Put values of groups into rows of one length, one for each run."""
        rows = np.full(shape, beyond, dtype=np.float64)
        rows[at] = values
        return rows

    begins, rows = table(starts % length, 0), table(sizes, 1)
    seen = noisy.sums.ravel()[starts].astype(np.float64)
    seen[noisy.sums.ravel()[starts] == MAX_ITEMS] = np.inf  # The value may have been cut.
    # For each window: noisy sum, sum according to the guess, number of rows, sum of their positions. A window that
    # reaches beyond the last group has NaN, which never compares as better.
    guessed = table(np.add.reduceat(np.maximum(guess - places, 0).ravel(), starts), np.nan)
    windows = [table(seen, 0), guessed, rows, (2 * begins + 1 + rows) / 2 * rows]
    upper, lower = np.full(shape, np.inf), np.zeros(shape)
    best_upper, best_lower = np.full(shape, np.inf), np.full(shape, -np.inf)
    count = 1
    while True:
        seen, guessed, rows, positions = windows
        reach = noise_quantile(epsilon, count, tail)
        last, first = np.s_[:, count - 1 :], np.s_[:, : shape[1] - count + 1]
        hoped = (guessed + reach + positions) / rows
        better = hoped < best_upper[last]
        np.copyto(best_upper[last], hoped, where=better)
        np.copyto(upper[last], np.floor(_widen((seen + reach + positions) / rows, 1)), where=better)
        hoped = _least(guessed - reach, begins[first], rows)
        better = hoped > best_lower[first]
        np.copyto(best_lower[first], hoped, where=better)
        sure = np.where(np.isinf(seen), float(MAX_ITEMS), seen) - reach
        np.copyto(lower[first], np.maximum(_least(sure, begins[first], rows), 0), where=better)
        if 2 * count > min(shape[1], _LONGEST):
            break
        windows = [values[:, :-count] + values[:, count:] for values in windows]
        count *= 2
    # Inside a group, a row is bounded by the adjacent groups.
    before, after = np.full((2, runs, 1), np.inf)
    after[:] = 0
    upper, lower = np.hstack((before, upper)), np.hstack((lower, after))
    is_last = np.ones(noisy.begins.shape, dtype=np.bool_)
    is_last[:, :-1] = noisy.begins[:, 1:]
    highs = np.take_along_axis(upper, group + is_last, axis=1)
    return np.take_along_axis(lower, group + ~noisy.begins, axis=1), highs


def _least(total: Floats, before: Floats, rows: Floats) -> Floats:
    """Return the least whole λ with ``Σ_{t<m} max(λ − b − 1 − t, 0) ≥ total``, below 0 if there is no bound."""
    positive = np.maximum(total, 0)
    within = np.ceil(_widen((np.sqrt(1 + 8 * positive) - 1) / 2, -1))
    beyond = np.ceil(_widen((positive + rows * (rows - 1) / 2) / rows, -1))
    return np.where(total > 0, before + 1 + np.where(within <= rows, within, beyond), total - 1)


def _widen(values: Floats, sign: int) -> Floats:
    """Move bounds outward by more than the rounding errors of floats, so that whole numbers remain valid bounds."""
    return values + sign * (1e-9 + 2.0**-50 * np.abs(values))


def _whole_steps(ends: Floats, lows: Floats, highs: Floats, *, goes_on: Bools) -> BandRows:
    """Make whole steps; the last one is unlimited if nothing bounds the largest count."""
    largest = MAX_ITEMS
    sides = widen_to_falling(lows, highs)
    least, most = (np.where(side > _SURE, largest, side.clip(0, _SURE).astype(np.int64)) for side in sides)
    steps = ends.astype(np.int64)
    return BandRows(
        np.hstack((steps, np.where(goes_on, largest, steps[:, -1:]))),
        np.hstack((least, np.where(goes_on, 0, least[:, -1:]))),
        np.hstack((most, most[:, -1:])),
    )


_DIFFERENCE_TAIL = 0.01875


def prevalence_rows(guess: Guess, arms: NoisyRows, legs: NoisyRows, *, epsilon: float) -> BandRows:
    """Return the intervals for φ_r from K noisy arms and legs of each run; the guess determines the windows."""
    reaching = k_plus_rows(guess, arms, legs, epsilon=epsilon, tail=TAIL / 2)
    # Each count from 1 to K is among the ends, so each count with two legs is a separate step.
    places = np.sort(np.maximum(np.hstack((reaching.ends - 1, reaching.ends)), 1), axis=1)
    # The largest possible count has no successor.
    (low, high), (next_low, next_high) = reaching.at(places), reaching.at(np.minimum(places, MAX_ITEMS - 1) + 1)
    lows, highs = np.maximum(low - next_high, 0), high - next_low
    is_sharp, *sharp = _by_two_legs(reaching, legs, epsilon)
    at = np.minimum(places, is_sharp.shape[1]) - 1
    sharp_lows, sharp_highs = (np.take_along_axis(side, at, axis=1) for side in sharp)
    narrower = np.take_along_axis(is_sharp, at, axis=1) & (places == at + 1) & (sharp_highs - sharp_lows < highs - lows)
    return BandRows(places, np.where(narrower, sharp_lows, lows), np.where(narrower, sharp_highs, highs))


def _by_two_legs(reaching: BandRows, legs: NoisyRows, epsilon: float) -> tuple[Bools, Ints, Ints]:
    """Return for r = 1..K whether its two legs have separate noises and lie inside the square, and bounds of φ_r."""
    runs, positions = legs.sums.shape
    r = np.broadcast_to(np.arange(1, positions), (runs, positions - 1))
    sums, beyond = legs.sums, np.ones((runs, 1), dtype=np.bool_)
    begins = np.hstack((legs.begins, beyond))
    # Sums at the limit of the range may have been cut.
    is_sharp = np.zeros(sums.shape, dtype=np.bool_)
    is_sharp[:, :-1] = (
        begins[:, :-2]
        & begins[:, 1:-1]
        & begins[:, 2:]
        & (np.maximum(np.abs(sums[:, :-1]), np.abs(sums[:, 1:])) < MAX_ITEMS)
        & (reaching.at(r + 1)[0] >= r + 1)
    )
    seen = np.zeros(sums.shape, dtype=np.int64)
    seen[:, :-1] = sums[:, :-1] - sums[:, 1:] - 1
    reach = noise_quantile(epsilon, 2, _DIFFERENCE_TAIL)
    return is_sharp, np.maximum(seen - reach, 0), np.maximum(seen + reach, 0)
