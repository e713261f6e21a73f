"""The share of accounts broken by a number of guesses: the success rate λ_β and its curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, Self, get_args

import numpy as np

from anonhist.numeric.arrays import Floats, Ints
from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.curve import Axes, Curve, estimated_curve
from anonhist.properties.estimate import Bounds, Estimate, Holds, Statement, undersampling_warning
from anonhist.properties.estimator import Point, Resimulated, Sample, apply, check_unit, multiplied, profile_of
from anonhist.properties.sampling import Weights


def covered_share(profile: Profile, labels: Ints) -> Floats:
    """Return ``λ_β = Σ_{i≤β} λ_i / n``, the share of items that the β most frequent labels cover.

    Beyond the number of labels the share is 1; for an empty profile it is 0.
    """
    if not len(profile):
        return np.zeros(labels.shape)
    ends = np.append(0, np.cumsum(profile.prevalences[::-1]))
    covered = np.append(0, np.cumsum((profile.counts * profile.prevalences)[::-1]))
    return np.interp(labels, ends, covered / profile.n)


def log_grid(largest: int, *, points: int) -> list[int]:
    """Return up to ``points`` whole numbers from 1 to ``largest`` ≥ 1, both included, evenly spaced on a log scale."""
    # The largest is added as an integer, because a float might be rounded.
    return sorted({*(min(largest, round(mark)) for mark in np.geomspace(1, largest, points).tolist()[:-1]), largest})


def round_grid(largest: int, *, points: int) -> list[int]:
    """Return the same grid, with each number except the last moved to a nearby 1, 2 or 5 times a power of ten."""
    reach = math.log10(largest) / (2 * (points - 1))
    below = (_to_round(mark, reach) for mark in np.geomspace(1, largest, points).tolist()[:-1])
    return sorted({*(min(largest, mark) for mark in below), largest})


def _to_round(mark: float, reach: float) -> int:
    """Return a power of ten within ``reach`` decades, else 2 or 5 times one, else the nearest whole number."""
    for digit in (1, 2, 5):
        decades = math.log10(mark / digit)
        power = round(decades)
        if power >= 0 and abs(decades - power) <= reach:
            return int(digit * 10**power)
    return round(mark)


_FEW = 10


@dataclass(frozen=True, eq=False)
class MostFrequent:
    """The μ most frequent labels of n items; ties are broken arbitrarily.

    They cover ``items`` items. The last of them has count ``least``, τ, and the next label has count ``following``, 0
    if there is none. ``counts`` descend; ``prevalences`` are the numbers of these labels with each count.
    """

    n: int
    labels: int
    items: int
    least: int
    following: int
    counts: Ints
    prevalences: Ints

    @classmethod
    def of_number(cls, profile: Profile, labels: int) -> Self:
        """Take this many labels, or all if there are fewer."""
        wanted = min(labels, profile.num_labels)
        counts, prevalences = profile.counts[::-1], profile.prevalences[::-1]
        ends = np.cumsum(prevalences)
        last = int(np.searchsorted(ends, wanted))
        own = prevalences[: last + 1].copy()
        own[-1] -= int(ends[last]) - wanted
        items = int(counts[: last + 1] @ own)
        after = last + int(own[-1] == prevalences[last])
        following = int(counts[after]) if after < counts.size else 0
        return cls(profile.n, wanted, items, int(counts[last]), following, counts[: last + 1], own)

    @classmethod
    def of_share(cls, profile: Profile, share: Fraction) -> Self:
        """Take the fewest labels that cover this share of all items, compared exactly."""
        needed = max(math.ceil(share * profile.n), 1)
        counts, prevalences = profile.counts[::-1], profile.prevalences[::-1]
        covered = np.cumsum(counts * prevalences)
        last = int(np.searchsorted(covered, needed))
        missing = int(covered[last]) - needed
        spared = missing // int(counts[last])
        return cls.of_number(profile, int(prevalences[: last + 1].sum()) - spared)

    @property
    def share(self) -> float:
        """``λ_μ``, the share of all items that they cover."""
        return self.items / self.n

    def guesses(self) -> float:
        """Return ``Σ_{i≤μ} i·p_i``, in closed form for each run of equal counts."""
        many = self.prevalences.astype(np.float64)
        before = np.append(0.0, np.cumsum(self.prevalences[:-1]))
        return float((self.counts / self.n) @ (many * before + many * (many + 1) / 2))

    def above(self) -> Weights:
        """Return ``(j − τ)_+/n``, the derivatives of λ_μ with μ fixed: an additional label replaces the last.

        τ is halfway between the counts of the last label and of the next. If these are all labels, λ_μ is 1; the
        derivatives then describe its decrease when labels are added, with τ the last count.
        """
        return self._above((self.least + self.following) / 2 if self.following else float(self.least))

    def above_or_all(self) -> Weights:
        """Return the same, but if these are all labels, the derivatives of a constant λ_μ = 1: τ is 0."""
        return self.above() if self.following else self._above(0.0)

    def _above(self, threshold: float) -> Weights:

        return lambda counts: np.maximum(counts - threshold, 0.0) / self.n

    def above_each(self) -> Weights:
        """Return ``Σ_{b<μ} (j − τ_b)_+/n``, derivatives of ``Σ_{b<μ} λ_b``, τ_b halfway between labels b and b + 1."""
        between = np.append((self.counts[:-1] + self.counts[1:]) / 2, 0.0)
        thresholds = np.column_stack([self.counts, between]).ravel()[::-1]
        ones = np.append(np.ones(between.size - 1), 0.0)
        many = np.column_stack([self.prevalences - 1.0, ones]).ravel()[::-1]
        labels = np.append(0.0, np.cumsum(many))
        items = np.append(0.0, np.cumsum(many * thresholds))

        def weights(counts: Ints) -> Floats:
            below = np.searchsorted(thresholds, counts)
            return np.asarray((counts * labels[below] - items[below]) / self.n)

        return weights

    def doubts(self, profile: Profile, *, wrong: str) -> tuple[str, ...]:
        """Warn if chance affects which labels are the most frequent, or if much is missing."""
        if self.labels == profile.num_labels and not undersampling_warning(profile):
            return ()
        if self.least >= _FEW:
            return ()
        times = "once" if self.least == 1 else f"{self.least} times"
        said = f"Some of these labels were seen only {times}: they are frequent partly by chance, which makes the value"
        return (f"{said} {wrong}.",)


SuccessUnit = Literal["share", "bits"]
# With more items the beta function overflows floats, and Wilson's score interval is as good.
_EXACT = 10**12
ONE_ACCOUNT_EACH = "each item is one account, and the sample shows which labels are most frequent; otherwise"
BY_CHANCE = "the most frequent labels in a sample are partly so by chance"


@dataclass(frozen=True)
class GuessingSuccess:
    """``λ_β = Σ_{i≤β} p_i`` of the sample, p descending (Bonneau 2012).

    In bits it is ``lg(β/λ_β)``: those of a uniform distribution with the same success. For one label it is 1, or
    ``lg β`` bits; for n singletons ``min(β/n, 1)``, or lg n bits and from β = n on ``lg β``.
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
        return Point(math.log2(self.guesses / top.share), weights, warnings=top.doubts(profile, wrong="too low"))


