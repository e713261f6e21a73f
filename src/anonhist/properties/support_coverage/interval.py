"""Intervals for the support coverage, for all methods."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point, error_of
from anonhist.properties.statement import Bounds, Holds, Statement
from anonhist.properties.support_coverage.good_toulmin import GoodToulmin
from anonhist.properties.support_coverage.mixture import PoissonMixture
from anonhist.properties.support_coverage.rarefaction import Rarefaction
from anonhist.properties.support_coverage.series import reach

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Estimator
    from anonhist.properties.sample import Sample

_BEYOND = "beyond 2n draws, it assumes only that new labels appear ever more slowly"
_BY_COUNT = "the interval is that of a count and allows for labels not seen"


@dataclass(frozen=True)
class SupportCoverageInterval:
    """The interval of an unbiased estimator at fixed numbers of draws up to 2n; its ends never fall as draws grow.

    ``S_m = Σ_x (1 − (1 − p_x)^m)`` grows with m, so a lower end for fewer draws holds for m, too, and an upper end may
    be raised to it. At 1, …, n/4, n/2, n, 5n/4, 6n/4, 7n/4, 2n draws, rounded down, each end is the largest of those up
    to there. They are few, since the best of many lower ends would be too high too often. Between two of them the ends
    grow as the default estimate does, plus m/n.

    S_m is also concave. So for m > 2n it is at most ``S_2n + ((m − 2n)/n)·(S_2n − S_n)``; both have unbiased
    estimators. At n the lower end is at least that of the number of labels in the data, of which a noisy release tells
    more.

    At those numbers of draws the ends are ``S − z·h`` and ``S + z·h + z²s/2``, ``h = sqrt(error² + z²s²/4)``, with
    ``s = m/n``, the most that one label seen once may add. The upper end is that of a Poisson count times s: even if
    nothing was seen once, labels with up to z² expected items may have been missed. Up to n draws the error is at least
    that of :func:`rarefaction_variance`.

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
    (117.3, 166.5)
    """

    draws: int

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        del error
        n, draws = sample.profile.n, self.draws
        low, high = _between(sample, min(draws, 2 * n))
        if draws > 2 * n:
            high = max(high, _ends(sample, _Straight(draws), draws)[1])
        reason = _BEYOND if draws > 2 * n else _BY_COUNT
        least, most = self.of_nothing()
        return Bounds(max(low, least), min(high, most), Statement(Holds.BOTH, reason)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return 0 and the number of draws."""
        return 0.0, float(self.draws)


