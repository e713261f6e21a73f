"""Intervals for the cost of guessing, which jumps when one more label is needed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Protocol

from anonhist.properties.apply import apply
from anonhist.properties.guessing.ranks import MostFrequent, exact_share
from anonhist.properties.guessing.success import BY_CHANCE
from anonhist.properties.guessing.units import check_unit
from anonhist.properties.sampling import sampling_error
from anonhist.properties.statement import Bounds, Holds, Statement

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Point, Resimulated, Weights
    from anonhist.properties.guessing.units import CostUnit
    from anonhist.properties.sample import Sample


class CostOfShare(Protocol):
    """What it costs to break a share of all: an estimator of it."""

    name: ClassVar[str]
    assumes: ClassVar[str]
    # Whether the cost is a function of the number of labels alone, which a share decides.
    counts_labels: ClassVar[bool]

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""

    @property
    def share(self) -> Fraction:
        """The share, α."""

    def of(self, top: MostFrequent, *, too_high: float = 0.0) -> float:
        """Return the cost where these labels are tried, if λ is so much too high."""

    def weights(self, top: MostFrequent) -> Weights:
        """Return its derivatives."""


@dataclass(frozen=True)
class ShareInterval:
    """At least the cost of the share ``α − z·(error of λ_μ)`` (Woodruff 1952), or ``value − z·error`` if that is less.

    The share that the most frequent labels of a sample cover is too high on average, for every distribution, so what
    guessing costs is too low, and the lower end holds; there is no upper one.

    Attributes
    ----------
    cost
        What is estimated.
    least
        Lower bound of the property.

    References
    ----------
    .. [1] R. S. Woodruff, "Confidence intervals for medians and other position measures", Journal of the American
           Statistical Association 47 (1952), 635–646.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.guessing.work_factor import work_factor
    >>> work_factor(Profile.from_counts([501, 300, 199]), share=0.51).interval[0]
    1.0
    """

    cost: CostOfShare
    least: float

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the lower end; the value lies above it."""
        share = self.cost.share
        top = MostFrequent.of_share(sample.profile, share)
        own = sampling_error(sample.profile, self.cost.weights(top))
        # Privacy noise widens both alike.
        wider = error / own if own else 1.0
        off = Fraction(sample.z * wider * sampling_error(sample.profile, top.above()))
        there = MostFrequent.of_share(sample.profile, max(share - off, Fraction(0)))
        lower = self.cost.of(there, too_high=-float(off))
        if not self.cost.counts_labels:
            # Where fewer labels are enough, what they cost has an error of its own.
            lower -= sample.z * wider * sampling_error(sample.profile, self.cost.weights(there))
        low = min(lower, value - sample.z * error)
        return Bounds(max(low, self.least), math.inf, Statement(Holds.AT_LEAST, BY_CHANCE)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""
        return self.least, math.inf


def cost_of_share(
    data: Profile | Resimulated,
    share: float,
    *,
    unit: CostUnit,
    level: float,
    in_guesses: Callable[[Fraction], CostOfShare],
    in_bits: Callable[[Fraction], CostOfShare],
) -> Estimate:
    """Estimate what a share costs, in guesses, of which there is one at least, or in bits.

    Raises
    ------
    UsageError
        If the share is impossible, or there is no such unit.
    """
    part = exact_share(share)
    is_bits = check_unit(unit, ("guesses", "bits")) == "bits"
    cost = in_bits(part) if is_bits else in_guesses(part)
    return apply(data, cost, ShareInterval(cost, 0.0 if is_bits else 1.0), level=level, unit=unit)
