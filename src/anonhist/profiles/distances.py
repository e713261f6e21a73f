"""Exact integer distances between profiles, in time linear in the numbers of distinct counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.numeric.rises import rises
from anonhist.profiles.profile import Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    """Return ``Σ_i (λ_i − μ_i)²``, the square of the sorted ℓ2 distance, exactly; it may be as large as 2^126.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> sorted_l2_squared(Profile.from_counts([5, 1]), Profile.from_counts([2]))
    10
    """
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
        raise UsageError("Distances are between profiles; of a release, take release.profile.")
    ends = np.concatenate([np.cumsum(profile.prevalences[::-1]) for profile in both])
    gaps = [rises(profile.counts)[::-1] for profile in both]
    drops = np.concatenate((gaps[0], -gaps[1]))
    order = np.argsort(ends, kind="stable")  # two ascending runs: merged in linear time
    differences = np.cumsum(drops[order][::-1])[::-1]
    lengths = rises(ends[order])
    pieces = lengths > 0  # two steps at one label have no piece between them
    return lengths[pieces], np.abs(differences[pieces])
