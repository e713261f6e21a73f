"""The number of labels that further draws add: by the series of Good and Toulmin, and by a monotone mixture."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.numeric import arrays
from anonhist.numeric.arrays import Floats, Ints, read_only
from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.estimator import LinearStatistic, Point
from anonhist.properties.sampling import Assemblage, sampling_error

# Up to this many factors are multiplied one by one; beyond, Stirling's series is exact to all digits.
_ONE_BY_ONE = 64


@dataclass(frozen=True)
class Rarefaction:
    """``S_m = Σ_r φ_r·(1 − C(n−r, m)/C(n, m))``: the mean number of labels in m items drawn without replacement.

    It is unbiased, and the mean over all subsamples of m items, so its error is at most that of one subsample
    (Hurlbert 1971; Colwell and others 2012, eq. 4). At m = 1 it is 1, and at m = n the number of labels seen. For one
    label it is 1, for singletons m. If a re-simulated release has fewer than m items, all of them are taken.
    """

    draws: int

    name: ClassVar[str] = "rarefaction"
    assumes: ClassVar[str] = "items drawn independently"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        linear = self.statistic(profile.n)
        return Point(linear.of(profile), linear.weights)

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n items: ``w(r) = 1 − C(n−r, m)/C(n, m)``, with falling steps and m at most n."""
        draws = min(self.draws, n)

        def weights(counts: Ints) -> Floats:
            result = np.ones(counts.shape)
            within = counts <= n - draws
            result[within] = _inclusion_probability(counts[within], n, draws)
            return result

        return LinearStatistic(weights, head=0)


def _inclusion_probability(counts: Ints, n: int, draws: int) -> Floats:
    """Return ``1 − C(n−r, m)/C(n, m)`` for r ≤ n − m: the probability that m draws find a label of count r.

    The result for a count does not depend on the other counts in the array: there is no sum over an axis.
    """
    # Draw by draw, a label was found before or is found now: all terms are positive, so no digit is lost.
    if draws <= _ONE_BY_ONE:
        found = np.zeros(counts.shape)
        for step in range(draws):
            found += (1.0 - found) * (counts / float(n - step))
        return found
    # The same with the label's items and the draws exchanged.
    rare = counts <= _ONE_BY_ONE
    table = [0.0]
    for step in range(min(_ONE_BY_ONE, n - draws)):
        table.append(table[-1] + (1.0 - table[-1]) * (draws / (n - step)))
    result = np.empty(counts.shape)
    result[rare] = np.array(table)[counts[rare]]
    if not bool(rare.all()):
        result[~rare] = np.abs(arrays.expm1(_log_exclusion_probability(counts[~rare], n, draws)))
    return result


def _log_exclusion_probability(counts: Ints, n: int, draws: int) -> Floats:
    """Return ``ln(C(n−r, m)/C(n, m))`` for r ≤ n − m by Stirling's formula."""
    # The second difference of (x + ½)·ln x, written in logarithms of 1 + x: nothing cancels at n = 10^15.
    left = np.maximum((n - draws) - counts, 1)
    shared = arrays.log1p(counts / n * (draws / left))
    alone = counts * math.log1p(draws / (n - draws)) + draws * arrays.log1p(counts / (n - counts))
    rest = _series(np.float64(n)) - _series(n - counts) - _series(np.float64(n - draws)) + _series(left)
    return np.asarray((left + 0.5) * shared - alone - rest)


def _series(x: Ints | np.float64) -> Floats:
    """Return the rest ``ln x! − (x + ½)·ln x + x − ½·ln 2π`` of Stirling's formula; further terms are negligible."""
    return np.asarray(1.0 / (12.0 * x))


# A label seen more often is certain to be seen again, so its term is left out. This matters only for t between 0.99 and
# 1, where it shifts the value by less than 0.01 for each label whose count is near.
LONGEST = 4096
# For a larger Poisson rate, LONGEST would truncate the tails.
LARGEST_RATE = 1000.0
# Terms are capped here, far beyond any use, so that their squares stay finite.
_LARGEST_LOG = 230.0
_SMALL = 100
_TRIED = 16
_FALLS = "This series falls as draws grow, which the truth never does: leave the method out."


