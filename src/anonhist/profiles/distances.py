"""Exact distances between profiles, and Frobenius coordinates of their diagrams."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.numeric.arrays import rises
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.counts import fixed_numbers
from anonhist.profiles.profile import Profile


def sorted_l1(first: Profile, second: Profile) -> int:
    """Return the sorted ℓ1 distance ``Σ_i |λ_i − μ_i|`` of the counts in descending order, in items.

    λ and μ are the counts of the two profiles in descending order, followed by zeros. The distance equals
    ``Σ_r |φ_{r+} − φ'_{r+}|`` and the number of cells in which the two Young diagrams differ. Neighboring profiles
    (one item added or removed) have distance 1. It is exact for any two profiles and units, and below 2^64.

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
    """Return ``Σ_i (λ_i − μ_i)²``, the square of the sorted ℓ2 distance, exactly; it may be as large as 2^126."""
    lengths, differences = _differences(first, second)
    largest = int(differences.max(initial=0))
    # Each square is at most the largest difference times the difference itself.
    if largest * int((lengths * differences).astype(np.uint64).sum(dtype=np.uint64)) < 2**63:
        return int((lengths * differences) @ differences)
    return sum(length * gap**2 for length, gap in zip(lengths.tolist(), differences.tolist(), strict=True))


def sorted_l2(first: Profile, second: Profile) -> float:
    """Return the sorted ℓ2 distance ``sqrt(Σ_i (λ_i − μ_i)²)``: the float nearest to the exact root.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> sorted_l2(Profile.from_counts([5]), Profile.from_counts([2]))
    3.0
    """
    squared = sorted_l2_squared(first, second)
    # The root to 64 fractional bits, with a last bit that says whether more follow, so the division rounds only once.
    root = math.isqrt(squared << 128)
    return (2 * root + (root * root != squared << 128)) / 2**65


def sorted_linf(first: Profile, second: Profile) -> int:
    """Return the sorted ℓ∞ distance ``max_i |λ_i − μ_i|``, 0 for two empty profiles.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> sorted_linf(Profile.from_counts([5, 1]), Profile.from_counts([2]))
    3
    """
    _, differences = _differences(first, second)
    return int(differences.max(initial=0))


def _differences(first: Profile, second: Profile) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Merge two descending step functions: return the lengths of the pieces, and |λ − μ| on each.

    λ_i is the sum of all gaps between successive counts beyond label i, so λ − μ is the running sum, from the end, of
    the gaps of one profile minus those of the other. Each of these sums is a difference of two counts.
    """
    both = (first, second)
    if not all(hasattr(profile, "prevalences") for profile in both):
        raise UsageError("Distances are between profiles: for a release, use release.profile.")
    ends = np.concatenate([np.cumsum(profile.prevalences[::-1]) for profile in both])
    gaps = [rises(profile.counts)[::-1] for profile in both]
    drops = np.concatenate((gaps[0], -gaps[1]))
    order = np.argsort(ends, kind="stable")  # Two ascending runs merge in linear time.
    differences = np.cumsum(drops[order][::-1])[::-1]
    lengths = rises(ends[order])
    pieces = lengths > 0  # Two steps at one label have no piece between them.
    return lengths[pieces], np.abs(differences[pieces])


@frozen
class FrobeniusCoordinates:
    """Arms and legs of a Young diagram.

    With row lengths ``λ_k`` (counts in descending order) and column heights ``λ'_k = φ_{k+}``, ``arm_k = λ_k − k`` and
    ``leg_k = λ'_k − k`` for k = 1..D, D the Durfee size. Both are strictly decreasing and ≥ 0, and any two such
    sequences of one length are the coordinates of exactly one partition; all others are refused.

    With both padded by zeros beyond D, ``|D − D'| + Σ|arm_k − arm'_k| + Σ|leg_k − leg'_k|`` is the sorted ℓ1 distance
    of two profiles; adding one item therefore changes one coordinate, by one.
    """

    arms: Converted[ArrayLike, NDArray[np.int64]] = converted(partial(fixed_numbers, name="arm"))
    legs: Converted[ArrayLike, NDArray[np.int64]] = converted(partial(fixed_numbers, name="leg"))

    def __post_init__(self) -> None:
        if self.arms.size != self.legs.size:
            raise DataError("Frobenius coordinates need as many arms as legs.")
        for side in (self.arms, self.legs):
            if side.size and (side[-1] < 0 or not (side[1:] < side[:-1]).all()):
                raise DataError("Arms and legs must be strictly decreasing and at least 0.")

    @property
    def durfee_size(self) -> int:
        """D, the number of cells on the main diagonal."""
        return int(self.arms.size)

    @classmethod
    def of(cls, profile: Profile) -> FrobeniusCoordinates:
        """Read the coordinates off a profile in O(t + D) time and memory."""
        size = profile.durfee_size
        steps = np.arange(1, size + 1, dtype=np.int64)
        # Number of labels with at least each count, from the largest count down. Row k is the count of label k, column
        # k the number of labels with count ≥ k: both are step functions, written out up to D.
        labels = np.cumsum(profile.prevalences[::-1])
        rows = np.repeat(profile.counts[::-1], rises(np.minimum(labels, size)))
        columns = np.repeat(labels[::-1], rises(np.minimum(profile.counts, size)))
        return cls(rows - steps, columns - steps)

    def profile(self, *, unit: PrivacyUnit | None = None) -> Profile:
        """Build the profile in O(D) time and memory, or refuse more than 2⁶³ − 1 items; an item is the default unit."""
        size = self.durfee_size
        if not size:
            return Profile([], [], unit=unit)
        steps = np.arange(1, size + 1, dtype=np.int64)
        if max(int(self.arms[0]), int(self.legs[0])) > 2**63 - 1 - size:
            raise DataError("This profile holds more than 2^63 − 1 items, the most that can be counted here.")
        rows, columns = self.arms + steps, self.legs + steps
        # For counts up to D, φ_r is the drop from column r to column r + 1, the last one down to the D labels that
        # reach the square. The D rows have the larger counts.
        low = columns - np.append(columns[1:], size)
        ascending = rows[::-1]
        first = np.flatnonzero(rises(ascending))
        above = np.append(first[1:], size) - first
        counts = np.concatenate((steps, ascending[first]))
        prevalences = np.concatenate((low, above))
        if counts[size] == size:
            prevalences[size - 1] += prevalences[size]
            prevalences[size] = 0
        present = prevalences > 0
        return Profile(counts[present], prevalences[present], unit=unit)