def _knots(n: int) -> list[int]:
    """Return the numbers of draws at which ends are computed, ascending from 1 to 2n."""
    return sorted({n >> halved for halved in range(n.bit_length())} | {n + n * part // 4 for part in range(1, 5)})


def _between(sample: Sample, draws: int) -> tuple[float, float]:
    """Return the ends for m ≤ 2n draws."""
    knots = _knots(sample.profile.n)
    at = bisect_left(knots, draws)
    if knots[at] == draws:
        return _so_far(sample, knots[: at + 1])
    before, here = _so_far(sample, knots[:at]), _at(sample, knots[at])
    after = max(before[0], here[0]), max(before[1], here[1])
    first, within, last = _shape(sample.profile, (knots[at - 1], draws, knots[at]))
    # In floats, far below n, nothing may change.
    share = (within - first) / (last - first) if last > first else 1.0
    low, high = ((1 - share) * left + share * right for left, right in zip(before, after, strict=True))
    return low, high


def _so_far(sample: Sample, knots: list[int]) -> tuple[float, float]:
    """Return the largest ends at any of the numbers of draws."""
    low, high = 0.0, 0.0
    for draws in reversed(knots):
        # No ends are larger than the number of draws.
        if draws <= low:
            break
        here = _at(sample, draws)
        low, high = max(low, here[0]), max(high, here[1])
    return low, high


def _at(sample: Sample, draws: int) -> tuple[float, float]:
    """Return the ends for m ≤ 2n draws from the unbiased estimator for as many."""
    n = sample.profile.n
    low, high = _ends(sample, Rarefaction(draws) if draws <= n else GoodToulmin(draws), draws)
    return max(low, _least(sample)) if draws == n else low, min(high, float(draws))


def _shape(profile: Profile, marks: tuple[int, ...]) -> list[float]:
    """Return the default estimate plus m/n, less a constant, for numbers of draws all up to n, or all from n on."""
    n = profile.n
    if max(marks) <= n:
        return [Rarefaction(draws).statistic(n).of(profile) + draws / n for draws in marks]
    mixture = PoissonMixture.of(profile)
    return [mixture.new_labels(reach(n=n, draws=draws)) + draws / n for draws in marks]


def _ends(sample: Sample, estimator: Estimator, draws: int) -> tuple[float, float]:
    """Return the ends for m or 2n draws from an unbiased estimator."""
    profile, z = sample.profile, sample.z
    point = estimator.point(profile)
    own = error_of(point, profile)
    if draws <= profile.n:
        own = max(own, math.sqrt(rarefaction_variance(profile, draws)))
    step = draws / profile.n
    half = z * math.hypot(own, sample.noise(estimator, point.value), z / 2 * step)
    return point.value - half, point.value + half + z**2 / 2 * step


def _least(sample: Sample) -> float:
    """Return the lower end for n draws, from the interval of the number of labels in the data."""
    profile, z = sample.profile, sample.z
    noise = profile.num_labels - sample.labels[0]
    return profile.num_labels - math.hypot(noise, z * math.sqrt(rarefaction_variance(profile, profile.n)), z**2 / 2)


def rarefaction_variance(profile: Profile, draws: int) -> float:
    """Return ``Σ_j φ_j·w(j)² − 2·S_m + S_2m − (m·(S_m − S_{m−1}))²/n``, w the weights of rarefaction to m ≤ n; ≥ 0.

    For Poisson counts N_x ``E w(N_x) = 1 − e^(−m·p_x)``, so ``Σ_x Var w(N_x) = E Σ_j φ_j·w(j)² − 2·S_m + S_2m``, and
    each term has an unbiased estimate that includes unseen labels. The last term is due to the fixed n:
    ``m·(S_m − S_{m−1})`` is the expected number of labels that m draws show once. ``S_2m`` is rarefied or, beyond n,
    extrapolated by the series of Good and Toulmin.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(rarefaction_variance(Profile.from_prevalences({1: 60, 2: 20, 5: 10}), 50), 3)
    1.585
    >>> rarefaction_variance(Profile.from_counts([1] * 8), 4)  # any four draws show four labels
    0.0
    """
    n = profile.n
    linear = Rarefaction(draws).statistic(n)
    weights, expected = linear.weights(profile.counts), linear.of(profile)
    twice = Rarefaction(2 * draws) if 2 * draws <= n else GoodToulmin(2 * draws)
    doubled = twice.statistic(n).of(profile)
    once = draws * (expected - Rarefaction(draws - 1).statistic(n).of(profile)) if draws > 1 else 1.0
    variance = float(profile.prevalences @ weights**2) - 2 * expected + doubled - once**2 / n
    return max(variance, 0.0)


@dataclass(frozen=True)
class _Straight:
    """``S_2n + a·(S_2n − S_obs)``, ``a = (m − 2n)/n``: as if new labels came as fast as from n to 2n, for m ≥ 2n."""

    draws: int
    name: ClassVar[str] = "straight"
    assumes: ClassVar[str] = "items drawn independently"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item; of fewer than m/2 items, as a run of a release may have."""
        twice, further = GoodToulmin(2 * profile.n), max((self.draws - 2 * profile.n) / profile.n, 0.0)
        value, at_twice = twice.value(profile), twice.statistic(profile.n).weights

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.asarray((1 + further) * at_twice(counts) - further * (counts > 0))

        return Point(value + further * (value - profile.num_labels), weights)
