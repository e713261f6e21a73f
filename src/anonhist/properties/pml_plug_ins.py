"""Properties of the distribution of profile maximum likelihood, as estimates, with bootstrap errors.

Errors of plug-in estimates by profile maximum likelihood, from a bootstrap of the fitted distribution.

These estimates are not smooth in the prevalences, because labels jump between blocks. So their errors do not follow
from derivatives, and samples are drawn instead, block by block rather than label by label.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point
from anonhist.properties.pml import approximate_pml, property_of
from anonhist.properties.sampling import LARGEST, REACH, draw_numbers, merged_profile, poisson_pmf, spread_off_items

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.pml import PmlDistribution

_RUNS = 20
# Not privacy noise: a constant, so that the same data give the same error.
_SEED = 20170714


def bootstrap_error(distribution: PmlDistribution, n: int, value_of: Callable[[Profile], float]) -> float:
    """Return the standard error of ``value_of`` over samples of n items from a distribution.

    20 runs draw the count of each label from its Poisson distribution. To fix n, the values are regressed on the number
    of items drawn: the error is the standard deviation of the residuals (18 degrees of freedom, so its own relative
    error is about a sixth). It is the same every time.

    Parameters
    ----------
    distribution
        The distribution of the samples; its continuous part is replaced by finitely many labels.
    n
        Number of items ≥ 1; if it exceeds 2⁶², 2⁶² are drawn.
    value_of
        The estimate from a profile.

    Examples
    --------
    >>> from anonhist.properties.pml import PmlDistribution
    >>> two = PmlDistribution(np.array([0.25, 0.75]), (1, 1))
    >>> bootstrap_error(two, 100, lambda run: float(run.num_labels))
    0.0
    """
    generator = np.random.default_rng(_SEED)
    whole = distribution.discrete()
    runs = [draw_profile(whole, min(n, LARGEST), generator) for _ in range(_RUNS)]
    values = np.array([value_of(run) for run in runs])
    return float(spread_off_items(values, np.array([float(run.n) for run in runs])))


def draw_profile(distribution: PmlDistribution, n: int, generator: np.random.Generator) -> Profile:
    """Return a profile of Poisson counts, of about n ≥ 1 items and at least one; only blocks are drawn."""
    while True:
        blocks = [
            _block(probability * n, labels, generator)
            for probability, labels in zip(distribution.probabilities.tolist(), distribution.labels, strict=True)
        ]
        counts, prevalences = (np.concatenate(column) for column in zip(*blocks, strict=True))
        drawn = merged_profile(counts, prevalences)
        if drawn.n:
            return drawn


def _block(mean: float, labels: int, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return counts, and how many of the labels have each, if all are Poisson with one mean."""
    low = max(math.floor(mean - REACH * math.sqrt(mean)), 0)
    high = math.ceil(mean + REACH * math.sqrt(mean)) + 20
    if labels <= high - low:
        counts = generator.poisson(mean, size=labels)
        return counts, np.ones(labels, dtype=np.int64)
    counts = np.arange(low, high)
    return counts, draw_numbers(poisson_pmf(mean, counts), labels, generator)


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
        The property; see :func:`~anonhist.properties.pml.property_of`.
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
