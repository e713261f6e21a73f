"""Protocols: estimators, and what they need of data or of a release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from anonhist.properties.sampling import sampling_error
from anonhist.properties.statement import Holds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from anonhist.privacy import Guarantee
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate

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
    """What an estimator needs of a release: a public profile, and the errors of its mechanism on it."""

    @property
    def profile(self) -> Profile:
        """The released profile."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee."""

    @property
    def mostly_noise(self) -> bool:
        """Whether the data may be far smaller than what was released."""

    def resimulate(self) -> Sequence[Profile]:
        """Return runs of the same mechanism on the released profile."""

    def prevalence(self, count: int) -> Estimate:
        """Return how many labels of the data have exactly this count, with an interval."""

    def k_plus(self, k: int) -> Estimate:
        """Return how many labels of the data have at least this count, with an interval."""


def why_unknown(release: Resimulated) -> str:
    """Return why a release gives no interval, not even for its number of labels; empty if it gives one.

    Then the errors of its runs are unreliable, and no property has an interval that rests on them.
    """
    said = release.k_plus(1).statement
    return said.reason if said.holds is Holds.NONE else ""


def value_of(estimator: Estimator, profile: Profile) -> float:
    """Return the number alone; 0 for an empty profile."""
    if not profile.n:
        return 0.0
    return estimator.value(profile) if isinstance(estimator, Quick) else estimator.point(profile).value


def error_of(point: Point, profile: Profile) -> float:
    """Return the standard error of sampling: from a formula of its own, or from the weights.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> error_of(Point(1.0, standard_error=0.5), Profile([1], [1]))
    0.5
    """
    if point.standard_error is not None:
        return point.standard_error
    return 0.0 if point.weights is None else sampling_error(profile, point.weights)
