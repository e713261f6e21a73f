"""Two-sided geometric noise on whole numbers: exact for a release, fast for a simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anonhist.profiles.counts import MAX_ITEMS
from anonhist.randomness import SystemSource, discrete_laplace

if TYPE_CHECKING:
    from anonhist.randomness import RandomSource

# From a rate γ and a number of draws: independent draws with P(j) ∝ e^(−γ|j|).
Noise = Callable[[Fraction, int], NDArray[np.int64]]


def exact_noise(source: RandomSource | None) -> Noise:
    """Return noise from privacy randomness, by default the operating system's."""
    randomness = source or SystemSource()
    return lambda gamma, size: discrete_laplace(gamma, size, source=randomness)


def simulated_noise(rng: np.random.Generator) -> Noise:
    """Return noise from a NumPy generator: for simulations on public profiles only."""

    def draw(gamma: Fraction, size: int) -> NDArray[np.int64]:
        stop = -math.expm1(-float(gamma))
        return np.asarray(rng.geometric(stop, size) - rng.geometric(stop, size), dtype=np.int64)

    return draw


def deviation(rate: float) -> float:
    """Return the standard deviation of a noise of rate γ, ``√(2e^(−γ))/(1 − e^(−γ))``.

    Examples
    --------
    >>> round(deviation(1.0), 3)
    1.357
    """
    return math.sqrt(2 * math.exp(-rate)) / -math.expm1(-rate)


def add_noise(values: NDArray[np.int64], noise: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add noise to numbers ≥ 0 in whole numbers, saturating at 2⁶³ − 1: ``min(x + G, 2^63 − 1)``, a function of x + G.

    Beyond 2⁵³, a float could hide a change by one item, or double it.

    Examples
    --------
    >>> add_noise(np.array([3, 2**63 - 2]), np.array([-5, 9])).tolist()
    [-2, 9223372036854775807]
    """
    return np.asarray(values + np.minimum(noise, MAX_ITEMS - values))
