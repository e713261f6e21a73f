"""Sites beside each other: diversity at equal coverage or size, along curves, and of whole communities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.frozen import frozen
from anonhist.kinds import Saved, Shown, Tabular
from anonhist.privacy import parse_whole_number
from anonhist.properties.estimate import check_level, quantile, widening_factor
from anonhist.species.bootstrap import draw_again
from anonhist.species.hill import ORDERS, asymptotic, at_size, parse_orders
from anonhist.species.richness import chao_error, log_normal_ends
from anonhist.species.sample import ReferenceSample, SiteData

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats

Base = Literal["curve", "equal size", "equal coverage", "asymptote"]
# A table with more of these would have no reader.
_MOST_LEVELS, _MOST_POINTS, _MOST_BOOTSTRAPS = 100, 1_000, 10_000
_FIRST, _FAR = 10, 2
_BEYOND = (
    "Beyond twice the size of a sample, numbers of order 0 and 1 are unreliable; those of order 0 are lower bounds."
)
_NO_COMMON = (
    "No coverage is common to all sites, so none are compared at equal coverage: one of the {drawn} of site "
    "{high!r:.80} is expected to cover more than twice the sample of site {low!r:.80}. Compare at equal sizes."
)
# Below this coverage of the sample, intervals of asymptotes of order 1 and 2 were seen to be too short; if it may be
# less, those of order 1 at equal coverage beyond it. So were all at equal coverage from fewer incidences,
# and those of order 0 from fewer of species in at most so many units: those that are everywhere do not tell of others.
_ENOUGH, _FEWEST, _INFREQUENT = 0.9, 50, 10
_TOO_LITTLE = (
    "Asymptotes of order 1 and 2 have no interval for {sites}: less than 90% of the community seems to be covered, and "
    "how far values are off is then not known."
)
_WITHIN = (
    "At equal coverage beyond a sample, intervals are left out for order 0, and for order 1 if it may cover less than "
    "90%; all are from fewer than 50 incidences, for order 0 of species in at most 10 units. They held too rarely."
)
# Errors of a community that is guessed from few observations are too small: without this, intervals of 100 individuals
# or 30 units held the truth in as few as 82% of runs (bench/species_intervals.py).
_OF_FEW = 4.0
_MOST_NAMED = 5
_ROUNDING = 1e-9
_LOWER = "Asymptotic numbers of order 0 are lower bounds: species far rarer than those found are not in them."


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


@frozen(repr=False)
class SiteComparison(Shown, Tabular, Saved):
    """The diversity of several sites; it is not private.

    Attributes
    ----------
    data
        ``"abundance"`` or ``"incidence"``.
    sites
        What was found at each site.
    estimates
        The Hill numbers, by site.
    level
        Probability with which each interval is meant to contain the truth, by itself.
    bootstraps
        The number of bootstrap samples.
    warnings
        Sentences about estimates that are less certain than they seem.

    Examples
    --------
    >>> SiteComparison("abundance", (), (), 0.95, 50)
    SiteComparison(0 sites, abundance)
    """

    known_as = "site comparison"
    data: Literal["abundance", "incidence"]
    sites: tuple[Site, ...]
    estimates: tuple[Diversity, ...]
    level: float
    bootstraps: int
    warnings: tuple[str, ...] = ()

    @property
    def drawn(self) -> str:
        """What is drawn, in the plural."""
        return "sampling units" if self.data == "incidence" else "individuals"

    def of(self, base: Base) -> tuple[Diversity, ...]:
        """Return the estimates with one base, such as ``"equal coverage"``."""
        return tuple(each for each in self.estimates if each.base == base)

    def __repr__(self) -> str:
        many = f"{len(self.sites):,} site{'' if len(self.sites) == 1 else 's'}"
        return f"SiteComparison({many}, {self.data})"


def compare_sites(
    sites: Mapping[str, SiteData],
    *,
    orders: Iterable[float] = ORDERS,
    coverage: float | Iterable[float] | None = None,
    size: int | Iterable[int] | None = None,
    points: int = 40,
    level: float = 0.95,
    bootstraps: int = 50,
    rng: np.random.Generator | None = None,
    progress: Callable[[float], None] | None = None,
) -> SiteComparison:
    """Compare the diversity of sites by Hill numbers of order 0, 1 and 2, as iNEXT does.

    There are four kinds of rows: the curve of each site up to twice its size; all sites at equal coverage or at equal
    size, by rarefaction or extrapolation; and the asymptotes, which estimate whole communities. The formulas are those
    of iNEXT 3. Sample sizes at equal coverage are not whole.

    Standard errors are those of bootstrap samples from an estimated community. Intervals are ``value − z·error`` to
    ``value + b + z·error``, within what is possible, b being by how much bootstrap samples fall short of the value on
    average, at least 0, and z wider if there are few of them. Up to twice a sample they are wider by 4/√n, n being all
    individuals or incidences; for order 0 at r times a sample, r > 1, the upper end is ``z²(r − 1)/2`` higher, and
    ``(r − 1)·z/2`` is added to the error in quadrature, as for a Poisson number: few may have been found once by luck.
    At equal coverage, each bootstrap sample is brought to that coverage; beyond a sample there is no interval of order
    0, and none of order 1 if the interval of its coverage reaches below 90%; from fewer than 50 incidences, there is
    none at all; for order 0, those of species in at most 10 units are counted. Of the asymptote of order 0, which is
    Chao1 or Chao2, error and lower end are published formulas, as of :func:`species_richness`. The interval of
    asymptotes of order 1 and 2 is from ``D − z·error`` to ``(D + b)·exp(z·error/D)``, if a sample covers 90%: D is too
    low where much was missed.

    Source: Chao and others 2014; Chao and Jost 2012; Colwell and others 2012; Esty 1983; Hsieh and others 2016.

    Parameters
    ----------
    sites
        For each name, a profile of individuals or :class:`IncidenceFrequencies`, of the same kind for all sites. They
        are exact: the result is not private.
    orders
        Orders q among 0, 1 and 2.
    coverage
        Coverages from above 0 to below 1 at which to compare. If neither this nor ``size`` is given, it is the smallest
        coverage of a site's sample of twice its size, as in iNEXT; if all these seem to cover everything, sites are
        compared at the smallest of these sizes. If one draw at another site covers more, a warning says so, and there
        is no comparison at equal coverage.
    size
        Numbers of individuals or sampling units at which to compare, ≥ 1.
    points
        About how many sizes each curve has, from 4 to 1,000; 0 for no curves.
    level
        Probability with which each interval is meant to contain the truth.
    bootstraps
        Number of bootstrap samples, from 3 to 10,000.
    rng
        Random generator for the samples; a new one by default.
    progress
        Called with the share done, in (0, 1], after each site.

    Raises
    ------
    UsageError
        If there is no site, abundances and incidences are mixed, a number is out of range, or a coverage is below what
        one draw at some site covers.
    DataError
        If a site has no species, or fewer than two individuals or sampling units.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> sites = {"a": Profile.from_counts([9, 4, 2, 1, 1]), "b": Profile.from_counts([3, 3, 2, 1])}
    >>> found = compare_sites(sites, size=9)
    >>> [(row.site, row.order, round(row.value, 3)) for row in found.of("equal size")][:2]
    [('a', 0, 3.824), ('a', 1, 3.05)]
    """
    asked = _Asked.of(orders, coverage, size, points, level, bootstraps)
    samples = _samples(sites)
    why_not = ""
    if not asked.coverages and not asked.sizes:
        asked, why_not = _by_default(asked, samples)
    for each in asked.coverages:
        _check_common(each, samples)
    rng = np.random.default_rng() if rng is None else rng
    told: list[Site] = []
    estimates: list[Diversity] = []
    for name, data in sites.items():
        site, rows = _estimates(name, data, asked, rng)
        told.append(site)
        estimates += rows
        if progress is not None:
            progress(len(told) / len(sites))
    far = any(
        row.kind == "extrapolated" and row.order < 2 and row.size > _FAR * samples[row.site].size * (1 + _ROUNDING)
        for row in estimates
    )
    warnings = (
        *((why_not,) if why_not else ()),
        *((_BEYOND,) if far else ()),
        *((_LOWER,) if 0 in asked.orders else ()),
        *_without_interval(estimates),
    )
    kind: Literal["abundance", "incidence"] = "abundance"
    if next(iter(samples.values())).of_incidence:
        kind = "incidence"
    return SiteComparison(kind, tuple(told), tuple(estimates), asked.level, asked.bootstraps, warnings)


@dataclass(frozen=True)
class _Asked:
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
    ) -> _Asked:
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


def _by_default(asked: _Asked, samples: Mapping[str, ReferenceSample]) -> tuple[_Asked, str]:
    """Compare at the smallest coverage of samples of twice their size or, if that is 1, at the smallest such size.

    If one draw at a site covers more than that, sites have no such coverage in common: the sentence says so.
    """
    doubled = {name: sample.coverage(_FAR * sample.size) for name, sample in samples.items()}
    low = min(doubled, key=doubled.__getitem__)
    if doubled[low] == 1:
        return replace(asked, sizes=(min(_FAR * sample.size for sample in samples.values()),)), ""
    first = {name: sample.coverage(1.0) for name, sample in samples.items()}
    high = max(first, key=first.__getitem__)
    if first[high] > doubled[low]:
        return asked, _NO_COMMON.format(drawn=samples[high].drawn, high=high, low=low)
    return replace(asked, coverages=(doubled[low],)), ""


def _check_common(coverage: float, samples: Mapping[str, ReferenceSample]) -> None:
    """Refuse a coverage below that of one draw at some site."""
    for name, sample in samples.items():
        if sample.coverage(1.0) > coverage:
            raise UsageError(
                f"The coverage {coverage:.6g} cannot be compared: at site {name!r:.80} one of the {sample.drawn} is "
                f"expected to cover {sample.coverage(1.0):.6g}. Choose a larger one."
            )


def _without_interval(rows: Iterable[Diversity]) -> tuple[str, ...]:
    """Return sentences about numbers without an interval, if any."""
    without = [row for row in rows if math.isnan(row.low)]
    beyond = (_WITHIN,) if any(row.base != "asymptote" for row in without) else ()
    names = list(dict.fromkeys(row.site for row in without if row.base == "asymptote"))
    if not names:
        return beyond
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    told = ", ".join(f"{name!r:.80}" for name in names[:_MOST_NAMED])
    return (*beyond, _TOO_LITTLE.format(sites=f"site{'' if len(names) == 1 else 's'} {told}{more}"))


def _several(given: float | Iterable[float] | None) -> list[float]:
    if given is None:
        return []
    return list(given) if isinstance(given, Iterable) else [given]


def _samples(sites: Mapping[str, SiteData]) -> dict[str, ReferenceSample]:
    if not isinstance(sites, Mapping) or not sites:
        raise UsageError("`sites` must be a mapping from names to profiles or incidence frequencies, at least one.")
    samples = {name: ReferenceSample.of(data) for name, data in sites.items()}
    if len({sample.of_incidence for sample in samples.values()}) > 1:
        raise UsageError("Abundances and incidences cannot be compared: give sites of one kind.")
    for place, sample in enumerate(samples.values(), start=1):
        try:
            sample.check_large_enough()
        except DataError as error:
            raise DataError(f"Site {place} of {len(samples)}: {error}") from None
    return samples


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


def _estimates(name: str, data: SiteData, asked: _Asked, rng: np.random.Generator) -> tuple[Site, list[Diversity]]:
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
    if not math.isnan(low):
        low, high = min(low, value), max(high, value)
    return Diversity(name, place.base, kind, order, size, coverage, *ends, value, error, low, high)


def _knots(size: int, points: int) -> list[int]:
    """Return whole sizes: up to n evenly and by equal factors, n, and evenly up to 2n; about ``points`` of them."""
    if not points:
        return []
    quarter = points // 4
    below = np.append(np.geomspace(1, size, quarter + 1), np.linspace(1, size, quarter + 1))
    beyond = np.linspace(size, _FAR * size, points - 2 * quarter + 1)
    return sorted({int(mark) for mark in np.round(np.append(below, beyond))} | {size})
