"""The share of accounts broken by a number of guesses: the success rate λ_β and its curve."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from anonhist.numeric.arrays import Floats
from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.curve import Axes, Curve, estimated_curve
from anonhist.properties.estimate import Estimate, undersampling_warning
from anonhist.properties.estimator import Point, Resimulated, Sample, check_unit, multiplied, profile_of
from anonhist.properties.guessing_interval import EACH_ACCOUNT, BandInterval, check_of, estimate_guessing
from anonhist.properties.most_frequent import MostFrequent, covered_share, round_grid
from anonhist.properties.share_band import GuessedOf, ShareBand, data_bounds, distribution_bounds

SuccessUnit = Literal["share", "bits"]
ONE_ACCOUNT_EACH = (
    "each item is one account, independent of the others, and the sample shows which labels are most frequent; "
    "otherwise"
)


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


def success_interval(guesses: int, unit: SuccessUnit = "share") -> BandInterval:
    """Return the interval of ``λ_β`` of the distribution, or of ``lg(β/λ_β)``."""
    if unit == "share":
        return BandInterval(lambda band: band.success(guesses), (0.0, 1.0), (guesses,))
    return BandInterval(lambda band: band.success_bits(guesses), (math.log2(guesses), math.inf), (guesses,))


def guessing_success(
    data: Profile | Resimulated,
    *,
    guesses: int,
    unit: SuccessUnit = "share",
    of: GuessedOf = "distribution",
    level: float = 0.95,
) -> Estimate:
    """Estimate the β-success-rate ``λ_β = Σ_{i≤β} p_i``, p descending: the share of accounts broken by β guesses each.

    Of the data it is also the share of accounts that must choose a new password when the β most frequent are forbidden.
    Of the distribution that independent accounts were drawn from, the share of the sample is too high on average. The
    interval follows from bounds for every distribution (:mod:`~anonhist.properties.share_band`), and the value is that
    of the sample, or the nearer end of the interval if it is outside.

    Source: Bonneau 2012, partial guessing metrics. Bounds: Blocki and Liu 2023, Corollary 4 and Theorem 5.

    Parameters
    ----------
    data
        A profile of passwords or a release. For a release, the interval also covers privacy noise.
    guesses
        β ≥ 1; with more guesses than labels, λ of the data is 1.
    unit
        ``"share"``, in [0, 1], or ``"bits"``: ``lg(β/λ_β)``, the effective key length of Bonneau (2012).
    of
        ``"distribution"``: what passwords are chosen from, which is what an attack on accounts to come meets.
        ``"data"``: these accounts; exact for a profile, and for a release with an interval that covers privacy noise
        alone.
    level
        Probability with which the interval is meant to contain the truth. Intervals of the data behind a release are
        for 0.95 at least.

    Raises
    ------
    UsageError
        If a number is out of range, or there is no such unit or truth.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(guessing_success(Profile.from_counts([600, 300, 100]), guesses=1))
    0.6 (95% interval 0.533007 to 0.630532)
    """
    number = parse_whole_number(guesses, name="guesses")
    check_unit(unit, get_args(SuccessUnit))
    counted = "" if unit == "share" else unit
    estimator, interval = GuessingSuccess(number, unit), success_interval(number, unit)
    return estimate_guessing(data, estimator, interval, of=of, unit=counted, level=level)


def guessing_curve(
    data: Profile | Resimulated,
    *,
    points: int = 100,
    of: GuessedOf = "distribution",
    level: float = 0.95,
    bootstraps: int = 50,
    rng: np.random.Generator | None = None,
) -> Curve:
    """Estimate ``λ_β`` for numbers β of guesses from 1 to the number of labels, evenly spaced on a log scale.

    Numbers are rounded to 1, 2, 5, 10, 20, 50, 100, … if one of these is near. The band bounds the curve of the
    distribution, or of the data; values are those of the data, moved into the band: see :func:`guessing_success`.

    Source: Bonneau 2012; bounds: Blocki and Liu 2023, Corollary 4 and Theorem 5.

    Parameters
    ----------
    data
        A profile of passwords or a release. For a release, the band also covers privacy noise, or there is no band, and
        :attr:`Curve.why_unknown` says why.
    points
        The largest number of points, ≥ 2.
    of
        ``"distribution"`` or ``"data"``: what the band is meant to contain.
    level
        Probability with which each interval is meant to contain the truth.
    bootstraps
        Number of bootstrap samples for the standard errors, ≥ 3.
    rng
        Random generator for the samples; a new one by default.

    Raises
    ------
    UsageError
        If a number is out of range, or there is no such truth.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_counts([60, 30, 10])
    >>> guessing_curve(profile, rng=np.random.default_rng(1)).value.tolist()
    [0.6, 0.9, 1.0]
    """
    most = parse_whole_number(points, name="points", least=2, most=10**6)
    check_of(of)
    profile = profile_of(data)
    labels = profile.num_labels
    marks = np.array(round_grid(max(labels, 1), points=most), dtype=np.int64)

    def shares(sample: Profile) -> Floats:
        return covered_share(sample, marks)

    warnings: tuple[str, ...] = ()
    if of == "distribution" and labels and undersampling_warning(profile):
        warnings = ("Some of these labels were seen only once: the values are too high beyond the frequent labels.",)
    found = estimated_curve(
        data,
        shares,
        Axes("guesses", "share", marks.astype(np.float64), ("observed",) * marks.size, 0.0, 1.0),
        method=GuessingSuccess.name,
        assumes=GuessingSuccess(1).assumes if of == "distribution" else EACH_ACCOUNT,
        level=level,
        bootstraps=bootstraps,
        rng=rng,
        warnings=warnings,
    )
    if found.why_unknown:
        return found
    sample = Sample(profile, level, None if isinstance(data, Profile) else data)
    bounds = data_bounds if of == "data" else distribution_bounds
    band = ShareBand.of(marks, *bounds(sample, marks))
    if of == "distribution":
        return replace(found, low=band.low, high=band.high, value=np.clip(found.value, band.low, band.high))
    found = replace(found, low=np.minimum(band.low, found.value), high=np.maximum(band.high, found.value))
    # Nothing is drawn again: the data have no error but that of the release.
    parts = tuple(part for part in found.parts if part[0] != "sampling")
    return replace(found, parts=parts, standard_error=parts[0][1] if parts else np.zeros(found.value.shape))