@dataclass(frozen=True)
class SuccessInterval:
    """The share is at most what a binomial count of n items in the β most frequent labels allows.

    Source: Clopper and Pearson 1934.

    The β truly most frequent labels have no more items in the sample than the β most frequent labels of the sample, and
    their number of items is binomial with λ_β. So the upper end ``I^(−1)(1 − (1 − level)/2; c + 1, n − c)``, with c the
    items of the most frequent labels and I the regularized incomplete beta function, holds for every distribution.
    Beyond 10¹² items Wilson's interval is used. For a release, the distance from the value to the end becomes the root
    of the sum of squares of itself and of the privacy noise. In bits it is the lower end of ``lg(β/λ_β)``.
    """

    guesses: int
    unit: SuccessUnit = "share"

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the end that holds; the value lies on the other side of it."""
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

    Source: Bonneau 2012.

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

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(guessing_success(Profile.from_counts([600, 300, 100]), guesses=1))
    at most 0.630531 (95% confidence), estimate 0.6: the most frequent labels in a sample are partly so by chance
    """
    number = parse_whole_number(guesses, name="guesses")
    check_unit(unit, get_args(SuccessUnit))
    counted = "" if unit == "share" else unit
    return apply(data, GuessingSuccess(number, unit), SuccessInterval(number, unit), level=level, unit=counted)


def guessing_curve(
    data: Profile | Resimulated,
    *,
    points: int = 100,
    level: float = 0.95,
    bootstraps: int = 50,
    rng: np.random.Generator | None = None,
) -> Curve:
    """Estimate ``λ_β`` for numbers β of guesses from 1 to the number of labels, evenly spaced on a log scale.

    Numbers are rounded to 1, 2, 5, 10, 20, 50, 100, … if one of these is near.

    Source: Bonneau 2012.

    Parameters
    ----------
    data
        A profile of passwords or a release. For a release, the band also covers privacy noise, or there is no band, and
        :attr:`Curve.why_unknown` says why.
    points
        The largest number of points, ≥ 2.
    level
        Probability with which each interval is meant to contain the truth.
    bootstraps
        Number of bootstrap samples for the band, ≥ 3.
    rng
        Random generator for the samples; a new one by default.

    Raises
    ------
    UsageError
        If a number is out of range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_counts([60, 30, 10])
    >>> guessing_curve(profile, rng=np.random.default_rng(1)).value.tolist()
    [0.6, 0.9, 1.0]
    """
    most = parse_whole_number(points, name="points", least=2, most=10**6)
    profile = profile_of(data)
    labels = profile.num_labels
    marks = np.array(round_grid(max(labels, 1), points=most), dtype=np.int64)

    def shares(sample: Profile) -> Floats:
        return covered_share(sample, marks)

    warnings: tuple[str, ...] = ()
    if labels and undersampling_warning(profile):
        warnings = ("Some of these labels were seen only once: the values are too high beyond the frequent labels.",)
    return estimated_curve(
        data,
        shares,
        Axes("guesses", "share", marks.astype(np.float64), ("observed",) * marks.size, 0.0, 1.0),
        method=GuessingSuccess.name,
        assumes=GuessingSuccess(1).assumes,
        level=level,
        bootstraps=bootstraps,
        rng=rng,
        warnings=warnings,
        bias="The most frequent labels in a sample are partly so by chance: read the curve as an upper bound.",
    )
