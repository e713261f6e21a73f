"""Confidence intervals for the true prevalences φ_r, for all data, from noisy arms and legs alone.

φ_r = φ_{r+} − φ_{(r+1)+}, so intervals [L_r, U_r] for φ_{r+} and φ_{(r+1)+} give

    max(L_r − U_{r+1}, 0) ≤ φ_r ≤ U_r − L_{r+1},

which is wrong only where one of their eight bounds is: each may be wrong in 0.625 % of releases, together 5 %.

Below the Durfee size φ_r = leg_r − leg_{r+1} − 1. Where the legs of both columns have a noise of their own, and
L_{r+1} ≥ r + 1 says that the square reaches so far, the difference of the two is mostly sharper: two noises, each side
wrong in 1.875 %, with the 1.25 % of that statement 5 % again. The narrower of the two intervals is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.basis.noise_quantile import noise_quantile
from anonhist.mechanisms.frobenius.row_band import TAIL, k_plus_band
from anonhist.profiles.whole import MAX_ITEMS
from anonhist.releases.evidence import PrevalenceBand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.frobenius.row_groups import NoisyRows
    from anonhist.profiles import Profile
    from anonhist.releases.evidence import KPlusBand

    _Whole = NDArray[np.int64]

_DIFFERENCE_TAIL = 0.01875


def prevalence_band(released: Profile, arms: NoisyRows, legs: NoisyRows, *, epsilon: float) -> PrevalenceBand:
    """Return the intervals for φ_r that the noisy arms and legs of one run (the first) give.

    Parameters
    ----------
    released
        What was fitted to them: a public guess, by which windows are chosen.
    arms, legs
        Noisy sums, K of each.
    epsilon
        Decay of the noise per cell.

    Examples
    --------
    >>> from anonhist.mechanisms.frobenius.row_groups import NoisyRows
    >>> from anonhist.profiles import Profile
    >>> sure = [NoisyRows.alone(np.array([lengths])) for lengths in ([4, 1, 0, 0], [2, 1, 0, 0])]
    >>> band = prevalence_band(Profile.from_counts([5, 3, 2]), *sure, epsilon=50.0)
    >>> [ends.tolist() for ends in band.at([1, 2, 5, 6])]
    [[0, 0, 1, 0], [0, 1, 1, 0]]
    """
    reaching = k_plus_band(released, arms, legs, epsilon=epsilon, tail=TAIL / 2)
    at, sharp_lows, sharp_highs = _by_two_legs(reaching, legs, epsilon)
    places = np.unique(np.concatenate((reaching.ends, reaching.ends - 1, at - 1, at)))
    places = places[(places >= 1) & (places <= reaching.ends[-1:].sum())]
    low, high = reaching.at(places)
    # The last count there can be has no next one.
    next_low, next_high = reaching.at(np.minimum(places, MAX_ITEMS - 1) + 1)
    lows, highs = np.maximum(low - next_high, 0), high - next_low
    mine = np.searchsorted(places, at)
    narrower = sharp_highs - sharp_lows < highs[mine] - lows[mine]
    lows[mine[narrower]], highs[mine[narrower]] = sharp_lows[narrower], sharp_highs[narrower]
    kept = np.ones(places.size, dtype=np.bool_)
    kept[:-1] = (np.diff(lows) != 0) | (np.diff(highs) != 0)
    return PrevalenceBand(places[kept], lows[kept], highs[kept])


def _by_two_legs(reaching: KPlusBand, legs: NoisyRows, epsilon: float) -> tuple[_Whole, _Whole, _Whole]:
    """Return the r whose two legs have noises of their own, both surely inside the square, and bounds of φ_r there."""
    r = np.arange(1, legs.sums.shape[1])
    begins = np.append(legs.begins[0], np.True_)
    sums = legs.sums[0]
    # Sums at the end of the range may have been cut there.
    is_alone = begins[:-2] & begins[1:-1] & begins[2:] & (np.maximum(np.abs(sums[:-1]), np.abs(sums[1:])) < MAX_ITEMS)
    r = r[is_alone & (reaching.at(r + 1)[0] >= r + 1)]
    seen = sums[r - 1] - sums[r] - 1
    reach = noise_quantile(epsilon, 2, _DIFFERENCE_TAIL)
    highs = np.maximum(seen + reach, 0)
    return r, np.maximum(seen - reach, 0), highs
