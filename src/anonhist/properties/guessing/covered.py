"""The guessing curve of a profile: which share of all items its most frequent labels cover."""

from __future__ import annotations

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
        Each β, ≥ 0. Beyond the number of labels the share is 1; of an empty profile it is 0.

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
    """Return at most ``points`` whole numbers from 1 to ``largest`` ≥ 1, evenly spread on a log scale, ends included.

    Examples
    --------
    >>> log_grid(1000, points=4), log_grid(3, points=400)
    ([1, 10, 100, 1000], [1, 2, 3])
    """
    # The largest as it is: as a float it may be rounded.
    below = np.geomspace(1, largest, points).tolist()[:-1]
    return sorted({*(min(largest, round(mark)) for mark in below), largest})
