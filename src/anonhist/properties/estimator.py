"""Protocols: estimators, and what they need of data or of a release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from anonhist.errors import UsageError, kind_of
from anonhist.profiles import Profile
from anonhist.properties.sampling import sampling_error
from anonhist.properties.statement import Holds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from anonhist.privacy import Guarantee
    from anonhist.properties.estimate import Estimate

# A function of counts j ≥ 0 (int64, any shape): what a label with that count adds, to first order and with n fixed.
Weights = Callable[["NDArray[np.int64]"], "NDArray[np.float64]"]


@dataclass(frozen=True)
class Point:
    """The result of an estimator for one profile.

    Attributes
    ----------
    value
        The estimated value.
    weights
        The derivatives ``w(j) = ∂value/∂φ_j``, n held fixed, as a function of counts j ≥ 0. For a linear estimator
        ``Σ_j w(j)·φ_j`` they are its weights; ``w(0)``, the weight of an unseen label, is 0 unless the alphabet is
        known. They give the standard error: see :func:`~anonhist.properties.sampling.sampling_error`.
    standard_error
        The standard error, if the literature has a formula for this estimator.
    warnings
        Sentences about assumptions that visibly fail.
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
    """What an estimator needs of a release: a public profile, and the errors of its mechanism on it."""

    @property
    def profile(self) -> Profile:
        """The released profile."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee."""

    @property
    def mostly_noise(self) -> bool:
        """Whether the data may be far smaller than the release."""

    def resimulate(self) -> Sequence[Profile]:
        """Return runs of the same mechanism on the released profile."""

    def prevalence(self, count: int) -> Estimate:
        """Return how many labels of the data have exactly this count, with an interval."""

    def k_plus(self, k: int) -> Estimate:
        """Return how many labels of the data have at least this count, with an interval."""


def profile_of(data: Profile | Resimulated) -> Profile:
    """Return a profile, or that of a release.

    Raises
    ------
    UsageError
        If ``data`` is neither.
    """
    if isinstance(data, Profile):
        return data
    if isinstance(data, Resimulated):
        return data.profile
    message = f"A Profile or a Release is needed, such as read_profile(data) returns, not {kind_of(data)}."
    raise UsageError(message)


def why_unknown(release: Resimulated) -> str:
    """Return why a release has no interval, not even for its number of labels; empty if it has one.

    Without one, the errors of its runs are unreliable, and so are intervals computed from them.
    """
    said = release.k_plus(1).statement
    return said.reason if said.holds is Holds.NONE else ""


def value_of(estimator: Estimator, profile: Profile) -> float:
    """Return the value alone; 0 for an empty profile."""
    if not profile.n:
        return 0.0
    return estimator.value(profile) if isinstance(estimator, Quick) else estimator.point(profile).value


def error_of(point: Point, profile: Profile) -> float:
    """Return the sampling error: from the formula of the estimator, or from its weights.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> error_of(Point(1.0, standard_error=0.5), Profile([1], [1]))
    0.5
    """
    if point.standard_error is not None:
        return point.standard_error
    return 0.0 if point.weights is None else sampling_error(profile, point.weights)
