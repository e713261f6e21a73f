"""Bounds of the paper as formulas with constants, and data on which the lower ones hold for every mechanism.

The paper gives its bounds up to constants. Our argument for those drawn here, a packing of one bit for each two rows:
let a diagram of m rows, m even, have ``g·(m − i)`` items in row i, and in each pair of rows 2j − 1 and 2j, g more in
one of the two. There are 2^(m/2) such diagrams, all sorted, with ``n = g·m²/2`` items. Two that differ in one pair are
2g apart, so for any output h their errors in that pair add up to 2g or more; and under ε-differential privacy the two
output distributions overlap by ``2/(1 + e^(2gε))`` or more. So the error in a pair, on average over its two states, is
at least ``2g/(1 + e^(2gε))``, and that of all pairs ``√(2gn)/(1 + e^(2gε))``.

With g = 1 this is Theorem 2, ``Ω(√n·e^(−2ε))``; with g near 0.37/ε it is the bound of Aldà and Simon, ``Ω(√(n/ε))``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.profiles import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

# Where √u/(1 + e^u) is largest: u = 2gε.
_BEST = 0.7388


def lower_bound(items: float, epsilon: float, height: int | None = None) -> float:
    """Return ``√(2gn)/(1 + e^(2gε))``: no ε-private mechanism errs less on average over :func:`hard_profile`.

    Parameters
    ----------
    items
        n.
    epsilon
        ε.
    height
        g; by default the one with the largest bound.

    Examples
    --------
    >>> round(lower_bound(10**6, 2.0), 1), round(lower_bound(10**6, 0.1), 1)
    (25.4, 876.9)
    >>> [round(lower_bound(10**6, epsilon) / (10**6 / epsilon) ** 0.5, 3) for epsilon in (0.1, 0.01, 0.001)]
    [0.277, 0.278, 0.278]
    """
    found = height or block_height(epsilon)
    return math.sqrt(2 * found * items) / (1 + math.exp(2 * found * epsilon))


def block_height(epsilon: float) -> int:
    """Return the g with the largest :func:`lower_bound`."""
    guess = _BEST / (2 * epsilon)
    return max((max(1, math.floor(guess)), math.ceil(guess)), key=lambda height: lower_bound(1, epsilon, height))


def hard_profile(items: int, height: int, rng: np.random.Generator) -> Profile:
    """Draw one of the diagrams on which the lower bound holds, of at most about ``items`` items.

    Examples
    --------
    >>> hard_profile(8, 1, np.random.default_rng(1)).n
    8
    """
    pairs = max(1, math.isqrt(2 * items // height) // 2)
    rows = np.arange(2 * pairs)[::-1]
    first = rng.integers(0, 2, size=pairs)
    extra = np.column_stack((first, 1 - first)).ravel()
    return Profile.from_counts(height * (rows + extra))


def high_privacy_rate(items: float, epsilon: float) -> float:
    """Return ``√(n·ln(2/ε)/ε)``, Theorem 1 for ε ≤ 1, without its constant."""
    return math.sqrt(items * math.log(2 / epsilon) / epsilon)


def further_samples(error: float, epsilon: float, *, largest: float, exponent: float) -> float:
    """Return the second term of Corollary 1 with all constants 1, and c = 1/3.

    ``(1/(α·e^(cε)))^(2/(1−2β)) + ln(f_max/α)/ε`` for ε > 1, else
    ``(ln(2/ε)/(α²·ε))^(1/(1−2β)) + ln(f_max/(α·ε))/ε``; infinite from β = 1/2 on, or for α = 0.

    Parameters
    ----------
    error
        α.
    epsilon
        ε.
    largest
        f_max.
    exponent
        β.

    Examples
    --------
    >>> [round(further_samples(0.1, epsilon, largest=7.0, exponent=0.1)) for epsilon in (0.5, 4.0)]
    [1141, 12]
    """
    if exponent >= 0.5 or error <= 0:
        return math.inf
    power = 1 / (1 - 2 * exponent)
    if epsilon > 1:
        return math.pow(error * math.exp(epsilon / 3), -2 * power) + math.log(largest / error) / epsilon
    rest = math.log(largest / (error * epsilon)) / epsilon
    return math.pow(math.log(2 / epsilon) / (error**2 * epsilon), power) + rest


def slope(x: Sequence[float], y: Sequence[float], errors: Sequence[float]) -> tuple[float, float]:
    """Return the slope of a line through points by least squares, weighted by their errors, with its standard error.

    Examples
    --------
    >>> [round(each, 3) for each in slope([0, 1, 2], [1, 3, 5], [0.1, 0.1, 0.1])]
    [2.0, 0.071]
    """
    weights = 1 / np.maximum(np.asarray(errors, dtype=np.float64), 1e-12) ** 2
    places = np.asarray(x, dtype=np.float64) - np.average(x, weights=weights)
    spread = float(weights @ places**2)
    return float(weights @ (places * np.asarray(y, dtype=np.float64))) / spread, 1 / math.sqrt(spread)
