"""Linear statistics of a profile, whose weights are known without looking at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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
        From this count on the steps ``d(j) = w(j+1) − w(j)`` are monotone in j: rising or falling, equal steps allowed.
        What w does below has to be looked at count by count, so it is small: thousands at most.
    alphabet_size
        k, where ``w(0)`` is not 0. More labels than that in a profile make ``φ_0`` negative, which is what keeps
        f linear for all data.
    kinks
        Counts beyond the head where w bends sharply all the same.

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
