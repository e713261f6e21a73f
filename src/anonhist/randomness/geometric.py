"""Geometric, discrete Laplace and negative binomial numbers, drawn exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike

from anonhist.numeric.arrays import Floats, Ints
from anonhist.numeric.exponential import (
    Bounds,
    certified_floors,
    complement,
    divide_bounds,
    float_rate,
    multiply_bounds,
    powers,
)
from anonhist.randomness.bernoulli import bernoulli
from anonhist.randomness.categorical import InversionTable, draw_xor
from anonhist.randomness.source import RandomSource, checked_bound, checked_rate, checked_size

# A table with steps down to this rate leaves at most a thirtieth of its 65,536 slots undecided.
ONE_TABLE_RATE = Fraction(1, 64)
# If more tables are needed anyway, the high part may be steeper, and each table holds 8 low binary digits.
HIGH_PART_RATE = Fraction(1, 16)
DIGITS_PER_TABLE = 8
# −ln of the probability that a table leaves to its tail: about 2⁻²⁰, and safely below the 2⁻¹⁶ it must not exceed.
TAIL_LOG = 14


def geometric(gamma: Fraction, size: int, *, source: RandomSource) -> Ints:
    """Draw independent geometric numbers: ``P(k) = (1 − e^(−γ))·e^(−γk)`` for k = 0, 1, 2 and so on.

    The rate γ is an exact rational of at least 2⁻⁴⁰, and public: tables of recent rates are cached. The distribution is
    exact: no floats are used and no tail is cut off (docs/proofs/randomness.md, §4). The time depends on γ, the size
    and the random words. A draw of 2⁶³ or more would wrap around; at the smallest γ its probability is about e^(−2²³).
    """
    return draw_xor(_tables(checked_rate(gamma)), checked_size(size), source=source)


def geometric_pmf(gamma: Fraction, k: ArrayLike) -> Floats:
    """Return ``(1 − e^(−γ))·e^(−γk)``, and 0 for k < 0; relative error below 10⁻¹² for normal floats."""
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
        return [divide_bounds(part, below[-1], bits=precision) for part in below[:-1]]

    return certified_floors(bounds, bits=bits)


def discrete_laplace(gamma: Fraction, size: int, *, source: RandomSource) -> Ints:
    """Draw independent discrete Laplace numbers: ``P(k) = (1 − p)/(1 + p)·p^|k|``, ``p = e^(−γ)``, k any whole number.

    The rate γ, of scale 1/γ, is an exact rational of at least 2⁻⁴⁰, and public: tables of recent rates are cached. The
    distribution is exact: no floats are used and no tail is cut off (docs/proofs/randomness.md, §5). Added to every
    coordinate of a vector of whole numbers, the noise has a privacy loss of at most γ·‖x − y‖₁ between x and y. The
    time depends on γ, the size and the random words, never on the numbers that get the noise. A draw outside int64
    would wrap around; at the smallest γ its probability is about e^(−2²³).
    """
    return draw_xor(_laplace_tables(checked_rate(gamma)), checked_size(size), source=source)


def discrete_laplace_pmf(gamma: Fraction, k: ArrayLike) -> Floats:
    """Return ``tanh(γ/2)·e^(−γ|k|) = (1 − p)/(1 + p)·p^|k|``; relative error below 10⁻¹² for normal floats."""
    rate = float_rate(checked_rate(gamma))
    return np.asarray(math.tanh(rate / 2) * np.exp(-rate * np.abs(np.asarray(k))))


def discrete_laplace_variance(gamma: Fraction) -> float:
    """Return ``Var Z = 2p/(1 − p)²``, p = e^(−γ)."""
    rate = float_rate(checked_rate(gamma))
    return 2 * math.exp(-rate) / math.expm1(-rate) ** 2


@lru_cache(maxsize=16)
def _laplace_tables(gamma: Fraction) -> Sequence[InversionTable]:
    digits = low_digit_count(gamma)
    steps = steps_before_tail(gamma * 2**digits)
    magnitudes = np.arange(steps + 1, dtype=np.int64) << digits
    # Both signs of one magnitude in turn; the last entry stands for the tail.
    values = np.stack((magnitudes, ~magnitudes), axis=1).ravel()[: 2 * steps + 1]
    thresholds = partial(_laplace_floors, gamma, digits=digits, steps=steps)
    return InversionTable(thresholds, values, tail_step=steps << digits), *low_digit_tables(gamma, digits=digits)


def _laplace_floors(gamma: Fraction, bits: int, *, digits: int, steps: int) -> list[int]:
    """Thresholds of (high digits, sign) in the order 0+, 0−, 1+, 1− and so on.

    With p = e^(−γ), q = p^(2^digits) the distribution is P(k+) = (1 − q)q^k/(1 + p), P(k−) = (1 − q)q^k·p/(1 + p). So
    1 − T_{2k+1} = q^k·(p + q)/(1 + p) and 1 − T_{2k+2} = q^(k+1).
    """

    def bounds(precision: int) -> list[Bounds]:
        one = 1 << precision
        p = powers(gamma, count=1, bits=precision)[1]
        q = powers(gamma * 2**digits, count=steps, bits=precision)
        after_plus = divide_bounds((p[0] + q[1][0], p[1] + q[1][1]), (one + p[0], one + p[1]), bits=precision)
        reaching = [
            bound for k in range(steps) for bound in (multiply_bounds(q[k], after_plus, bits=precision), q[k + 1])
        ]
        return [complement(reach, bits=precision) for reach in reaching]

    return certified_floors(bounds, bits=bits)


# Number of proposals at a time.
_CHUNK = 1 << 18
# From here on, an asymptotic series of the ratio of gamma functions is more accurate than a product.
_MANY = 10_000


def negative_binomial(gamma: Fraction, parts: int, size: int, *, source: RandomSource) -> Ints:
    """Draw negative binomial numbers: ``P(j) = Γ(r + j)/(j!·Γ(r))·(1 − p)^r·p^j``, ``r = 1/parts``, ``p = e^(−γ)``.

    The sum of ``parts`` = h independent ones is geometric of rate γ, an exact rational of at least 2⁻⁴⁰; h is from 1 to
    2⁶³. The distribution is exact: floats never decide a draw, and no tail is cut off. A geometric number j is kept if
    it wins all its coins, of probabilities ``(1 + h·i)/(h·(1 + i))``, i < j (docs/proofs/sketches.md). The time depends
    on γ, h, the size and the random words, and for small γ grows like 1/γ.
    """
    rate, count, total = checked_rate(gamma), checked_bound(parts, name="parts"), checked_size(size)
    out = np.empty(total, dtype=np.int64)
    # The number of proposals does not affect the draws: they are the first kept ones of a sequence.
    chance = (-math.expm1(-float_rate(rate))) ** (1 - 1 / count)
    filled = 0
    while filled < total:
        proposals = min(_CHUNK, 64 + math.ceil(1.05 * (total - filled) / chance))
        kept = _accept(geometric(rate, proposals, source=source), count, source=source)[: total - filled]
        out[filled : filled + kept.size] = kept
        filled += kept.size
    return out


def negative_binomial_pmf(gamma: Fraction, parts: int, k: ArrayLike) -> Floats:
    """Return ``Γ(r + k)/(k!·Γ(r))·(1 − p)^r·p^k``, r = 1/parts, for whole numbers k, and 0 for k < 0."""
    from scipy.special import gamma as gamma_function
    from scipy.special import poch

    rate, shape = float_rate(checked_rate(gamma)), 1 / checked_bound(parts, name="parts")
    at = np.asarray(k)
    reached = np.maximum(at, 0)
    steps = np.arange(min(int(reached.max(initial=0)), _MANY))
    products = np.concatenate(([1.0], np.cumprod((shape + steps) / (1.0 + steps))))
    series = poch(np.maximum(reached, _MANY) + 1.0, shape - 1) / gamma_function(shape)
    weights = np.where(reached < _MANY, products[np.minimum(reached, products.size - 1)], series)
    return np.where(at >= 0, (-math.expm1(-rate)) ** shape * np.exp(-rate * reached) * weights, 0.0)


def _accept(proposed: Ints, parts: int, *, source: RandomSource) -> Ints:
    """Return the proposals that win all their coins, in their order."""
    if parts == 1:
        return proposed
    wins = np.ones(proposed.size, dtype=np.bool_)
    open_ones = np.flatnonzero(proposed)
    step = 0
    while open_ones.size:
        coin = bernoulli(Fraction(1 + parts * step, parts * (1 + step)), open_ones.size, source=source)
        wins[open_ones[~coin]] = False
        step += 1
        open_ones = open_ones[coin]
        open_ones = open_ones[proposed[open_ones] > step]
    return proposed[wins]
