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
from anonhist.mechanisms.frobenius.band_rows import BandRows
from anonhist.mechanisms.frobenius.row_band import TAIL, Guess, k_plus_rows
from anonhist.profiles.counts import MAX_ITEMS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.frobenius.row_groups import NoisyRows

    _Whole = NDArray[np.int64]

_DIFFERENCE_TAIL = 0.01875


def prevalence_rows(guess: Guess, arms: NoisyRows, legs: NoisyRows, *, epsilon: float) -> BandRows:
    """Return the intervals for φ_r from the noisy arms and legs of each run.

    Parameters
    ----------
    guess
        The fits to them: public guesses, which decide which windows are used.
    arms, legs
        Noisy sums, K of each.
    epsilon
        Rate of the noise, ε/Δ.

    Examples
    --------
    >>> from anonhist.mechanisms.frobenius.row_groups import NoisyRows
    >>> from anonhist.profiles import Profile
    >>> sure = [NoisyRows.alone(np.array([lengths])) for lengths in ([4, 1, 0, 0], [2, 1, 0, 0])]
    >>> rows = prevalence_rows(Guess.of([Profile.from_counts([5, 3, 2])], 4), *sure, epsilon=50.0)
    >>> [ends.tolist() for ends in rows.at(np.array([[1, 2, 5, 6]]))]
    [[[0, 0, 1, 0]], [[0, 1, 1, 0]]]
    """
    reaching = k_plus_rows(guess, arms, legs, epsilon=epsilon, tail=TAIL / 2)
    # Each count from 1 to K is among the ends, so each of those with two legs is a step of its own.
    places = np.sort(np.maximum(np.hstack((reaching.ends - 1, reaching.ends)), 1), axis=1)
    # The largest possible count has no successor.
    (low, high), (next_low, next_high) = reaching.at(places), reaching.at(np.minimum(places, MAX_ITEMS - 1) + 1)
    lows, highs = np.maximum(low - next_high, 0), high - next_low
    is_sharp, *sharp = _by_two_legs(reaching, legs, epsilon)
    at = np.minimum(places, is_sharp.shape[1]) - 1
    sharp_lows, sharp_highs = (np.take_along_axis(side, at, axis=1) for side in sharp)
    narrower = np.take_along_axis(is_sharp, at, axis=1) & (places == at + 1) & (sharp_highs - sharp_lows < highs - lows)
    return BandRows(places, np.where(narrower, sharp_lows, lows), np.where(narrower, sharp_highs, highs))


def _by_two_legs(reaching: BandRows, legs: NoisyRows, epsilon: float) -> tuple[NDArray[np.bool_], _Whole, _Whole]:
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
