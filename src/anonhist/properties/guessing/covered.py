"""The guessing curve of a profile: which share of all items its most frequent labels cover."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles.profile import Profile


def covered_share(profile: Profile, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return ``λ_β = Σ_{i≤β} λ_i / n``, the share of items that the β most frequent labels cover.

    Parameters
    ----------
    labels
        The numbers β ≥ 0. Beyond the number of labels the share is 1; for an empty profile it is 0.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> covered_share(Profile.from_counts([6, 3, 1]), np.array([0, 1, 2, 9])).tolist()
    [0.0, 0.6, 0.9, 1.0]
    """
    if not len(profile):
        return np.zeros(labels.shape)
    ends = np.append(0, np.cumsum(profile.prevalences[::-1]))
    covered = np.append(0, np.cumsum((profile.counts * profile.prevalences)[::-1]))
    return np.interp(labels, ends, covered / profile.n)


def log_grid(largest: int, *, points: int) -> list[int]:
    """Return at most ``points`` whole numbers from 1 to ``largest`` ≥ 1, evenly spaced on a log scale, with both ends.

    Examples
    --------
    >>> log_grid(1000, points=4), log_grid(3, points=400)
    ([1, 10, 100, 1000], [1, 2, 3])
    """
    # The largest is added as an integer: as a float it may be rounded.
    below = np.geomspace(1, largest, points).tolist()[:-1]
    return sorted({*(min(largest, round(mark)) for mark in below), largest})


def round_grid(largest: int, *, points: int) -> list[int]:
    """Return the same grid, with each number except the last moved to a nearby 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> log_grid(1500, points=12)
    [1, 2, 4, 7, 14, 28, 54, 105, 204, 397, 772, 1500]
    >>> round_grid(1500, points=12)
    [1, 2, 5, 10, 14, 20, 50, 100, 200, 500, 1000, 1500]
    """
    reach = math.log10(largest) / (2 * (points - 1))
    below = (_to_round(mark, reach) for mark in np.geomspace(1, largest, points).tolist()[:-1])
    return sorted({*(min(largest, mark) for mark in below), largest})


def _to_round(mark: float, reach: float) -> int:
    """Return a power of ten within ``reach`` decades, else 2 or 5 times one, else the nearest whole number."""
    for digit in (1, 2, 5):
        decades = math.log10(mark / digit)
        power = round(decades)
        if power >= 0 and abs(decades - power) <= reach:
            return int(digit * 10**power)
    return round(mark)
