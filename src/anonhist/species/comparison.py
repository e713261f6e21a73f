"""Sites beside each other: diversity at equal coverage or size, along curves, and of whole communities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.frozen import frozen
from anonhist.kinds import Saved, Shown, Tabular
from anonhist.species.hill import ORDERS
from anonhist.species.sample import ReferenceSample, SiteData
from anonhist.species.site import FAR, Asked, Base, Diversity, Site, estimates_of

_BEYOND = (
    "Beyond twice the size of a sample, numbers of order 0 and 1 are unreliable; those of order 0 are lower bounds."
)
_NO_COMMON = (
    "No coverage is common to all sites, so none are compared at equal coverage: one of the {drawn} of site "
    "{high!r:.80} is expected to cover more than twice the sample of site {low!r:.80}. Compare at equal sizes."
)
_TOO_LITTLE = (
    "Asymptotes of order 1 and 2 have no interval for {sites}: less than 90% of the community seems to be covered, and "
    "how far values are off is then not known."
)
_WITHIN = (
    "At equal coverage beyond a sample, intervals are left out for order 0, and for order 1 if it may cover less than "
    "90%; all are from fewer than 50 incidences, for order 0 of species in at most 10 units. They held too rarely."
)
_MOST_NAMED = 5
_ROUNDING = 1e-9
_LOWER = "Asymptotic numbers of order 0 are lower bounds: species far rarer than those found are not in them."


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
    asked = Asked.of(orders, coverage, size, points, level, bootstraps)
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
        site, rows = estimates_of(name, data, asked, rng)
        told.append(site)
        estimates += rows
        if progress is not None:
            progress(len(told) / len(sites))
    far = any(
        row.kind == "extrapolated" and row.order < 2 and row.size > FAR * samples[row.site].size * (1 + _ROUNDING)
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


def _by_default(asked: Asked, samples: Mapping[str, ReferenceSample]) -> tuple[Asked, str]:
    """Compare at the smallest coverage of samples of twice their size or, if that is 1, at the smallest such size.

    If one draw at a site covers more than that, sites have no such coverage in common: the sentence says so.
    """
    doubled = {name: sample.coverage(FAR * sample.size) for name, sample in samples.items()}
    low = min(doubled, key=doubled.__getitem__)
    if doubled[low] == 1:
        return replace(asked, sizes=(min(FAR * sample.size for sample in samples.values()),)), ""
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
