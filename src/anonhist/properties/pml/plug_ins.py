"""Properties of the approximate profile maximum likelihood distribution, as estimates of those of the unknown one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point
from anonhist.properties.pml.approximate import approximate_pml
from anonhist.properties.pml.bootstrap import bootstrap_error
from anonhist.properties.pml.distribution import property_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.pml.distribution import PmlDistribution

_ASSUMES = "labels of similar counts are equally frequent; labels not seen are as frequent as the rarest seen"


@dataclass(frozen=True)
class PmlEntropy:
    """``H = −Σ_x p_x·ln p_x`` of the approximate PML distribution p, in nats (Pavlichin, Jiao and Weissman 2017).

    Of one label it is 0. Of n ≥ 2 singletons, and of any continuous part of p, it is that of s(s + 1)/2 labels in place
    of the s singletons, with a warning; ``ln k`` of singletons in a known alphabet.

    Attributes
    ----------
    alphabet_size
        k, how many labels there are, if known.

    References
    ----------
    .. [1] D. S. Pavlichin, J. Jiao, T. Weissman, "Approximate profile maximum likelihood", arXiv:1712.07177 (2017).

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(PmlEntropy().point(Profile.from_counts([10, 5, 2, 1, 1, 1])).value, 12)
    1.55958115626
    """

    alphabet_size: int | None = None
    name: ClassVar[str] = "pml"
    assumes: ClassVar[str] = _ASSUMES

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        return plug_in(profile, _entropy, alphabet_size=self.alphabet_size)

    def value(self, profile: Profile) -> float:
        """Return the number alone, in a twentieth of the time."""
        return _entropy(approximate_pml(profile, alphabet_size=self.alphabet_size))


@dataclass(frozen=True)
class PmlSupportSize:
    """Number of labels of the approximate PML distribution, those not seen included.

    Of one label it is 1. Of n ≥ 2 singletons, and of any continuous part with s items, where the likelihood would have
    infinitely many labels, s(s + 1)/2 as in Chao1, with a warning. In a known alphabet it is k, or S_obs where it is
    likelier that the labels not seen have probability 0.

    Attributes
    ----------
    alphabet_size
        k, how many labels there are, if known.

    References
    ----------
    .. [1] D. S. Pavlichin, J. Jiao, T. Weissman, "Approximate profile maximum likelihood", arXiv:1712.07177 (2017).

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> PmlSupportSize().point(Profile.from_counts([10, 5, 2, 1, 1, 1])).value
    10.0
    """

    alphabet_size: int | None = None
    name: ClassVar[str] = "pml"
    assumes: ClassVar[str] = f"{_ASSUMES}; otherwise the value is too low"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        return plug_in(profile, _support_size, alphabet_size=self.alphabet_size)

    def value(self, profile: Profile) -> float:
        """Return the number alone, in a twentieth of the time."""
        return _support_size(approximate_pml(profile, alphabet_size=self.alphabet_size))


@dataclass(frozen=True)
class PmlDistanceToUniformity:
    """``Σ_x |p_x − 1/k|`` over an alphabet of k labels, p the approximate PML distribution for that alphabet: 0 to 2.

    Of one label with two items or more it is ``2 − 2/k``, of at most k singletons 0. A release may hold more labels
    than k; then those of p count all, and the distance is 2 at most.

    Attributes
    ----------
    alphabet_size
        k, how many labels there are.

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
    name: ClassVar[str] = "pml"
    assumes: ClassVar[str] = _ASSUMES

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        return plug_in(profile, self._of, alphabet_size=self.alphabet_size)

    def value(self, profile: Profile) -> float:
        """Return the number alone, in a twentieth of the time."""
        return self._of(approximate_pml(profile, alphabet_size=self.alphabet_size))

    def _of(self, distribution: PmlDistribution) -> float:
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
        k, how many labels there are, if known.

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


def _entropy(distribution: PmlDistribution) -> float:
    return property_of(distribution, _surprise)


def _surprise(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(-probabilities * np.log(probabilities))


def _support_size(distribution: PmlDistribution) -> float:
    return float(distribution.discrete().num_labels)
