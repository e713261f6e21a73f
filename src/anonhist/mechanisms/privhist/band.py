"""Intervals for φ_{k+} and φ_r from the noisy numbers of PrivHist, for all data.

The profile is cut at T. Let m be the number of noisy large counts, M the border width, Z the noise of step 2b.

* m = φ_{(T+1)+} + M + Z, and C^s_r = φ_{r+} − φ_{(T+1)+} + M − Z. So C^s_r + m − 2M = φ_{r+} for r = 1..T: with the
  noise of step 4 on C^s_r (low privacy) these are noisy cumulative prevalences; so are the block sums up to T,
  each a single column (high privacy). They are non-increasing: see :mod:`~anonhist.mechanisms.basis.falling_band`.
* φ_{(T+1)+} = m − M − Z, so m − M has the error of one noise.
* Beyond T + 1 the large counts are noisy counts in descending order; the made-up ones, T + 1 each, come last and do not
  reach such k. The value at T + 1 also bounds φ_{k+} from above: it is used where it would be sharper if the released
  profile were the truth.

Each end is wrong in at most 2.5 % of releases, if the choice of numbers were fixed. φ_r below T is the difference of
two noisy numbers, each end wrong in 1.25 %; from T on, the four ends of φ_{r+} and φ_{(r+1)+} are each wrong in 1.25 %.
All this holds if |Z| ≤ M, which fails with probability at most 2(N e^ε₂)^−2.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anonhist.mechanisms.basis.falling_band import falling_bounds
from anonhist.mechanisms.basis.noise_quantile import noise_quantile
from anonhist.mechanisms.basis.noisy_band import differences, in_steps, invert, merge_steps
from anonhist.numeric.arrays import widen_to_falling
from anonhist.releases.evidence import Evidence, KPlusBand, PrevalenceBand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile

    _Numbers = NDArray[np.float64]
    _Whole = NDArray[np.int64]

_TAIL = 0.025


class NoisyParts(NamedTuple):
    """The noisy numbers of one run of PrivHist, all of them differentially private.

    Attributes
    ----------
    reaching : ndarray of int64, shape (T,)
        Noisy φ_{1+}..φ_{T+}.
    reaching_rate
        Rate of the noise on each.
    large : ndarray of int64, shape (m,)
        Noisy large counts, in the order of the true ones, including made-up ones.
    border
        M.
    rate
        ε₂, rate of the noise on each large count and of Z.
    """

    reaching: _Whole
    reaching_rate: float
    large: _Whole
    border: int
    rate: float


def of_parts(parts: NoisyParts, released: Profile) -> Evidence:
    """Return the intervals from one run, T ≥ 1; the published profile decides which windows are used.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_counts([9, 6, 2, 1])
    >>> found = of_parts(NoisyParts(np.array([4, 3, 2]), 60.0, np.array([9, 6, 4]), 1, 60.0), profile)
    >>> [ends.tolist() for ends in found.band.at([1, 2, 4, 7, 10])]
    [[4, 3, 2, 1, 0], [4, 3, 2, 1, 0]]
    >>> [ends.tolist() for ends in found.prevalences.at([1, 3, 6, 7])]
    [[1, 0, 1, 0], [1, 0, 1, 0]]
    """
    single, double = (noise_quantile(parts.reaching_rate, terms, _TAIL / 2) for terms in (1, 2))
    threshold, noisy = parts.reaching.size, parts.reaching.astype(np.float64)
    guess = released.cumulative_prevalence(np.arange(1, threshold + 1)).astype(np.float64)
    low, high = falling_bounds(noisy, guess, parts.reaching_rate, tail=_TAIL)
    # φ_r for r < T, then φ_T.
    sharper = _beyond(parts, released, tail=_TAIL / 2)
    next_least, next_most = int(sharper.lows[0]), int(sharper.highs[0])
    seen = noisy[:-1] - noisy[1:]
    least = np.append(seen - double, noisy[-1] - single - next_most)
    most = np.append(seen + double, noisy[-1] + single - next_least)
    ends, *bounds = in_steps(low, high, least, most)
    beyond = _beyond(parts, released, tail=_TAIL)
    lows, highs = (np.concatenate(sides) for sides in ((bounds[0], beyond.lows), (bounds[1], beyond.highs)))
    places, lowest, highest = differences(sharper, beyond=threshold)
    return Evidence(
        KPlusBand(*merge_steps(np.append(ends, beyond.ends), *widen_to_falling(lows, highs))),
        prevalences=PrevalenceBand(
            *merge_steps(np.append(ends, places), np.append(bounds[2], lowest), np.append(bounds[3], highest))
        ),
    )


def of_few(items_rate: float) -> Evidence:
    """Return the bands if the noisy number of items is 0: items are few, and labels at most as many.

    Examples
    --------
    >>> found = of_few(1.0)
    >>> [ends.tolist() for ends in found.band.at([1, 2, 3, 4])]
    [[0, 0, 0, 0], [3, 1, 1, 0]]
    """
    items = noise_quantile(items_rate, 1, _TAIL)
    roots = np.arange(1, math.isqrt(items) + 1)
    ends = np.unique(np.concatenate((roots, items // roots)))
    steps = ends, np.zeros_like(ends), items // ends
    return Evidence(KPlusBand(*steps), prevalences=PrevalenceBand(*steps))


def _beyond(parts: NoisyParts, released: Profile, *, tail: float) -> KPlusBand:
    """Return bounds of φ_{k+} for k > T, each end wrong with probability ``tail``; the first step is T + 1 alone."""
    border, size = parts.reaching.size + 1, parts.large.size
    guess = _large_of(released, border, size)
    found, hoped = (
        invert(*falling_bounds(numbers, guess, parts.rate, tail=tail))
        for numbers in (parts.large.astype(np.float64), guess)
    )
    reach, middle = noise_quantile(parts.rate, 1, tail), size - parts.border
    least, most = max(middle - reach, 0), max(middle + reach, 0)
    kept = found.ends > border
    ends = found.ends[kept]
    is_sharper = released.k_plus(border) + reach < hoped.at(ends)[1]
    return KPlusBand(
        np.append(border, ends),
        *widen_to_falling(
            np.append(least, found.lows[kept]), np.append(most, np.where(is_sharper, most, found.highs[kept]))
        ),
    )


def _large_of(released: Profile, border: int, size: int) -> _Numbers:
    """Return ``size`` large counts in descending order, as published, with made-up ones at the border."""
    at = np.searchsorted(released.counts, border)
    counts, prevalences = released.counts[at:][::-1], released.prevalences[at:][::-1]
    labels = np.diff(np.minimum(np.cumsum(prevalences), size), prepend=0)
    large = np.repeat(counts, labels)
    return np.append(large, np.full(size - large.size, border)).astype(np.float64)
