"""The success rate of β guesses: λ_β."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.apply import apply
from anonhist.properties.estimate import Estimate
from anonhist.properties.estimator import Point, Resimulated, multiplied
from anonhist.properties.guessing.ranks import MostFrequent
from anonhist.properties.options import check_unit
from anonhist.properties.statement import Bounds, Holds, Statement

if TYPE_CHECKING:
    from anonhist.properties.sample import Sample

SuccessUnit = Literal["share", "bits"]
# With more items the beta function overflows floats, and Wilson's score interval is as good.
_EXACT = 10**12
ONE_ACCOUNT_EACH = "each item is one account, and the sample shows which labels are most frequent; otherwise"
BY_CHANCE = "the labels that lead in a sample lead partly by chance"


@dataclass(frozen=True)
class GuessingSuccess:
    """``λ_β = Σ_{i≤β} p_i`` of the sample, p descending (Bonneau 2012).

    In bits it is ``lg(β/λ_β)``: those of a uniform distribution with the same success. For one label it is 1, or
    ``lg β`` bits; for n singletons ``min(β/n, 1)``, or lg n bits and from β = n on ``lg β``.

    Attributes
    ----------
    guesses
        β ≥ 1.
    unit
        ``"share"`` or ``"bits"``.

    References
    ----------
    .. [1] J. Bonneau, "The science of guessing: analyzing an anonymized corpus of 70 million passwords", IEEE Symposium
           on Security and Privacy (2012), 538–552.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> GuessingSuccess(2).point(Profile.from_counts([6, 3, 1])).value
    0.9
    >>> GuessingSuccess(2, "bits").point(Profile.from_counts([1] * 8)).value
    3.0
    """

    guesses: int
    unit: SuccessUnit = "share"
    name: ClassVar[str] = "plug-in"

    @property
    def assumes(self) -> str:
        """What the value assumes."""
        wrong = "the value is too high" if self.unit == "share" else "the number of bits is higher"
        return f"{ONE_ACCOUNT_EACH} {wrong}"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        top = MostFrequent.of_number(profile, self.guesses)
        if self.unit == "share":
            return Point(top.share, top.above_or_all(), warnings=top.doubts(profile, wrong="too high"))
        weights = multiplied(top.above_or_all(), -1 / (top.share * math.log(2)))
        value = math.log2(self.guesses / top.share)
        return Point(value, weights, warnings=top.doubts(profile, wrong="too low"))


@dataclass(frozen=True)
class SuccessInterval:
    """At most the share that a binomial count of n items in the β most frequent labels allows (Clopper, Pearson 1934).

    The β truly most frequent labels have no more items in the sample than the β most frequent labels of the sample, and
    their number of items is binomial with λ_β. So the upper end ``I^(−1)(1 − (1 − level)/2; c + 1, n − c)``, with c the
    items of the most frequent labels and I the regularized incomplete beta function, holds for every distribution.
    Beyond 10¹² items Wilson's interval is used. For a release, the distance from the value to the end becomes the root
    of the sum of squares of itself and of the privacy noise.

    Attributes
    ----------
    guesses
        β ≥ 1.
    unit
        ``"share"``; or ``"bits"``, ``lg(β/λ_β)``, of which it is the lower end.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.sample import Sample
    >>> found = SuccessInterval(1).of(Sample(Profile([1], [1000])), 0.001, 0.0)
    >>> round(found.high, 5)  # a label seen once may have been expected 5.6 times
    0.00556
    """

    guesses: int
    unit: SuccessUnit = "share"

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the end that holds; the value is on the other side of it."""
        del error
        top = MostFrequent.of_number(sample.profile, self.guesses)
        most = _largest_share(top.items, top.n, sample)
        noise = sample.z * sample.noise(GuessingSuccess(self.guesses), top.share)
        most = min(top.share + math.hypot(most - top.share, noise), 1.0)
        if self.unit == "bits":
            return Bounds(math.log2(self.guesses / most), math.inf, Statement(Holds.AT_LEAST, BY_CHANCE)).around(value)
        return Bounds(0.0, most, Statement(Holds.AT_MOST, BY_CHANCE)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""
        return (0.0, 1.0) if self.unit == "share" else (math.log2(self.guesses), math.inf)


def _largest_share(items: int, n: int, sample: Sample) -> float:
    from scipy.special import betaincinv

    if items == n:
        return 1.0
    if n <= _EXACT:
        return float(betaincinv(items + 1.0, n - items, (1 + sample.level) / 2))
    share, square = items / n, sample.z**2 / n
    return (share + square / 2 + math.sqrt(square * (share * (1 - share) + square / 4))) / (1 + square)


def guessing_success(
    data: Profile | Resimulated, *, guesses: int, unit: SuccessUnit = "share", level: float = 0.95
) -> Estimate:
    """Estimate ``λ_β``: the share of accounts broken by the β best guesses.

    The share of the most frequent labels of a sample is too high on average for every distribution, so there is only an
    upper end, or for bits a lower end: :class:`SuccessInterval`.

    Parameters
    ----------
    data
        A profile of passwords or a release. For a release, the interval also covers privacy noise.
    guesses
        β ≥ 1.
    unit
        ``"share"``, in [0, 1], or ``"bits"``: ``lg(β/λ_β)``, the effective key length of Bonneau (2012).
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If a number is out of range, or there is no such unit.

    References
    ----------
    .. [1] J. Bonneau, "The science of guessing: analyzing an anonymized corpus of 70 million passwords", IEEE Symposium
           on Security and Privacy (2012), 538–552.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(guessing_success(Profile.from_counts([600, 300, 100]), guesses=1))
    at most 0.630531 (95 % confidence), estimate 0.6: the labels that lead in a sample lead partly by chance
    """
    number = parse_whole_number(guesses, name="guesses")
    check_unit(unit, get_args(SuccessUnit))
    counted = "" if unit == "share" else unit
    return apply(data, GuessingSuccess(number, unit), SuccessInterval(number, unit), level=level, unit=counted)