def series(beyond: float, log_tails: Floats) -> LinearStatistic:
    """Return the statistic of ``S_m = Σ_j φ_j·(1 − (−t)^j·P(Z ≥ j))`` for t = (m − n)/n > 0.

    ``log_tails`` is ``ln P(Z ≥ j)`` for j = 0, 1, …, up to ``LONGEST``; beyond its end the probability is 0.
    """
    counts = np.arange(log_tails.size)
    terms = arrays.exp(np.minimum(counts * math.log(beyond) + log_tails, _LARGEST_LOG))
    all_weights = 1.0 - np.where(counts % 2, -terms, terms)
    # Terms below rounding give weights of exactly 1.
    head = 1 + int(np.flatnonzero(all_weights != 1.0)[-1])
    table = np.append(all_weights[:head], 1.0)
    return LinearStatistic(lambda counts: table[np.minimum(counts, head)], head=head)


def log_poisson_tails(rate: float) -> Floats:
    """Return ``ln P(Z ≥ j)``, Z ~ Poisson(rate), rate ≤ ``LARGEST_RATE``, for j = 0, …, ``LONGEST``."""
    counts = np.arange(LONGEST + 1)
    return _tails(counts * math.log(rate) - rate - log_factorials())


def log_binomial_tails(trials: int, odds: float) -> Floats:
    """Return ``ln P(Z ≥ j)``, Z ~ Binomial(trials, 1/(1 + odds)), trials ≤ ``LONGEST``, for j = 0, …, trials."""
    factorials = log_factorials()
    hits = np.arange(trials + 1)
    chances = (trials - hits) * math.log(odds) - trials * math.log1p(odds)
    return _tails(chances + factorials[trials] - factorials[hits] - factorials[trials - hits])


def reach(*, n: int, draws: int) -> float:
    """Return t = (m − n)/n, the draws beyond the sample relative to the sample."""
    return (draws - n) / n


def inside_logarithm(beyond: float) -> float:
    """Return t for the default parameters of the smoothings, which need t > 1."""
    return max(beyond, 1.001)


