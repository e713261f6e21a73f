"""Intervals for φ_{k+} and φ_r from noisy prevalences, noisy cumulative prevalences, or noisy counts in order.

The published profile is a fit to the noisy numbers, and simulated runs on the fit underestimate its errors. But the
noisy numbers are the true ones plus noise with a known distribution, whatever the data:

* the error of a noisy prevalence is one noise, and that of a sum of m of them is the sum of m noises;
* in a non-increasing sequence, such as φ_{1+}, φ_{2+}, … or the counts in descending order, up to the mean of m noises,
  the mean of the m noisy numbers up to position k is at least the k-th true number, and the mean of the m numbers from
  position k on is at most that number.

Of windows of 1, 2, 4, … noisy numbers, the algorithm uses the one whose bound would be best if a guess, the published
profile, were the truth. The guess is a fit to the same noise: if numbers are equal, it picks the window with the most
extreme noise. So the error probability is divided among all w window lengths: each bound is wrong with probability
``tail/w``, and then all hold with probability ``1 − tail``, whichever is used.

Each end is wrong in at most 2.5% of releases; the ends of φ_r in 1.25%, because intervals are shown for released
counts, some of which may be due to noise alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonhist.mechanisms.noise import noise_quantile, of_sums, sum_quantiles
from anonhist.mechanisms.noise import of_prevalences as items_of_prevalences
from anonhist.numeric.arrays import Floats, Ints, widen_to_falling
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.releases.evidence import Evidence, KPlusBand, PrevalenceBand

_LONGEST = 2**12
# This many positions at a time stay in the processor's cache.
_TOGETHER = 2**14
# Sums of whole numbers below this are exact in floats.
_SURE = 2.0**53


def falling_bounds(noisy: Floats, guess: Floats, rate: float, *, tail: float) -> tuple[Floats, Floats]:
    """Return lower and upper bounds of a non-increasing sequence from its noisy values.

    The noises are independent, ``P(j) ∝ e^(−γ|j|)``. The guess is non-increasing, may come from the noisy values, and
    only decides which windows are used: a bound is wrong with probability ``tail`` < 1/2 at most, whatever the guess.
    Bounds are non-increasing whole numbers, ``low ≤ high``; they are wider if floats round sums of 2⁵³ or more.
    """
    size = noisy.size
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    before, hoped = np.append(0.0, np.cumsum(noisy)), np.append(0.0, np.cumsum(guess))
    largest = float(np.abs(before).max())
    slack = 1e-6 if largest < _SURE else size * largest * 2.0**-52
    lengths = min(size, _LONGEST).bit_length()
    windows = [
        (1 << power, noise_quantile(rate, 1 << power, tail / lengths) / (1 << power)) for power in range(lengths)
    ]
    for start in range(0, size, _TOGETHER):
        stop = min(start + _TOGETHER, size)
        best_low, best_high = np.full(stop - start, -np.inf), np.full(stop - start, np.inf)
        for count, reach in windows:
            # Windows that end at these positions bound them from above, those that begin there bound them from below.
            first, last = max(start, count - 1), min(stop, size - count + 1)
            if first < stop:
                seen, meant = (_means(sums, first - count + 1, stop - count + 1, count) for sums in (before, hoped))
                _take(meant + reach, seen + reach + slack, best_high[first - start :], high[first:stop], np.less)
            if start < last:
                seen, meant = (_means(sums, start, last, count) for sums in (before, hoped))
                _take(meant - reach, seen - reach - slack, best_low[: last - start], low[start:last], np.greater)
    return widen_to_falling(np.ceil(low), np.floor(high))


def _means(sums: Floats, first: int, last: int, count: int) -> Floats:
    """Return the means of this many numbers from each of these positions on, by running sums."""
    return (sums[first + count : last + count] - sums[first:last]) / count


def _take(hope: Floats, bound: Floats, best: Floats, kept: Floats, is_better: np.ufunc) -> None:
    """Keep, in place, the bounds whose window is expected to be better than the best so far."""
    better = is_better(hope, best)
    np.copyto(best, hope, where=better)
    np.copyto(kept, bound, where=better)


_TAIL = 0.025
# Beyond this count, counts within 1/4,096 of each other share an interval that contains the interval of each.
_ALL_APART = 2**12
# Larger sums may have been cut at 2⁶³ − 1.
_MOST = 2.0**62


def sum_bounds(noisy: NDArray[Any], rate: float, *, terms: int = 1) -> tuple[Floats, Floats]:
    """Return bounds of φ_{1+}..φ_{C+} from noisy prevalences of counts 1..C, with ``terms`` noises in each."""
    reaching = np.cumsum(noisy[::-1].astype(np.float64))[::-1]
    reach = sum_quantiles(rate, terms * np.arange(1, noisy.size + 1), _TAIL)[::-1]
    return np.minimum.accumulate(reaching - reach), np.maximum.accumulate((reaching + reach)[::-1])[::-1]


def of_prevalences(noisy: NDArray[Any], rate: float, *, terms: int = 1) -> Evidence:
    """Return intervals from noisy prevalences of counts 1..C, with ``terms`` noises ``P(j) ∝ e^(−γ|j|)`` in each."""
    (single,) = sum_quantiles(rate, np.array([terms]), _TAIL / 2)
    low, high = sum_bounds(noisy, rate, terms=terms)
    seen = noisy.astype(np.float64)
    return _evidence(low, high, seen - single, seen + single, items=items_of_prevalences(noisy, rate, terms=terms))


def of_cumulative(noisy: Ints, guess: Ints, rate: float) -> Evidence:
    """Return intervals from noisy φ_{1+}..φ_{C+} and from their published values, a guess of the truth."""
    low, high = falling_bounds(noisy.astype(np.float64), guess.astype(np.float64), rate, tail=_TAIL)
    single, double = (noise_quantile(rate, terms, _TAIL / 2) for terms in (1, 2))
    # Beyond the last count, there are no labels and no noise.
    seen = noisy.astype(np.float64) - np.append(noisy[1:], 0)
    reach = np.append(np.full(noisy.size - 1, float(double)), float(single))
    return _evidence(low, high, seen - reach, seen + reach, items=of_sums(noisy, rate))


def of_counts(noisy: Ints, guess: Ints, rate: float) -> Evidence:
    """Return intervals from noisy counts in descending order, padded with zeros, and from their published values.

    ``φ_{k+} ≥ i`` means that the i-th count is k or more. For φ_r, both ends of φ_{r+} and of φ_{(r+1)+} are each wrong
    in at most 1.25%.
    """
    numbers, hoped = noisy.astype(np.float64), guess.astype(np.float64)
    band = invert(*falling_bounds(numbers, hoped, rate, tail=_TAIL))
    reaching = invert(*falling_bounds(numbers, hoped, rate, tail=_TAIL / 2))
    singles = PrevalenceBand(*merge_steps(*differences(reaching)))
    return Evidence(band, prevalences=singles, items=of_sums(noisy, rate))


def _evidence(low: Floats, high: Floats, least: Floats, most: Floats, *, items: tuple[int, int]) -> Evidence:
    """Return bands from bounds of φ_{k+} and φ_r at counts 1..C."""
    ends, lows, highs, leasts, mosts = in_steps(low, high, least, most)
    return Evidence(
        KPlusBand(*merge_steps(ends, lows, highs)),
        prevalences=PrevalenceBand(*merge_steps(ends, leasts, mosts)),
        items=items,
    )


def in_steps(low: Floats, high: Floats, least: Floats, most: Floats) -> tuple[Ints, ...]:
    """Return the ends of steps, and whole bounds of φ_{k+} and φ_r in each, from bounds at counts 1..C.

    Up to 4,096, each count is a step; beyond, the bounds of a step hold for each of its counts.
    """
    sides = whole(low), whole_highs(high), whole(least), whole_highs(most)
    ends = np.arange(1, low.size + 1)
    if low.size > _ALL_APART:
        steps = math.ceil(_ALL_APART * math.log(low.size / _ALL_APART))
        spaced = np.unique(np.rint(np.geomspace(_ALL_APART, low.size, steps + 1)).astype(np.int64))
        begins = np.concatenate((np.arange(_ALL_APART), spaced[:-1]))
        ends = np.append(begins[1:], low.size)
        lows, highs, leasts, mosts = (
            side.reduceat(values, begins)
            for side, values in zip((np.minimum, np.maximum, np.minimum, np.maximum), sides, strict=True)
        )
    else:
        lows, highs, leasts, mosts = sides
    mosts = np.minimum(mosts, highs)
    return ends, np.minimum(lows, highs), highs, np.minimum(leasts, mosts), mosts


def invert(low: Floats, high: Floats) -> KPlusBand:
    """Turn bounds of the counts in descending order into bounds of φ_{k+}."""
    lows, highs = whole(low), whole_highs(high)
    ends = _distinct(np.concatenate((lows, highs)))
    ends = ends[ends > 0]
    reached = (np.searchsorted(-side, -ends, side="right") for side in (lows, highs))
    return KPlusBand(*merge_steps(ends, *reached))


def differences(reaching: KPlusBand, *more: Ints, beyond: int = 0) -> tuple[Ints, Ints, Ints]:
    """Return counts r > ``beyond`` and bounds of ``φ_r = φ_{r+} − φ_{(r+1)+}`` there, from bounds of φ_{k+}.

    The counts are those at which the bounds change, and ``more``.
    """
    places = _distinct(np.concatenate((reaching.ends - 1, reaching.ends, *more)))
    places = places[places > beyond]
    # The largest possible count has no successor.
    (low, high), (next_low, next_high) = reaching.at(places), reaching.at(np.minimum(places, MAX_ITEMS - 1) + 1)
    return places, np.maximum(low - next_high, 0), high - next_low


def whole(side: Floats) -> Ints:
    """Convert bounds to whole numbers, at least 0."""
    return np.asarray(np.clip(side, 0, _MOST), dtype=np.int64)


def whole_highs(side: Floats) -> Ints:
    """Convert upper ends; those in the range in which noisy numbers may have been cut become unlimited."""
    return np.where(side >= _MOST, MAX_ITEMS, whole(side))


def merge_steps(ends: Ints, lows: Ints, highs: Ints) -> tuple[Ints, Ints, Ints]:
    """Merge adjacent steps with the same bounds."""
    kept = np.ones(ends.size, dtype=np.bool_)
    kept[:-1] = (np.diff(lows) != 0) | (np.diff(highs) != 0)
    return ends[kept], lows[kept], highs[kept]


def _distinct(values: Ints) -> Ints:
    """Return the distinct values ≥ 0, ascending; for sorted values, much faster than ``np.unique`` with its hash."""
    ordered = np.sort(values, kind="stable")
    return np.asarray(ordered[np.diff(ordered, prepend=-1) != 0])
