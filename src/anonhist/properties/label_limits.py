"""Upper bounds of what an attacker breaks who knows the distribution: many labels leave little to the first few."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from anonhist.numeric.arrays import Floats, Ints
from anonhist.properties.estimator import Sample

# Of thinned samples, and of larger ones: chosen before any data. Weights are 1, up to rounding, beyond the last count.
_KEPT, _STEEPER, _REACH = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0), (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0), 256


@dataclass(frozen=True, eq=False)
class LabelWeights:
    """Weights g(c) of the counts of n ≥ 2 items, from a in (0, 1] and h ≥ 0, and ``width`` T = 1/(a + 2h).

    With ``[c]_k = c(c − 1)…(c − k + 1)``, s = 1 − a and b = h·n − a,

    ``g(c) = 1 − s^c + 2·b·c·s^(c−1)/n − b²·[c]_2·s^(c−2)/[n]_2``.

    A label with the probability x has the mean weight ``G(x) = 1 − (1 − a·x)^(n−2)·(1 − h·n·x)²``. It is at most 1, and
    at most n·x/T. So the mean of ``Σ_j g(c_j)`` over all labels is at most ``β + (1 − λ_β)·n/T``: at most 1 for each of
    the β most frequent labels, and at most n·p_j/T for the others. If h is 0, the sum is the number of labels expected
    when each item is kept with the probability a. ``weights`` are g(1), g(2), …; ``range`` is how much the sum changes
    at most if one item has another label: the largest less the smallest step g(c + 1) − g(c).

    See docs/proofs/estimators.md, section 8. Source of the range: McDiarmid 1989.
    """

    width: float
    weights: Floats
    range: float

    @classmethod
    def of(cls, a: float, h: float, items: int) -> LabelWeights:
        """Return the weights for one a and h."""
        s, b, counts = 1 - a, h * items - a, np.arange(_REACH + 1.0)
        first, second = (counts * _powers(s, counts - 1), counts * (counts - 1) * _powers(s, counts - 2))
        g = 1 - _powers(s, counts) + 2 * b / items * first - b / items * (b / (items - 1)) * second
        steps = np.diff(g, append=g[-1])
        return cls(1 / (a + 2 * h), g[1:], float(steps.max() - steps.min()))


def _powers(base: float, exponents: Floats) -> Floats:
    """Return powers; 1 for an exponent below 0, whose factor is 0."""
    return np.asarray(base ** np.maximum(exponents, 0.0))


def all_weights(items: int) -> tuple[LabelWeights, ...]:
    """Return the weights that bounds are taken from, for n items."""
    return tuple(LabelWeights.of(a, a * steeper, items) for a, steeper in product(_KEPT, _STEEPER))


def label_limits(sample: Sample, labels: Ints, *, miss: float) -> Floats:
    """Return upper bounds of λ_β at each β ≥ 1; all hold at once but with a probability of ``miss``.

    The least of ``1 − (T/n)·(Σ_j g(c_j) − R·sqrt(n·ln(K/miss)/2) − β)`` over K weights, R their range: McDiarmid's
    inequality (1989) for n independent items, each of which moves the sum by at most R. For a release R·sqrt(…) becomes
    ``sqrt(R²·n·ln(K/miss)/2 + b²)``, with b how far the sum may be too large by the intervals for all φ_{k+}.
    """
    items = sample.profile.n
    if items < 2:
        return np.ones(labels.shape)
    reach = np.arange(1, _REACH + 1)
    released = sample.profile.cumulative_prevalence(reach).astype(np.float64)
    low, high = (released, released) if sample.release is None else sample.release.k_plus_ends(reach)
    found = np.ones(labels.shape)
    weights = all_weights(items)
    for each in weights:
        steps = np.diff(each.weights, prepend=0.0)
        value = float(steps @ released)
        off = value - float(np.maximum(steps, 0.0) @ low + np.minimum(steps, 0.0) @ high)
        off = math.hypot(each.range * math.sqrt(items * math.log(len(weights) / miss) / 2), off)
        found = np.minimum(found, 1 - each.width / items * (value - off - labels))
    return found
