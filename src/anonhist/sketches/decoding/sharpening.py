"""From a smooth distribution toward maximum likelihood: as many steps as improve the prediction of other counters.

A smooth distribution is wrong if many labels have one count and few the neighboring ones. Steps of expectation and
maximization from it lead to the numbers under which what is seen is most likely, spikes and noise alike. How many of
them are worth it is learned: the counters are divided by chance into two halves, and each is foretold from steps on the
other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats, Ints

_STEPS = (0, 1, 2, 3, 5, 8, 12, 20, 32, 50)
# Stop after this many steps in a row without improvement.
_PATIENCE = 2
# The halves are the same whenever a sketch is read.
_SEED = 7


class Reading(Protocol):
    """The map from numbers of labels to expected counters, and back."""

    def means(self, rates: Floats) -> Floats:
        """Return how many counters of each value are expected, > 0, in proportion."""

    def expected_labels(self, rates: Floats, seen: Floats) -> Floats:
        """Return the expected number of labels with each count, given how many counters of each value are seen."""


def sharpen(reading: Reading, rates: Floats, seen: Ints) -> Floats:
    """Return the expected numbers of labels after one step from these rates, or as many as help.

    Parameters
    ----------
    reading
        How counters are read.
    rates
        The smooth distribution, shape (last,).
    seen
        How many counters have each value, shape (values,).
    """
    found = rates
    for _ in range(max(1, _helpful_steps(reading, rates, seen))):
        found = reading.expected_labels(found, seen.astype(np.float64))
    return found


def _helpful_steps(reading: Reading, rates: Floats, seen: Ints) -> int:
    half = np.random.default_rng(_SEED).binomial(seen, 0.5)
    halves = [half, seen - half]
    if not all(each.any() for each in halves):
        return 1
    # As if each half were all.
    scaled = [each * (seen.sum() / each.sum()) for each in halves]
    current = [rates, rates]
    best, helpful, worse, done = -np.inf, 0, 0, 0
    for steps in _STEPS:
        while done < steps:
            current = [reading.expected_labels(each, part) for each, part in zip(current, scaled, strict=True)]
            done += 1
        means = [reading.means(each) for each in current]
        # Steps keep the sum, but the smooth distribution may have another.
        told = [np.log(each / each.sum()) for each in means]
        score = float(halves[1] @ told[0] + halves[0] @ told[1])
        if score > best:
            best, helpful, worse = score, steps, 0
        else:
            worse += 1
            if worse >= _PATIENCE:
                break
    return helpful
