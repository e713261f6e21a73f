"""The sampling error of an estimate, from its weights, without drawing samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric.arrays import read_only
from anonhist.properties.assemblage import Assemblage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Weights

# Up to this mean, the distribution of a count is summed value by value; beyond, weights are taken as parabolas over its
# width.
_SUMMED = 200
_REACH = 8.0
# The largest float of a whole number inside int64.
_LARGEST = 2.0**63 - 2.0**11
# Equal values leave only rounding: at most this part of a variance.
_ROUNDING = 1e-22


def sampling_error(profile: Profile, weights: Weights) -> float:
    """Return the standard error of ``Σ_j w(j)·φ_j`` over samples of n items, n fixed: see :class:`SampleDistribution`.

    Samples come from the estimated population behind the profile, unseen labels included.

    Parameters
    ----------
    profile
        A profile with at least one item.
    weights
        w as a function of counts j ≥ 0.

    Returns
    -------
    float
        ≥ 0.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_counts([50] * 40)
    >>> sampling_error(profile, lambda counts: counts / 1.0)  # the number of items itself: fixed
    0.0
    """
    return math.sqrt(SampleDistribution(Assemblage.of(profile), profile.n).moments(weights)[1])


@dataclass(frozen=True, eq=False)
class SampleDistribution:
    """Mean and variance of sums over labels in samples of n items from a population.

    With λ_x = n·p_x for the labels x and N_x ~ Poisson(λ_x), ``f = Σ_x w(N_x)`` has mean ``Σ_x E w(N_x)`` and

    ``Var f = Σ_x Var w(N_x) − (Σ_x Cov(w(N_x), N_x))² / n``:

    for independent counts, conditioned to first order on their sum n; exact if w is linear. Up to λ = 200 the sums run
    over all values of N_x; beyond, ``E w(N_x) = (w(λ + √λ) + w(λ − √λ))/2`` and ``Var w(N_x) = λ·w'(λ)²``.

    Attributes
    ----------
    population
        The labels and their probabilities.
    items
        n ≥ 1.
    """

    population: Assemblage
    items: int

    def moments(self, weights: Weights) -> tuple[float, float]:
        """Return the mean and variance of f, in time proportional to the number of groups of the population.

        Examples
        --------
        >>> distribution = SampleDistribution(Assemblage(np.array([0.25]), np.array([4.0])), 8)
        >>> mean, variance = distribution.moments(lambda counts: (counts == 0) * 1.0)  # labels not seen
        >>> round(mean, 4), round(variance, 4)
        (0.5413, 0.3216)
        """
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

    def expectations(self, weights: Weights) -> NDArray[np.float64]:
        """Return E w(N_x) for a label of each group.

        Examples
        --------
        >>> distribution = SampleDistribution(Assemblage(np.array([0.25, 0.5]), np.ones(2)), 8)
        >>> distribution.expectations(lambda counts: (counts == 0) * 1.0).round(4).tolist()  # e^−2 and e^−4
        [0.1353, 0.0183]
        """
        summed, found = self._means <= _SUMMED, np.empty(self._means.shape)
        values, pmf = self._table
        found[summed] = pmf @ np.asarray(weights(values), dtype=np.float64)
        found[~summed] = _smooth(self._means[~summed], weights)[0]
        return found

    @cached_property
    def _means(self) -> NDArray[np.float64]:
        return read_only(self.items * self.population.probabilities)

    @cached_property
    def _table(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return all relevant counts and their Poisson probabilities, one row per small mean."""
        means = self._means[self._means <= _SUMMED]
        largest = float(means.max(initial=1.0))
        values = np.arange(int(largest + _REACH * math.sqrt(largest) + 20))
        log_factorials = np.append(0.0, np.cumsum(np.log(values[1:])))
        with np.errstate(divide="ignore"):
            log_means = np.maximum(np.log(means), -1e4)
        # In place: this is the largest table, and takes most of the time of an error.
        pmf = np.multiply.outer(log_means, values)
        pmf -= means[:, None]
        pmf -= log_factorials
        np.exp(pmf, out=pmf)
        return read_only(values), read_only(pmf)


def _smooth(means: NDArray[np.float64], weights: Weights) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return E w(N) and the slope of w for large means, from w one standard deviation on either side."""
    if not means.size:
        return means, means
    low = np.floor(means - np.sqrt(means)).astype(np.int64)
    high = np.ceil(np.minimum(means + np.sqrt(means), _LARGEST)).astype(np.int64)
    at_low, at_high = weights(low), weights(high)
    return (at_low + at_high) / 2, (at_high - at_low) / (high - low)
