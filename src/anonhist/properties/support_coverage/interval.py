"""What can be said of the support coverage, whatever the method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point
from anonhist.properties.intervals import NormalInterval
from anonhist.properties.statement import Bounds, Holds, Statement
from anonhist.properties.support_coverage.good_toulmin import GoodToulmin
from anonhist.properties.support_coverage.rarefaction import Rarefaction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Estimator
    from anonhist.properties.sample import Sample

_BEYOND = "beyond twice the items it says no more than that new labels keep coming, ever more slowly"


@dataclass(frozen=True)
class SupportCoverageInterval:
    """That of an unbiased estimator up to 2n draws; beyond, of what is known at 2n.

    ``S_m = Σ_x (1 − (1 − p_x)^m)`` rises with m, ever more slowly. So for m > 2n it is at least ``S_2n``, and at most
    ``S_2n + ((m − 2n)/n)·(S_2n − S_n)``; both have unbiased estimators, whose normal intervals give the ends.

    Attributes
    ----------
    draws
        m ≥ 1.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.sample import Sample
    >>> found = SupportCoverageInterval(300).of(Sample(Profile.from_prevalences({1: 60, 2: 20, 5: 10})), 140.0, 0.0)
    >>> round(found.low, 1), round(found.high, 1)
    (117.6, 162.4)
    """

    draws: int

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        del error
        n, draws = sample.profile.n, self.draws
        inside = NormalInterval(*self.of_nothing())
        within: Estimator = Rarefaction(draws) if draws <= n else GoodToulmin(min(draws, 2 * n))
        expected, spread = sample.of(within)
        # Near the end of the labels few are in doubt, and they are a count: as Wilson's interval of one label is wider.
        least = inside.of(sample, expected, math.hypot(spread, sample.z / 2 * min(draws / n, 1.0)))
        if draws <= 2 * n:
            return least.around(value)
        most = inside.of(sample, *sample.of(_Straight(draws)))
        return Bounds(least.low, max(most.high, least.high), Statement(Holds.BOTH, _BEYOND)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return 0 and the number of draws."""
        return 0.0, float(self.draws)


@dataclass(frozen=True)
class _Straight:
    """``S_2n + a·(S_2n − S_obs)``, ``a = (m − 2n)/n``: as if new labels came as fast as from n to 2n, for m ≥ 2n."""

    draws: int
    name: ClassVar[str] = "straight"
    assumes: ClassVar[str] = "items drawn independently"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item; of fewer than m/2 items, as a run of a release may have."""
        twice: Estimator = GoodToulmin(2 * profile.n)
        point, further = twice.point(profile), max((self.draws - 2 * profile.n) / profile.n, 0.0)
        inner = point.weights

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            at_twice = np.zeros(counts.shape) if inner is None else inner(counts)
            return np.asarray((1 + further) * at_twice - further * (counts > 0))

        return Point(point.value + further * (point.value - profile.num_labels), weights)
