"""Errors of plug-in estimates by profile maximum likelihood, from a bootstrap of the fitted distribution.

These estimates are not smooth in the prevalences, because labels jump between blocks. So their errors do not follow
from derivatives, and samples are drawn instead, block by block rather than label by label.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.properties.bootstrap import LARGEST, REACH, draw_numbers, merged_profile, poisson_pmf, spread_off_items

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.pml.distribution import PmlDistribution

_RUNS = 20
# Not privacy noise: a constant, so that the same data give the same error.
_SEED = 20170714


def bootstrap_error(distribution: PmlDistribution, n: int, value_of: Callable[[Profile], float]) -> float:
    """Return the standard error of ``value_of`` over samples of n items from a distribution.

    20 runs draw the count of each label from its Poisson distribution. To fix n, the values are regressed on the number
    of items drawn: the error is the standard deviation of the residuals (18 degrees of freedom, so its own relative
    error is about a sixth). It is the same every time.

    Parameters
    ----------
    distribution
        The distribution of the samples; its continuous part is replaced by finitely many labels.
    n
        Number of items ≥ 1; if it exceeds 2⁶², 2⁶² are drawn.
    value_of
        The estimate from a profile.

    Examples
    --------
    >>> from anonhist.properties.pml.distribution import PmlDistribution
    >>> two = PmlDistribution(np.array([0.25, 0.75]), (1, 1))
    >>> bootstrap_error(two, 100, lambda run: float(run.num_labels))
    0.0
    """
    generator = np.random.default_rng(_SEED)
    whole = distribution.discrete()
    runs = [draw_profile(whole, min(n, LARGEST), generator) for _ in range(_RUNS)]
    values = np.array([value_of(run) for run in runs])
    return float(spread_off_items(values, np.array([float(run.n) for run in runs])))


def draw_profile(distribution: PmlDistribution, n: int, generator: np.random.Generator) -> Profile:
    """Return a profile of Poisson counts, of about n ≥ 1 items and at least one; only blocks are drawn."""
    while True:
        blocks = [
            _block(probability * n, labels, generator)
            for probability, labels in zip(distribution.probabilities.tolist(), distribution.labels, strict=True)
        ]
        counts, prevalences = (np.concatenate(column) for column in zip(*blocks, strict=True))
        drawn = merged_profile(counts, prevalences)
        if drawn.n:
            return drawn


def _block(mean: float, labels: int, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return counts, and how many of the labels have each, if all are Poisson with one mean."""
    low = max(math.floor(mean - REACH * math.sqrt(mean)), 0)
    high = math.ceil(mean + REACH * math.sqrt(mean)) + 20
    if labels <= high - low:
        counts = generator.poisson(mean, size=labels)
        return counts, np.ones(labels, dtype=np.int64)
    counts = np.arange(low, high)
    return counts, draw_numbers(poisson_pmf(mean, counts), labels, generator)
