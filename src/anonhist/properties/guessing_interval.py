"""Estimates of guessing metrics: of the distribution, or of data, known or behind a release."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import get_args

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.estimate import NONE_OF_NOTHING, Bounds, Estimate, Holds, Statement, check_level
from anonhist.properties.estimator import (
    DROWNED,
    Estimator,
    Resimulated,
    Sample,
    apply,
    assumption,
    profile_of,
    truncation_reason,
    value_of,
    why_unknown,
)
from anonhist.properties.share_band import GuessedOf, ShareBand, band_of

BY_CHANCE = "the most frequent labels in a sample are partly so by chance, which the interval allows for"
_RARE = "labels seen once or never may be as hard to guess as any"
_EVERY = "the interval covers privacy noise alone: it is about these data"
EACH_ACCOUNT = "each item is one account"
DATA_METHOD = "counted"


@dataclass(frozen=True)
class BandInterval:
    """The interval of a metric of the distribution that follows from bounds of λ_β at every β.

    ``ends`` turns bounds of λ_β into those of the metric, ``range`` is that of the metric, and ``marks`` are numbers of
    guesses that the bounds are needed at.
    """

    ends: Callable[[ShareBand], tuple[float, float]]
    range: tuple[float, float]
    marks: tuple[int, ...] = ()

    def of(self, sample: Sample, value: float, error: float) -> Bounds:  # the bounds have their own
        """Return both ends, or the lower one if the upper one is infinite."""
        low, high = self.ends(band_of(sample, "distribution", *self.marks))
        said = Statement(Holds.AT_LEAST, _RARE) if math.isinf(high) else Statement(Holds.BOTH, BY_CHANCE)
        return Bounds(max(low, self.range[0]), min(high, self.range[1]), said)

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the metric."""
        return self.range


def check_of(of: object) -> None:
    """Refuse everything except the names of what is guessed."""
    if of not in get_args(GuessedOf):
        raise UsageError(f"`of` must be one of {', '.join(get_args(GuessedOf))}, not {of!r:.80}.")


def estimate_guessing(
    data: Profile | Resimulated, estimator: Estimator, interval: BandInterval, *, of: GuessedOf, unit: str, level: float
) -> Estimate:
    """Estimate a metric of the distribution, or of the data."""
    check_of(of)
    if of == "distribution":
        return within(apply(data, estimator, interval, level=level, unit=unit))
    return _of_data(data, estimator, interval, unit=unit, level=level)


def within(found: Estimate) -> Estimate:
    """Return the estimate, moved to the nearer end if it is outside of its interval: that of a sample often is."""
    low, high = found.interval
    moved = min(max(found.value, low), high)
    return found if moved == found.value else replace(found, value=moved, method=f"{found.method}, moved into bounds")


def _of_data(
    data: Profile | Resimulated, estimator: Estimator, interval: BandInterval, *, unit: str, level: float
) -> Estimate:
    """Return the metric of the data: exact for a profile; for a release the interval covers privacy noise alone."""
    check_level(level)
    profile = profile_of(data)
    value = value_of(estimator, profile)
    if isinstance(data, Profile):
        ends = (value, value) if profile.n else interval.range
        said = Statement() if profile.n else NONE_OF_NOTHING
        return Estimate(
            value, 0.0, ends, DATA_METHOD, EACH_ACCOUNT, level, unit=unit, statement=said, where=profile.where
        )
    runs = tuple(data.resimulate())
    sample = Sample(profile, level, data, runs)
    noise = sample.noise(estimator, value) if runs else math.nan
    unknown = truncation_reason(data.guarantee.unit) or _unknown(profile, data)
    low, high = interval.range
    said = unknown or Statement(Holds.BOTH, _EVERY)
    if unknown is None:
        low, high = interval.ends(band_of(sample, "data", *interval.marks))
        low, high = max(low, interval.range[0]), min(high, interval.range[1])
        said = Statement(Holds.AT_LEAST, _EVERY) if math.isinf(high) else said
    return Estimate(
        value,
        noise,
        (min(low, value), max(high, value)),
        f"{DATA_METHOD}, from a release",
        "; ".join(filter(None, (EACH_ACCOUNT, assumption(data)))),
        level,
        parts=(("privacy noise", noise),) if runs else (),
        warnings=(DROWNED,) if data.mostly_noise else (),
        unit=unit,
        guarantee=data.guarantee,
        statement=said,
        where=data.where,
        bounded_unit=data.bounded_unit,
    )


def _unknown(profile: Profile, release: Resimulated) -> Statement | None:
    """Return why a release says nothing about the data; None if it does."""
    if not profile.n:
        return NONE_OF_NOTHING
    reason = why_unknown(release)
    return Statement(Holds.NONE, reason) if reason else None
