"""Two-sided geometric noise on whole numbers: exact for a release, fast for a simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from anonhist.profiles.counts import MAX_ITEMS
from anonhist.randomness import SystemSource, categorical, categorical_rows, discrete_laplace, geometric

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
    """Return the standard deviation of a noise of rate γ, ``√(2e^(−γ))/(1 − e^(−γ))``."""
    return math.sqrt(2 * math.exp(-rate)) / -math.expm1(-rate)


def add_noise(values: NDArray[np.int64], noise: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add noise to numbers ≥ 0 in whole numbers, saturating at 2⁶³ − 1: ``min(x + G, 2^63 − 1)``, a function of x + G.

    Beyond 2⁵³, a float could hide a change by one item, or double it.
    """
    return np.asarray(values + np.minimum(noise, MAX_ITEMS - values))


class Choices(Protocol):
    """The draws of a chain."""

    def rows(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Pick a column of each row with probability proportional to its weight; shape (r, k) to (r,)."""

    def geometric(self, c: float, level: int) -> int:
        """Return k ≥ 0 with probability ``(1 − p)p^k``, ``p = e^{−c·level}``."""


@dataclass(frozen=True)
class ExactChoices:
    """Decisions from privacy randomness, exact for the weights as dyadic numbers."""

    source: RandomSource

    def rows(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Pick exactly: see :func:`anonhist.randomness.categorical_rows`."""
        if weights.shape[0] == 1:
            return np.array([categorical(weights[0], source=self.source)])
        return categorical_rows(weights, source=self.source)

    def geometric(self, c: float, level: int) -> int:
        """Draw exactly: see :func:`anonhist.randomness.geometric`."""
        return int(geometric(Fraction(c) * level, 1, source=self.source)[0])


@dataclass(frozen=True)
class SimulatedChoices:
    """Decisions from a NumPy generator: for re-simulating on public profiles only."""

    rng: np.random.Generator

    def rows(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Pick by comparing a uniform number with cumulative sums."""
        sums = np.cumsum(weights, axis=1)
        thresholds = self.rng.random((weights.shape[0], 1)) * sums[:, -1:]
        return np.asarray(np.minimum((sums <= thresholds).sum(axis=1), weights.shape[1] - 1), dtype=np.int64)

    def geometric(self, c: float, level: int) -> int:
        """Draw by inverting an exponential variable."""
        return int(self.rng.exponential() / (c * level))


# Noise with a smaller rate is treated as noise with this rate on a coarser grid.
_LEAST = 0.01
# Sums of more noises than this are assumed to be normal.
_FEW = 64
# This many standard deviations, plus this many scales, contain all but 1e-12 of the noise.
_DEVIATIONS, _SCALES = 14.0, 60.0


@lru_cache(maxsize=256)
def noise_quantile(epsilon: float, terms: int, tail: float) -> int:
    """Return a q with ``P(G_1 + … + G_m > q) ≤ tail``, G independent with ``P(G = j) ∝ e^{−ε|j|}``.

    The distribution of the sum comes from its characteristic function, ``((1 − p)² / (1 − 2p·cos t + p²))^m``,
    ``p = e^{−ε}``, by a Fourier transform. q is the smallest such number for ε ≥ 0.01, and at most 1 % larger below. m
    is from 1 to 2¹⁶, ``tail`` from 1e-9 to 1/2.
    """
    rate = max(epsilon, _LEAST)
    p = math.exp(-rate)
    reach = _DEVIATIONS * math.sqrt(2 * terms * p) / (1 - p) + _SCALES / rate
    size = 1 << math.ceil(math.log2(2 * reach + 4))
    angles = np.arange(size // 2 + 1) * (2 * math.pi / size)
    transform = ((1 - p) ** 2 / (1 - 2 * p * np.cos(angles) + p**2)) ** terms
    chances = np.fft.irfft(transform, size)[: size // 2]
    reaching = np.cumsum(chances[::-1])[::-1]  # P(sum ≥ q)
    quantile = int(np.argmax(reaching <= tail)) - 1
    return quantile if rate == epsilon else math.ceil((quantile + 1) * rate / epsilon)


def sum_quantiles(epsilon: float, terms: NDArray[np.int64], tail: float) -> NDArray[np.float64]:
    """Return the same for several numbers of noises, from zero on; sums of more than 64 are taken for normal."""
    found = np.ceil(NormalDist().inv_cdf(1 - tail) * deviation(epsilon) * np.sqrt(terms))
    for few in np.unique(terms[terms <= _FEW]).tolist():
        found[terms == few] = noise_quantile(epsilon, few, tail) if few else 0
    return np.asarray(found)
