"""Support coverage from a mixture of Poisson distributions: an estimate that never falls as draws grow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.numeric import arrays
from anonhist.properties.estimator import Point
from anonhist.properties.sampling import sampling_error
from anonhist.properties.unseen_series import Rarefaction, log_factorials, reach, visible_doubts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile

    Floats = NDArray[np.float64]

# Counts up to here are told apart; a label seen more often has no chance of being missed.
_COUNTS = 40
_RATES = 80
_RAREST = 0.5
# In units of log-likelihood: fits nearer than this to the best are as good to the data, and vary less.
_NEAR, _STEPS = 3.0, 300
_RESOLVED = 1.0


@dataclass(frozen=True, eq=False)
class PoissonMixture:
    """The mean counts of the labels behind a profile: a distribution on a grid, by maximum likelihood.

    A label of mean count λ is seen j times with probability ``p_j(λ) = λ^j/(j!·(e^λ − 1))``, given that it is seen. The
    likelihood ``Π_j (Σ_i w_i·p_j(λ_i))^φ_j`` is that of the labels seen (Mao and others 2005; Böhning and Schön 2005);
    counts above 40 are one cell. The grid has 80 rates, evenly spread on a log scale, from ``min(λ̄, 1/2)/ln n`` to 80,
    ``λ̄ = 2(φ_2 + 1)/(φ_1 − 1)`` about the mean rate of the labels seen once, and one without end: rates below cannot
    be told apart, as no estimator reaches beyond about n·ln n draws. Weight w_i is the share of the labels seen that
    have rate λ_i; the weights of the 80 rates add up to at most 1.

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

        ``S_obs·Σ_i w_i·(1 − e^(−λ_i·t))/(e^λ_i − 1)``.
        """
        # Summed exactly, so that no rounding makes more draws show fewer labels.
        return self.labels * math.fsum((self.weights * _new(self.rates, beyond)).tolist())

    def derivatives(self, beyond: float) -> Floats:
        """Return by how much one more label of count 1, …, 40, more changes the number of new ones.

        The influence function of a maximum likelihood estimate: h with ``Σ_j p_j(λ_i)·h(j) = (1 − e^(−λ_i·t))/(e^λ_i −
        1)`` at all rates of the mixture. Where the data do not tell rates apart, the fit did not move, so that part of
        h is left out.
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

        def weights(counts: NDArray[np.int64]) -> Floats:
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
    """Return how many new labels a rate has for each label seen, after t·n further draws."""
    return np.asarray(arrays.expm1(-rates * beyond) / -arrays.expm1(rates))


def _chances(rates: Floats) -> Floats:
    """Return the chance of each count from 1 to 40, and of more, for a label seen; one column per rate and for ∞."""
    counts = np.arange(1, _COUNTS + 1)[:, np.newaxis]
    logs = counts * np.log(rates) - log_factorials()[counts] - rates - np.log(-np.expm1(-rates))
    told = np.exp(logs)
    found = np.zeros((_COUNTS + 1, rates.size + 1))
    found[:-1, :-1], found[-1, :-1], found[-1, -1] = told, np.maximum(1.0 - told.sum(axis=0), 0.0), 1.0
    return found


def _weights(chances: Floats, seen: Floats) -> Floats:
    """Return the weights of nearly the largest likelihood."""
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
