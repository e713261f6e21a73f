"""Linear statistics of a profile, whose weights depend on public numbers alone, and their estimators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point
from anonhist.properties.unseen import undersampling_warning

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Weights


@dataclass(frozen=True)
class LinearStatistic:
    """``f = Σ_{j≥0} w(j)·φ_j`` with weights w that depend on public numbers alone; ``φ_0 = k − S_obs``.

    Attributes
    ----------
    weights
        w, as a function of counts j ≥ 0.
    head
        From this count on, the steps ``d(j) = w(j+1) − w(j)`` are monotone in j; equal steps are allowed. Smaller
        counts are examined one by one, so it is at most a few thousand.
    alphabet_size
        k, if ``w(0)`` is not 0. A profile with more than k labels makes ``φ_0`` negative, which keeps f linear for all
        data.
    kinks
        Counts beyond the head at which w has a kink.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> seen = LinearStatistic(lambda counts: (counts > 0) * 1.0, head=1)
    >>> seen.of(Profile.from_counts([5, 1]))
    2.0
    """

    weights: Weights
    head: int
    alphabet_size: int | None = None
    kinks: tuple[int, ...] = ()

    def of(self, profile: Profile) -> float:
        """Return f, in O(t)."""
        value = float(self.weights(profile.counts) @ profile.prevalences)
        if self.alphabet_size is None:
            return value
        unseen = float(self.weights(np.zeros(1, dtype=np.int64))[0])
        return value + unseen * (self.alphabet_size - profile.num_labels)


@dataclass(frozen=True)
class LinearEstimator(ABC):
    """An estimator that is a linear statistic of the profile."""

    name: ClassVar[str]
    assumes: ClassVar[str]

    @abstractmethod
    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items."""

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        statistic = self.statistic(profile.n)
        return Point(statistic.of(profile), statistic.weights, warnings=undersampling_warning(profile))
