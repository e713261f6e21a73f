"""Sampling errors: from weights, or by a bootstrap of an estimated population."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonhist.numeric.arrays import Floats, Ints, read_only
from anonhist.numeric.pulse import pulsing
from anonhist.profiles import Profile
from anonhist.properties.estimate import chao_unseen

# A function of counts j ≥ 0 (int64, any shape): the contribution of a label with that count, to first order and for
# fixed n.
Weights = Callable[["Ints"], "Floats"]


@dataclass(frozen=True, eq=False)
class Assemblage:
    """A discrete distribution, stored as groups of labels of equal probability.

    The last group is the unseen labels; the number of labels of every other group is whole.
    """

    probabilities: Floats
    labels: Floats

    @property
    def entropy(self) -> float:
        """Shannon entropy, in nats."""
        p = self.probabilities[self.probabilities > 0]
        return -float(self.labels[self.probabilities > 0] @ (p * np.log(p)))

    def coverage(self, draws: int) -> float:
        """Return the expected number of distinct labels in m draws, ``Σ_x (1 − (1 − p_x)^m)``."""
        return -float(self.labels @ np.expm1(draws * np.log1p(-np.minimum(self.probabilities, 1.0 - 1e-16))))

    @classmethod
    def of(cls, profile: Profile) -> Assemblage:
        """Estimate the population behind n ≥ 1 items, as iNEXT does for its bootstrap (Chao and others 2015).

        Unseen labels share the probability ``1 − C``, where C is the estimated sample coverage. A label of count r
        keeps ``(r/n)·(1 − W·(1 − r/n)^n)``, with W such that all probabilities add up to 1. The number of unseen labels
        is Chao's lower bound.
        """
        n = float(profile.n)
        once, unseen = float(profile.prevalence(1)), float(np.ceil(chao_unseen(profile)))
        missing = 0.0 if unseen == 0 else once / n * (n * unseen / (n * unseen + once))
        share = profile.counts / n
        lost = share * np.exp(n * np.log1p(-np.minimum(share, 1.0 - 1e-16)))
        total = float(profile.prevalences @ lost)
        weight = missing / total if total > 0 else 0.0
        # For singletons alone, W would take more from the labels than they have.
        seen = np.maximum(share - weight * lost, 0.0)
        probabilities = np.append(seen, missing / unseen if unseen else 0.0)
        labels = np.append(profile.prevalences.astype(np.float64), unseen)
        return cls(probabilities / float(probabilities @ labels), labels)


# Up to this mean, the distribution of a count is summed value by value; beyond, weights are treated as parabolas over
# its width.
_SUMMED = 200
_REACH = 8.0
# The largest float of a whole number inside int64.
_LARGEST = 2.0**63 - 2.0**11
# Equal values leave only rounding errors, of at most this share of a variance.
_ROUNDING = 1e-22


def sampling_error(profile: Profile, weights: Weights) -> float:
    """Return the standard error of ``Σ_j w(j)·φ_j`` over samples of n ≥ 1 items, n fixed.

    Samples come from the estimated population behind the profile, unseen labels included: see
    :class:`SampleDistribution`.
    """
    return math.sqrt(SampleDistribution(Assemblage.of(profile), profile.n).moments(weights)[1])


@dataclass(frozen=True, eq=False)
class SampleDistribution:
    """Mean and variance of sums over labels in samples of n ≥ 1 items from a population.

    With λ_x = n·p_x for the labels x and N_x ~ Poisson(λ_x), ``f = Σ_x w(N_x)`` has mean ``Σ_x E w(N_x)`` and
    ``Var f = Σ_x Var w(N_x) − (Σ_x Cov(w(N_x), N_x))² / n``: for independent counts, conditioned to first order on
    their sum n; exact if w is linear. Up to λ = 200 the sums run over all values of N_x; beyond,
    ``E w(N_x) = (w(λ + √λ) + w(λ − √λ))/2`` and ``Var w(N_x) = λ·w'(λ)²``.
    """

    population: Assemblage
    items: int

    def moments(self, weights: Weights) -> tuple[float, float]:
        """Return the mean and variance of f, in time proportional to the number of groups of the population."""
        labels, summed = self.population.labels, self._means <= _SUMMED
        few, many = self._means[summed], self._means[~summed]
        values, pmf = self._table
        w = np.asarray(weights(values), dtype=np.float64)
        averages = pmf @ w
        smooth, slopes = _smooth(many, weights)
        mean = float(averages @ labels[summed]) + float(smooth @ labels[~summed])
        covariances = pmf @ (w * values) - averages * few
        # Var f − Cov²/n is the variance of Σ_x (w(N_x) − slope·N_x): no difference of large numbers.
        slope = (float(covariances @ labels[summed]) + float((slopes * many) @ labels[~summed])) / self.items
        squares = np.subtract.outer(averages - slope * few, w - slope * values)
        squares *= squares
        of_few = np.einsum("ij,ij->i", pmf, squares)
        of_many = many * (slopes - slope) ** 2
        variance = float(of_few @ labels[summed]) + float(of_many @ labels[~summed])
        return mean, variance if variance > _ROUNDING * slope**2 * self.items else 0.0

    def expectations(self, weights: Weights) -> Floats:
        """Return E w(N_x) for a label of each group."""
        summed, found = self._means <= _SUMMED, np.empty(self._means.shape)
        values, pmf = self._table
        found[summed] = pmf @ np.asarray(weights(values), dtype=np.float64)
        found[~summed] = _smooth(self._means[~summed], weights)[0]
        return found

    @cached_property
    def _means(self) -> Floats:
        return read_only(self.items * self.population.probabilities)

    @cached_property
    def _table(self) -> tuple[Ints, Floats]:
        """Return all relevant counts and their Poisson probabilities, one row per small mean."""
        means = self._means[self._means <= _SUMMED]
        largest = float(means.max(initial=1.0))
        values = np.arange(int(largest + _REACH * math.sqrt(largest) + 20))
        log_factorials = np.append(0.0, np.cumsum(np.log(values[1:])))
        with np.errstate(divide="ignore"):
            log_means = np.maximum(np.log(means), -1e4)
        # In place, because this is the largest table, and dominates the time of an error.
        pmf = np.multiply.outer(log_means, values)
        pmf -= means[:, None]
        pmf -= log_factorials
        np.exp(pmf, out=pmf)
        return read_only(values), read_only(pmf)


def _smooth(means: Floats, weights: Weights) -> tuple[Floats, Floats]:
    """Return E w(N) and the slope of w for large means, from w at one standard deviation on either side."""
    if not means.size:
        return means, means
    low = np.floor(means - np.sqrt(means)).astype(np.int64)
    high = np.ceil(np.minimum(means + np.sqrt(means), _LARGEST)).astype(np.int64)
    at_low, at_high = weights(low), weights(high)
    return (at_low + at_high) / 2, (at_high - at_low) / (high - low)


# Up to this many labels are drawn one by one, with n fixed.
_FEW = 4096
REACH = 8.0
# The generator allows no more items, and no more labels in a group.
LARGEST = 2**62


def resample(profile: Profile, *, size: int, rng: np.random.Generator) -> Iterator[Profile]:
    """Draw samples from the population that :class:`Assemblage` estimates from a profile with at least one item.

    With up to 4,096 labels, counts are multinomial, so every sample has n items. With more labels, a label of mean
    count λ has a Poisson(λ) count, so the number of items varies by about √n; :func:`spread` removes this variation.
    For each group of L labels of equal λ, the numbers of labels that occur j times are one multinomial draw, in
    O(t·width) time for any number of labels. From a population of more than 2⁶² items, 2⁶² are drawn.
    """
    population = Assemblage.of(profile)
    items = min(profile.n, LARGEST)
    if float(population.labels.sum()) <= _FEW:
        # The largest comes last: the sampler subtracts each share from the rest, and rounding would leave the rare ones
        # nothing.
        shares = np.sort(np.repeat(population.probabilities, population.labels.astype(np.int64)))
        for _ in range(size):
            yield Profile.from_counts(rng.multinomial(items, shares / shares.sum()))
        return
    means = items * population.probabilities
    drawn = means > 0
    means, labels = means[drawn], population.labels[drawn]
    # Labels are drawn one by one if there are fewer of them than possible counts, else count by count.
    few = labels <= 2 * REACH * np.sqrt(means)
    alone = np.repeat(means[few], labels[few].astype(np.int64))
    groups = [(*_poisson(mean), many) for mean, many in zip(means[~few].tolist(), labels[~few].tolist(), strict=True)]
    values = np.concatenate([group[0] for group in groups]) if groups else np.zeros(0, dtype=np.int64)
    for _ in range(size):
        numbers = [draw_numbers(pmf, many, rng) for _, pmf, many in groups]
        counts = np.concatenate([rng.poisson(alone), values])
        yield merged_profile(counts, np.concatenate([np.ones(alone.size, dtype=np.int64), *numbers]))


def spread(profile: Profile, statistic: Callable[[Profile], Floats], *, size: int, rng: np.random.Generator) -> Floats:
    """Return the standard error of each value of a statistic over ``size`` ≥ 3 samples of n items.

    Values are regressed on the number of items drawn, and the error is the spread of the residuals: correct to first
    order, as :func:`sampling_error` is. The statistic must take an empty profile, too.
    """
    samples = list(resample(profile, size=size, rng=rng))
    values = np.array(list(pulsing(statistic(sample) for sample in samples)), dtype=np.float64)
    return spread_off_items(values, np.array([float(sample.n) for sample in samples]))


def spread_off_items(values: Floats, items: Floats) -> Floats:
    """Return the standard deviation of values of samples about their line as a function of the items drawn."""
    # Values relative to the first sample, so that equal values leave no rounding error.
    values, items = values - values[0], items - items[0]
    values, items = values - values.mean(axis=0), items - items.mean()
    variation = float(items @ items)
    if not variation:
        return np.asarray(np.sqrt((values**2).sum(axis=0) / (items.size - 1)))
    slopes = np.tensordot(items, values, axes=1) / variation
    left = (values**2).sum(axis=0) - variation * slopes**2
    # A difference of equal numbers leaves only rounding errors.
    left = np.where(left > 1e-12 * (values**2).sum(axis=0), left, 0.0)
    return np.asarray(np.sqrt(left / (items.size - 2)))


def poisson_pmf(mean: float, values: Ints) -> Floats:
    """Return the probabilities of successive values of a Poisson variable, near its mean, scaled to add up to 1."""
    # From one value to the next the distribution changes by mean/value; nothing underflows when starting at the mode.
    logs = np.append(0.0, np.cumsum(math.log(mean) - np.log(values[1:])))
    pmf = np.exp(logs - logs.max())
    return np.asarray(pmf / pmf.sum())


def draw_numbers(pmf: Floats, labels: float, rng: np.random.Generator) -> Ints:
    """Draw how many of a number of labels have each count; if there are more than 2⁶² labels, the first count is 0."""
    if labels <= LARGEST:
        return rng.multinomial(int(labels), pmf)
    # Nearly all labels have count 0, so the numbers of labels of count 1, 2, … are independent.
    return np.append(0, rng.poisson(labels * pmf[1:]))


def merged_profile(counts: Ints, prevalences: Ints) -> Profile:
    """Return the profile of counts in any order with their prevalences; equal counts are merged, zeros dropped."""
    seen = (counts > 0) & (prevalences > 0)
    counts, prevalences = counts[seen], prevalences[seen]
    order = np.argsort(counts, kind="stable")
    first = np.flatnonzero(np.diff(counts[order], prepend=0))
    if not first.size:
        return Profile([], [])
    return Profile(counts[order][first], np.add.reduceat(prevalences[order], first))


def _poisson(mean: float) -> tuple[Ints, Floats]:
    """Return the values of a Poisson distribution and their probabilities."""
    width = REACH * math.sqrt(mean) + 20
    values = np.arange(max(int(mean - width), 0), int(mean + width) + 1)
    return values, poisson_pmf(mean, values)
