"""Private estimates from keywords, and conversion from nats to other units."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from anonhist.accounting.recording import Price, recording
from anonhist.mechanisms.setting import check_profile
from anonhist.numeric.arrays import read_only
from anonhist.privacy import parse_whole_number
from anonhist.properties.estimate import check_level
from anonhist.properties.sampling import Assemblage
from anonhist.releases.content import estimates_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anonhist.accounting.recording import Account
    from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
    from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import LinearStatistic
    from anonhist.properties.sampling import SampleDistribution
    from anonhist.randomness import RandomSource


@dataclass(frozen=True)
class Asked:
    """Options of all private estimates, as given."""

    epsilon: EpsilonLike
    unit: PrivacyUnit | None
    relation: NeighboringRelation
    known_items: int | None
    level: float
    source: RandomSource | None
    account: Account | None

    def of(self, profile: Profile, mechanism: Callable[..., StatisticMechanism], **own: Any) -> Estimate:
        """Make the estimate; by default, the unit is the profile's own."""
        check_profile(profile)
        unit = profile.unit if self.unit is None else self.unit
        made = mechanism(self.epsilon, unit, self.relation, known_items=self.known_items, **own)
        made.check_unit_of(profile)
        check_level(self.level)
        price = Price(made.guarantee, f"private estimate of {made.quantity}", made.parameters)
        with recording(self.account, lambda: price) as recorded:
            recorded.keep()
            estimate = made.estimate(profile, level=self.level, source=self.source)
            recorded.complete(lambda: estimates_digest([(made.quantity, estimate)]))
        return estimate


def in_unit(estimate: Estimate, unit: str, scale: float) -> Estimate:
    """Convert an estimate in nats to another unit."""
    low, high = estimate.interval
    return replace(
        estimate,
        value=scale * estimate.value,
        standard_error=scale * estimate.standard_error,
        interval=(scale * low, scale * high),
        parts=tuple((cause, scale * error) for cause, error in estimate.parts),
        unit=unit,
    )


def public_size(alphabet_size: SupportsIndex | None) -> int | None:
    """Return k, or None if it is not known.

    Raises
    ------
    UsageError
        If k is not a whole number from 1 to 2⁶².

    Examples
    --------
    >>> public_size(26)
    26
    """
    return None if alphabet_size is None else parse_whole_number(alphabet_size, name="alphabet_size")


_GROUPS = 48


# The samples from a reference distribution, and its true property.
Reference = tuple["SampleDistribution", float]


def mean_error(statistic: LinearStatistic, references: Sequence[Reference], noise_variance: float) -> float:
    """Return the mean of the root mean squared errors over the references, noise included."""
    errors = []
    for distribution, truth in references:
        mean, variance = distribution.moments(statistic.weights)
        errors.append(math.sqrt(noise_variance + ((mean - truth) ** 2 + variance)))
    return math.fsum(errors) / len(errors)


@lru_cache(maxsize=64)
def populations(labels: int) -> tuple[Assemblage, ...]:
    """Return reference distributions over labels: uniform, two steps, Zipf with exponents 1/2 and 1.

    Labels of neighboring ranks are grouped, except the first sixteen.

    Examples
    --------
    >>> [round(float(each.probabilities @ each.labels), 12) for each in populations(1000)]
    [1.0, 1.0, 1.0, 1.0]
    """
    starts = {
        *range(min(labels, 16)),
        *np.geomspace(16.0, float(max(labels, 16)), _GROUPS).astype(int).tolist(),
        labels // 2,
    }
    edges = np.array(sorted({edge for edge in starts if edge < labels} | {0, labels}), dtype=np.float64)
    sizes, middles = np.diff(edges), (edges[1:] + edges[:-1] + 1) / 2
    shapes = (np.ones(sizes.size), np.where(edges[:-1] < labels // 2, 1.0, 3.0), middles**-0.5, 1 / middles)
    return tuple(Assemblage(read_only(shape / float(shape @ sizes)), read_only(sizes)) for shape in shapes)
