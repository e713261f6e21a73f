"""How often a few guesses succeed: λ_β."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.privacy import parse_whole_number
from anonhist.properties.estimated import estimated
from anonhist.properties.estimator import Point
from anonhist.properties.guessing.ranks import MostFrequent
from anonhist.properties.guessing.units import check_unit, times
from anonhist.properties.intervals import NormalInterval, OneSided
from anonhist.properties.statement import Holds, Statement

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Resimulated

BY_CHANCE = "the most frequent labels of a sample are partly so by chance"


@dataclass(frozen=True)
class GuessingSuccess:
    """``λ_β = Σ_{i≤β} p_i``, p descending, of the sample itself.

    Of one label it is 1, of n singletons ``min(β/n, 1)``.

    Attributes
    ----------
    guesses
        β ≥ 1.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> GuessingSuccess(2).point(Profile.from_counts([6, 3, 1])).value
    0.9
    """

    guesses: int
    name: ClassVar[str] = "plug-in"
    assumes: ClassVar[str] = "which labels are most frequent is known from the sample; else the success is overstated"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        top = MostFrequent.of_number(profile, self.guesses)
        return Point(top.share, top.above_or_all(), warnings=top.doubts(profile, wrong="too high"))


@dataclass(frozen=True)
class SuccessInBits:
    """``lg(β/λ_β)``: bits of a uniform distribution with the same success (Bonneau 2012, table 1).

    Of one label it is ``lg β``, of n singletons ``lg n`` and from β = n on ``lg β``.

    Attributes
    ----------
    guesses
        β ≥ 1.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> SuccessInBits(2).point(Profile.from_counts([1] * 8)).value
    3.0
    """

    guesses: int
    name: ClassVar[str] = GuessingSuccess.name
    assumes: ClassVar[str] = "which labels are most frequent is known from the sample; else there are more bits"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        top = MostFrequent.of_number(profile, self.guesses)
        weights = times(top.above_or_all(), -1 / (top.share * math.log(2)))
        value = math.log2(self.guesses / top.share)
        return Point(value, weights, warnings=top.doubts(profile, wrong="too low"))


def guessing_success(
    data: Profile | Resimulated, *, guesses: int, unit: str = "share", level: float = 0.95
) -> Estimate:
    """Estimate ``λ_β``: the share of accounts that β best guesses each break.

    The share of the most frequent labels of a sample is too high on average, for every distribution: so there is an
    upper end only, and of bits a lower one.

    Parameters
    ----------
    data
        A profile of passwords, or a release: then the interval holds the privacy noise as well.
    guesses
        β ≥ 1.
    unit
        ``"share"``, in [0, 1], or ``"bits"``: ``lg(β/λ_β)``, the effective key length of Bonneau (2012).
    level
        Probability with which the interval is meant to hold the truth.

    Raises
    ------
    UsageError
        If a number is impossible, or there is no such unit.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(guessing_success(Profile.from_counts([600, 300, 100]), guesses=1))
    at most 0.630364 (95 % confidence), estimate 0.6: the most frequent labels of a sample are partly so by chance
    """
    number = parse_whole_number(guesses, name="guesses")
    if check_unit(unit, ("share", "bits")) == "share":
        at_most = OneSided(Statement(Holds.AT_MOST, BY_CHANCE), NormalInterval(0.0, 1.0))
        return estimated(data, GuessingSuccess(number), at_most, level=level)
    at_least = OneSided(Statement(Holds.AT_LEAST, BY_CHANCE), NormalInterval(math.log2(number)))
    return estimated(data, SuccessInBits(number), at_least, level=level, unit="bits")
