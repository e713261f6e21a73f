"""Rows of independent bits, drawn exactly, eight at a time."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anonhist.numeric.exponential import certified_floors, complement, multiply
from anonhist.numeric.exponential_quotient import ExponentialQuotient
from anonhist.randomness.arguments import checked_probability, checked_size
from anonhist.randomness.inversion import InversionTable
from anonhist.randomness.source import RandomSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.numeric.exponential import Bounds

# Bytes with few ones first: neighbors are about equally likely, and the thresholds of rare bytes share slots.
PATTERNS = sorted(range(256), key=int.bit_count)
# Bytes drawn at a time: with their slots they fit in a level-2 cache, and threads rarely wait for the interpreter.
PART = 1 << 17


def bernoulli_bits(
    probability: Fraction | ExponentialQuotient, rows: int, columns: int, *, source: RandomSource
) -> NDArray[np.uint8]:
    """Draw rows of independent bits that are 1 with an exact probability, packed into bytes.

    Parameters
    ----------
    probability
        From 0 to 1, exact: a rational (Fraction or int) or an ExponentialQuotient such as 1/(e + 1). Public: tables of
        recent probabilities are cached.
    rows, columns
        Number of rows, and of bits in each, ≥ 0.
    source
        Where the random words come from.

    Returns
    -------
    ndarray of uint8, shape (rows, ⌈columns/8⌉)
        Bit j of a row is bit j mod 8 of byte ⌊j/8⌋, counted from the lowest: ``bitorder="little"`` of
        ``numpy.unpackbits``. The bits after the last column are 0.

    Raises
    ------
    UsageError
        If the probability is not exact or not from 0 to 1, or rows or columns is not a whole number ≥ 0.

    Guarantees
    ----------
    All bits are independent and each is 1 with the given probability, exactly. Sixteen random bits decide eight,
    except with probability below 255/65,536; the time depends on the random words. Probabilities 0 and 1 use no words.

    Examples
    --------
    >>> from anonhist.randomness import SystemSource
    >>> bernoulli_bits(Fraction(1), 2, 11, source=SystemSource()).tolist()
    [[255, 7], [255, 7]]
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
    times = partial(multiply, bits=precision)
    one = 1 << precision, 1 << precision
    successes, failures = (list(accumulate([one, *[factor] * 8], times)) for factor in (success, failure))
    weights = [times(successes[ones], failures[8 - ones]) for ones in range(9)]
    lower, upper = (accumulate(weights[pattern.bit_count()][end] for pattern in PATTERNS[:-1]) for end in (0, 1))
    return list(zip(lower, upper, strict=True))
