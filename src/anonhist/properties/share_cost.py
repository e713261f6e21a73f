"""The cost of breaking a share of all accounts: the α-work-factor μ_α and the α-guesswork G_α."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, get_args

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate
from anonhist.properties.estimator import Point, Resimulated, check_unit, multiplied
from anonhist.properties.guessing_curve import ONE_ACCOUNT_EACH
from anonhist.properties.guessing_interval import BandInterval, estimate_guessing
from anonhist.properties.most_frequent import MostFrequent
from anonhist.properties.sampling import Weights
from anonhist.properties.share_band import GuessedOf, ShareBand

CostUnit = Literal["guesses", "bits"]


@dataclass(frozen=True)
class CostOfShare(ABC):
    """The cost of breaking a share α in (0, 1] of all accounts: a function of the most frequent labels covering it."""

    share: Fraction
    unit: CostUnit = "guesses"
    name: ClassVar[str] = "plug-in"

    @property
    def assumes(self) -> str:
        """What the value assumes."""
        wrong = "more guesses are needed" if self.unit == "guesses" else "the number of bits is higher"
        return f"{ONE_ACCOUNT_EACH} {wrong}"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        top = MostFrequent.of_share(profile, self.share)
        return Point(self.of(top), self.weights(top), warnings=top.doubts(profile, wrong="too low"))

    def of(self, top: MostFrequent) -> float:
        """Return the cost of trying these labels."""
        return self.guesses(top) if self.unit == "guesses" else self.bits(self.guesses(top), top.share)

    def weights(self, top: MostFrequent) -> Weights:
        """Return the derivatives; those in bits neglect the change of λ."""
        slope = 1.0 if self.unit == "guesses" else self.bits_per_guess(self.guesses(top), top.share)
        return multiplied(self.weights_of_guesses(top), slope)

    @abstractmethod
    def guesses(self, top: MostFrequent) -> float:
        """Return the cost in guesses."""

    @abstractmethod
    def weights_of_guesses(self, top: MostFrequent) -> Weights:
        """Return the derivatives of the cost in guesses."""

    @abstractmethod
    def bits(self, guesses: float, share: float) -> float:
        """Return the cost in bits: that of a uniform distribution that is as hard to guess."""

    @abstractmethod
    def guesses_of_band(self, band: ShareBand) -> tuple[float, float]:
        """Return bounds of the cost in guesses that follow from bounds of all λ_β."""

    @abstractmethod
    def bits_of_band(self, band: ShareBand) -> tuple[float, float]:
        """Return the same in bits."""

    @abstractmethod
    def bits_per_guess(self, guesses: float, share: float) -> float:
        """Return the derivative of the cost in bits with respect to that in guesses."""


class WorkFactor(CostOfShare):
    """``μ_α = min{β : λ_β ≥ α}`` of the sample itself; in bits ``lg(μ_α/λ_{μ_α})`` (Bonneau 2012).

    With τ the count of the last label, it changes like ``−(n/τ)·λ_β`` with β fixed. For one label it is 1 guess, 0
    bits; for n singletons ``⌈α·n⌉`` guesses, lg n bits.
    """

    def guesses(self, top: MostFrequent) -> float:
        """Return μ."""
        return float(top.labels)

    def weights_of_guesses(self, top: MostFrequent) -> Weights:
        """Return ``−(n/τ)·∂λ_μ``."""
        return multiplied(top.above(), -top.n / top.least)

    def bits(self, guesses: float, share: float) -> float:
        """Return ``lg(μ/λ)``."""
        return math.log2(guesses / share)

    def bits_per_guess(self, guesses: float, share: float) -> float:
        """Return ``1/(μ·ln 2)``."""
        return 1 / (guesses * math.log(2))

    def guesses_of_band(self, band: ShareBand) -> tuple[float, float]:
        """Return the bounds of μ_α."""
        return band.work(self.share)

    def bits_of_band(self, band: ShareBand) -> tuple[float, float]:
        """Return the bounds of μ_α in bits."""
        return band.work_bits(self.share)


class Guesswork(CostOfShare):
    """``G_α = (1 − λ_μ)·μ + Σ_{i≤μ} i·p_i``, ``μ = μ_α``, of the sample itself (Bonneau 2012).

    In bits it is ``lg(2G_α/λ_μ − 1) − lg(2 − λ_μ)``. If few labels cover the share, it jumps with μ; its interval
    allows for that, but its error does not. As a sum, ``G_α = Σ_{b<μ} (1 − λ_b)``, so it changes by ``−Σ_{b<μ} dλ_b +
    (1 − λ_μ)·dμ``. For one label it is 1 guess, 0 bits; for n singletons ``μ − μ·(μ − 1)/(2n)`` guesses, lg n bits.
    """

    def guesses(self, top: MostFrequent) -> float:
        """Return G."""
        return (top.n - top.items) / top.n * top.labels + top.guesses()

    def weights_of_guesses(self, top: MostFrequent) -> Weights:
        """Return ``−Σ_{b<μ} ∂λ_b + (1 − λ_μ)·∂μ``."""
        each, last = top.above_each(), top.above()
        for_last = (top.n - top.items) / top.least
        return lambda counts: -each(counts) - for_last * last(counts)

    def bits(self, guesses: float, share: float) -> float:
        """Return ``lg((2G/λ − 1)/(2 − λ))``, at least 0."""
        return math.log2(max((2 * guesses / share - 1) / (2 - share), 1.0))

    def bits_per_guess(self, guesses: float, share: float) -> float:
        """Return ``2/(λ·(2G/λ − 1)·ln 2)``."""
        return 2 / (share * (2 * guesses / share - 1) * math.log(2))

    def guesses_of_band(self, band: ShareBand) -> tuple[float, float]:
        """Return the bounds of G_α."""
        return band.guesswork(self.share)

    def bits_of_band(self, band: ShareBand) -> tuple[float, float]:
        """Return the bounds of G_α in bits."""
        return band.guesswork_bits(self.share)


def cost_interval(cost: CostOfShare) -> BandInterval:
    """Return the interval of a cost of the distribution."""
    if cost.unit == "bits":
        return BandInterval(cost.bits_of_band, (0.0, math.inf))
    return BandInterval(cost.guesses_of_band, (1.0, math.inf))


def work_factor(
    data: Profile | Resimulated,
    *,
    share: float,
    unit: CostUnit = "guesses",
    of: GuessedOf = "distribution",
    level: float = 0.95,
) -> Estimate:
    """Estimate the α-work-factor ``μ_α``: guesses per account needed to break a share α of accounts.

    Source: Bonneau 2012.

    Parameters
    ----------
    data
        A profile of passwords or a release. For a release, the interval also covers privacy noise.
    share
        α, above 0 and up to 1; a float means its shortest decimal.
    unit
        ``"guesses"``, or ``"bits"``: ``lg(μ_α/λ_{μ_α})``, the effective key length of Bonneau (2012).
    of
        ``"distribution"`` that independent accounts were drawn from, or ``"data"``, these accounts: see
        :func:`~anonhist.properties.guessing_success`. The upper end for the distribution is infinite if labels seen
        twice or more cannot be shown to cover the share.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If a number is out of range, or there is no such unit or truth.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> work_factor(Profile.from_counts([40, 30, 20, 10]), share=0.5).value
    2.0
    """
    return _cost_of_share(data, WorkFactor, share, unit=unit, of=of, level=level)


def guesswork(
    data: Profile | Resimulated,
    *,
    share: float,
    unit: CostUnit = "guesses",
    of: GuessedOf = "distribution",
    level: float = 0.95,
) -> Estimate:
    """Estimate the α-guesswork ``G_α``: mean guesses per account of an attacker who stops after a share α of accounts.

    Source: Bonneau 2012.

    Parameters
    ----------
    data
        A profile of passwords or a release. For a release, the interval also covers privacy noise.
    share
        α, above 0 and up to 1; a float means its shortest decimal.
    unit
        ``"guesses"``, or ``"bits"``, the effective key length of Bonneau (2012).
    of
        ``"distribution"`` that independent accounts were drawn from, or ``"data"``, these accounts: see
        :func:`~anonhist.properties.guessing_success`. The upper end for the distribution is infinite if labels seen
        twice or more cannot be shown to cover the share.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If a number is out of range, or there is no such unit or truth.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> guesswork(Profile.from_counts([40, 30, 20, 10]), share=0.5).value
    1.6
    """
    return _cost_of_share(data, Guesswork, share, unit=unit, of=of, level=level)


def _cost_of_share(
    data: Profile | Resimulated, kind: type[CostOfShare], share: float, *, unit: CostUnit, of: GuessedOf, level: float
) -> Estimate:
    part = _exact_share(share)
    check_unit(unit, get_args(CostUnit))
    cost = kind(part, unit)
    return estimate_guessing(data, cost, cost_interval(cost), of=of, unit=unit, level=level)


def _exact_share(share: object) -> Fraction:
    """Return α; refuse everything except a number above 0 and up to 1. A float means its shortest decimal."""
    if isinstance(share, bool) or not isinstance(share, int | float | Fraction) or not 0 < share <= 1:
        raise UsageError(f"`share` must be a number above 0 and up to 1, such as 0.5, not {share!r:.80}.")
    return share if isinstance(share, Fraction) else Fraction(repr(float(share)))
