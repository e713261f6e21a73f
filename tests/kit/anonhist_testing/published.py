"""Intervals as published software computes them, to compare with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.properties.estimator import Sample
from anonhist.properties.support_size import log_normal_ends
from anonhist.properties.support_size_estimators import Chao1

if TYPE_CHECKING:
    from anonhist.profiles import Profile


def chao1_interval(profile: Profile, level: float) -> tuple[float, float]:
    """Return both ends of Chao1's log-normal interval; only the lower end, rounded down, holds.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> [round(end, 3) for end in chao1_interval(Profile.from_counts([9, 4, 2, 2, 1, 1, 1]), 0.95)]
    [7.094, 17.678]
    """
    sample = Sample(profile, level)
    return log_normal_ends(sample, *sample.of(Chao1()))
