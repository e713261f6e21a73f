"""The expected number of labels in a number of draws, its interval, and its curve."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from anonhist.errors import UsageError
from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.curve import Axes, Curve, estimated_curve
from anonhist.properties.estimate import Bounds, Estimate, Holds, Statement, chao_unseen
from anonhist.properties.estimator import Point, Resimulated, apply, check_method, error_of, profile_of
from anonhist.properties.unseen_labels import (
    GoodToulmin,
    Mixture,
    PoissonMixture,
    Rarefaction,
    SmoothedBinomialA,
    SmoothedBinomialB,
    SmoothedPoisson,
    reach,
    visible_doubts,
)

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats
    from anonhist.properties.estimator import Estimator, Sample

_BEYOND = "beyond 2n draws, it assumes only that new labels appear ever more slowly"
_BY_COUNT = "the interval is that of a count and allows for labels not seen"


@dataclass(frozen=True)
class SupportCoverageInterval:
    """The interval of an unbiased estimator at fixed numbers of draws up to 2n; its ends never fall as draws grow.

    ``S_m = Σ_x (1 − (1 − p_x)^m)`` grows with m, so a lower end for fewer draws holds for m, too, and an upper end may
    be raised to it. At 1, …, n/4, n/2, n, 5n/4, 6n/4, 7n/4, 2n draws, rounded down, each end is the largest one so far.
    There are few such numbers, because the best of many lower ends would be too high too often. Between two of them the
    ends grow like the default estimate plus m/n.

    S_m is also concave. So for m > 2n it is at most ``S_2n + ((m − 2n)/n)·(S_2n − S_n)``; both have unbiased
    estimators. At n the lower end is at least that of the number of labels in the data, about which a noisy release
    says more.

    At those numbers of draws the ends are ``S − z·h`` and ``S + z·h + z²s/2``, ``h = sqrt(error² + z²s²/4)``, with
    where ``s = m/n`` is the most that one label seen once may add. The upper end is that of a Poisson count times s:
    even if nothing was seen once, labels with up to z² expected items may have been missed. Up to n draws the error is
    at least that of :func:`rarefaction_variance`.
    """

    draws: int

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
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
    # In floats, nothing may change far below n.
    share = (within - first) / (last - first) if last > first else 1.0
    low, high = ((1 - share) * left + share * right for left, right in zip(before, after, strict=True))
    return low, high


def _so_far(sample: Sample, knots: list[int]) -> tuple[float, float]:
    """Return the largest ends up to each of the numbers of draws."""
    low, high = 0.0, 0.0
    for draws in reversed(knots):
        # Neither end exceeds the number of draws.
        if draws <= low:
            break
        here = _at(sample, draws)
        low, high = max(low, here[0]), max(high, here[1])
    return low, high


def _at(sample: Sample, draws: int) -> tuple[float, float]:
    """Return the ends for m ≤ 2n draws from the unbiased estimator for this number."""
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

    For Poisson counts ``E w(N_x) = 1 − e^(−m·p_x)``, so ``Σ_x Var w(N_x) = E Σ_j φ_j·w(j)² − 2·S_m + S_2m``, and each
    term has an unbiased estimate that includes unseen labels. The last term is due to the fixed n:
    ``m·(S_m − S_{m−1})`` is the expected number of labels that m draws show once. ``S_2m`` is rarefied or, beyond n,
    extrapolated by the series of Good and Toulmin.
    """
    n = profile.n
    linear = Rarefaction(draws).statistic(n)
    weights, expected = linear.weights(profile.counts), linear.of(profile)
    twice = Rarefaction(2 * draws) if 2 * draws <= n else GoodToulmin(2 * draws)
    doubled = twice.statistic(n).of(profile)
    once = draws * (expected - Rarefaction(draws - 1).statistic(n).of(profile)) if draws > 1 else 1.0
    return max(float(profile.prevalences @ weights**2) - 2 * expected + doubled - once**2 / n, 0.0)