@dataclass(frozen=True)
class SeriesEstimator(ABC):
    """Support coverage by a series for unseen labels; up to n draws it is rarefaction for every series."""

    draws: int
    name: ClassVar[str]
    assumes: ClassVar[str] = "items drawn independently, draws up to about ln n times the items"

    @abstractmethod
    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n items, below the number of draws."""

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item.

        There is at most one new label for each draw beyond the sample, so the error is at most m.
        """
        if self.draws <= profile.n:
            return Rarefaction(self.draws).point(profile)
        weights, value = self.statistic(profile.n).weights, self.value(profile)
        error = min(sampling_error(profile, weights), float(self.draws))
        doubts = visible_doubts(profile, self.draws)
        return Point(value, weights, error, doubts + (_FALLS,) * self._falls(profile, value))

    def value(self, profile: Profile) -> float:
        """Return the value alone, without its error."""
        if self.draws <= profile.n:
            return Rarefaction(self.draws).point(profile).value
        seen, more = float(profile.num_labels), float(self.draws - profile.n)
        return min(max(self.statistic(profile.n).of(profile), seen), seen + more)

    def _falls(self, profile: Profile, value: float) -> bool:
        """Return whether the series is larger for some smaller number of draws, tested at a few."""
        n, more = profile.n, self.draws - profile.n
        tried = [n + more * part // _TRIED for part in range(1, _TRIED)]
        # The difference must exceed rounding errors.
        most = value * (1 + 1e-9)
        return any(replace(self, draws=draws).value(profile) > most for draws in tried if draws > n)


class SmoothedSeries(SeriesEstimator):
    """A biased series: its expected bias and the sampling error combine as the root of the sum of squares.

    The bias is computed for the population of :class:`~anonhist.properties.sampling.Assemblage`, whose unseen labels
    are equally frequent. If they are not, the bias is larger and intervals are too short.
    """

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        point = super().point(profile)
        if point.standard_error is None:
            return point
        bias = _bias(profile, self.statistic(profile.n), reach(n=profile.n, draws=self.draws))
        return replace(point, standard_error=min(math.hypot(point.standard_error, bias), float(self.draws)))


def _bias(profile: Profile, linear: LinearStatistic, beyond: float) -> float:
    """Return ``Σ_x (e^{−λ·(1+t)} − E(1 − w(N)))``, N ~ Poisson(λ), λ the mean count of the label x."""
    population = Assemblage.of(profile)
    means = profile.n * population.probabilities
    # Labels of larger counts have weight 1 and will be seen.
    near = (means > 0) & (means < linear.head + 10 * math.sqrt(linear.head) + 50)
    means, counts = means[near], np.arange(linear.head)
    pmf = np.exp(counts * np.log(means)[:, None] - means[:, None] - log_factorials()[: linear.head])
    missed = np.exp(-means * (1 + beyond)) - pmf @ (1.0 - linear.weights(counts))
    return float(population.labels[near] @ missed)


def visible_doubts(profile: Profile, draws: int) -> tuple[str, ...]:
    """Warn if the sample is too small, or there are too many draws for any estimator."""
    warnings: list[str] = []
    if profile.n < _SMALL:
        warnings.append(f"Fewer than {_SMALL} items are too few to estimate labels not seen.")
    if reach(n=profile.n, draws=draws) > math.log(profile.n):
        warnings.append("There are too many draws: no estimator works for more than about n·ln n of them.")
    return tuple(warnings)


def _tails(log_pmf: Floats) -> Floats:
    tails = np.logaddexp.accumulate(log_pmf[::-1])[::-1]
    return np.asarray(np.minimum(tails - tails[0], 0.0))


@cache
def log_factorials() -> Floats:
    """Return ``ln j!`` for j = 0, …, ``LONGEST``."""
    return read_only(np.append(0.0, np.cumsum(arrays.log(np.arange(1.0, LONGEST + 1)))))


# Terms fade out with the tail of a Poisson variable with this mean: counts up to 9 keep all digits.
_SURE = 48.0


class GoodToulmin(SeriesEstimator):
    """``S_m = S_obs − Σ_{j≥1} (−t)^j·φ_j`` with t = (m − n)/n (Good and Toulmin 1956).

    It is nearly unbiased, with a small error, up to t = 1; beyond, its error grows as t^j with the counts j. Up to t =
    1 terms fade out around counts of 48, by the tail of a Poisson variable: a label with such a mean is certain to be
    seen, and its terms, of equal size and alternating sign, would only add noise. Beyond t = 1, terms of counts above
    4,096 are left out. The value is clipped to between the number of labels seen and one more for each draw beyond the
    sample. For one label seen n times it is 1 − (−t)^n, clipped; for singletons n·(1 + t).
    """

    name = "good-toulmin"
    assumes = "items drawn independently, at most twice as many draws as items"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        point = super().point(profile)
        if self.draws <= 2 * profile.n:
            return point
        warning = "Beyond 2n draws, this series diverges: choose a smoothed one."
        return replace(point, warnings=(*point.warnings, warning))

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n items, below the number of draws."""
        beyond = reach(n=n, draws=self.draws)
        return series(beyond, log_poisson_tails(_SURE) if beyond <= 1 else np.zeros(LONGEST + 1))


@dataclass(frozen=True)
class SmoothedPoisson(SmoothedSeries):
    """``S_m = S_obs − Σ_{j≥1} (−t)^j·P(Z ≥ j)·φ_j``, Z ~ Poisson(r), t = (m − n)/n.

    By default ``r = ln(n·(t+1)²/(t−1))/(2t)``: then its mean squared error, relative to the squared number of new
    draws, is at most about n^{−1/t} (Orlitsky and others 2016). In the logarithm t is at least 1.001. The value is
    clipped to between the number of labels seen and one more for each draw beyond the sample. For one label seen often
    it is 1, for singletons ``n·(1 + t·(1 − e^{−r}))``.
    """

    rate: float | None = None
    name = "smoothed-poisson"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n items, below the number of draws."""
        beyond = reach(n=n, draws=self.draws)
        rate = poisson_rate(n, beyond) if self.rate is None else self.rate
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 < rate <= LARGEST_RATE:
            raise UsageError(f"rate must be a number above 0, {LARGEST_RATE:g} at most, not {rate!r:.80}.")
        return series(beyond, log_poisson_tails(rate))


def poisson_rate(n: int, beyond: float) -> float:
    """Return the default r for n items and t·n further draws."""
    t = inside_logarithm(beyond)
    return min((math.log(n) + 2 * math.log1p(t) - math.log(t - 1)) / (2 * beyond), LARGEST_RATE)


@dataclass(frozen=True)
class _SmoothedBinomial(SmoothedSeries):
    """``S_m = S_obs − Σ_{j≥1} (−t)^j·P(Z ≥ j)·φ_j``, Z ~ Binomial(K, (b − 1)/(b − 1 + t)), b = 2 or 3."""

    trials: int | None = None
    base: ClassVar[int]

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n items, below the number of draws."""
        beyond = reach(n=n, draws=self.draws)
        usual = usual_trials(n, beyond, base=self.base)
        trials = usual if self.trials is None else parse_whole_number(self.trials, name="trials", most=LONGEST)
        return series(beyond, log_binomial_tails(trials, beyond / (self.base - 1)))


class SmoothedBinomialA(_SmoothedBinomial):
    """``S_m = S_obs − Σ_{j≥1} (−t)^j·P(Z ≥ j)·φ_j``, Z ~ Binomial(K, 1/(1 + t)), t = (m − n)/n.

    It is known as the Euler transform of Efron and Thisted 1976. By default ``K = ⌈½·log2(n·t²/(t−1))⌉``, t in the
    logarithm at least 1.001 (Orlitsky and others 2016). The value is clipped to between the number of labels seen and
    one more for each draw beyond the sample. For one label seen often it is 1, for singletons ``n·(1 + t·(1 −
    (t/(1+t))^K))``.
    """

    name = "smoothed-binomial-a"
    base = 2


class SmoothedBinomialB(_SmoothedBinomial):
    """The same with Z ~ Binomial(K, 2/(2 + t)) and by default ``K = ⌈½·log3(n·t²/(t−1))⌉``.

    Its guarantee is the best of the three smoothings (Orlitsky and others 2016).
    """

    name = "smoothed-binomial-b"
    base = 3


def usual_trials(n: int, beyond: float, *, base: int) -> int:
    """Return the default K for n items and t·n further draws; base 2 for A, 3 for B."""
    t = inside_logarithm(beyond)
    return math.ceil((math.log(n) + 2 * math.log(t) - math.log(t - 1)) / (2 * math.log(base)))


# Counts up to this are distinguished; a label seen more often has no chance of being missed.
_COUNTS = 40
_RATES = 80
_RAREST = 0.5
# In units of log-likelihood: fits this close to the best explain the data as well, and vary less.
_NEAR, _STEPS = 3.0, 300
_RESOLVED = 1.0


@dataclass(frozen=True, eq=False)
class PoissonMixture:
    """The mean counts of the labels behind a profile: a distribution on a grid, by maximum likelihood.

    A label of mean count λ is seen j times with probability ``p_j(λ) = λ^j/(j!·(e^λ − 1))``, given that it is seen. The
    likelihood ``Π_j (Σ_i w_i·p_j(λ_i))^φ_j`` is that of the labels seen (Mao and others 2005; Böhning and Schön 2005);
    counts above 40 are one cell. The grid has 80 rates, evenly spread on a log scale, from ``min(λ̄, 1/2)/ln n`` to 80,
    ``λ̄ = 2(φ_2 + 1)/(φ_1 − 1)`` about the mean rate of the labels seen once, and an infinite one. Lower rates cannot
    be distinguished, because no estimator reaches beyond about n·ln n draws. Weight w_i is the share of the labels seen
    that have rate λ_i; the weights of the 80 rates add up to at most 1.

    EM, accelerated as in (Varadhan and Roland 2008), starts from equal weights. It stops once the log-likelihood is
    certainly less than 3 below its maximum, by the gradient (Lindsay 1983), or after 300 rounds.
    """

    rates: Floats
    weights: Floats
    labels: float

    @classmethod
    def of(cls, profile: Profile) -> PoissonMixture:
        """Fit a profile with at least one item."""
        once, twice = float(profile.prevalence(1)), float(profile.prevalence(2))
        typical = 2 * (twice + 1) / (once - 1) if once > 1 else math.inf
        least = min(typical, _RAREST) / math.log(max(profile.n, 3))
        rates = np.geomspace(least, 2.0 * _COUNTS, _RATES)
        seen = np.zeros(_COUNTS + 1)
        np.add.at(seen, np.minimum(profile.counts, _COUNTS + 1) - 1, profile.prevalences)
        return cls(rates, _weights(_chances(rates), seen)[:-1], float(profile.num_labels))

    def new_labels(self, beyond: float) -> float:
        """Return how many labels t·n further draws are expected to add: nondecreasing and concave in t.

        The value is ``S_obs·Σ_i w_i·(1 − e^(−λ_i·t))/(e^λ_i − 1)``.
        """
        # The sum is exact, so that rounding cannot make more draws show fewer labels.
        return self.labels * math.fsum((self.weights * _new(self.rates, beyond)).tolist())

    def derivatives(self, beyond: float) -> Floats:
        """Return the change in the number of new labels due to one more label of count 1, …, 40, or more.

        This is the influence function of a maximum likelihood estimate: h with ``Σ_j p_j(λ_i)·h(j) = (1 −
        e^(−λ_i·t))/(e^λ_i − 1)`` at all rates of the mixture. If the data do not distinguish rates, the fit did not
        move, so that part of h is left out.
        """
        whole = np.append(self.weights, max(1.0 - float(self.weights.sum()), 0.0))
        chances = _chances(self.rates)
        fitted = np.sqrt(np.maximum(chances @ whole, 1e-300))
        left, sizes, right = np.linalg.svd(chances * np.sqrt(whole) / fitted[:, np.newaxis], full_matrices=False)
        wanted = right @ (np.sqrt(whole) * np.append(_new(self.rates, beyond), 0.0))
        known = sizes**2 * self.labels > _RESOLVED
        return np.asarray(left[:, known] @ (wanted[known] / sizes[known]) / fitted)


@dataclass(frozen=True)
class Mixture:
    """``S_m = S_obs + S_obs·Σ_i w_i·(1 − e^(−λ_i·t))/(e^λ_i − 1)``, t = (m − n)/n: see :class:`PoissonMixture`.

    Up to n draws it is rarefaction, which it meets at n, where it is the number of labels seen. It never falls as draws
    grow, and beyond n it is never below that number. For one label seen often it is 1; for singletons nearly m, up to
    about n·ln n draws.

    Source: Mao and others 2005.
    """

    draws: int
    name: ClassVar[str] = "mixture"
    assumes: ClassVar[str] = "items drawn independently; no label far rarer than those seen once"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        if self.draws <= profile.n:
            return Rarefaction(self.draws).point(profile)
        mixture, beyond = PoissonMixture.of(profile), reach(n=profile.n, draws=self.draws)
        changes = np.concatenate(([-1.0], mixture.derivatives(beyond)))

        def weights(counts: Ints) -> Floats:
            return np.asarray(1.0 + changes[np.minimum(counts, changes.size - 1)])

        value = profile.num_labels + mixture.new_labels(beyond)
        error = min(sampling_error(profile, weights), float(self.draws))
        return Point(value, weights, error, visible_doubts(profile, self.draws))

    def value(self, profile: Profile) -> float:
        """Return the value alone, without its error."""
        if self.draws <= profile.n:
            return Rarefaction(self.draws).point(profile).value
        return profile.num_labels + PoissonMixture.of(profile).new_labels(reach(n=profile.n, draws=self.draws))


def _new(rates: Floats, beyond: float) -> Floats:
    """Return the number of new labels at a rate per label seen, after t·n further draws."""
    return np.asarray(arrays.expm1(-rates * beyond) / -arrays.expm1(rates))


def _chances(rates: Floats) -> Floats:
    """Return the chance of each count from 1 to 40, and of more, for a seen label; one column per rate and for ∞."""
    counts = np.arange(1, _COUNTS + 1)[:, np.newaxis]
    logs = counts * np.log(rates) - log_factorials()[counts] - rates - np.log(-np.expm1(-rates))
    told = np.exp(logs)
    found = np.zeros((_COUNTS + 1, rates.size + 1))
    found[:-1, :-1], found[-1, :-1], found[-1, -1] = told, np.maximum(1.0 - told.sum(axis=0), 0.0), 1.0
    return found


def _weights(chances: Floats, seen: Floats) -> Floats:
    """Return weights of nearly the largest likelihood."""
    kept = seen > 0
    chances, total = chances[kept], float(seen.sum())
    shares = seen[kept] / total

    def gradient(weights: Floats) -> Floats:
        return np.asarray((shares / np.maximum(chances @ weights, 1e-300)) @ chances)

    def likelihood(weights: Floats) -> float:
        return float(shares @ np.log(np.maximum(chances @ weights, 1e-300)))

    weights = np.full(chances.shape[1], 1.0 / chances.shape[1])
    for _ in range(_STEPS):
        slopes = gradient(weights)
        if (float(slopes.max()) - 1.0) * total <= _NEAR:
            break
        once = weights * slopes
        twice = once * gradient(once)
        first, second = once - weights, twice - 2 * once + weights
        bent = math.sqrt(float(second @ second))
        far = max(math.sqrt(float(first @ first)) / bent, 1.0) if bent else 1.0
        bold = np.maximum(weights + 2 * far * first + far**2 * second, 1e-12 * weights)
        bold /= bold.sum()
        better = bold if likelihood(bold) > likelihood(twice) else twice
        weights = better * gradient(better)
    return np.asarray(weights / weights.sum())
