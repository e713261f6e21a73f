"""The series that all estimates of labels not seen share: weights ``1 − (−t)^j·P(Z ≥ j)``."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric import pointwise
from anonhist.numeric.read_only import read_only
from anonhist.properties.assemblage import Assemblage
from anonhist.properties.estimator import Point
from anonhist.properties.linear import LinearStatistic
from anonhist.properties.sampling import sampling_error
from anonhist.properties.support_coverage.rarefaction import Rarefaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.profiles import Profile

# A label seen more often is sure to be seen again: its term is left out, which matters to t between 0.99 and 1 alone
# and shifts the value by less than 0.01 for each label whose count is near.
LONGEST = 4096
# Of a larger rate of a Poisson distribution, tails up to there would not hold all of it.
LARGEST_RATE = 1000.0
# Terms are cut here, so that their squares stay finite; far beyond use already.
_LARGEST_LOG = 230.0
_SMALL = 100


def series(beyond: float, log_tails: NDArray[np.float64]) -> LinearStatistic:
    """Return the statistic of ``S_m = Σ_j φ_j·(1 − (−t)^j·P(Z ≥ j))``.

    Parameters
    ----------
    beyond
        t = (m − n)/n > 0: how far the draws reach beyond the sample.
    log_tails
        ``ln P(Z ≥ j)`` for j = 0, 1, …, up to ``LONGEST``; beyond its end the probability is 0.

    Examples
    --------
    >>> series(0.5, np.zeros(LONGEST + 1)).weights(np.array([0, 1, 2, 3, 99])).tolist()
    [0.0, 1.5, 0.75, 1.125, 1.0]
    """
    counts = np.arange(log_tails.size)
    terms = pointwise.exp(np.minimum(counts * math.log(beyond) + log_tails, _LARGEST_LOG))
    all_weights = 1.0 - np.where(counts % 2, -terms, terms)
    # Terms too small to be felt make weights of exactly 1.
    head = 1 + int(np.flatnonzero(all_weights != 1.0)[-1])
    table = np.append(all_weights[:head], 1.0)

    def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(table[np.minimum(counts, head)])

    return LinearStatistic(weights, head=head)


def log_poisson_tails(rate: float) -> NDArray[np.float64]:
    """Return ``ln P(Z ≥ j)``, Z ~ Poisson(rate), rate ≤ ``LARGEST_RATE``, for j = 0, …, ``LONGEST``."""
    counts = np.arange(LONGEST + 1)
    return _tails(counts * math.log(rate) - rate - _log_factorials())


def log_binomial_tails(trials: int, odds: float) -> NDArray[np.float64]:
    """Return ``ln P(Z ≥ j)``, Z ~ Binomial(trials, 1/(1 + odds)), trials ≤ ``LONGEST``, for j = 0, …, trials."""
    factorials = _log_factorials()
    hits = np.arange(trials + 1)
    chances = (trials - hits) * math.log(odds) - trials * math.log1p(odds)
    return _tails(chances + factorials[trials] - factorials[hits] - factorials[trials - hits])


def reach(*, n: int, draws: int) -> float:
    """Return t = (m − n)/n, how many times the sample the draws beyond it are."""
    return (draws - n) / n


def inside_logarithm(beyond: float) -> float:
    """Return t as it stands in the public parameters of smoothings: they need t > 1."""
    return max(beyond, 1.001)


def series_point(profile: Profile, draws: int, statistic: Callable[..., LinearStatistic]) -> Point:
    """Estimate from a profile with at least one item; up to n draws that is rarefaction, whatever the series.

    New labels are at least none, and at most one for each draw beyond the sample: no error is larger than m.
    """
    if draws <= profile.n:
        return Rarefaction(draws).point(profile)
    linear = statistic(n=profile.n, draws=draws)
    value = _kept_weight(linear, profile, draws)
    error = min(sampling_error(profile, linear.weights), float(draws))
    return Point(value, linear.weights, error, _visible(profile, draws))


def series_value(profile: Profile, draws: int, statistic: Callable[..., LinearStatistic]) -> float:
    """Return the number alone of :func:`series_point` and :func:`smoothed_point`."""
    if draws <= profile.n:
        return Rarefaction(draws).point(profile).value
    return _kept_weight(statistic(n=profile.n, draws=draws), profile, draws)


def _kept_weight(linear: LinearStatistic, profile: Profile, draws: int) -> float:
    seen, more = float(profile.num_labels), float(draws - profile.n)
    return min(max(linear.of(profile), seen), seen + more)


def smoothed_point(profile: Profile, draws: int, statistic: Callable[..., LinearStatistic]) -> Point:
    """Estimate by a series that is biased, and join its expected bias in squares to the sampling error.

    The bias is that for the population of :class:`~anonhist.properties.assemblage.Assemblage`, whose labels not seen
    are equally frequent: where they are not it is larger, and intervals are too short.
    """
    point = series_point(profile, draws, statistic)
    if draws <= profile.n or point.standard_error is None:
        return point
    bias = _bias(profile, statistic(n=profile.n, draws=draws), reach(n=profile.n, draws=draws))
    return replace(point, standard_error=min(math.hypot(point.standard_error, bias), float(draws)))


def _bias(profile: Profile, linear: LinearStatistic, beyond: float) -> float:
    """Return ``Σ_x (e^{−λ·(1+t)} − E(1 − w(N)))``, N ~ Poisson(λ), λ the mean count of the label x."""
    population = Assemblage.of(profile)
    means = profile.n * population.probabilities
    # Labels of larger counts have weight 1, and will be seen.
    near = (means > 0) & (means < linear.head + 10 * math.sqrt(linear.head) + 50)
    means, counts = means[near], np.arange(linear.head)
    pmf = np.exp(counts * np.log(means)[:, None] - means[:, None] - _log_factorials()[: linear.head])
    missed = np.exp(-means * (1 + beyond)) - pmf @ (1.0 - linear.weights(counts))
    return float(population.labels[near] @ missed)


def _visible(profile: Profile, draws: int) -> tuple[str, ...]:
    """Warn if the sample is small, or the draws are too many for any estimator."""
    warnings: list[str] = []
    if profile.n < _SMALL:
        warnings.append(f"Fewer than {_SMALL} items are too few to estimate labels not seen.")
    if reach(n=profile.n, draws=draws) > math.log(profile.n):
        warnings.append("There are too many draws: no estimator works for more than about n·ln n of them.")
    return tuple(warnings)


def _tails(log_pmf: NDArray[np.float64]) -> NDArray[np.float64]:
    tails = np.logaddexp.accumulate(log_pmf[::-1])[::-1]
    return np.asarray(np.minimum(tails - tails[0], 0.0))


@cache
def _log_factorials() -> NDArray[np.float64]:
    return read_only(np.append(0.0, np.cumsum(pointwise.log(np.arange(1.0, LONGEST + 1)))))
