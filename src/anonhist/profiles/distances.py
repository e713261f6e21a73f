"""Distances between profiles, exact in integers, in time O(t)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles.profile import Profile


def sorted_l1(first: Profile, second: Profile) -> int:
    """Return the sorted ℓ1 distance ``Σ_i |λ_i − μ_i|`` of the counts in descending order.

    It equals ``Σ_r |φ_{r+} − φ'_{r+}|`` and the number of cells in which the two Young diagrams differ. Neighbouring
    profiles (one item more or less) are at distance 1. Exact for any two profiles, O(t) time.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> sorted_l1(Profile.from_counts([8, 8, 3]), Profile.from_counts([]))
    19
    """
    lengths, differences = _differences(first, second)
    # Each product is at most max(n, n') and the sum at most n + n' < 2^64.
    return int((lengths * differences).astype(np.uint64).sum(dtype=np.uint64))


def sorted_l2_squared(first: Profile, second: Profile) -> int:
    """Return ``Σ_i (λ_i − μ_i)²``, the square of the sorted ℓ2 distance, exactly.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> sorted_l2_squared(Profile.from_counts([5, 1]), Profile.from_counts([2]))
    10
    """
    lengths, differences = _differences(first, second)
    return sum(int(length) * int(gap) ** 2 for length, gap in zip(lengths, differences, strict=True))


def sorted_l2(first: Profile, second: Profile) -> float:
    """Return the sorted ℓ2 distance ``sqrt(Σ_i (λ_i − μ_i)²)``: the exact integer's square root, rounded once.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> sorted_l2(Profile.from_counts([5]), Profile.from_counts([2]))
    3.0
    """
    return math.sqrt(sorted_l2_squared(first, second))


def sorted_linf(first: Profile, second: Profile) -> int:
    """Return the sorted ℓ∞ distance ``max_i |λ_i − μ_i|``.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> sorted_linf(Profile.from_counts([5, 1]), Profile.from_counts([2]))
    3
    """
    _, differences = _differences(first, second)
    return max(map(int, differences), default=0)


def _differences(first: Profile, second: Profile) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Merge two descending step functions: lengths of the pieces, and |λ − μ| on each."""
    ends = [np.cumsum(profile.prevalences[::-1]) for profile in (first, second)]
    borders = np.union1d(ends[0], ends[1])
    values = []
    for profile, end in zip((first, second), ends, strict=True):
        padded = np.append(profile.counts[::-1], 0)
        values.append(padded[np.searchsorted(end, borders)])
    return np.diff(borders, prepend=0), np.abs(values[0] - values[1])
