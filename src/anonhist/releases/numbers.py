"""The numbers of a release that are compared with those of another one, each with its interval.

Of the data, intervals cover the noise of the release alone. They are stretched to hold more often: if a symmetric noise
X with a log-concave distribution exceeds t with probability 1/40, then it exceeds c·t with probability
``20^(−c)/2`` at most, because ``log P(X > x)`` is concave and at most ``log(1/2)`` at 0. So ``c = ln(20K)/ln 20``
divides the error probability by K. Sums of such noises are such noises. Intervals from runs or from a fit have no such
proof: bench/differences.py measures them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from anonhist.catalogue import PROPERTIES as ENTRIES
from anonhist.catalogue import load
from anonhist.numeric.arrays import Floats, Ints
from anonhist.properties.entropy import PlugIn
from anonhist.properties.estimate import Estimate, Holds, Statement, widening_factor
from anonhist.properties.estimator import (
    NOT_SIMULATED,
    Estimator,
    Sample,
    assumption,
    truncation_reason,
    value_of,
    why_unknown,
)
from anonhist.properties.guessing_curve import GuessingSuccess
from anonhist.properties.most_frequent import MostFrequent, covered_share
from anonhist.properties.power_sum import OrderSum, PlugInSum
from anonhist.properties.share_band import ShareBand, distribution_bounds, marks_of
from anonhist.releases.evidence import NORMAL_95
from anonhist.releases.release import Release

LEVEL = 0.95
METHOD = "counted, from a release"
_MISS = 1 - LEVEL
_HALF = Fraction(1, 2)
# The first needs the number of possible labels; the second is asked at more numbers of guesses, as a curve.
_LEFT_OUT = ("distance-to-uniformity", "guessing-success")
# Runs on a release err less than the release if noise changed the shape of the data: measured, not proved.
_RUNS_FALL_SHORT = 1.5
_OF_NOISE = Statement(Holds.BOTH, "the interval covers privacy noise alone: it is about these data")


class Key(NamedTuple):
    """A number that is compared: what it is, and at which count, number of guesses, order, …; None without one."""

    what: str
    at: float | None = None


@dataclass(frozen=True)
class Asked:
    """Where two releases are compared, from what both released.

    ``counts`` are those k of φ_{k+} and φ_r, the latter only up to ``most_exact``; ``guesses`` the numbers β of most
    frequent labels; ``draws`` the sample size of the support coverage.
    """

    counts: tuple[int, ...]
    most_exact: int
    guesses: tuple[int, ...]
    draws: int


def factor_of(comparisons: int) -> float:
    """Return c = ln(20K)/ln 20, which stretches 95% intervals until all of K hold together with probability 95%."""
    return math.log(comparisons / _MISS) / math.log(1 / _MISS)


def stretched(found: Estimate, factor: float, *, grain: float = 0.0) -> Estimate:
    """Return an estimate ≥ 0 with its interval stretched by a factor c ≥ 1.

    Each end moves by c − 1 times its distance, or half the width if that is more, because the ends of a band may follow
    from different noises. Numbers are multiples of the ``grain``, which is added to the distance: whole noise that
    seldom exceeds q is seldom q + 1 or more.
    """
    if factor == 1 or found.statement.holds is Holds.NONE:
        return found
    (low, high), value = found.interval, found.value
    half = (high - low) / 2 if found.statement.holds is Holds.BOTH else 0.0
    low -= (factor - 1) * (max(value - low, half) + grain)
    high += (factor - 1) * (max(high - value, half) + grain)
    return replace(found, interval=(max(low, 0.0), high))


@dataclass(frozen=True, eq=False)
class NumbersOfData:
    """Numbers of the data behind a release, with 95% intervals for noise alone, to be stretched together.

    ``known`` has each number with its grain, and ``shares`` the shares λ_β of items that the β most frequent labels
    hold, with their ends, at the numbers ``marks`` of labels; None if these have no intervals.
    """

    release: Release
    asked: Asked
    known: tuple[tuple[Key, Estimate, float], ...]
    marks: Ints
    shares: tuple[Floats, Floats, Floats]

    @classmethod
    def of(cls, release: Release, asked: Asked) -> NumbersOfData:
        """Read the numbers off a release."""
        labels = release.profile.num_labels if _missing(release) else int(min(release.k_plus(1).interval[1], 2.0**62))
        marks = marks_of(max(labels, asked.guesses[-1]), *asked.guesses)
        share = covered_share(release.profile, marks)
        low, high = release.covered_share(marks)
        known = [*_counted(release, asked), *_by_runs(release)]
        return cls(release, asked, tuple(known), marks, (share, np.minimum(low, share), np.maximum(high, share)))

    def stretched(self, factor: float) -> Iterator[tuple[Key, Estimate]]:
        """Yield all numbers with their intervals stretched by a factor c ≥ 1."""
        for key, found, grain in self.known:
            yield key, stretched(found, factor, grain=grain)
        share, low, high = self.shares
        half, more, grain = (high - low) / 2, factor - 1, 1 / max(self.release.profile.n, 1)
        low = np.maximum(low - more * (np.maximum(share - low, half) + grain * (factor > 1)), 0.0)
        high = np.minimum(high + more * (np.maximum(high - share, half) + grain * (factor > 1)), 1.0)
        missing = _missing(self.release)
        yield Key("work-factor", 0.5), self._work_factor(ShareBand.of(self.marks, low, high), missing)
        for guess, at in zip(self.asked.guesses, np.searchsorted(self.marks, self.asked.guesses).tolist(), strict=True):
            ends = (float(low[at]), float(high[at]))
            noise = math.nan if missing else (ends[1] - ends[0]) / (2 * factor * NORMAL_95)
            found = _estimate(self.release, float(share[at]), ends, missing or _OF_NOISE, noise=noise)
            yield Key("guessing", guess), found

    def _work_factor(self, band: ShareBand, missing: Statement | None) -> Estimate:
        """Return ``min{β : λ_β ≥ 1/2}``, how many labels hold half of the items: bounds follow from those of λ."""
        value = float(MostFrequent.of_share(self.release.profile, _HALF).labels) if self.release.profile.n else 0.0
        if missing is not None:
            return _estimate(self.release, value, (0.0, math.inf), missing, noise=math.nan, unit="labels")
        least, most = band.work(_HALF)
        ends = min(float(least), value), max(float(math.ceil(most)) if math.isfinite(most) else most, value)
        said = _OF_NOISE if math.isfinite(most) else Statement(Holds.AT_LEAST, _OF_NOISE.reason)
        return _estimate(self.release, value, ends, said, noise=math.nan, unit="labels")


def _counted(release: Release, asked: Asked) -> Iterator[tuple[Key, Estimate, float]]:
    """Yield the numbers of items and labels, which are whole."""
    largest = release.largest_count or math.inf
    counts = [count for count in asked.counts if count <= largest]
    yield Key("items"), release.num_items(), 1.0
    yield Key("labels"), release.k_plus(1), 1.0
    if release.zeros is not None:
        yield Key("zeros"), release.prevalence(0), 1.0
    for count in counts:
        if count > 1:
            yield Key("k-plus", count), release.k_plus(count), 1.0
    for count in counts:
        if count <= asked.most_exact:
            yield Key("prevalence", count), release.prevalence(count), 1.0


def _by_runs(release: Release) -> Iterator[tuple[Key, Estimate, float]]:
    """Yield properties of the data: ``f(R) ± (1.5·1.96·sqrt(mean_b (f(R*_b) − f(R))²) + g)``, R*_b runs on R.

    g is how far one item more or less moves f: noise that is seldom other than 0 may be 0 in all runs.
    """
    estimators: dict[str, tuple[Estimator, str]] = {
        "entropy": (PlugIn(), "nats"),
        "simpson": (PlugInSum(2.0, OrderSum.as_power_sum), ""),
    }
    n = max(release.profile.n, 1)
    most = int(release.profile.counts[-1]) if len(release.profile) else 0
    moved = {"entropy": (math.log(n) + 1) / n, "simpson": 2 * (most + 1) / n / n}
    runs = tuple(release.resimulate())
    missing = _missing(release) or (None if runs else NOT_SIMULATED)
    for name, (estimator, unit) in estimators.items():
        value, noise = value_of(estimator, release.profile), math.nan
        ends = (0.0, math.inf)
        if missing is None:
            noise = Sample(release.profile, LEVEL, release, runs).noise(estimator, value)
            half = _RUNS_FALL_SHORT * NORMAL_95 * widening_factor(len(runs)) * noise + moved[name]
            ends = max(value - half, 0.0), value + half
        yield Key(name), _estimate(release, value, ends, missing or _OF_NOISE, noise=noise, unit=unit), 0.0


def _missing(release: Release) -> Statement | None:
    """Return why numbers that depend on all counts have no interval; None if they have."""
    cut, unknown = truncation_reason(release.guarantee.unit), why_unknown(release)
    return cut or (Statement(Holds.NONE, unknown) if unknown else None)


def _estimate(
    release: Release, value: float, ends: tuple[float, float], said: Statement, *, noise: float, unit: str = ""
) -> Estimate:
    return Estimate(
        value,
        noise,
        ends,
        METHOD,
        assumes=assumption(release),
        unit=unit,
        guarantee=release.guarantee,
        statement=said,
        where=release.where,
        bounded_unit=release.bounded_unit,
    )


def numbers_of_source(release: Release, asked: Asked, level: float) -> Iterator[tuple[Key, Estimate]]:
    """Yield properties of the distribution that items were drawn from, with intervals for sampling and noise."""
    for name, entry in ENTRIES.items():
        if name in _LEFT_OUT:
            continue
        for given in entry.asked:
            options = {"draws": asked.draws} if name == "support-coverage" else given
            at: Any = next(iter(options.values()), None)
            yield Key(name, at), load(entry.home)(release, level=level, **options)
    yield from _guessed(release, asked.guesses, level)


def _guessed(release: Release, guesses: tuple[int, ...], level: float) -> Iterator[tuple[Key, Estimate]]:
    """Yield the shares of accounts that so many guesses break, with bounds for every distribution."""
    marks, missing = np.array(guesses, dtype=np.int64), _missing(release)
    shares = covered_share(release.profile, marks)
    if missing is None and release.profile.n:
        sample = Sample(release.profile, level, release)
        band = ShareBand.of(marks, *distribution_bounds(sample, marks))
        lows, highs = band.low, band.high
        # The share of a sample is often outside of the bounds for its distribution.
        shares = np.clip(shares, lows, highs)
    else:
        lows, highs = np.zeros(shares.shape), np.ones(shares.shape)
    said = missing or Statement(Holds.BOTH, "bounds for every distribution")
    for guess, share, low, high in zip(guesses, shares.tolist(), lows.tolist(), highs.tolist(), strict=True):
        found = _estimate(release, share, (low, high), said, noise=(high - low) / (2 * NORMAL_95))
        assumes = "; ".join(filter(None, (GuessingSuccess(guess).assumes, found.assumes)))
        yield Key("guessing", guess), replace(found, assumes=assumes, level=level)
