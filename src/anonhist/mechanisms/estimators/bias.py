"""The largest bias of a linear statistic, from its weights: public, independent of the data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.properties.sampling import Assemblage, SampleDistribution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.properties.estimator import LinearStatistic

_POINTS = 400
# Labels with mean counts below this share of the mean are negligible.
_SMALLEST = 1e-4
# Larger mean counts would overflow 64 bits.
_LARGEST = 2.0**62


def largest_bias(
    statistic: LinearStatistic,
    truth: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    items: int,
    *,
    alphabet_size: int | None,
    least: float = 0.0,
) -> tuple[float, float]:
    """Return how far the mean of a statistic may lie below and above the truth, for any distribution.

    With counts N_x ~ Poisson(λ_x) the bias is ``Σ_x b(λ_x)``, ``b(λ) = E w(N) − truth(λ)``, where Σ_x λ_x = n. Over k
    labels, its extremes are k times those of the convex hull of b at n/k; over any number of labels, n times those of
    ``b(λ)/λ``. Both are computed from 400 values of λ, to about one per cent.

    Parameters
    ----------
    statistic
        A statistic whose weights are a function of public numbers.
    truth
        The contribution of one label to the property, as a function of its mean count.
    items
        n ≥ 1.
    alphabet_size
        k; None if any number of labels is possible.
    least
        The smallest mean count of a label, other than 0.

    Examples
    --------
    >>> from anonhist.properties.estimator import LinearStatistic
    >>> seen = LinearStatistic(lambda counts: (counts > 0) * 1.0, head=1)
    >>> low, high = largest_bias(seen, lambda means: (means > 0) * 1.0, 100, alphabet_size=100, least=1.0)
    >>> round(low, 2), round(high, 9)  # labels not seen, 100/e of 100 with mean count 1
    (36.79, 0.0)
    """
    mean = items / (alphabet_size or items)
    start = min(max(least, _SMALLEST * min(mean, 1.0)), _LARGEST / 2)
    means = np.append(0.0, np.geomspace(start, min(max(items, 2 * start), _LARGEST), _POINTS))
    if alphabet_size is None:
        means = means[1:]
    # A sample of one item, so that the mean counts serve as probabilities unchanged.
    distribution = SampleDistribution(Assemblage(means, np.ones(means.shape)), 1)
    off = distribution.expectations(statistic.weights) - truth(means)
    if alphabet_size is None:
        ratios = items * off / means
        return max(-float(ratios.min()), 0.0), max(float(ratios.max()), 0.0)
    return max(alphabet_size * _top(means, -off, mean), 0.0), max(alphabet_size * _top(means, off, mean), 0.0)


def _top(x: NDArray[np.float64], y: NDArray[np.float64], at: float) -> float:
    """Return the upper convex hull of points at ``at``, which is clipped to the range of x."""
    at = min(max(at, float(x[0])), float(x[-1]))
    below, above = x <= at, x >= at
    left, right = x[below][:, None], x[above][None, :]
    share = np.where(right > left, (at - left) / np.where(right > left, right - left, 1.0), 0.0)
    return float(((1 - share) * y[below][:, None] + share * y[above][None, :]).max())


def surprise(items: int) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return ``−p·ln p`` as a function of mean counts λ = n·p.

    Examples
    --------
    >>> surprise(4)(np.array([1.0, 2.0])).round(4).tolist()
    [0.3466, 0.3466]
    """

    def of(means: NDArray[np.float64]) -> NDArray[np.float64]:
        shares = means / items
        return np.asarray(-shares * np.log(np.where(shares > 0, shares, 1.0)))

    return of


def new_labels(times: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return ``1 − e^(−λ·m/n)``, the probability that m draws find a label; for infinite m, 1 for every label.

    Examples
    --------
    >>> new_labels(math.inf)(np.array([0.0, 2.0])).tolist()
    [0.0, 1.0]
    """
    return lambda means: np.asarray((means > 0) * 1.0 if math.isinf(times) else -np.expm1(-means * times))
