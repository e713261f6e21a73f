"""How far an estimate falls when n items are drawn again: from its weights, without drawing anything."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.properties.assemblage import Assemblage

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.profiles import Profile

# Up to here the law of a count is summed up value by value; beyond, weights are straight over its width.
_SUMMED = 200
_REACH = 8.0
# Floats of whole numbers inside int64.
_LARGEST = 2.0**63 - 2.0**11


def sampling_error(profile: Profile, weights: Callable[[NDArray[np.int64]], NDArray[np.float64]]) -> float:
    """Return the standard error of ``Σ_j w(j)·φ_j`` over samples of n items, n fixed.

    With λ_x = n·p_x for the labels x of the estimated population (labels not seen included) and N_x ~ Poisson(λ_x),

    ``Var = Σ_x Var w(N_x) − (Σ_x Cov(w(N_x), N_x))² / n``:

    independent counts, conditioned on their sum n to first order; exact where w is linear. Up to λ = 200 the sums run
    over all values of N_x, beyond ``Var w(N_x) = λ·w'(λ)²``. O(t) time.

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
    population = Assemblage.of(profile)
    means, labels = profile.n * population.probabilities, population.labels
    variances, covariances = np.zeros(means.size), np.zeros(means.size)
    summed = means <= _SUMMED
    if bool(summed.any()):
        variances[summed], covariances[summed] = _summed(means[summed], weights)
    if not bool(summed.all()):
        variances[~summed], covariances[~summed] = _straight(means[~summed], weights)
    conditioned = float(labels @ variances) - float(labels @ covariances) ** 2 / profile.n
    # What is left of a difference of equal numbers is rounding.
    floor = 1e-12 * float(labels @ variances)
    return math.sqrt(conditioned) if conditioned > floor else 0.0


def _summed(
    means: NDArray[np.float64], weights: Callable[[NDArray[np.int64]], NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Var w(N) and Cov(w(N), N), N Poisson."""
    largest = float(means.max())
    values = np.arange(int(largest + _REACH * math.sqrt(largest) + 20))
    log_factorials = np.append(0.0, np.cumsum(np.log(values[1:])))
    with np.errstate(divide="ignore"):
        log_means = np.log(means)
    exponents = np.where(values == 0, 0.0, values * np.maximum(log_means, -1e4)[:, None])
    pmf = np.exp(exponents - means[:, None] - log_factorials)
    w = np.asarray(weights(values), dtype=np.float64)
    first, second, with_count = pmf @ w, pmf @ w**2, pmf @ (w * values)
    return np.maximum(second - first**2, 0.0), with_count - first * means


def _straight(
    means: NDArray[np.float64], weights: Callable[[NDArray[np.int64]], NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the same for large means, w taken as a line over a standard deviation to either side."""
    low = np.floor(means - np.sqrt(means)).astype(np.int64)
    high = np.ceil(np.minimum(means + np.sqrt(means), _LARGEST)).astype(np.int64)
    slopes = (weights(high) - weights(low)) / (high - low)
    return means * slopes**2, means * slopes
