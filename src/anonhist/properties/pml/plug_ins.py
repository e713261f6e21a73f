"""Properties of the approximate profile maximum likelihood distribution, as estimates for the unknown one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point
from anonhist.properties.pml.approximate import approximate_pml
from anonhist.properties.pml.bootstrap import bootstrap_error
from anonhist.properties.pml.distribution import property_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.profiles import Profile
    from anonhist.properties.pml.distribution import PmlDistribution

_ASSUMES = "labels of similar counts are equally frequent; labels not seen are as frequent as the rarest seen"


@dataclass(frozen=True)
class _PmlEstimator(ABC):
    """A property of the approximate PML distribution."""

    alphabet_size: int | None = None
    name: ClassVar[str] = "pml"
    assumes: ClassVar[str] = _ASSUMES

    @abstractmethod
    def of(self, distribution: PmlDistribution) -> float:
        """Return the property of a distribution."""

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        return plug_in(profile, self.of, alphabet_size=self.alphabet_size)

    def value(self, profile: Profile) -> float:
        """Return the value alone, in a twentieth of the time."""
        return self.of(approximate_pml(profile, alphabet_size=self.alphabet_size))


class PmlEntropy(_PmlEstimator):
    """``H = −Σ_x p_x·ln p_x`` of the approximate PML distribution p, in nats (Pavlichin, Jiao and Weissman 2017).

    For one label it is 0. For n ≥ 2 singletons, and any continuous part of p, the s singletons are replaced by
    s(s + 1)/2 labels, with a warning. For singletons with a known alphabet it is ``ln k``.

    Attributes
    ----------
    alphabet_size
        k, the number of labels, if known.

    References
    ----------
    .. [1] D. S. Pavlichin, J. Jiao, T. Weissman, "Approximate profile maximum likelihood", arXiv:1712.07177 (2017).

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(PmlEntropy().point(Profile.from_counts([10, 5, 2, 1, 1, 1])).value, 12)
    1.55958115626
    """

    def of(self, distribution: PmlDistribution) -> float:
        """Return the entropy of a distribution."""
        return property_of(distribution, lambda p: np.asarray(-p * np.log(p)))


class PmlSupportSize(_PmlEstimator):
    """Number of labels of the approximate PML distribution, unseen ones included.

    For one label it is 1. For n ≥ 2 singletons, and any continuous part with s items, the likelihood would have
    infinitely many labels; it is s(s + 1)/2 there, as in Chao1, with a warning. With a known alphabet it is k, or S_obs
    if unseen labels are more likely to have probability 0.

    Attributes
    ----------
    alphabet_size
        k, the number of labels, if known.

    References
    ----------
    .. [1] D. S. Pavlichin, J. Jiao, T. Weissman, "Approximate profile maximum likelihood", arXiv:1712.07177 (2017).

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> PmlSupportSize().point(Profile.from_counts([10, 5, 2, 1, 1, 1])).value
    10.0
    """

    assumes = f"{_ASSUMES}; otherwise the value is too low"

    def of(self, distribution: PmlDistribution) -> float:
        """Return the number of labels of a distribution."""
        return float(distribution.discrete().num_labels)


@dataclass(frozen=True)
class PmlDistanceToUniformity(_PmlEstimator):
    """``Σ_x |p_x − 1/k|`` over an alphabet of k labels, p the approximate PML distribution for that alphabet: 0 to 2.

    For one label with two items or more it is ``2 − 2/k``, for at most k singletons 0. A release may have more than k
    labels; all labels of p count then, and the distance is at most 2.

    Attributes
    ----------
    alphabet_size
        k, the number of labels.

    References
    ----------
    .. [1] D. S. Pavlichin, J. Jiao, T. Weissman, "Approximate profile maximum likelihood", arXiv:1712.07177 (2017).

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> PmlDistanceToUniformity(5).point(Profile.from_counts([2, 1, 1, 1])).value
    0.0
    """

    alphabet_size: int

    def of(self, distribution: PmlDistribution) -> float:
        """Return the distance of a distribution."""
        each = 1.0 / self.alphabet_size
        missing = max(self.alphabet_size - distribution.num_labels, 0) * each
        return min(missing + property_of(distribution, lambda p: np.abs(p - each)), 2.0)


def plug_in(
    profile: Profile, functional: Callable[[PmlDistribution], float], *, alphabet_size: int | None = None
) -> Point:
    """Estimate any property by that of the approximate PML distribution, with the error of a bootstrap from it.

    Parameters
    ----------
    profile
        At least one item.
    functional
        The property; see :func:`~anonhist.properties.pml.distribution.property_of`.
    alphabet_size
        k, the number of labels, if known.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> plug_in(Profile.from_counts([9, 3, 2, 1, 1]), lambda p: float(p.probabilities.max())).value
    0.5625
    """
    distribution = approximate_pml(profile, alphabet_size=alphabet_size)
    error = bootstrap_error(
        distribution, profile.n, lambda run: functional(approximate_pml(run, alphabet_size=alphabet_size))
    )
    return Point(functional(distribution), standard_error=error, warnings=_endless(distribution))


def _endless(distribution: PmlDistribution) -> tuple[str, ...]:
    if not distribution.continuous_seen:
        return ()
    share = f"{100 * distribution.continuous_mass:.2g} %"
    return (
        f"{share} of the items have labels seen once, fitted as infinitely many: their number cannot be estimated.",
    )
