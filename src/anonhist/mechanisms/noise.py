"""Two-sided geometric noise on whole numbers, exact for a release and fast for a simulation; intervals for n.

n, the number of items, is a weighted sum of the true numbers: the Durfee size, the arms and the legs of the diagram,
each once; the prevalences φ_r, each r times; or, for degrees up to θ, θ times the number of nodes minus the numbers of
nodes with at most 0, 1, …, θ − 1 edges. The same sum of the noisy numbers differs from n by the sum of their noises,
whose distribution is known, whatever the data. Each end is wrong in at most 2.5% of releases.

If the groups of rows or the number of rows depend on released values, so does the number of noises, but it does not
depend on noises drawn later; ``bench/group_intervals.py`` measures that the intervals hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anonhist.numeric.arrays import Bools, Floats, Ints
from anonhist.numeric.exponential import ExponentialQuotient
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.randomness import (
    RandomSource,
    SystemSource,
    bernoulli,
    categorical,
    categorical_rows,
    discrete_laplace,
    geometric,
)

# From a rate γ and a number of draws: independent draws with P(j) ∝ e^(−γ|j|).
Noise = Callable[[Fraction, int], Ints]


def exact_noise(source: RandomSource | None) -> Noise:
    """Return noise from privacy randomness, by default the operating system's."""
    randomness = source or SystemSource()
    return lambda gamma, size: discrete_laplace(gamma, size, source=randomness)


def simulated_noise(rng: np.random.Generator) -> Noise:
    """Return noise from a NumPy generator: for simulations on public profiles only."""

    def draw(gamma: Fraction, size: int) -> Ints:
        stop = -math.expm1(-float(gamma))
        return np.asarray(rng.geometric(stop, size) - rng.geometric(stop, size), dtype=np.int64)

    return draw


def deviation(rate: float) -> float:
    """Return the standard deviation of a noise of rate γ, ``√(2e^(−γ))/(1 − e^(−γ))``."""
    return math.sqrt(2 * math.exp(-rate)) / -math.expm1(-rate)


def add_noise(values: Ints, noise: Ints) -> Ints:
    """Add noise to whole numbers ≥ 0, saturating at 2⁶³ − 1: ``min(x + G, 2^63 − 1)``, a function of x + G.

    Beyond 2⁵³, a float could hide a change by one item, or double it.
    """
    return np.asarray(values + np.minimum(noise, MAX_ITEMS - values))


class Choices(Protocol):
    """The random decisions of a chain."""

    def rows(self, weights: Floats) -> Ints:
        """Pick a column of each row with probability proportional to its weight; shape (r, k) to (r,)."""

    def geometric(self, c: float, level: int) -> int:
        """Return k ≥ 0 with probability ``(1 − p)p^k``, ``p = e^{−c·level}``."""

    def waits(self, gamma: Fraction, size: int) -> Ints:
        """Return numbers k ≥ 0 with probability ``(1 − p)p^k``, ``p = e^{−γ}``."""

    def bits(self, chance: ExponentialQuotient, size: int) -> Bools:
        """Return bits that are True with this probability."""


@dataclass(frozen=True)
class ExactChoices:
    """Decisions from privacy randomness, exact for the weights as dyadic numbers."""

    source: RandomSource

    def rows(self, weights: Floats) -> Ints:
        """Pick exactly: see :func:`anonhist.randomness.categorical_rows`."""
        if weights.shape[0] == 1:
            return np.array([categorical(weights[0], source=self.source)])
        return categorical_rows(weights, source=self.source)

    def geometric(self, c: float, level: int) -> int:
        """Draw exactly: see :func:`anonhist.randomness.geometric`."""
        return int(self.waits(Fraction(c) * level, 1)[0])

    def waits(self, gamma: Fraction, size: int) -> Ints:
        """Draw exactly: see :func:`anonhist.randomness.geometric`."""
        return geometric(gamma, size, source=self.source)

    def bits(self, chance: ExponentialQuotient, size: int) -> Bools:
        """Draw exactly: see :func:`anonhist.randomness.bernoulli`."""
        return bernoulli(chance, size, source=self.source)


@dataclass(frozen=True)
class SimulatedChoices:
    """Decisions from a NumPy generator: for re-simulating on public profiles only."""

    rng: np.random.Generator

    def rows(self, weights: Floats) -> Ints:
        """Pick by comparing a uniform number with cumulative sums."""
        sums = np.cumsum(weights, axis=1)
        thresholds = self.rng.random((weights.shape[0], 1)) * sums[:, -1:]
        return np.asarray(np.minimum((sums <= thresholds).sum(axis=1), weights.shape[1] - 1), dtype=np.int64)

    def geometric(self, c: float, level: int) -> int:
        """Draw by inverting an exponential variable."""
        return int(self.rng.exponential() / (c * level))

    def waits(self, gamma: Fraction, size: int) -> Ints:
        """Draw trials up to the first that stops."""
        return np.asarray(self.rng.geometric(-math.expm1(-float(gamma)), size) - 1, dtype=np.int64)

    def bits(self, chance: ExponentialQuotient, size: int) -> Bools:
        """Draw by comparing uniform numbers with the rounded probability."""
        return np.asarray(self.rng.random(size) < float(chance))


