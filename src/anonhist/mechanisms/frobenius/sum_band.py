"""Information shared by many groups: intervals for sums over them, and the common bias of their fits.

**Intervals** for sums of φ_{k+}, for all data. If column k of a group has a separate noisy leg, that leg is leg_k plus
one noise, and leg_k = max(φ_{k+} − k, 0): so φ_{k+} = leg_k + k if the group's square certainly reaches column k, and
leg_k ≤ φ_{k+} ≤ leg_k + k in any case. The error of a sum over m groups is the sum of m noises, about √m times one of
them and not m times. If k exceeds the noise, or the leg has no separate noise, groups contribute the ends of their own
intervals (:mod:`~anonhist.mechanisms.frobenius.row_band`), so wide that all of them hold at once: otherwise many groups
about which only φ_{k+} ≥ 0 is known would add up to a lower bound above zero. docs/proofs/groups.md §5 shows why the
intervals hold in 95%; that windows and legs may be chosen by released values is measured, not proved.

**Shared bias.** If the data's shape differs from the prior's, the fits of all groups err in the same direction. The
residuals of position k, noisy coordinate minus fit, have a sum over groups whose noise has a standard deviation of only
σ√G. The part of that sum beyond two standard deviations is treated as bias and added back to the fits,

    C_k = round(max(0, 1 − 4V_k/S_k²)·S_k),   S_k = Σ_g r_gk,   V_k = Σ_g σ²/m_gk²,

m_gk the length of the group of rows that has one noisy sum, r_gk its residual divided by that length. Each fit moves by
the whole part of C_k/G, and those with the largest residuals by one more, because they are the likeliest to be too low.
This is a function of released values; docs/benchmarks/groups.md shows its benefit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.bands import differences, merge_steps, whole, whole_highs
from anonhist.mechanisms.frobenius.row_band import TAIL, Guess, k_plus_rows
from anonhist.mechanisms.frobenius.row_weights import NoisyCoordinates, NoisyRows
from anonhist.mechanisms.noise import deviation, of_sums, sum_quantiles
from anonhist.numeric import decreasing_fit
from anonhist.numeric.arrays import Bools, Floats, Ints, widen_to_falling
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.releases.evidence import Evidence, KPlusBand, PrevalenceBand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.profiles import Profile

    _Sides = list[Ints]

#: Releases with smooth legs err less than runs with first fits: mostly by 0 to 30% on the shapes of bench/leg_refit.py.
RUNS_SHARES = 0.6, 0.9
# Quantiles beyond this, for more than three million groups, are not computed.
_LEAST_TAIL = 1e-9
# Up to here each count has its own step; beyond, counts within 1/512 of each other share one.
_APART = 2**12
# A group's own interval is used unless it is wider than k by this many standard deviations of the noise.
_WORTH = 2.0
_STEPS = 512


@dataclass(frozen=True)
class NoisyGroup:
    """The noisy coordinates of one group, among those that were drawn together."""

    batch: NoisyCoordinates
    at: int


def sum_evidence(released: Sequence[Profile], noisy: Sequence[NoisyGroup], *, epsilon: float) -> Evidence:
    """Return the intervals for the sum over groups; their published profiles are public guesses of the truth."""
    band, apart = (_sums(released, noisy, epsilon, tail) for tail in (TAIL, TAIL / 2))
    singles = PrevalenceBand(*merge_steps(*differences(apart)))
    every = np.concatenate([group.batch.numbers(group.at) for group in noisy])
    return Evidence(band, prevalences=singles, items=of_sums(every, epsilon), runs_shares=RUNS_SHARES)


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
    least, most = widen_to_falling(lows - reach, highs + reach)
    return KPlusBand(*merge_steps(ends, whole(least), whole_highs(most)))


def _bands(released: Sequence[Profile], noisy: Sequence[NoisyGroup], epsilon: float, tail: float) -> list[KPlusBand]:
    """Return intervals for each group, each of whose four bounds is wrong with probability ``tail``."""
    batches: dict[int, list[int]] = {}
    for place, group in enumerate(noisy):
        batches.setdefault(id(group.batch), []).append(place)
    bands: dict[int, KPlusBand] = {}
    for places in batches.values():
        batch, rows = noisy[places[0]].batch, np.array([noisy[place].at for place in places])
        arms, legs = (side.of(rows) for side in (batch.arms, batch.legs))
        guess = Guess.of([released[place] for place in places], legs.sums.shape[1])
        found = k_plus_rows(guess, arms, legs, epsilon=epsilon, tail=tail).bands(KPlusBand)
        bands.update(zip(places, found, strict=True))
    return [bands[place] for place in range(len(noisy))]


def _ends(bands: Sequence[KPlusBand]) -> Ints:
    """Return the ends of the steps: at first each count, then fewer and fewer, up to the last of all."""
    last = max((int(band.ends[-1]) for band in bands if band.ends.size), default=1)
    ends = np.arange(1, min(last, _APART) + 1, dtype=np.int64)
    if last <= _APART:
        return ends
    beyond = _APART * np.exp2(np.arange(1, 1 + int(np.ceil(_STEPS * np.log2(last / _APART)))) / _STEPS)
    return np.concatenate((ends, np.unique(beyond[beyond < min(last, 2.0**62)].astype(np.int64)), [last]))


def _is_alone(side: NoisyRows) -> Bools:
    """Return which rows have a separate noisy value."""
    begins = np.append(side.begins[0], np.True_)
    return np.asarray(begins[:-1] & begins[1:] & (np.abs(side.sums[0]) < MAX_ITEMS))


#: Fewer groups have no shared bias.
FEWEST = 8
# Sums of residuals within this many standard deviations are treated as noise.
_DEVIATIONS = 2.0


@dataclass(frozen=True)
class Fits:
    """Fits to the noisy coordinates of the groups at these positions, each with as many arms as legs.

    ``first`` are the legs of the first fits, and ``expected`` the sorted ℓ1 distances expected by the posterior, if
    there are other fits.
    """

    places: Ints
    noisy: NoisyCoordinates
    arms: _Sides
    legs: _Sides
    first: _Sides
    expected: list[float | None]


def without_shared_bias(fits: Sequence[Fits], *, epsilon: float) -> list[Fits]:
    """Return the fits of all groups without their shared bias."""
    if sum(each.places.size for each in fits) < FEWEST:
        return [*fits]
    arms = _moved([each.arms for each in fits], [each.noisy.arms for each in fits], epsilon)
    legs = _moved([each.legs for each in fits], [each.noisy.legs for each in fits], epsilon)
    return [replace(each, arms=arm, legs=leg) for each, arm, leg in zip(fits, arms, legs, strict=True)]


def _moved(batches: Sequence[_Sides], noisy: Sequence[NoisyRows], epsilon: float) -> list[_Sides]:
    """Return one side of all fits, moved by the shared bias."""
    fitted = [side for batch in batches for side in batch]
    sizes = np.array([side.size for side in fitted], dtype=np.int64)
    if not sizes.any():
        return [*batches]
    found = [_residuals(batch, rows) for batch, rows in zip(batches, noisy, strict=True)]
    residuals, weights = (np.concatenate(each) for each in zip(*found, strict=True))
    position = np.concatenate([np.arange(size) for size in sizes.tolist()])
    total = np.bincount(position, residuals)
    groups = np.bincount(position[weights > 0], minlength=total.size)
    variance = np.bincount(position, weights) * deviation(epsilon) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total**2 > _DEVIATIONS**2 * variance, 1 - _DEVIATIONS**2 * variance / total**2, 0)
    share[groups < FEWEST] = 0
    change = np.rint(share * total).astype(np.int64)
    if not change.any():
        return [*batches]
    each, rest = np.divmod(np.abs(change), np.maximum(groups, 1))
    sign = np.sign(change)
    # Fits with an unknown residual do not move. Among the others, those that are farthest off move first.
    moves = np.where(weights > 0, (sign * each)[position], 0)
    order = np.lexsort((-residuals * sign[position], weights == 0, position))
    rank = np.empty(order.size, dtype=np.int64)
    begins = np.cumsum(np.bincount(position)) - np.bincount(position)
    rank[order] = np.arange(order.size) - begins[position[order]]
    moves += sign[position] * ((rank < rest[position]) & (weights > 0))
    whole = np.concatenate(fitted) + moves
    ends = np.cumsum(sizes)
    moved = [_ordered(whole[end - size : end]) for size, end in zip(sizes.tolist(), ends.tolist(), strict=True)]
    stops = np.cumsum([len(batch) for batch in batches]).tolist()
    return [moved[stop - len(batch) : stop] for batch, stop in zip(batches, stops, strict=True)]


def _residuals(fitted: _Sides, rows: NoisyRows) -> tuple[Floats, Floats]:
    """Return, for all positions of all fits of a batch, the residual, and 1/m², or 0 if it is not known."""
    runs, length = rows.sums.shape
    sizes = np.array([side.size for side in fitted], dtype=np.int64)
    is_inside = np.arange(max(length, int(sizes.max(initial=0)))) < sizes[:, None]
    table = np.zeros(is_inside.shape)
    table[is_inside] = np.concatenate(fitted) if runs else 0
    starts, many = rows.groups()
    sums = rows.sums.ravel()[starts]
    apart = (sums - np.add.reduceat(table[:, :length].ravel(), starts)) / many
    # A sum at the limit of the range may have been cut.
    weight = np.where(np.abs(sums) == MAX_ITEMS, 0.0, 1.0 / many.astype(np.float64) ** 2)
    residuals, weights = np.zeros((2, *is_inside.shape))
    residuals[:, :length] = np.repeat(np.where(weight > 0, apart, 0), many).reshape(runs, length)
    weights[:, :length] = np.repeat(weight, many).reshape(runs, length)
    return residuals[is_inside], weights[is_inside]


def _ordered(side: Ints) -> Ints:
    """Return the nearest arms (or legs) of a diagram of this size: strictly decreasing, the last at least 0."""
    here = np.arange(1, side.size + 1)
    rows = side + here
    if bool((rows[1:] > rows[:-1]).any()):
        rows = np.rint(decreasing_fit(rows)).astype(np.int64)
    return np.asarray(np.maximum(rows, side.size) - here)
