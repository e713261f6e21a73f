"""Confidence intervals for the true prevalences φ_r, for all data, from noisy arms and legs alone.

φ_r = φ_{r+} − φ_{(r+1)+}, so intervals [L_r, U_r] for φ_{r+} and φ_{(r+1)+} give

    max(L_r − U_{r+1}, 0) ≤ φ_r ≤ U_r − L_{r+1},

which is wrong only if one of their eight bounds is: each is wrong in at most 0.625 % of releases, together 5 %.

Below the Durfee size φ_r = leg_r − leg_{r+1} − 1. If the legs of both columns have separate noises, and
L_{r+1} ≥ r + 1 implies that the square extends beyond r, the difference of the two is mostly sharper: two noises, each
side wrong in 1.875 %, with 1.25 % for that implication again 5 %. The narrower of the two intervals is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.basis.noise_quantile import noise_quantile
from anonhist.mechanisms.basis.noisy_band import differences, merge_steps
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
    """Return the intervals for φ_r from the noisy arms and legs of one run (the first).

    Parameters
    ----------
    released
        The fit to them: a public guess, which decides which windows are used.
    arms, legs
        Noisy sums, K of each.
    epsilon
        Rate of the noise, ε/Δ.

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
    places, lows, highs = differences(reaching, at - 1, at)
    mine = np.searchsorted(places, at)
    narrower = sharp_highs - sharp_lows < highs[mine] - lows[mine]
    lows[mine[narrower]], highs[mine[narrower]] = sharp_lows[narrower], sharp_highs[narrower]
    return PrevalenceBand(*merge_steps(places, lows, highs))


def _by_two_legs(reaching: KPlusBand, legs: NoisyRows, epsilon: float) -> tuple[_Whole, _Whole, _Whole]:
    """Return the r whose two legs have separate noises and lie inside the square, and bounds of φ_r there."""
    r = np.arange(1, legs.sums.shape[1])
    begins = np.append(legs.begins[0], np.True_)
    sums = legs.sums[0]
    # Sums at the limit of the range may have been cut.
    is_alone = begins[:-2] & begins[1:-1] & begins[2:] & (np.maximum(np.abs(sums[:-1]), np.abs(sums[1:])) < MAX_ITEMS)
    r = r[is_alone & (reaching.at(r + 1)[0] >= r + 1)]
    seen = sums[r - 1] - sums[r] - 1
    reach = noise_quantile(epsilon, 2, _DIFFERENCE_TAIL)
    highs = np.maximum(seen + reach, 0)
    return r, np.maximum(seen - reach, 0), highs
