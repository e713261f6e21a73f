"""What an estimator is, and how its number becomes an estimate with an interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate
from anonhist.properties.intervals import check_level
from anonhist.properties.sampling import sampling_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from anonhist.privacy import Guarantee
    from anonhist.properties.intervals import Interval

# Of counts j ≥ 0 (int64, any shape): how much a label with that count adds, to first order and with n fixed.
Weights = Callable[["NDArray[np.int64]"], "NDArray[np.float64]"]


@dataclass(frozen=True)
class Point:
    """What an estimator makes of a profile.

    Attributes
    ----------
    value
        The number itself.
    weights
        The derivatives ``w(j) = ∂value/∂φ_j``, n held fixed, as a function of counts j ≥ 0. For a linear estimator
        ``Σ_j w(j)·φ_j`` they are its weights; ``w(0)`` is that of a label not seen, 0 unless the alphabet is known.
        The standard error follows from them: see :func:`~anonhist.properties.sampling.sampling_error`.
    standard_error
        The standard error, where the literature has a formula of its own for this estimator.
    warnings
        Sentences about assumptions that visibly fail.
    """

    value: float
    weights: Weights | None = None
    standard_error: float | None = None
    warnings: tuple[str, ...] = ()


class Estimator(Protocol):
    """One way to estimate one property: a frozen value that holds its public parameters."""

    name: ClassVar[str]
    assumes: ClassVar[str]

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""


@runtime_checkable
class Quick(Protocol):
    """An estimator whose number alone costs far less than its standard error."""

    def value(self, profile: Profile) -> float:
        """Estimate the number alone from a profile with at least one item."""


@runtime_checkable
class Resimulated(Protocol):
    """What an estimator needs to know of a release: a public profile, and how its mechanism errs on it."""

    @property
    def profile(self) -> Profile:
        """The released profile."""

    @property
    def guarantee(self) -> Guarantee:
        """What was promised."""

    @property
    def mostly_noise(self) -> bool:
        """Whether the data may be far smaller than what was released."""

    def resimulate(self) -> Sequence[Profile]:
        """Return runs of the same mechanism on the released profile."""


def estimated(
    data: Profile | Resimulated,
    estimator: Estimator,
    interval: Interval,
    *,
    level: float = 0.95,
    unit: str = "",
    scale: float = 1.0,
) -> Estimate:
    """Apply an estimator to a profile, or to a release: free post-processing there.

    The standard error is that of sampling: how far the estimate falls from its mean when n items are drawn again. For a
    release it is joined in squares by that of the privacy noise, ``sqrt(mean_b (f(R*_b) − f(R))²)`` with R the released
    profile and R*_b runs of its mechanism on R, bias of the mechanism included.

    Parameters
    ----------
    data
        A profile, which is exact and private, or a release.
    estimator
        What to estimate, and how.
    interval
        How value and standard error become an interval.
    level
        Probability with which the interval is meant to hold the truth, in (0, 1).
    unit
        What is counted.
    scale
        What value and error are multiplied by, to turn nats into other units.

    Raises
    ------
    UsageError
        If ``data`` is neither, or ``level`` is not a probability.
    """
    check_level(level)
    if isinstance(data, Profile):
        return _of_profile(data, estimator, interval, level=level, unit=unit, scale=scale)
    if not isinstance(data, Resimulated):
        message = f"A Profile or a Release is needed, such as Profile.from_counts([3, 1]), not a {type(data).__name__}."
        raise UsageError(message)
    profile, simulated = data.profile, data.resimulate()  # what is not simulated again is refused before any work
    own = _of_profile(profile, estimator, interval, level=level, unit=unit, scale=scale)
    values = [scale * value_of(estimator, run) for run in simulated]
    noise = math.sqrt(math.fsum((value - own.value) ** 2 for value in values) / len(values))
    error = math.hypot(own.standard_error, noise)
    warnings = own.warnings
    if data.mostly_noise:
        warnings = (*warnings, "The release is mostly noise: the data may be far smaller, and this number far off.")
    return Estimate(
        own.value,
        error,
        interval.of(profile, own.value, error, level=level, scale=scale),
        f"{own.method}, from a release",
        assumes=own.assumes,
        level=level,
        parts=(("sampling", own.standard_error), ("privacy noise", noise)),
        warnings=warnings,
        unit=unit,
        guarantee=data.guarantee,
    )


def value_of(estimator: Estimator, profile: Profile) -> float:
    """Return the number alone; 0 for an empty profile, of which nothing is known."""
    if not profile.n:
        return 0.0
    return estimator.value(profile) if isinstance(estimator, Quick) else estimator.point(profile).value


def _of_profile(
    profile: Profile, estimator: Estimator, interval: Interval, *, level: float, unit: str, scale: float
) -> Estimate:
    if not profile.n:
        low, high = interval.of_nothing(scale=scale)
        return Estimate(
            0.0,
            0.0,
            (min(low, 0.0), high),
            estimator.name,
            assumes=estimator.assumes,
            level=level,
            warnings=("The profile is empty: it says nothing, so the interval is all there can be.",),
            unit=unit,
        )
    point = estimator.point(profile)
    error = point.standard_error
    if error is None:
        error = 0.0 if point.weights is None else sampling_error(profile, point.weights)
    value, error = scale * point.value, scale * error
    return Estimate(
        value,
        error,
        interval.of(profile, value, error, level=level, scale=scale),
        estimator.name,
        assumes=estimator.assumes,
        level=level,
        warnings=point.warnings,
        unit=unit,
    )
