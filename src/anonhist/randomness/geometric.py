"""Geometric numbers, drawn exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.numeric.exponential import certified_floors, complement, divide, float_rate, powers
from anonhist.randomness.arguments import checked_rate, checked_size
from anonhist.randomness.inversion import InversionTable, draw_xor
from anonhist.randomness.source import RandomSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.numeric.exponential import Bounds

# A table with steps down to this rate leaves at most a thirtieth of its 65,536 slots undecided.
ONE_TABLE_RATE = Fraction(1, 64)
# If more tables are needed anyway, the high part may be steeper, and each table holds 8 low binary digits.
HIGH_PART_RATE = Fraction(1, 16)
DIGITS_PER_TABLE = 8
# −ln of the probability that a table leaves to its tail: about 2⁻²⁰, and safely below the 2⁻¹⁶ it must not exceed.
TAIL_LOG = 14


def geometric(gamma: Fraction, size: int, *, source: RandomSource) -> NDArray[np.int64]:
    """Draw geometric numbers: ``P(k) = (1 − e^(−γ))·e^(−γk)`` for k = 0, 1, 2 and so on.

    Parameters
    ----------
    gamma
        The rate γ, an exact rational (Fraction or int) of at least 2⁻⁴⁰, of any size. Public: tables of
        recent rates are cached.
    size
        Number of draws, ≥ 0.
    source
        Where the random words come from.

    Returns
    -------
    ndarray of int64, shape (size,)
        Independent draws, ≥ 0.

    Raises
    ------
    UsageError
        If γ is not exact or is too small, or the size is not a whole number ≥ 0.

    Guarantees
    ----------
    The distribution is exact: no floats are used and no tail is cut off. The time depends on γ, the size and the random
    words. A draw of 2⁶³ or more would wrap around; at the smallest γ its probability is about e^(−2²³).

    Notes
    -----
    P(k) is a product over the binary digits of k, so the digits are independent, and so are groups of them. For a small
    γ, the lowest b digits come from one table per eight digits, and the rest, geometric with rate γ·2^b, from another.

    Examples
    --------
    >>> from anonhist.randomness import SystemSource
    >>> draws = geometric(Fraction(1, 10), 1000, source=SystemSource())
    >>> draws.size, bool((draws >= 0).all())
    (1000, True)
    """
    return draw_xor(_tables(checked_rate(gamma)), checked_size(size), source=source)


def geometric_pmf(gamma: Fraction, k: ArrayLike) -> NDArray[np.float64]:
    """Return ``(1 − e^(−γ))·e^(−γk)`` for whole numbers k, and 0 for k < 0.

    The relative error is below 10⁻¹² wherever the result is a normal float.

    Examples
    --------
    >>> geometric_pmf(Fraction(1), [-1, 0, 1]).round(4).tolist()
    [0.0, 0.6321, 0.2325]
    """
    rate, at = float_rate(checked_rate(gamma)), np.asarray(k)
    return np.where(at >= 0, -math.expm1(-rate) * np.exp(-rate * np.maximum(at, 0)), 0.0)


def low_digit_count(gamma: Fraction) -> int:
    """Return b, the number of low binary digits drawn separately: 0 unless γ is small."""
    if gamma >= ONE_TABLE_RATE:
        return 0
    count = 1
    while gamma * 2**count < HIGH_PART_RATE:
        count += 1
    return count


def steps_before_tail(gamma: Fraction) -> int:
    """Return the least K ≥ 1 such that a geometric number of rate γ reaches K with probability at most e^(−14)."""
    return max(1, math.ceil(TAIL_LOG / gamma))


def low_digit_tables(gamma: Fraction, *, digits: int) -> list[InversionTable]:
    """Return tables whose joined draws are the lowest ``digits`` binary digits of a geometric number of rate γ."""
    tables = []
    for low in range(0, digits, DIGITS_PER_TABLE):
        count = 1 << min(DIGITS_PER_TABLE, digits - low)
        thresholds = partial(_truncated_floors, gamma * 2**low, count=count)
        tables.append(InversionTable(thresholds, np.arange(count, dtype=np.int64) << low))
    return tables


@lru_cache(maxsize=16)
def _tables(gamma: Fraction) -> Sequence[InversionTable]:
    digits = low_digit_count(gamma)
    rate = gamma * 2**digits
    steps = steps_before_tail(rate)
    values = np.arange(steps + 1, dtype=np.int64) << digits
    high = InversionTable(partial(_floors, rate, steps=steps), values, tail_step=steps << digits)
    return high, *low_digit_tables(gamma, digits=digits)


def _floors(gamma: Fraction, bits: int, *, steps: int) -> list[int]:
    """T_k = 1 − e^(−γk), k = 1..steps."""

    def bounds(precision: int) -> list[Bounds]:
        reaching = powers(gamma, count=steps, bits=precision)[1:]
        return [complement(reach, bits=precision) for reach in reaching]

    return certified_floors(bounds, bits=bits)


def _truncated_floors(gamma: Fraction, bits: int, *, count: int) -> list[int]:
    """T_j = (1 − e^(−γj))/(1 − e^(−γ·count)), j = 1..count − 1: the digits of a number below ``count``."""

    def bounds(precision: int) -> list[Bounds]:
        below = [complement(reach, bits=precision) for reach in powers(gamma, count=count, bits=precision)[1:]]
        return [divide(part, below[-1], bits=precision) for part in below[:-1]]

    return certified_floors(bounds, bits=bits)