@dataclass(frozen=True)
class _Straight:
    """``S_2n + a·(S_2n − S_obs)``, ``a = (m − 2n)/n``: as if new labels came as fast as from n to 2n, for m ≥ 2n."""

    draws: int
    name: ClassVar[str] = "straight"
    assumes: ClassVar[str] = "items drawn independently"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item; a run of a release may have fewer than m/2 items."""
        twice, further = GoodToulmin(2 * profile.n), max((self.draws - 2 * profile.n) / profile.n, 0.0)
        value, at_twice = twice.value(profile), twice.statistic(profile.n).weights
        return Point(
            value + further * (value - profile.num_labels),
            lambda counts: (1 + further) * at_twice(counts) - further * (counts > 0),
        )


_ESTIMATORS = (Rarefaction, Mixture, GoodToulmin, SmoothedPoisson, SmoothedBinomialA, SmoothedBinomialB)
# They are linear in the prevalences, so they can be made private on their own.
LinearCoverageMethod = Literal[
    "rarefaction", "good-toulmin", "smoothed-poisson", "smoothed-binomial-a", "smoothed-binomial-b"
]
LINEAR_COVERAGE_METHODS: tuple[str, ...] = get_args(LinearCoverageMethod)
SupportCoverageMethod = Literal[
    "rarefaction", "mixture", "good-toulmin", "smoothed-poisson", "smoothed-binomial-a", "smoothed-binomial-b"
]
SUPPORT_COVERAGE_METHODS: tuple[str, ...] = get_args(SupportCoverageMethod)
# Twice the largest number of items: the limit of the series of Good and Toulmin.
MAX_DRAWS = 2**64


def support_coverage(
    data: Profile | Resimulated, *, draws: int, method: SupportCoverageMethod | None = None, level: float = 0.95
) -> Estimate:
    """Estimate the expected number of distinct labels in m draws, ``S_m = Σ_x (1 − (1 − p_x)^m)``.

    The default and the ends of its interval never fall as draws grow, and from n draws on it is at least the number of
    labels seen. The interval is the same for all methods, except that it is widened to contain the value. Up to 2n
    draws it is that of an unbiased estimator, widened for labels that may have been missed; beyond, it follows from the
    one at 2n and from the concavity of S_m in m.

    Source: Hurlbert 1971; Good and Toulmin 1956; Efron and Thisted 1976; Orlitsky and others 2016; Mao and others 2005.

    Parameters
    ----------
    data
        A profile or a release. For a release, the interval also covers privacy noise.
    draws
        m, from 1 to 2^64. Beyond about n·(1 + ln n) no estimate is reliable.
    method
        ``"rarefaction"``, ``"mixture"``, ``"good-toulmin"``, ``"smoothed-poisson"``, ``"smoothed-binomial-a"`` or
        ``"smoothed-binomial-b"``. Up to n draws all methods are rarefaction, and beyond, the default is the mixture.
        The others are published series, whose values may fall as draws grow: a warning then says so.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If there is no such method, a number is out of range, or rarefaction is requested for more draws than items.

    Examples
    --------
    >>> profile = Profile.from_prevalences({1: 60, 2: 20, 5: 10})
    >>> print(support_coverage(profile, draws=50))
    39.8683 labels (95% interval 37.151 to 43.2254)
    >>> print(support_coverage(profile, draws=300))
    141.681 labels (95% interval 117.339 to 166.502)
    """
    chosen = support_coverage_estimator(method, draws=draws, n=profile_of(data).n)
    return apply(data, chosen, SupportCoverageInterval(draws), level=level, unit="labels")


def support_coverage_estimator(method: str | None, *, draws: int, n: int) -> Estimator:
    """Return the estimator with this name; by default, the one with the lowest error for n items and m draws."""
    count = parse_whole_number(draws, name="draws", most=MAX_DRAWS)
    name = method or (Rarefaction.name if count <= n else Mixture.name)
    check_method(name, SUPPORT_COVERAGE_METHODS, of="support coverage")
    if name == Rarefaction.name and n and count > n:
        raise UsageError("Rarefaction takes at most as many draws as there are items: leave the method out.")
    return next(estimator for estimator in _ESTIMATORS if estimator.name == name)(count)


RarefactionMethod = Literal["mixture", "inext"]
RAREFACTION_METHODS: tuple[str, ...] = get_args(RarefactionMethod)
_FAR = 2
_FORECAST = (
    "Beyond n, the band does not cover labels far rarer than those seen once: use the interval of an estimate for one "
    "number of draws."
)
_TOO_LOW = "Beyond n, the curve is too low if some labels not seen are rarer than those seen once."
_TOO_SHORT = "The band is about a tenth too narrow: use the interval of an estimate for one number of draws."


def rarefaction_curve(
    data: Profile | Resimulated,
    *,
    draws: int | None = None,
    points: int = 40,
    method: RarefactionMethod = "mixture",
    level: float = 0.95,
    bootstraps: int = 50,
    rng: np.random.Generator | None = None,
) -> Curve:
    """Estimate the expected number of distinct labels in m draws, for m from 1 to twice the items.

    Up to n draws it is rarefaction, at n the number of labels seen; beyond, it is that of
    :func:`~anonhist.properties.support_coverage`: neither falls as draws grow. Points are evenly
    spread, half of them up to n, as in iNEXT; n is one of them. Each end of the band is the largest one so far.

    Source: Hurlbert 1971.

    Parameters
    ----------
    data
        A profile or a release. For a release, the band also covers privacy noise, or there is no band, and
        :attr:`Curve.why_unknown` says why.
    draws
        The largest m, from 1 to 2⁶⁴; 2n by default.
    points
        The largest number of points, ≥ 4.
    method
        Beyond n: ``"mixture"``, or ``"inext"`` to compare with iNEXT, a lower bound that is lower the farther it goes:
        ``S_obs + f_0·(1 − (1 − φ_1/(n·f_0 + φ_1))^{m−n})`` (Colwell and others 2012, eq. 9; generalized
        to Hill numbers in (Chao and others 2014)). f_0 is Chao's lower bound on the number of unseen labels,
        ``(n−1)/n·φ_1²/(2φ_2)``, or ``(n−1)/n·φ_1·(φ_1−1)/2`` if ``φ_2 = 0``.
    level
        Probability with which the interval at each m is meant to contain the truth.
    bootstraps
        Number of bootstrap samples for the band, ≥ 3.
    rng
        Random generator for the samples; a new one by default.

    Returns
    -------
    Curve
        Its points are ``"interpolated"``, ``"observed"`` (m = n) or ``"extrapolated"``.

    Raises
    ------
    UsageError
        If there is no such method, or a number is out of range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_prevalences({1: 12, 2: 4, 6: 3})
    >>> curve = rarefaction_curve(profile, points=6, rng=np.random.default_rng(1))
    >>> for draws, labels, low, high, kind in curve.rows():
    ...     print(f"{draws:g} {labels:.2f} {kind}")
    1 1.00 interpolated
    37 18.68 interpolated
    38 19.00 observed
    39 19.31 extrapolated
    57 24.17 extrapolated
    76 28.32 extrapolated
    """
    check_method(method, RAREFACTION_METHODS, of="rarefaction curves")
    profile = profile_of(data)
    n = profile.n
    most = max(2 * n, 1) if draws is None else parse_whole_number(draws, name="draws", most=MAX_DRAWS)
    marks = _marks(n, most, parse_whole_number(points, name="points", least=4))
    x = np.array(marks, dtype=np.float64)
    kinds = tuple("observed" if mark == n else "interpolated" if mark < n else "extrapolated" for mark in marks)
    beyond = _TOO_LOW if method == "inext" else _FORECAST
    curve = estimated_curve(
        data,
        lambda profile: _expected_labels(profile, marks, method),
        Axes("draws", "labels", x, kinds, least=0.0, most=x),
        method="rarefaction and extrapolation",
        assumes="items drawn independently; beyond n, labels not seen about as frequent as those seen once",
        level=level,
        bootstraps=bootstraps,
        rng=rng,
        warnings=_doubts(profile, most, method) if n else (),
        bias=beyond if most > n else _TOO_SHORT,
    )
    # More draws show no fewer labels, however uncertain a noisy series is about them.
    return replace(curve, low=np.maximum.accumulate(curve.low), high=np.maximum.accumulate(curve.high))


def _doubts(profile: Profile, most: int, method: RarefactionMethod) -> tuple[str, ...]:
    """Return warnings about the farthest point."""
    if method == "inext":
        return ("Beyond 2n draws, the curve is too low.",) if most > _FAR * profile.n else ()
    return visible_doubts(profile, most) if most > profile.n else ()


def _expected_labels(profile: Profile, marks: list[int], method: RarefactionMethod) -> Floats:
    """Return the expected number of labels in each number of draws; 0 for an empty profile."""
    if not profile.n:
        return np.zeros(len(marks))
    rarefied = [Rarefaction(mark).statistic(profile.n).of(profile) for mark in marks if mark <= profile.n]
    further = [mark for mark in marks if mark > profile.n]
    if method == "inext" or not further:
        more = np.array([mark - profile.n for mark in further], dtype=np.float64)
        return np.append(rarefied, _extrapolate(profile, more))
    mixture = PoissonMixture.of(profile)
    new = [mixture.new_labels(reach(n=profile.n, draws=mark)) for mark in further]
    return np.append(rarefied, profile.num_labels + np.array(new))


def _extrapolate(profile: Profile, more: Floats) -> Floats:
    """Return the expected number of labels after ``more`` draws beyond n (Colwell and others 2012, eq. 9)."""
    once, unseen = float(profile.prevalence(1)), chao_unseen(profile)
    # The probability that a draw is one particular unseen label.
    chance = once / (profile.n * unseen + once) if unseen else 0.0
    return np.asarray(profile.num_labels - unseen * np.expm1(more * np.log1p(-chance)))


def _marks(n: int, most: int, points: int) -> list[int]:
    """Return numbers of draws as iNEXT spreads them: evenly up to ``most``, or half of them up to n, including n."""
    if most <= n or n < 2:
        return _evenly(1, most, points)
    return [*_evenly(1, n - 1, points // 2 - 1), n, *_evenly(n + 1, most, points // 2)]


def _evenly(first: int, last: int, points: int) -> list[int]:
    """Return whole numbers, rounded down, both ends included; in integers, since floats are not exact beyond 2^53."""
    return sorted({first + (last - first) * step // max(points - 1, 1) for step in range(points)})
