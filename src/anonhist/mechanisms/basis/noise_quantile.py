"""Quantiles of sums of two-sided geometric noises."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.basis.noise import deviation

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    p = e^{−ε}, by a Fourier transform. q is the smallest such number for ε ≥ 0.01, and at most 1 % larger below.

    Parameters
    ----------
    epsilon
        Rate of the noise, > 0.
    terms
        m, from 1 to 2¹⁶.
    tail
        Probability beyond q, from 1e-9 to 1/2.

    Examples
    --------
    >>> noise_quantile(1.0, 1, 0.025), noise_quantile(1.0, 4, 0.025)
    (3, 5)
    >>> noise_quantile(0.001, 1, 0.025)
    3010
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
    """Return the same for each of several numbers of noises, from zero on; sums of more than 64 are taken for normal.

    Examples
    --------
    >>> sum_quantiles(1.0, np.array([0, 1, 4, 100]), 0.025).tolist()
    [0.0, 3.0, 5.0, 27.0]
    """
    found = np.ceil(NormalDist().inv_cdf(1 - tail) * deviation(epsilon) * np.sqrt(terms))
    for few in np.unique(terms[terms <= _FEW]).tolist():
        found[terms == few] = noise_quantile(epsilon, few, tail) if few else 0
    return np.asarray(found)
