"""Confidence intervals for sums of φ_{k+} over several groups, for all data, from their noisy arms and legs.

Where column k of a group has a noisy leg of its own, that is leg_k plus one noise, and leg_k = max(φ_{k+} − k, 0): so
φ_{k+} = leg_k + k if the group's square reaches column k for sure, and leg_k ≤ φ_{k+} ≤ leg_k + k in any case. The sum
over m groups is off by the sum of m noises, about √m times as much as one of them and not m times. Where the k is more
than the noise, or the leg has no noise of its own, groups enter with the ends of intervals of their own
(:mod:`~anonhist.mechanisms.frobenius.row_band`), so wide that all of them hold at once: many groups of which nothing
is known but φ_{k+} ≥ 0 would otherwise add up to a lower bound above zero. Whether a square reaches column k is read
from these wide ends, too.

With T = 1.25 %, each of the four bounds of each group is wrong in at most T/(2G) of releases, so any of them in at most
2T; and the sum of m noises is beyond its quantiles in T on each side: together 5 %. φ_k is the difference of two such
sums, for which T is half as large.

Both hold for windows, and for a choice of legs, that do not depend on the noise. Here they do, as in the intervals of a
single group, by guesses from released values: what that costs is measured (docs/benchmarks.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.bands import differences, merge_steps
from anonhist.mechanisms.frobenius.row_band import TAIL, Guess, k_plus_rows
from anonhist.mechanisms.frobenius.row_weights import NoisyRows
from anonhist.mechanisms.noise import deviation, sum_quantiles
from anonhist.mechanisms.noisy_total import of_sums
from anonhist.numeric.arrays import widen_to_falling
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.releases.evidence import Evidence, KPlusBand, PrevalenceBand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anonhist.mechanisms.frobenius.noisy_coordinates import NoisyCoordinates
    from anonhist.profiles import Profile

    _Whole = NDArray[np.int64]
    _Numbers = NDArray[np.float64]

# Quantiles beyond this are not computed: of more than three million groups.
_LEAST_TAIL = 1e-9
# Up to here each count has a step of its own; beyond, counts within 1/512 of each other share one.
_APART = 2**12
# An interval of a group's own is used unless it is wider than k by so many standard deviations of the noise.
_WORTH = 2.0
_STEPS = 512
# Larger sums may have been cut at 2⁶³ − 1.
_MOST = 2.0**62


@dataclass(frozen=True)
class NoisyGroup:
    """The noisy coordinates of one group, among those that were drawn together.

    Attributes
    ----------
    batch
        Noisy coordinates of several groups.
    at
        Which of them.
    """

    batch: NoisyCoordinates
    at: int


def sum_evidence(released: Sequence[Profile], noisy: Sequence[NoisyGroup], *, epsilon: float) -> Evidence:
    """Return the intervals for the sum over groups.

    Parameters
    ----------
    released
        The published profile of each group: a public guess of the truth.
    noisy
        Its noisy coordinates.
    epsilon
        Rate of the noise, ε/Δ.

    Examples
    --------
    >>> from anonhist.mechanisms.frobenius.noisy_coordinates import NoisyCoordinates
    >>> from anonhist.mechanisms.frobenius.row_weights import NoisyRows
    >>> from anonhist.profiles import Profile
    >>> sides = [NoisyRows.alone(np.array([[length, 0, 0]] * 4)) for length in (9, 20)]
    >>> batch = NoisyCoordinates(np.ones(4, dtype=np.int64), *sides)
    >>> groups = [NoisyGroup(batch, at) for at in range(4)]
    >>> found = sum_evidence([Profile.from_counts([10] + [1] * 20)] * 4, groups, epsilon=1.0)
    >>> [ends.tolist() for ends in found.band.at([1, 9, 30])]
    [[78, 0, 0], [90, 4, 0]]
    """
    band, apart = (_sums(released, noisy, epsilon, tail) for tail in (TAIL, TAIL / 2))
    singles = PrevalenceBand(*merge_steps(*differences(apart)))
    every = np.concatenate([group.batch.numbers(group.at) for group in noisy])
    return Evidence(band, prevalences=singles, items=of_sums(every, epsilon))


def _sums(released: Sequence[Profile], noisy: Sequence[NoisyGroup], epsilon: float, tail: float) -> KPlusBand:
    """Return the intervals for sums of φ_{k+}, each wrong with probability 4·``tail`` at most."""
    bands = _bands(released, noisy, epsilon, max(tail / (2 * len(noisy)), _LEAST_TAIL))
    ends = _ends(bands)
    begins = np.append(1, ends[:-1] + 1)
    lows, highs = np.zeros((2, ends.size))
    one = deviation(epsilon)
    terms = np.zeros(ends.size, dtype=np.int64)
    for group, band in zip(noisy, bands, strict=True):
        legs = group.batch.legs.at(group.at)
        (low, _), (_, high) = band.at(ends), band.at(begins)
        columns = min(legs.sums.shape[1], int(np.count_nonzero(begins == ends)))
        at = ends[:columns]
        is_sure = low[:columns] >= at
        is_seen = np.zeros(ends.size, dtype=np.bool_)
        is_seen[:columns] = _is_alone(legs)[:columns] & (is_sure | (high[:columns] - low[:columns] > at + _WORTH * one))
        lows += np.where(is_seen, 0, low)
        highs += np.where(is_seen, 0, np.where(high == MAX_ITEMS, np.inf, high))
        seen = np.where(is_seen[:columns], legs.sums[0, :columns].astype(np.float64), 0)
        lows[:columns] += np.where(is_seen[:columns] & is_sure, at, 0) + seen
        highs[:columns] += np.where(is_seen[:columns], at, 0) + seen
        terms += is_seen
    reach = sum_quantiles(epsilon, terms, tail)
    return _band(ends, lows - reach, highs + reach)


def _bands(released: Sequence[Profile], noisy: Sequence[NoisyGroup], epsilon: float, tail: float) -> list[KPlusBand]:
    """Return intervals for each group, each of whose four bounds is wrong with probability ``tail``."""
    batches: dict[int, list[int]] = {}
    for place, group in enumerate(noisy):
        batches.setdefault(id(group.batch), []).append(place)
    bands: dict[int, KPlusBand] = {}
    for places in batches.values():
        batch, rows = noisy[places[0]].batch, np.array([noisy[place].at for place in places])
        arms, legs = (NoisyRows(side.sums[rows], side.begins[rows]) for side in (batch.arms, batch.legs))
        guess = Guess.of([released[place] for place in places], legs.sums.shape[1])
        found = k_plus_rows(guess, arms, legs, epsilon=epsilon, tail=tail).bands(KPlusBand)
        bands.update(zip(places, found, strict=True))
    return [bands[place] for place in range(len(noisy))]


def _ends(bands: Sequence[KPlusBand]) -> _Whole:
    """Return the ends of the steps: each count at first, then fewer and fewer, up to the last of all."""
    last = max((int(band.ends[-1]) for band in bands if band.ends.size), default=1)
    ends = np.arange(1, min(last, _APART) + 1, dtype=np.int64)
    if last <= _APART:
        return ends
    beyond = _APART * np.exp2(np.arange(1, 1 + int(np.ceil(_STEPS * np.log2(last / _APART)))) / _STEPS)
    whole = np.unique(beyond[beyond < min(last, 2.0**62)].astype(np.int64))
    return np.concatenate((ends, whole, [last]))


def _is_alone(side: NoisyRows) -> NDArray[np.bool_]:
    """Return which rows have a noisy value of their own."""
    begins = np.append(side.begins[0], np.True_)
    return np.asarray(begins[:-1] & begins[1:] & (np.abs(side.sums[0]) < MAX_ITEMS))


def _band(ends: _Whole, lows: _Numbers, highs: _Numbers) -> KPlusBand:
    low, high = widen_to_falling(lows, highs)
    least = np.clip(np.floor(low), 0, _MOST).astype(np.int64)
    most = np.where(high >= _MOST, MAX_ITEMS, np.clip(high, 0, _MOST)).astype(np.int64)
    return KPlusBand(*merge_steps(ends, least, most))
