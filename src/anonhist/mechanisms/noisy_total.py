"""Intervals for n, the number of items, from noisy values alone.

n is a weighted sum of the true numbers: of the Durfee size, the arms and the legs of the diagram, each once; of the
prevalences φ_r, each r times; or of degrees up to θ: θ times the number of nodes, less the numbers of those with at
most 0, 1, …, θ − 1 edges. The same sum of the noisy numbers differs from n by the sum of their noises, whose
distribution is known, whatever the data. Each end is wrong in at most 2.5 % of releases.

Where the groups of rows or the number of rows depend on released values, the number of noises does, too, but not on
those noises that are still to come; ``bench/group_intervals.py`` measures that the intervals hold.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.mechanisms.noise import deviation, noise_quantile
from anonhist.profiles.counts import MAX_ITEMS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TAIL, _NORMAL = 0.025, 1.959963984540054
# Sums of more noises than this are assumed to be normal.
_FEW = 2**10
# So are sums in which each of so many noises counts as often as its place says: the last is a small part.
_FEW_WEIGHTED = 2**6
# Larger noisy numbers may have been cut at 2⁶³ − 1.
_MOST = 2**62
# Weighted sums of noise with a smaller rate are those of noise with this rate on a coarser grid, about.
_LEAST = 0.05
_DEVIATIONS, _SCALES = 12.0, 40.0
# So many values of a distribution are computed where it is not one of whole numbers.
_GRID = 2**15


def of_sums(noisy: NDArray[np.int64], rate: float) -> tuple[int, int]:
    """Return an interval for the sum of some true numbers ≥ 0 from noisy ones, noise ``P(j) ∝ e^(−γ|j|)`` on each."""
    return _around(sum(noisy.tolist()), _reach(rate, noisy.size), cut=bool(np.any(noisy >= _MOST)))


def of_rows(noisy: NDArray[np.int64], counted: NDArray[np.bool_], rate: float) -> list[tuple[int, int]]:
    """Return the same for each row of a table, for the sum of those numbers that are counted."""
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

    The upper end is that of the whole sum. Since ``n ≥ Σ min(r, K)·φ_r``, which has far less noise for small K, the
    lower end is the best of those for K = 1, 2, 4, … and C. One of them is wrong in at most 2.5 % of releases.
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


def of_difference(
    first: int, times: int, rate: float, others: NDArray[np.int64], others_rate: float
) -> tuple[int, int]:
    """Return an interval for ``times`` > 0 times one true number minus the sum of others, from noisy numbers."""
    total = times * first - sum(others.tolist())
    reach = math.ceil(_mixed_quantile(times / rate, others.size, 1 / others_rate))
    return _around(total, reach, cut=max(abs(total), abs(first), int(others.max())) >= _MOST)


@lru_cache(maxsize=256)
def _mixed_quantile(scale: float, terms: int, others: float) -> float:
    """Return a q with ``P(X + X_1 + … + X_m > q) ≤ 2.5 %``, X of a Laplace distribution, the others of another.

    Noise in whole numbers is not farther out. By the characteristic function.
    """
    reach = _DEVIATIONS * math.sqrt(2 * (scale**2 + terms * others**2)) + _SCALES * max(scale, others)
    step = 2 * reach / _GRID
    angles = np.arange(_GRID // 2 + 1) * (2 * math.pi / _GRID / step)
    chances = np.fft.irfft((1 + (scale * angles) ** 2) ** -1.0 * (1 + (others * angles) ** 2) ** -float(terms), _GRID)
    reaching = np.cumsum(chances[: _GRID // 2][::-1])[::-1]  # P(sum ≥ q)
    return step * int(np.argmax(reaching <= _TAIL))


def _around(total: int, reach: int, *, cut: bool) -> tuple[int, int]:
    if cut:
        return 0, MAX_ITEMS
    return min(max(0, total - reach), MAX_ITEMS), min(max(0, total + reach), MAX_ITEMS)


def _reach(rate: float, terms: int) -> int:
    if terms <= _FEW:
        return noise_quantile(rate, terms, _TAIL)
    return math.ceil(_NORMAL * math.sqrt(terms) * deviation(rate))


@lru_cache(maxsize=256)
def weighted_quantile(rate: float, terms: int, cut: int, *, each: int = 1, tail: float = _TAIL) -> int:
    """Return a q with ``P(Σ min(r, K)·G_r > q) ≤ tail``, r = 1..C, G_r independent sums of noises ``P(j) ∝ e^(−γ|j|)``.

    From the characteristic function, as for sums without weights; of more than 64 noises by the normal distribution. C
    is ``terms``, K is ``cut`` ≤ C, and each sum has ``each`` noises; ``tail`` is from 1e-9 to 1/2.
    """
    spread = math.sqrt(each * (cut * (cut + 1) * (2 * cut + 1) / 6 + (terms - cut) * cut**2))
    if each * terms > _FEW_WEIGHTED:
        return math.ceil(NormalDist().inv_cdf(1 - tail) * deviation(rate) * spread)
    used = max(rate, _LEAST)
    p = math.exp(-used)
    reach = _DEVIATIONS * deviation(used) * spread + _SCALES * cut / used
    size = 1 << math.ceil(math.log2(2 * reach + 4))
    angles = np.arange(size // 2 + 1) * (2 * math.pi / size)
    transform = np.ones(angles.size)
    for weight in range(1, cut + 1):
        times = each if weight < cut else each * (terms - cut + 1)
        transform *= ((1 - p) ** 2 / (1 - 2 * p * np.cos(weight * angles) + p**2)) ** times
    chances = np.fft.irfft(transform, size)[: size // 2]
    reaching = np.cumsum(chances[::-1])[::-1]  # P(sum ≥ q)
    quantile = int(np.argmax(reaching <= tail)) - 1
    return quantile if used == rate else math.ceil((quantile + cut) * used / rate)
