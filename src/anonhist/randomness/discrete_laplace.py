"""Discrete Laplace numbers (two-sided geometric), drawn exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.numeric.exponential import certified_floors, complement, divide, float_rate, multiply, powers
from anonhist.randomness.arguments import checked_rate, checked_size
from anonhist.randomness.geometric import low_digit_count, low_digit_tables, steps_before_tail
from anonhist.randomness.inversion import InversionTable, draw_xor
from anonhist.randomness.source import RandomSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.numeric.exponential import Bounds


def discrete_laplace(gamma: Fraction, size: int, *, source: RandomSource) -> NDArray[np.int64]:
    """Draw discrete Laplace numbers: ``P(k) = (1 − p)/(1 + p)·p^|k|``, ``p = e^(−γ)``, k any whole number.

    Parameters
    ----------
    gamma
        The rate γ, an exact rational (Fraction or int) of at least 2⁻⁴⁰, of any size; 1/γ is the scale.
        Public: tables of recent rates are cached.
    size
        Number of draws, ≥ 0.
    source
        Where the random words come from.

    Returns
    -------
    ndarray of int64, shape (size,)
        Independent draws.

    Raises
    ------
    UsageError
        If γ is not exact or is too small, or the size is not a whole number ≥ 0.

    Guarantees
    ----------
    The distribution is exact: no floats are used and no tail is cut off. Added to every coordinate of a vector of whole
    numbers, the noise has a privacy loss of at most γ·‖x − y‖₁ between x and y. The time depends on γ, the size and the
    random words, never on the numbers that get the noise. A draw outside int64 would wrap around; at the smallest γ its
    probability is about e^(−2²³).

    Notes
    -----
    With G geometric with rate γ, the draw is G with probability 1/(1 + p), else −1 − G, which in two's complement is G
    with all binary digits flipped. So the digits of G are drawn as in :func:`geometric`; only the table of the high
    digits also holds the sign, and both of its tails are memoryless.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.randomness import SystemSource
    >>> noise = discrete_laplace(Fraction(1, 2), 1000, source=SystemSource())
    >>> noise.dtype, noise.shape
    (dtype('int64'), (1000,))
    """
    return draw_xor(_tables(checked_rate(gamma)), checked_size(size), source=source)


def discrete_laplace_pmf(gamma: Fraction, k: ArrayLike) -> NDArray[np.float64]:
    """Return ``(1 − p)/(1 + p)·p^|k| = tanh(γ/2)·e^(−γ|k|)`` for whole numbers k.

    The relative error is below 10⁻¹² wherever the result is a normal float.

    Examples
    --------
    >>> from fractions import Fraction
    >>> discrete_laplace_pmf(Fraction(1), [-1, 0, 1]).round(4).tolist()
    [0.17, 0.4621, 0.17]
    """
    rate = float_rate(checked_rate(gamma))
    pmf: NDArray[np.float64] = math.tanh(rate / 2) * np.exp(-rate * np.abs(np.asarray(k)))
    return pmf


def discrete_laplace_variance(gamma: Fraction) -> float:
    """Return ``Var Z = 2p/(1 − p)²``, p = e^(−γ).

    Examples
    --------
    >>> from fractions import Fraction
    >>> round(discrete_laplace_variance(Fraction(1)), 4)
    1.8413
    """
    rate = float_rate(checked_rate(gamma))
    return 2 * math.exp(-rate) / math.expm1(-rate) ** 2


@lru_cache(maxsize=16)
def _tables(gamma: Fraction) -> Sequence[InversionTable]:
    digits = low_digit_count(gamma)
    steps = steps_before_tail(gamma * 2**digits)
    magnitudes = np.arange(steps + 1, dtype=np.int64) << digits
    # Both signs of one magnitude in turn; the last entry stands for the tail.
    values = np.stack((magnitudes, ~magnitudes), axis=1).ravel()[: 2 * steps + 1]
    thresholds = partial(_floors, gamma, digits=digits, steps=steps)
    high = InversionTable(thresholds, values, tail_step=steps << digits)
    return high, *low_digit_tables(gamma, digits=digits)


def _floors(gamma: Fraction, bits: int, *, digits: int, steps: int) -> list[int]:
    """Thresholds of (high digits, sign) in the order 0+, 0−, 1+, 1− and so on.

    With p = e^(−γ), q = p^(2^digits) the distribution is P(k+) = (1 − q)q^k/(1 + p), P(k−) = (1 − q)q^k·p/(1 + p). So
    1 − T_{2k+1} = q^k·(p + q)/(1 + p) and 1 − T_{2k+2} = q^(k+1).
    """

    def bounds(precision: int) -> list[Bounds]:
        one = 1 << precision
        p = powers(gamma, count=1, bits=precision)[1]
        q = powers(gamma * 2**digits, count=steps, bits=precision)
        after_plus = divide((p[0] + q[1][0], p[1] + q[1][1]), (one + p[0], one + p[1]), bits=precision)
        reaching = [bound for k in range(steps) for bound in (multiply(q[k], after_plus, bits=precision), q[k + 1])]
        return [complement(reach, bits=precision) for reach in reaching]

    return certified_floors(bounds, bits=bits)
