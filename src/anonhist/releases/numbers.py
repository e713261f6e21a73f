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
from anonhist.numeric.arrays import Ints
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


def numbers_of_data(release: Release, asked: Asked, factor: float) -> Iterator[tuple[Key, Estimate]]:
    """Yield numbers of the data, with intervals for noise alone, stretched by a factor ≥ 1."""
    largest = release.largest_count or math.inf
    counts = [count for count in asked.counts if count <= largest]
    yield Key("items"), stretched(release.num_items(), factor, grain=1)
    yield Key("labels"), stretched(release.k_plus(1), factor, grain=1)
    if release.zeros is not None:
        yield Key("zeros"), stretched(release.prevalence(0), factor, grain=1)
    for count in counts:
        if count > 1:
            yield Key("k-plus", count), stretched(release.k_plus(count), factor, grain=1)
    for count in counts:
        if count <= asked.most_exact:
            yield Key("prevalence", count), stretched(release.prevalence(count), factor, grain=1)
    yield Key("entropy"), _of_data(release, PlugIn(), factor, unit="nats")
    yield Key("simpson"), _of_data(release, PlugInSum(2.0, OrderSum.as_power_sum), factor)
    yield Key("work-factor", 0.5), _work_factor(release, factor)
    yield from _covered(release, asked.guesses, factor)


def _of_data(release: Release, estimator: Estimator, factor: float, *, unit: str = "") -> Estimate:
    """Return a property of the data: ``f(R) ± c·1.96·sqrt(mean_b (f(R*_b) − f(R))²)``, R*_b runs on the release R."""
    value = value_of(estimator, release.profile)
    runs = tuple(release.resimulate())
    noise = Sample(release.profile, LEVEL, release, runs).noise(estimator, value) if runs else math.nan
    missing = _missing(release) or (None if runs else NOT_SIMULATED)
    half = factor * NORMAL_95 * widening_factor(len(runs)) * noise if runs else math.inf
    ends = (0.0, math.inf) if missing else (max(value - half, 0.0), value + half)
    return _estimate(release, value, ends, missing or _OF_NOISE, noise=noise, unit=unit)


def _work_factor(release: Release, factor: float) -> Estimate:
    """Return ``min{β : λ_β ≥ 1/2}``, how many labels hold half of the items: bounds follow from those of λ."""
    value, missing = float(MostFrequent.of_share(release.profile, _HALF).labels), _missing(release)
    ends, said = (1.0, math.inf), missing or _OF_NOISE
    if missing is None:
        marks = marks_of(int(min(release.k_plus(1).interval[1], 2.0**62)))
        _, low, high = _shares(release, marks, factor)
        least, most = ShareBand.of(marks, np.array(low), np.array(high)).work(_HALF)
        ends = min(float(least), value), max(float(most), value)
        said = said if math.isfinite(most) else Statement(Holds.AT_LEAST, _OF_NOISE.reason)
    return _estimate(release, value, ends, said, noise=math.nan, unit="labels")


def _covered(release: Release, guesses: tuple[int, ...], factor: float) -> Iterator[tuple[Key, Estimate]]:
    """Yield the shares λ_β of all items that so many most frequent labels hold."""
    missing = _missing(release)
    for guess, share, low, high in zip(guesses, *_shares(release, np.array(guesses), factor), strict=True):
        noise = math.nan if missing else (high - low) / (2 * factor * NORMAL_95)
        yield Key("guessing", guess), _estimate(release, share, (low, high), missing or _OF_NOISE, noise=noise)


def _shares(release: Release, marks: Ints, factor: float) -> tuple[list[float], list[float], list[float]]:
    """Return the shares λ_β of a release with their ends, stretched as above."""
    shares = covered_share(release.profile, marks)
    low, high = (
        side(end, shares) for side, end in zip((np.minimum, np.maximum), release.covered_share(marks), strict=True)
    )
    half, more = (high - low) / 2, (factor - 1)
    grain = 1 / max(release.profile.n, 1)
    least = np.maximum(low - more * (np.maximum(shares - low, half) + grain), 0.0)
    most = np.minimum(high + more * (np.maximum(high - shares, half) + grain), 1.0)
    return shares.tolist(), least.tolist(), most.tolist()


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
        assumes=assumption(release.guarantee.unit),
        unit=unit,
        guarantee=release.guarantee,
        statement=said,
        where=release.where,
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
        lows, highs = np.minimum(band.low, shares), np.maximum(band.high, shares)
    else:
        lows, highs = np.zeros(shares.shape), np.ones(shares.shape)
    said = missing or Statement(Holds.BOTH, "bounds for every distribution")
    for guess, share, low, high in zip(guesses, shares.tolist(), lows.tolist(), highs.tolist(), strict=True):
        found = _estimate(release, share, (low, high), said, noise=(high - low) / (2 * NORMAL_95))
        yield Key("guessing", guess), replace(found, assumes=GuessingSuccess(guess).assumes, level=level)
