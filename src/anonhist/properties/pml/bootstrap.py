"""Errors of plug-in estimates of profile maximum likelihood, by a bootstrap from the fitted distribution.

It is no smooth function of the prevalences: labels jump between blocks. So no error can be read off derivatives, and
the sample is drawn again, profile by profile: block by block, never label by label.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.profiles import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.properties.pml.distribution import PmlDistribution

_RUNS = 20
# No secret and no noise for privacy: a constant, so that the same data give the same error.
_SEED = 20170714
_REACH = 8.0
# More items or labels than this would not fit into int64 with what chance adds.
_MOST = 2**62


def bootstrap_error(distribution: PmlDistribution, n: int, value_of: Callable[[Profile], float]) -> float:
    """Return the standard error of ``value_of`` over samples of n items from a distribution.

    20 runs draw the count of each label from its Poisson distribution; n is fixed afterwards, by a line through the
    values as a function of the items drawn: the error is the standard deviation about that line (18 degrees of freedom,
    so it is itself off by a sixth). The same every time.

    Parameters
    ----------
    distribution
        Where samples come from; a continuous part counts as the labels that stand for it.
    n
        Number of items ≥ 1; of more than 2^62, as many are drawn.
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
    runs = [draw_profile(whole, min(n, _MOST), generator) for _ in range(_RUNS)]
    values = np.array([value_of(run) for run in runs])
    items = np.array([float(run.n) for run in runs])
    values -= values.mean()
    items -= items.mean()
    moved = float(items @ items)
    if moved > 0:
        values -= items * (float(items @ values) / moved)
    return math.sqrt(float(values @ values) / (_RUNS - 2))


def draw_profile(distribution: PmlDistribution, n: int, generator: np.random.Generator) -> Profile:
    """Return the profile of Poisson counts, about n ≥ 1 items in all and not none, of blocks alone."""
    while True:
        blocks = [
            _block(probability * n, labels, generator)
            for probability, labels in zip(distribution.probabilities.tolist(), distribution.labels, strict=True)
        ]
        counts = np.concatenate([block[0] for block in blocks])
        prevalences = np.concatenate([block[1] for block in blocks])
        order = np.flatnonzero((counts > 0) & (prevalences > 0))
        order = order[np.argsort(counts[order], kind="stable")]
        if order.size:
            firsts = np.flatnonzero(np.diff(counts[order], prepend=0))
            return Profile(counts[order][firsts], np.add.reduceat(prevalences[order], firsts))


def _block(mean: float, labels: int, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return counts and how many of so many labels have them, all Poisson of one mean."""
    low = max(math.floor(mean - _REACH * math.sqrt(mean)), 0)
    high = math.ceil(mean + _REACH * math.sqrt(mean)) + 20
    if labels <= high - low:
        counts = generator.poisson(mean, size=labels)
        return counts, np.ones(labels, dtype=np.int64)
    counts = np.arange(low, high)
    # From one value to the next the distribution changes by mean/count; starting at the likeliest nothing underflows.
    logs = np.append(0.0, np.cumsum(math.log(mean) - np.log(counts[1:])))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    if labels > _MOST:
        # So many that nearly all have 0: how many have 1, 2, ... is independent.
        return counts[1:], generator.poisson(float(labels) * weights[1:])
    return counts, generator.multinomial(labels, weights)
