"""One site: what was found there, and its Hill numbers along sizes and coverages, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.privacy import parse_whole_number
from anonhist.properties.estimate import check_level, quantile, widening_factor
from anonhist.species.bootstrap import draw_again
from anonhist.species.hill import asymptotic, at_size, parse_orders
from anonhist.species.richness import chao_error, log_normal_ends
from anonhist.species.sample import ReferenceSample, SiteData

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats

Base = Literal["curve", "equal size", "equal coverage", "asymptote"]
# A table with more of these would have no reader.
_MOST_LEVELS, _MOST_POINTS, _MOST_BOOTSTRAPS = 100, 1_000, 10_000
# The prevalences of so many counts are told, and curves go up to so many times a sample.
_FIRST, FAR = 10, 2
# Below this coverage of the sample, intervals of asymptotes of order 1 and 2 were seen to be too short; if it may be
# less, those of order 1 at equal coverage beyond it. So were all at equal coverage from fewer incidences,
# and those of order 0 from fewer of species in at most so many units: those that are everywhere do not tell of others.
_ENOUGH, _FEWEST, _INFREQUENT = 0.9, 50, 10
# Errors of a community that is guessed from few observations are too small: without this, intervals of 100 individuals
# or 30 units held the truth in as few as 82% of runs (bench/species_intervals.py).
_OF_FEW = 4.0
# Numbers that are alike, such as those of one individual, differ by rounding.
_ROUNDING = 1e-12


@frozen
class Site:
    """What was found at one site.

    Attributes
    ----------
    name
        The site.
    size
        The number n of individuals, or T of sampling units.
    total
        n, or the number U of detections.
    num_species
        The number of species found.
    coverage
        The estimated share of the community that has a species found here, from 0 to 1.
    coverage_error
        Its standard error, as an estimate of the share actually found.
    coverage_low, coverage_high
        The interval of that share.
    first
        ``f_1, …, f_10`` or ``Q_1, …, Q_10``: how many species were found once, …, ten times.

    Examples
    --------
    >>> Site("north", 168, 168, 26, 0.93, 0.02, 0.88, 0.96, (12, 4)).num_species
    26
    """

    name: str
    size: int
    total: int
    num_species: int
    coverage: float
    coverage_error: float
    coverage_low: float
    coverage_high: float
    first: tuple[int, ...]


@frozen
class Diversity:
    """A Hill number of one site, at one size.

    Attributes
    ----------
    site
        The name of the site.
    base
        ``"curve"``, ``"equal size"``, ``"equal coverage"`` or ``"asymptote"``.
    kind
        ``"interpolated"``, ``"observed"``, ``"extrapolated"`` or ``"asymptotic"``.
    order
        q: 0, 1 or 2.
    size
        m, in individuals or sampling units; infinite for the asymptote.
    coverage
        The coverage expected of a sample of this size.
    coverage_low, coverage_high
        The interval of the share that the sample itself covers; NaN at other sizes, for which no interval is known that
        is long enough. At equal coverage, the coverage itself.
    value
        The effective number of species.
    standard_error
        Its standard error, ≥ 0: at this size or, at equal coverage, at this coverage.
    low, high
        The interval; NaN if none is known that is long enough. The upper end is infinite at order 0 of the asymptote:
        any number of species may be too rare to be found.

    Examples
    --------
    >>> Diversity("north", "curve", "observed", 0, 168, 0.93, 0.9, 0.96, 26, 3, 20, 32).base
    'curve'
    """

    site: str
    base: Base
    kind: str
    order: int
    size: float
    coverage: float
    coverage_low: float
    coverage_high: float
    value: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True)
class Asked:
    """What is to be estimated, checked."""

    orders: tuple[int, ...]
    coverages: tuple[float, ...]
    sizes: tuple[int, ...]
    points: int
    level: float
    bootstraps: int

    @classmethod
    def of(
        cls,
        orders: Iterable[float],
        coverage: float | Iterable[float] | None,
        size: int | Iterable[int] | None,
        points: int,
        level: float,
        bootstraps: int,
    ) -> Asked:
        """Return what is asked, or refuse a number out of range."""
        check_level(level)
        coverages, sizes = _several(coverage), _several(size)
        if not all(isinstance(each, int | float) and 0 < each < 1 for each in coverages):
            raise UsageError("`coverage` must be between 0 and 1, such as 0.9, or several such numbers.")
        checked = [parse_whole_number(each, name="size") for each in sizes]
        if len(coverages) > _MOST_LEVELS or len(sizes) > _MOST_LEVELS:
            raise UsageError(f"Compare at {_MOST_LEVELS} sizes and coverages at most.")
        number = 0 if points == 0 else parse_whole_number(points, name="points", least=4, most=_MOST_POINTS)
        times = parse_whole_number(bootstraps, name="bootstraps", least=3, most=_MOST_BOOTSTRAPS)
        distinct = tuple(dict.fromkeys(map(float, coverages)))
        return cls(parse_orders(orders), distinct, tuple(dict.fromkeys(checked)), number, float(level), times)


def _several(given: float | Iterable[float] | None) -> list[float]:
    if given is None:
        return []
    return list(given) if isinstance(given, Iterable) else [given]


@dataclass(frozen=True)
class _Place:
    """One size or coverage at which the numbers of a site are wanted; the asymptote has neither."""

    base: Base
    size: float = math.inf
    coverage: float | None = None

    def size_in(self, sample: ReferenceSample) -> float:
        """Return the size in a sample, which may be a bootstrap sample that covers more with one draw."""
        if self.coverage is None:
            return self.size
        if not sample.total or sample.coverage(1.0) > self.coverage:
            return 1.0
        return sample.size_at(self.coverage)

    def values(self, sample: ReferenceSample, orders: tuple[int, ...]) -> list[float]:
        """Return the coverage and the Hill numbers of a sample."""
        size = self.size_in(sample)
        if size == math.inf:
            return [1.0, *(asymptotic(sample, order) for order in orders)]
        covered = sample.coverage(size) if self.coverage is None else self.coverage
        return [covered, *(at_size(sample, order, size) for order in orders)]


def estimates_of(name: str, data: SiteData, asked: Asked, rng: np.random.Generator) -> tuple[Site, list[Diversity]]:
    """Return what was found at a site, and its Hill numbers."""
    sample = ReferenceSample.of(data)
    places = [
        *(_Place("curve", size=size) for size in _knots(sample.size, asked.points)),
        *(_Place("equal size", size=size) for size in asked.sizes),
        *(_Place("equal coverage", size=sample.size_at(level), coverage=level) for level in asked.coverages),
        _Place("asymptote"),
    ]

    def numbers(drawn: ReferenceSample) -> Floats:
        return np.array([place.values(drawn, asked.orders) for place in places])

    values = numbers(sample)
    again = np.array([numbers(drawn) for drawn in draw_again(data, times=asked.bootstraps, rng=rng)])
    errors, short = again.std(axis=0, ddof=1), np.maximum(values - again.mean(axis=0), 0.0)
    errors[errors < _ROUNDING * values] = 0.0
    first = tuple(sample.of_count(count) for count in range(1, _FIRST + 1))
    covered = (sample.coverage(sample.size), sample.coverage_error(), *sample.coverage_ends(quantile(asked.level)))
    site = Site(name, sample.size, sample.total, sample.num_species, *covered, first)
    rows = []
    for place, *of_place in zip(places, values.tolist(), errors.tolist(), short.tolist(), strict=True):
        coverage, *_ = of_place[0]
        for order, value, error, less in zip(asked.orders, *(each[1:] for each in of_place), strict=True):
            known = _Number(value, error, less, widening_factor(asked.bootstraps - 1))
            rows.append(_row(name, sample, place, order, coverage, known, asked.level))
    return site, rows


@dataclass(frozen=True)
class _Number:
    """A Hill number, its standard error, by how much bootstrap samples fall short of it on average, and a factor.

    The factor widens intervals, since few bootstrap samples tell the error.
    """

    value: float
    error: float
    short: float
    widening: float


def _row(
    name: str, sample: ReferenceSample, place: _Place, order: int, coverage: float, number: _Number, level: float
) -> Diversity:
    value, error = number.value, number.error
    z, size = quantile(level), place.size
    wider = 1 + _OF_FEW / math.sqrt(sample.total)
    # New species are about as many as were found once: if hardly any was, bootstrap samples do not say how many may be.
    unlucky = z / 2 * max(size / sample.size - 1, 0.0) if order == 0 and size < math.inf else 0.0
    reach = z * number.widening * wider
    low = max(value - reach * error, 0.0)
    high = value + number.short * wider + z * unlucky + reach * math.hypot(error, unlucky)
    if size == math.inf:
        kind = "asymptotic"
        if order == 0:
            error = chao_error(sample)
            # The upper end would not cover species far rarer than those found.
            low, high = float(math.floor(log_normal_ends(sample, value, error, level)[0])), math.inf
        elif sample.coverage(sample.size) < _ENOUGH:
            low = high = math.nan
        else:
            low, high = max(value - z * error, 1.0), (value + number.short) * math.exp(z * error / value)
    else:
        kind = "observed" if size == sample.size else "interpolated" if size < sample.size else "extrapolated"
        told = sample.counts <= _INFREQUENT if order == 0 else slice(None)
        too_few = sample.of_incidence and sample.counts[told] @ sample.prevalences[told] < _FEWEST
        too_far = order == 0 or (order == 1 and sample.coverage_ends(z)[0] < _ENOUGH)
        if place.coverage is not None and (too_few or (kind == "extrapolated" and too_far)):
            low = high = math.nan
    ends = (math.nan, math.nan)
    if size == math.inf or place.coverage is not None:
        ends = (coverage, coverage)
    elif size == sample.size:
        ends = sample.coverage_ends(z)
    if not sample.of_incidence and place.coverage is None and size < math.inf:
        # So many individuals are of one species at least, and of one each at most.
        low, high = max(low, 1.0), min(high, size)
    if not math.isnan(low):
        low, high = min(low, value), max(high, value)
    return Diversity(name, place.base, kind, order, size, coverage, *ends, value, error, low, high)


def _knots(size: int, points: int) -> list[int]:
    """Return whole sizes: up to n evenly and by equal factors, n, and evenly up to 2n; about ``points`` of them."""
    if not points:
        return []
    quarter = points // 4
    below = np.append(np.geomspace(1, size, quarter + 1), np.linspace(1, size, quarter + 1))
    beyond = np.linspace(size, FAR * size, points - 2 * quarter + 1)
    return sorted({int(mark) for mark in np.round(np.append(below, beyond))} | {size})
