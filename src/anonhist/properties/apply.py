"""From the number of an estimator to an estimate with an interval, which bounds on units may limit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from anonhist.profiles import Profile
from anonhist.properties.estimate import Bounds, Estimate, Holds, Statement, check_level
from anonhist.properties.estimator import Sample, error_of, profile_of, why_unknown

if TYPE_CHECKING:
    from anonhist.privacy import PrivacyUnit
    from anonhist.properties.estimator import Estimator, Resimulated


def truncation_reason(unit: PrivacyUnit) -> Statement | None:
    """Return why estimates that depend on large counts have no interval in a release for this unit; None if they may.

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


def assumption(unit: PrivacyUnit) -> str:
    """Return what every estimate from a release for this unit assumes about its bound; empty if it has none."""
    if unit.max_items is None:
        return ""
    return f"the items of a user beyond {unit.max_items:,}, which were left out, are like the others"


_DROWNED = "The release is mostly noise: the data may be much smaller, and this number very wrong."
NOT_SIMULATED = Statement(
    Holds.NONE, "the error due to privacy noise was not simulated (0 simulations); the error shown is that of sampling"
)
_OF_NOTHING = Statement(Holds.NONE, "nothing can be estimated from an empty profile")


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
    of counts, so there is none where large counts were capped before the release: see :func:`truncation_reason`.
    """
    check_level(level)
    profile = profile_of(data)
    release = None if isinstance(data, Profile) else data
    # A small file may describe a profile too large to simulate: it is refused before any work.
    sample = Sample(profile, level, release, () if release is None else tuple(release.resimulate()))
    found = _of_sample(sample, estimator, interval, unit=unit, needs_counts=needs_counts)
    return found if scale == 1.0 else _scale(found, scale)


def _of_sample(sample: Sample, estimator: Estimator, interval: Interval, *, unit: str, needs_counts: bool) -> Estimate:
    profile, release = sample.profile, sample.release
    method, assumes = estimator.name, estimator.assumes
    warnings: tuple[str, ...] = ()
    if profile.n:
        point = estimator.point(profile)
        value, own, warnings = point.value, error_of(point, profile), point.warnings
    else:
        value, own = 0.0, 0.0
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
        statement = cut or (_OF_NOTHING if unknown is None else unknown)
    parts: tuple[tuple[str, float], ...] = ()
    if release is not None:
        method = f"{method}, from a release"
        assumes = "; ".join(filter(None, (assumes, assumption(release.guarantee.unit))))
        parts = (("sampling", own), ("privacy noise", noise)) if is_known else (("sampling", own),)
        warnings = (*warnings, _DROWNED) if release.mostly_noise else warnings
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
    )


def _unknown(sample: Sample) -> Statement | None:
    """Return why the error due to privacy noise is unknown; None if it is known or there is no noise."""
    if sample.release is None:
        return None
    if not sample.runs:
        return NOT_SIMULATED
    reason = why_unknown(sample.release)
    return Statement(Holds.NONE, f"{reason}; the error shown is that of sampling") if reason else None


def _scale(found: Estimate, scale: float) -> Estimate:
    low, high = found.interval
    return replace(
        found,
        value=scale * found.value,
        standard_error=scale * found.standard_error,
        interval=(scale * low, scale * high),
        parts=tuple((cause, scale * error) for cause, error in found.parts),
    )


class Interval(Protocol):
    """A way to make intervals for one property."""

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

    It is the same for all methods, since they estimate the same truth; ``reason`` says why there is no upper end.
    """

    estimator: Estimator
    reason: str
    range: NormalInterval = NormalInterval(0.0)

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the lower end, and the largest value of the property as the upper one."""
        del error
        low = self.range.of(sample, *sample.of(self.estimator)).low
        return Bounds(low, max(self.range.most, low), Statement(Holds.AT_LEAST, self.reason)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""
        return self.range.of_nothing()
