"""Estimators, and how they become estimates with intervals, which bounds on units may limit."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from anonhist.errors import UsageError, kind_of
from anonhist.numeric.arrays import Floats, Ints
from anonhist.numeric.pulse import pulsing
from anonhist.privacy import Guarantee, PrivacyUnit, parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.estimate import (
    LABELS_APART,
    NONE_OF_NOTHING,
    Bounds,
    Estimate,
    Holds,
    Statement,
    check_level,
    quantile,
    undersampling_warning,
    widening_factor,
)
from anonhist.properties.sampling import Weights, sampling_error


@dataclass(frozen=True)
class Point:
    """The result of an estimator for one profile.

    ``weights`` are the derivatives ``w(j) = ∂value/∂φ_j``, n held fixed, as a function of counts j ≥ 0. For a linear
    estimator ``Σ_j w(j)·φ_j`` they are its weights; ``w(0)``, the weight of an unseen label, is 0 unless the alphabet
    is known. They give the standard error, by :func:`~anonhist.properties.sampling.sampling_error`, unless
    ``standard_error`` is set.
    """

    value: float
    weights: Weights | None = None
    standard_error: float | None = None
    warnings: tuple[str, ...] = ()


def multiplied(weights: Weights, factor: float) -> Weights:
    """Return weights, each multiplied by a factor."""
    return lambda counts: factor * weights(counts)


class Estimator(Protocol):
    """A method to estimate a property: a frozen value that holds its public parameters."""

    @property
    def name(self) -> str:
        """Its name, as in ``method="plug-in"``."""

    @property
    def assumes(self) -> str:
        """What it assumes, in a clause."""

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""


@runtime_checkable
class Quick(Protocol):
    """An estimator whose value alone is much cheaper than its standard error."""

    def value(self, profile: Profile) -> float:
        """Estimate the value alone from a profile with at least one item."""


@runtime_checkable
class Resimulated(Protocol):
    """The parts of a release that an estimator needs: a public profile, and its mechanism's errors on it."""

    @property
    def profile(self) -> Profile:
        """The released profile."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee."""

    @property
    def where(self) -> str | None:
        """The condition on which rows counted; None if all did."""

    @property
    def bounded_unit(self) -> PrivacyUnit:
        """The unit as it was bounded for this release."""

    @property
    def adds_groups(self) -> bool:
        """Whether it adds up releases of groups, so that a label of several of them counts in each."""

    @property
    def mostly_noise(self) -> bool:
        """Whether the data may be far smaller than the release."""

    def resimulate(self) -> Sequence[Profile]:
        """Return runs of the same mechanism on the released profile."""

    def prevalence(self, count: int) -> Estimate:
        """Return how many labels of the data have exactly this count, with an interval."""

    def k_plus(self, k: int) -> Estimate:
        """Return how many labels of the data have at least this count, with an interval."""

    def k_plus_ends(self, k: Ints) -> tuple[Floats, Floats]:
        """Return the ends of 95% intervals for these φ_{k+}, k ≥ 1; 0 and infinity if nothing is known."""

    def covered_share(self, labels: Ints) -> tuple[Floats, Floats]:
        """Return the ends of 95% intervals of the share of the data that so many most frequent labels cover."""

    def least_repeated(self) -> Profile | None:
        """Return the profile that repeats labels least, among those that the release allows; None if unknown."""


def profile_of(data: Profile | Resimulated) -> Profile:
    """Return a profile, or a release's profile; refuse everything else."""
    if isinstance(data, Profile):
        return data
    if isinstance(data, Resimulated):
        return data.profile
    raise UsageError(f"A Profile or a Release is needed, such as read_profile(data) returns, not {kind_of(data)}.")


def why_unknown(release: Resimulated) -> str:
    """Return why a release has no interval, not even for its number of labels; empty if it has one.

    Without an interval, the errors of its runs are unreliable, and so are intervals computed from them.
    """
    said = release.k_plus(1).statement
    return said.reason if said.holds is Holds.NONE else ""


def value_of(estimator: Estimator, profile: Profile) -> float:
    """Return the value alone; 0 for an empty profile."""
    if not profile.n:
        return 0.0
    return estimator.value(profile) if isinstance(estimator, Quick) else estimator.point(profile).value


def error_of(point: Point, profile: Profile) -> float:
    """Return the sampling error: from the formula of the estimator, or from its weights."""
    if point.standard_error is not None:
        return point.standard_error
    return 0.0 if point.weights is None else sampling_error(profile, point.weights)


def check_method(method: object, methods: Collection[str], *, of: str) -> None:
    """Refuse an unknown method name."""
    if method not in methods:
        raise UsageError(f"There is no method {method!r:.80} for {of}; choose one of {', '.join(methods)}.")


