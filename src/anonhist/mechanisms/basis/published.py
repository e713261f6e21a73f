"""From a fit to noisy numbers to a profile that can be published."""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric.arrays import rises
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist.profiles.counts import MAX_ITEMS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST = 2.0**62


def profile_of_fit(levels: NDArray[np.int64], reaching: NDArray[np.float64]) -> Profile:
    """Round a fit of cumulative prevalences to a profile: ``φ_{r+} = reaching_i`` for levels_{i−1} < r ≤ levels_i.

    Post-processing: a function of released values.

    Parameters
    ----------
    levels : ndarray of int64, shape (k,)
        Counts, ascending, ≥ 1; levels_0 = 0.
    reaching : ndarray of float64, shape (k,)
        Non-increasing. Each is rounded to the nearest whole number, at least 0; if n would exceed 2⁶², up to rounding,
        all are cut at one height.

    Examples
    --------
    >>> profile_of_fit(np.array([1, 4, 9]), np.array([5.2, 1.9, -3.0]))
    Profile(n=11, num_labels=5, {1: 3, 4: 2})
    """
    whole = np.minimum(np.maximum(np.rint(reaching), 0), _MOST)
    size = int(np.count_nonzero(whole))
    if not size:
        return Profile([], [])
    levels, whole = levels[:size], whole[:size]
    widths = rises(levels)
    if float(whole @ widths) > _MOST:
        whole = np.minimum(whole, max(1, 2**62 // int(levels[-1])))
    labels = whole.astype(np.int64)
    kept = labels.copy()
    kept[:-1] -= labels[1:]
    present = kept > 0
    return Profile(levels[present], kept[present])


def round_sorted(counts: NDArray[np.float64]) -> Profile:
    """Round a fit of the counts in descending order to a profile; negative ones become 0.

    Parameters
    ----------
    counts : ndarray of float64, shape (k,)
        Non-increasing, one per label; cut at one height if n would exceed 2⁶², up to rounding. O(k) time.

    Examples
    --------
    >>> round_sorted(np.array([7.6, 3.2, 3.0, 0.4, -1.0]))
    Profile(n=14, num_labels=3, {3: 2, 8: 1})
    """
    whole = np.rint(counts)
    whole = whole[: int(np.count_nonzero(whole > 0))]
    if whole.sum() > _MOST:
        whole = np.minimum(whole, max(1, 2**62 // whole.size))
    is_first = np.ones(whole.size, dtype=np.bool_)
    is_first[1:] = whole[1:] != whole[:-1]
    first = np.flatnonzero(is_first)
    labels = -first
    labels[:-1] += first[1:]
    labels[-1:] += whole.size
    return Profile(whole[first].astype(np.int64)[::-1], labels[::-1])


def with_at_most(profile: Profile, items: int) -> Profile:
    """Cut the largest counts of a profile, all at one height up to a step of one, to leave at most ``items`` items.

    Examples
    --------
    >>> with_at_most(Profile.from_counts([5, 4, 1]), 8)
    Profile(n=8, num_labels=3, {1: 1, 3: 1, 4: 1})
    """
    if profile.n <= items:
        return profile
    # The largest height with Σ min(count, height) ≤ items.
    low = bisect_right(range(1, int(profile.counts[-1])), items, key=partial(_below, profile))
    higher = profile.k_plus(low + 1)
    raised = items - _below(profile, low)
    kept = profile.counts <= low
    pairs = [(low, higher - raised), (low + 1, raised)]
    listed = [*zip(profile.counts[kept].tolist(), profile.prevalences[kept].tolist(), strict=True), *pairs]
    return Profile.from_prevalences([(count, labels) for count, labels in listed if count and labels])


def _below(profile: Profile, height: int) -> int:
    """Return ``Σ_x min(n_x, height)``."""
    low = profile.counts <= height
    return int(profile.counts[low] @ profile.prevalences[low]) + height * profile.k_plus(height + 1)


def bounded_profile(arms: NDArray[np.int64], legs: NDArray[np.int64]) -> Profile:
    """Build a released profile; its longest rows and columns are cut if n would exceed 2⁶³ − 1."""
    size = arms.size
    # No arm or leg is longer than the first: most profiles are far below the limit.
    if not size or size * (int(arms[0]) + int(legs[0]) + 1) <= MAX_ITEMS:
        return FrobeniusCoordinates(arms, legs).profile()
    excess = int(arms.astype(object).sum() + legs.astype(object).sum()) + size - MAX_ITEMS
    sides = [arms.copy(), legs.copy()]
    while excess > 0:
        side = max(sides, key=lambda lengths: int(lengths[0]))
        spare = int(side[0]) - (int(side[1]) + 1 if size > 1 else 0)
        if spare == 0:
            # The longest cannot be shorter than the next: shorten all lengths of this side that form one staircase.
            steps = int(np.argmax(np.append(np.diff(side) != -1, values=True))) + 1
            cut = max(1, min(-(-excess // steps), int(side[steps - 1]) - (int(side[steps]) + 1 if steps < size else 0)))
            side[:steps] -= cut
            excess -= cut * steps
            continue
        cut = min(spare, excess)
        side[0] -= cut
        excess -= cut
    return FrobeniusCoordinates(*sides).profile()
