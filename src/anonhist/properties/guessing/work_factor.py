"""How many guesses each account costs to break a share of all: μ_α."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from anonhist.properties.estimator import Point, estimated
from anonhist.properties.guessing.ranks import MostFrequent, exact_share
from anonhist.properties.guessing.units import check_unit, times
from anonhist.properties.intervals import quantile

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Resimulated


@dataclass(frozen=True)
class WorkFactor:
    """``μ_α = min{β : λ_β ≥ α}`` of the sample itself (Bonneau 2012, eq. 6).

    With τ the count of the last label, it changes as ``−(n/τ)·λ_β``, β fixed, does. Of one label it is 1, of n
    singletons ``⌈α·n⌉``.

    Attributes
    ----------
    share
        α, in (0, 1].

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.profiles import Profile
    >>> WorkFactor(Fraction(1, 2)).point(Profile.from_counts([4, 3, 2, 1])).value
    2.0
    """

    share: Fraction
    name: ClassVar[str] = "plug-in"
    assumes: ClassVar[str] = "which labels are most frequent is known from the sample; else more guesses are needed"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        top = MostFrequent.of_share(profile, self.share)
        weights = times(top.above(), -self.per_share(top))
        return Point(self.of(top), weights, warnings=top.doubts(profile, wrong="too low"))

    def of(self, top: MostFrequent, *, too_high: float = 0.0) -> float:
        """Return the value of these labels, if λ is so much too high."""
        del too_high
        return float(top.labels)

    def per_share(self, top: MostFrequent) -> float:
        """Return how much it rises with α."""
        return top.n / top.least


@dataclass(frozen=True)
class WorkFactorInBits:
    """``lg(μ_α/λ_{μ_α})``: bits of a uniform distribution as hard to guess (Bonneau 2012, eq. 8).

    Of one label it is 0, of n singletons lg n.

    Attributes
    ----------
    share
        α, in (0, 1].

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.profiles import Profile
    >>> WorkFactorInBits(Fraction(1, 3)).point(Profile.from_counts([1] * 8)).value
    3.0
    """

    share: Fraction
    name: ClassVar[str] = WorkFactor.name
    assumes: ClassVar[str] = "which labels are most frequent is known from the sample; else there are more bits"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        top = MostFrequent.of_share(profile, self.share)
        weights = times(top.above(), -self.per_share(top))
        return Point(self.of(top), weights, warnings=top.doubts(profile, wrong="too low"))

    def of(self, top: MostFrequent, *, too_high: float = 0.0) -> float:
        """Return the value of these labels, if λ is so much too high; it is α at least."""
        return math.log2(top.labels / min(max(top.share - too_high, float(self.share)), 1.0))

    def per_share(self, top: MostFrequent) -> float:
        """Return how much it rises with α, λ as good as fixed."""
        return top.n / top.least / (top.labels * math.log(2))


@dataclass(frozen=True)
class ShareInterval:
    """The work factors of the shares ``α ± z·(standard error of λ_μ)``: right where μ jumps (Woodruff 1952).

    Attributes
    ----------
    estimator
        What is estimated.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_counts([501, 300, 199])
    >>> ShareInterval(WorkFactor(Fraction(1, 2))).of(profile, 1.0, 0.03, level=0.95, scale=1.0)
    (1.0, 2.0)
    """

    estimator: WorkFactor | WorkFactorInBits

    def of(self, profile: Profile, value: float, error: float, *, level: float, scale: float) -> tuple[float, float]:
        """Return the ends; the value always lies between them."""
        del scale
        share = self.estimator.share
        half = quantile(level) * error
        off = Fraction(half / self.estimator.per_share(MostFrequent.of_share(profile, share)))
        least, most = (
            self.estimator.of(
                MostFrequent.of_share(profile, min(max(share + end, Fraction(0)), Fraction(1))), too_high=float(end)
            )
            for end in (-off, off)
        )
        # Beyond the last label there may be others.
        return min(least, value), max(most, value, value + half if share + off > 1 else value)

    def of_nothing(self, *, scale: float) -> tuple[float, float]:
        """Return all that it can be."""
        return scale * (isinstance(self.estimator, WorkFactor)), math.inf


def work_factor(data: Profile | Resimulated, *, share: float, unit: str = "guesses", level: float = 0.95) -> Estimate:
    """Estimate the α-work-factor ``μ_α``: with how many guesses an account a share α of all is broken.

    Parameters
    ----------
    data
        A profile of passwords, or a release: then the interval holds the privacy noise as well.
    share
        α, above 0 and up to 1; a float means its shortest decimal.
    unit
        ``"guesses"``, or ``"bits"``: ``lg(μ_α/λ_{μ_α})``, the effective key length of Bonneau (2012).
    level
        Probability with which the interval is meant to hold the truth.

    Raises
    ------
    UsageError
        If a number is impossible, or there is no such unit.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> work_factor(Profile.from_counts([40, 30, 20, 10]), share=0.5).value
    2.0
    """
    part = exact_share(share)
    if check_unit(unit, ("guesses", "bits")) == "bits":
        in_bits = WorkFactorInBits(part)
        return estimated(data, in_bits, ShareInterval(in_bits), level=level, unit="bits")
    in_guesses = WorkFactor(part)
    return estimated(data, in_guesses, ShareInterval(in_guesses), level=level, unit="guesses")