def check_unit(unit: object, units: Collection[str]) -> None:
    """Refuse an unknown unit."""
    if unit not in units:
        raise UsageError(f"`unit` must be one of {', '.join(units)}, not {unit!r:.80}.")


def check_alphabet(data: Profile | Resimulated, alphabet_size: int | None) -> int | None:
    """Return k; refuse everything except a whole number ≥ 1, and a k below the number of labels of a profile.

    By chance, a release may have more labels than there are, so its number of labels is not checked.
    """
    if alphabet_size is None:
        return None
    size = parse_whole_number(alphabet_size, name="alphabet_size")
    if isinstance(data, Profile) and size < data.num_labels:
        raise UsageError(
            "`alphabet_size` is below the number of labels in the data: give a larger one, or leave it out."
        )
    return size


@dataclass(frozen=True)
class LinearStatistic:
    """``f = Σ_{j≥0} w(j)·φ_j`` with weights w that depend on public numbers alone; ``φ_0 = k − S_obs``.

    From the count ``head`` on, the steps ``d(j) = w(j+1) − w(j)`` are monotone in j; equal steps are allowed. Smaller
    counts are examined one by one, so it is at most a few thousand. ``kinks`` are counts beyond the head at which w has
    a kink. ``alphabet_size`` is k, if ``w(0)`` is not 0. A profile with more than k labels makes ``φ_0`` negative,
    which keeps f linear for all data.
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


@dataclass(frozen=True)
class Sample:
    """A profile of n ≥ 1 items, or the profile of a release together with ``runs`` of its mechanism on that profile."""

    profile: Profile
    level: float = 0.95
    release: Resimulated | None = None
    runs: tuple[Profile, ...] = ()

    @property
    def z(self) -> float:
        """The normal quantile of the level, for two sides."""
        return quantile(self.level)

    @property
    def labels(self) -> tuple[float, float]:
        """Bounds on the number of labels in the data: the exact number, or the interval of the release."""
        return self._ends(self.profile.num_labels, lambda release: release.k_plus(1))

    @property
    def singletons(self) -> tuple[float, float]:
        """Bounds on the number of labels that occur once."""
        return self._ends(self.profile.prevalence(1), lambda release: release.prevalence(1))

    def _ends(self, counted: int, released: Callable[[Resimulated], Estimate]) -> tuple[float, float]:
        if self.release is None:
            return float(counted), float(counted)
        found = released(self.release)
        # The interval of a release is for its own level; a higher level needs a wider one.
        wider = max(self.z / quantile(found.level), 1.0)
        low, high = found.interval
        return max(found.value - wider * (found.value - low), 0.0), found.value + wider * (high - found.value)

    def of(self, estimator: Estimator) -> tuple[float, float]:
        """Return the value of an estimator and the error from which intervals are computed."""
        point = estimator.point(self.profile)
        return point.value, self.error(error_of(point, self.profile), self.noise(estimator, point.value))

    def noise(self, estimator: Estimator, value: float) -> float:
        """Return ``sqrt(mean_b (f(R*_b) − f(R))²)`` over the runs R*_b on the release R; 0 without runs."""
        if not self.runs:
            return 0.0
        far = math.fsum((value_of(estimator, run) - value) ** 2 for run in pulsing(self.runs))
        return math.sqrt(far / len(self.runs))

    def error(self, own: float, noise: float) -> float:
        """Return the error of an interval: sampling error and noise, widened for the number of runs."""
        return math.hypot(own, widening_factor(len(self.runs)) * noise) if self.runs else own


def truncation_reason(unit: PrivacyUnit) -> Statement | None:
    """Return why estimates that depend on large counts have no interval in a release for this unit; None if they have.

    Label privacy caps counts, and node privacy removes edges until no node has too many. Both affect the most frequent
    labels most, so entropies are too large and the shares of frequent labels too small. By how much is unknown, so no
    interval covers it.
    """
    if unit.needs_bounded_degrees:
        return Statement(
            Holds.NONE, "edges of nodes with too many were left out, so the value is that of the remaining graph"
        )
    if unit.max_count is not None:
        return Statement(
            Holds.NONE, f"counts of {unit.max_count:,} or more were merged, so the value is that of capped counts"
        )
    return None


def assumption(release: Resimulated) -> str:
    """Return what every estimate from a release assumes about its bound, and about groups; empty if nothing."""
    most = release.guarantee.unit.max_items
    said = "" if most is None else f"the items of a user beyond {most:,}, which were left out, are like the others"
    return "; ".join(filter(None, (said, LABELS_APART if release.adds_groups else "")))


DROWNED = "The release is mostly noise: the data may be much smaller, and this number very wrong."
NOT_SIMULATED = Statement(
    Holds.NONE, "the error due to privacy noise was not simulated (0 simulations); the error shown is that of sampling"
)


def apply(
    data: Profile | Resimulated,
    estimator: Estimator,
    interval: Interval,
    *,
    level: float = 0.95,
    unit: str = "",
    scale: float = 1.0,
    needs_counts: bool = True,
) -> Estimate:
    """Apply an estimator to a profile or to a release; for a release it is post-processing.

    The standard error is that of sampling: the spread of the estimate when n items are drawn again. For a release, it
    is the root of the sum of squares of that and of the error due to privacy noise, ``sqrt(mean_b (f(R*_b) − f(R))²)``,
    with R the released profile and R*_b runs of its mechanism on R. The latter includes the bias of the mechanism.
    ``scale`` > 0 turns value, error and ends into another unit. With ``needs_counts`` the interval depends on the sizes
    of counts, so there is none if large counts were capped before the release: see :func:`truncation_reason`.
    """
    check_level(level)
    profile = profile_of(data)
    release = None if isinstance(data, Profile) else data
    # A small file may describe a profile too large to simulate: it is refused before any work.
    sample = Sample(profile, level, release, () if release is None else tuple(release.resimulate()))
    found = _of_sample(sample, estimator, interval, unit=unit, needs_counts=needs_counts)
    return found if scale == 1.0 else scaled(found, scale)


def _of_sample(sample: Sample, estimator: Estimator, interval: Interval, *, unit: str, needs_counts: bool) -> Estimate:
    profile, release = sample.profile, sample.release
    method, assumes = estimator.name, estimator.assumes
    point = estimator.point(profile) if profile.n else Point(0.0)
    value, own, warnings = point.value, error_of(point, profile), point.warnings
    unknown = _unknown(sample)
    is_known = unknown is None
    noise = sample.noise(estimator, value) if is_known else 0.0
    error = math.hypot(own, noise)
    cut = truncation_reason(release.guarantee.unit) if release is not None and needs_counts else None
    if profile.n and is_known and cut is None:
        bounds = interval.of(sample, value, sample.error(own, noise))
        ends, statement = (bounds.low, bounds.high), bounds.statement
    else:
        low, high = interval.of_nothing()
        ends = min(low, value), max(high, value)
        statement = cut or (NONE_OF_NOTHING if unknown is None else unknown)
    parts: tuple[tuple[str, float], ...] = ()
    if release is not None:
        method = f"{method}, from a release"
        assumes = "; ".join(filter(None, (assumes, assumption(release))))
        parts = (("sampling", own), ("privacy noise", noise)) if is_known else (("sampling", own),)
        warnings = (*warnings, DROWNED) if release.mostly_noise else warnings
    return Estimate(
        value,
        error,
        ends,
        method,
        assumes=assumes,
        level=sample.level,
        parts=parts,
        warnings=warnings,
        unit=unit,
        guarantee=None if release is None else release.guarantee,
        statement=statement,
        where=profile.where if release is None else release.where,
        bounded_unit=None if release is None else release.bounded_unit,
    )


def _unknown(sample: Sample) -> Statement | None:
    """Return why the error due to privacy noise is unknown; None if it is known or there is no noise."""
    if sample.release is None:
        return None
    if not sample.runs:
        return NOT_SIMULATED
    reason = why_unknown(sample.release)
    return Statement(Holds.NONE, f"{reason}; the error shown is that of sampling") if reason else None


def scaled(found: Estimate, scale: float) -> Estimate:
    """Return an estimate in another unit: value, error and ends multiplied by a number > 0."""
    low, high = found.interval
    return replace(
        found,
        value=scale * found.value,
        standard_error=scale * found.standard_error,
        interval=(scale * low, scale * high),
        parts=tuple((cause, scale * error) for cause, error in found.parts),
    )


class Interval(Protocol):
    """A way to compute intervals for one property."""

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the interval for a value with a standard error, from a sample with at least one item."""

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""


@dataclass(frozen=True)
class NormalInterval:
    """``value ± z·error``, clipped to the range of the property: for estimators with negligible bias."""

    least: float = -math.inf
    most: float = math.inf

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        half = sample.z * error
        return Bounds(max(value - half, self.least), min(value + half, self.most)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""
        return self.least, self.most


@dataclass(frozen=True)
class LowerEnd:
    """The lower end of the normal interval of an estimator that is too low on average, for every distribution.

    It is the same for all methods, because they estimate the same truth; ``reason`` says why there is no upper end.
    """

    estimator: Estimator
    reason: str
    range: NormalInterval = NormalInterval(0.0)

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the lower end, and the largest value of the property as the upper one."""
        low = self.range.of(sample, *sample.of(self.estimator)).low
        return Bounds(low, max(self.range.most, low), Statement(Holds.AT_LEAST, self.reason)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""
        return self.range.of_nothing()