# Noise with a smaller rate is treated as noise with this rate on a coarser grid.
_LEAST = 0.01
# Sums of more noises than this are treated as normal.
_FEW = 64
# This many standard deviations, plus this many scales, contain all but 1e-12 of the noise.
_DEVIATIONS, _SCALES = 14.0, 60.0


@lru_cache(maxsize=256)
def noise_quantile(epsilon: float, terms: int, tail: float) -> int:
    """Return q with ``P(G_1 + … + G_m > q) ≤ tail``, G independent with ``P(G = j) ∝ e^{−ε|j|}``.

    The distribution of the sum comes from its characteristic function, ``((1 − p)² / (1 − 2p·cos t + p²))^m``,
    ``p = e^{−ε}``, by a Fourier transform. q is the smallest such number for ε ≥ 0.01, and at most 1% larger below. m
    is from 1 to 2¹⁶, ``tail`` from 1e-9 to 1/2.
    """
    rate = max(epsilon, _LEAST)
    p = math.exp(-rate)
    reach = _DEVIATIONS * math.sqrt(2 * terms * p) / (1 - p) + _SCALES / rate
    size = 1 << math.ceil(math.log2(2 * reach + 4))
    angles = np.arange(size // 2 + 1) * (2 * math.pi / size)
    transform = ((1 - p) ** 2 / (1 - 2 * p * np.cos(angles) + p**2)) ** terms
    quantile = _first_rare(transform, size, tail) - 1
    return quantile if rate == epsilon else math.ceil((quantile + 1) * rate / epsilon)


def _first_rare(transform: Floats, size: int, tail: float) -> int:
    """Return the least q ≥ 0 with ``P(sum ≥ q) ≤ tail``, from the characteristic function of a sum of noises."""
    chances = np.fft.irfft(transform, size)[: size // 2]
    return int(np.argmax(np.cumsum(chances[::-1])[::-1] <= tail))


def sum_quantiles(epsilon: float, terms: Ints, tail: float) -> Floats:
    """Return the same for several numbers of noises, from zero on; sums of more than 64 are treated as normal."""
    found = np.ceil(NormalDist().inv_cdf(1 - tail) * deviation(epsilon) * np.sqrt(terms))
    for few in np.unique(terms[terms <= _FEW]).tolist():
        found[terms == few] = noise_quantile(epsilon, few, tail) if few else 0
    return np.asarray(found)


_TAIL, _NORMAL = 0.025, 1.959963984540054
# Sums of more noises than this are treated as normal.
_FEW_EQUAL = 2**10
# So are sums in which each of this many noises is weighted by its position: the last is a small part.
_FEW_WEIGHTED = 2**6
# Larger noisy numbers may have been cut at 2⁶³ − 1.
_MOST = 2**62
# Weighted sums of noise with a smaller rate are approximately those of noise with this rate on a coarser grid.
_LEAST_WEIGHTED = 0.05
_DEVIATIONS_WEIGHTED, _SCALES_WEIGHTED = 12.0, 40.0
# This many values of a distribution are computed if it is not one of whole numbers.
_GRID = 2**15


def of_sums(noisy: Ints, rate: float) -> tuple[int, int]:
    """Return an interval for the sum of some true numbers ≥ 0 from noisy ones, noise ``P(j) ∝ e^(−γ|j|)`` on each."""
    return _around(sum(noisy.tolist()), _reach(rate, noisy.size), cut=bool(np.any(noisy >= _MOST)))


def of_rows(noisy: Ints, counted: Bools, rate: float) -> list[tuple[int, int]]:
    """Return the same for each row of a table, for the sum of the numbers that are counted."""
    if noisy.size and int(np.abs(noisy).max()) >= _MOST // noisy.shape[1]:
        return [of_sums(numbers[some], rate) for numbers, some in zip(noisy, counted, strict=True)]
    totals, terms = np.where(counted, noisy, 0).sum(axis=1), counted.sum(axis=1)
    reaches = {number: _reach(rate, number) for number in set(terms.tolist())}
    return [
        _around(total, reaches[number], cut=False)
        for total, number in zip(totals.tolist(), terms.tolist(), strict=True)
    ]


def of_prevalences(noisy: NDArray[Any], rate: float, *, terms: int = 1) -> tuple[int, int]:
    """Return an interval for ``n = Σ r·φ_r`` from noisy prevalences of counts 1..C, with ``terms`` noises in each.

    The upper end is that of the whole sum. Because ``n ≥ Σ min(r, K)·φ_r``, which has far less noise for small K, the
    lower end is the best of those for K = 1, 2, 4, … and C. Any of them is wrong in at most 2.5% of releases.
    """
    cuts = [1 << power for power in range((noisy.size - 1).bit_length())]
    if bool(np.any(noisy >= _MOST // noisy.size)):
        return 0, MAX_ITEMS
    # φ_{1+} + … + φ_{K+}, exact below 2⁵³.
    sums = np.cumsum(np.cumsum(noisy[::-1].astype(np.float64))[::-1])
    tails = [_TAIL / 2 / max(1, len(cuts))] * len(cuts) + [_TAIL / 2 if cuts else _TAIL]
    lows = [
        int(sums[cut - 1]) - weighted_quantile(rate, noisy.size, cut, each=terms, tail=tail)
        for cut, tail in zip([*cuts, noisy.size], tails, strict=True)
    ]
    high = int(sums[-1]) + weighted_quantile(rate, noisy.size, noisy.size, each=terms)
    return min(max(0, *lows), MAX_ITEMS), min(max(0, high, *lows), MAX_ITEMS)


def of_difference(first: int, times: int, rate: float, others: Ints, others_rate: float) -> tuple[int, int]:
    """Return an interval for ``times`` > 0 times one true number minus the sum of others, from noisy numbers."""
    total = times * first - sum(others.tolist())
    reach = math.ceil(_mixed_quantile(times / rate, others.size, 1 / others_rate))
    return _around(total, reach, cut=max(abs(total), abs(first), int(others.max())) >= _MOST)


@lru_cache(maxsize=256)
def _mixed_quantile(scale: float, terms: int, others: float) -> float:
    """Return q with ``P(X + X_1 + … + X_m > q) ≤ 2.5%``, X of one Laplace distribution, the X_i of another.

    Noise in whole numbers is not farther out. The computation uses the characteristic function.
    """
    reach = _DEVIATIONS_WEIGHTED * math.sqrt(2 * (scale**2 + terms * others**2)) + _SCALES_WEIGHTED * max(scale, others)
    step = 2 * reach / _GRID
    angles = np.arange(_GRID // 2 + 1) * (2 * math.pi / _GRID / step)
    transform = (1 + (scale * angles) ** 2) ** -1.0 * (1 + (others * angles) ** 2) ** -float(terms)
    return step * _first_rare(transform, _GRID, _TAIL)


def _around(total: int, reach: int, *, cut: bool) -> tuple[int, int]:
    if cut:
        return 0, MAX_ITEMS
    return min(max(0, total - reach), MAX_ITEMS), min(max(0, total + reach), MAX_ITEMS)


def _reach(rate: float, terms: int) -> int:
    if terms <= _FEW_EQUAL:
        return noise_quantile(rate, terms, _TAIL)
    return math.ceil(_NORMAL * math.sqrt(terms) * deviation(rate))


@lru_cache(maxsize=256)
def weighted_quantile(rate: float, terms: int, cut: int, *, each: int = 1, tail: float = _TAIL) -> int:
    """Return q with ``P(Σ min(r, K)·G_r > q) ≤ tail``, r = 1..C, G_r independent sums of noises ``P(j) ∝ e^(−γ|j|)``.

    It comes from the characteristic function, as for sums without weights; for more than 64 noises, from the normal
    distribution. C is ``terms``, K is ``cut`` ≤ C, and each sum has ``each`` noises; ``tail`` is from 1e-9 to 1/2.
    """
    spread = math.sqrt(each * (cut * (cut + 1) * (2 * cut + 1) / 6 + (terms - cut) * cut**2))
    if each * terms > _FEW_WEIGHTED:
        return math.ceil(NormalDist().inv_cdf(1 - tail) * deviation(rate) * spread)
    used = max(rate, _LEAST_WEIGHTED)
    p = math.exp(-used)
    reach = _DEVIATIONS_WEIGHTED * deviation(used) * spread + _SCALES_WEIGHTED * cut / used
    size = 1 << math.ceil(math.log2(2 * reach + 4))
    angles = np.arange(size // 2 + 1) * (2 * math.pi / size)
    transform = np.ones(angles.size)
    for weight in range(1, cut + 1):
        times = each if weight < cut else each * (terms - cut + 1)
        transform *= ((1 - p) ** 2 / (1 - 2 * p * np.cos(weight * angles) + p**2)) ** times
    quantile = _first_rare(transform, size, tail) - 1
    return quantile if used == rate else math.ceil((quantile + cut) * used / rate)
