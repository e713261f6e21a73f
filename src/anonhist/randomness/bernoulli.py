"""Bernoulli bits, one by one or in rows, drawn exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.numeric.arrays import Bools, Floats
from anonhist.numeric.exponential import (
    ExponentialQuotient,
    certified_floors,
    complement,
    exp_bounds,
    float_rate,
    multiply_bounds,
)
from anonhist.randomness.categorical import CHUNK, SLOT_BITS, InversionTable, extend_slots, fresh_slots, resolve
from anonhist.randomness.source import RandomSource, checked_exponent, checked_probability, checked_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.numeric.exponential import Bounds
    from anonhist.randomness.categorical import Thresholds


def bernoulli(probability: Fraction | ExponentialQuotient, size: int, *, source: RandomSource) -> Bools:
    """Draw bits that are True with exactly this probability, a rational or a number such as e/(e + 3).

    Sixteen random bits decide a draw, except with probability 2⁻¹⁶; the time depends on the random words. Probabilities
    0 and 1 use no words.
    """
    exact = checked_probability(probability)
    if exact in (0, 1):
        return np.full(checked_size(size), bool(exact))
    return _below(lambda bits: [floor_of(exact, bits=bits)], size, source=source)


def bernoulli_exp(gamma: Fraction, size: int, *, source: RandomSource) -> Bools:
    """Draw bits that are True with probability exactly ``e^(−γ)``, γ ≥ 0 an exact rational.

    Random bits are compared with the binary expansion of e^(−γ), certified to as many digits as the comparison needs.
    The time depends on the random words.
    """
    exact = checked_exponent(gamma)
    if exact == 0:
        return np.full(checked_size(size), fill_value=True)
    return _below(
        lambda bits: certified_floors(lambda precision: [exp_bounds(exact, bits=precision)], bits=bits),
        size,
        source=source,
    )


def bernoulli_pmf(probability: Fraction | ExponentialQuotient, k: ArrayLike) -> Floats:
    """Return the probability of each k: 1 or True, 0 or False; 0 for anything else."""
    exact = checked_probability(probability)
    return _two_point_pmf(float(1 - exact), float(exact), k)


def bernoulli_exp_pmf(gamma: Fraction, k: ArrayLike) -> Floats:
    """Return the probability of each k: ``e^(−γ)`` for 1 or True, ``1 − e^(−γ)`` for 0 or False, else 0."""
    rate = float_rate(checked_exponent(gamma))
    return _two_point_pmf(-math.expm1(-rate), math.exp(-rate), k)


def floor_of(probability: Fraction | ExponentialQuotient, *, bits: int) -> int:
    """Return ⌊p·2^bits⌋ for 0 < p < 1."""
    if isinstance(probability, Fraction):
        return (probability.numerator << bits) // probability.denominator
    return certified_floors(lambda precision: [probability.bounds(precision)], bits=bits)[0]


def _two_point_pmf(failure: float, success: float, k: ArrayLike) -> Floats:
    at = np.asarray(k).astype(np.int64)
    return np.where(at == 1, success, np.where(at == 0, failure, 0.0))


def _below(thresholds: Thresholds, size: int, *, source: RandomSource) -> Bools:
    """Return which of ``size`` fresh uniform numbers are below the single threshold."""
    count = checked_size(size)
    out = np.empty(count, dtype=np.bool_)
    threshold = thresholds(64)[0]
    slot = threshold >> (64 - SLOT_BITS)
    for start in range(0, count, CHUNK):
        part = out[start : start + CHUNK]
        slots = fresh_slots(part.size, source=source)
        np.less(slots, slot, out=part)
        undecided = np.flatnonzero(slots == slot)
        if undecided.size:
            prefix = extend_slots(slots[undecided], source=source)
            below = prefix < threshold
            for i in np.flatnonzero(prefix == threshold).tolist():
                below[i] = not resolve(int(prefix[i]), bits=64, thresholds=thresholds, source=source)
            part[undecided] = below
    return out


# Bytes with few ones first: neighbors are about equally likely, and the thresholds of rare bytes share slots.
PATTERNS = sorted(range(256), key=int.bit_count)
# Bytes drawn at a time: with their slots they fit in a level-2 cache, and threads rarely wait for the interpreter.
PART = 1 << 17


def bernoulli_bits(
    probability: Fraction | ExponentialQuotient, rows: int, columns: int, *, source: RandomSource
) -> NDArray[np.uint8]:
    """Draw rows of independent bits that are 1 with exactly this probability, packed into ⌈columns/8⌉ bytes each.

    Bit j of a row is bit j mod 8 of byte ⌊j/8⌋, counted from the lowest: ``bitorder="little"`` of ``numpy.unpackbits``.
    The bits after the last column are 0. The probability is public: tables of recent ones are cached. Sixteen random
    bits decide eight, except with probability below 255/65,536; the time depends on the random words. Probabilities 0
    and 1 use no words.
    """
    exact = checked_probability(probability)
    height, width = checked_size(rows, name="rows"), checked_size(columns, name="columns")
    packed = np.empty((height, -(-width // 8)), dtype=np.uint8)
    flat = packed.reshape(-1)
    if exact in (0, 1):
        flat[:] = 255 * int(exact == 1)
    else:
        table = _table(exact)
        for start in range(0, flat.size, PART):
            table.fill(flat[start : start + PART], source=source)
    if width % 8:
        packed[:, -1] &= (1 << width % 8) - 1
    return packed


@lru_cache(maxsize=16)
def _table(probability: Fraction | ExponentialQuotient) -> InversionTable:
    rarest = 255 if probability < Fraction(1, 2) else 0
    return InversionTable(partial(_floors, probability), np.array(PATTERNS, dtype=np.uint8), undecided=rarest)


def _floors(probability: Fraction | ExponentialQuotient, bits: int) -> Sequence[int]:
    """T_j = Σ p^(ones)·(1 − p)^(8 − ones) over the first j patterns, j = 1..255."""
    if not isinstance(probability, Fraction):
        return certified_floors(partial(_bounds, probability), bits=bits)
    success, whole = probability.numerator, probability.denominator
    weights = [success**ones * (whole - success) ** (8 - ones) for ones in range(9)]
    reached = accumulate(weights[pattern.bit_count()] for pattern in PATTERNS[:-1])
    return [(part << bits) // whole**8 for part in reached]


def _bounds(probability: ExponentialQuotient, precision: int) -> list[Bounds]:
    success = probability.bounds(precision)
    failure = complement(success, bits=precision)
    times = partial(multiply_bounds, bits=precision)
    one = 1 << precision, 1 << precision
    successes, failures = (list(accumulate([one, *[factor] * 8], times)) for factor in (success, failure))
    weights = [times(successes[ones], failures[8 - ones]) for ones in range(9)]
    lower, upper = (accumulate(weights[pattern.bit_count()][end] for pattern in PATTERNS[:-1]) for end in (0, 1))
    return list(zip(lower, upper, strict=True))
