"""Predicted errors from public numbers, to choose parameters without reading data."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric.arrays import read_only
from anonhist.properties.sampling import Assemblage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.properties.estimator import LinearStatistic
    from anonhist.properties.sampling import SampleDistribution

_GROUPS = 48


# The samples from a reference distribution, and its true property.
Reference = tuple["SampleDistribution", float]


def mean_error(statistic: LinearStatistic, references: Sequence[Reference], noise_variance: float) -> float:
    """Return the mean of the root mean squared errors over the references, noise included."""
    errors = []
    for distribution, truth in references:
        mean, variance = distribution.moments(statistic.weights)
        errors.append(math.sqrt(noise_variance + ((mean - truth) ** 2 + variance)))
    return math.fsum(errors) / len(errors)


@lru_cache(maxsize=64)
def populations(labels: int) -> tuple[Assemblage, ...]:
    """Return reference distributions over labels: uniform, two steps, Zipf with exponents 1/2 and 1.

    Labels of neighboring ranks are grouped, except the first sixteen.

    Examples
    --------
    >>> [round(float(each.probabilities @ each.labels), 12) for each in populations(1000)]
    [1.0, 1.0, 1.0, 1.0]
    """
    starts = {
        *range(min(labels, 16)),
        *np.geomspace(16.0, float(max(labels, 16)), _GROUPS).astype(int).tolist(),
        labels // 2,
    }
    edges = np.array(sorted({edge for edge in starts if edge < labels} | {0, labels}), dtype=np.float64)
    sizes, middles = np.diff(edges), (edges[1:] + edges[:-1] + 1) / 2
    shapes = (np.ones(sizes.size), np.where(edges[:-1] < labels // 2, 1.0, 3.0), middles**-0.5, 1 / middles)
    return tuple(Assemblage(read_only(shape / float(shape @ sizes)), read_only(sizes)) for shape in shapes)
