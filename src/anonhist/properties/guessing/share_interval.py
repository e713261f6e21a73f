"""Intervals of what guessing costs, which jumps where one label more is needed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Protocol

from anonhist.properties.estimator import estimated
from anonhist.properties.guessing.ranks import MostFrequent, exact_share
from anonhist.properties.guessing.units import check_unit
from anonhist.properties.intervals import quantile
from anonhist.properties.sampling import sampling_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Point, Resimulated, Weights


class CostOfShare(Protocol):
    """What it costs to break a share of all: an estimator of it."""

    name: ClassVar[str]
    assumes: ClassVar[str]

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
    """``value ± z·error``, and the costs of the shares ``α ± z·(error of λ_μ)``: right where μ jumps (Woodruff 1952).

    Attributes
    ----------
    cost
        What is estimated.
    least
        What it is at least.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.guessing.work_factor import work_factor
    >>> work_factor(Profile.from_counts([501, 300, 199]), share=0.5).interval[1]
    2.0
    """

    cost: CostOfShare
    least: float

    def of(self, profile: Profile, value: float, error: float, *, level: float, scale: float) -> tuple[float, float]:
        """Return the ends; the value always lies between them."""
        z, share = quantile(level), self.cost.share
        if not profile.n:
            return value, value + z * error
        top = MostFrequent.of_share(profile, share)
        own = sampling_error(profile, self.cost.weights(top))
        # Privacy noise widens both alike.
        wider = error / (scale * own) if own else 1.0
        off = Fraction(z * wider * sampling_error(profile, top.above()))
        ends = []
        for end in (-off, off):
            there = MostFrequent.of_share(profile, min(max(share + end, Fraction(0)), Fraction(1)))
            ends.append(scale * self.cost.of(there, too_high=float(end)))
        low, high = min(*ends, value - z * error), max(*ends, value + z * error)
        return min(max(low, scale * self.least), value), high

    def of_nothing(self, *, scale: float) -> tuple[float, float]:
        """Return all that it can be."""
        return scale * self.least, math.inf


def cost_of_share(
    data: Profile | Resimulated,
    share: float,
    *,
    unit: str,
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
    return estimated(data, cost, ShareInterval(cost, 0.0 if is_bits else 1.0), level=level, unit=unit)
