"""Rows of bits: the distribution of every byte, every slot, ties and ends."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from anonhist.numeric import ExponentialQuotient
from anonhist.randomness import bernoulli_bits, bernoulli_pmf
from anonhist.randomness.bernoulli import PART, PATTERNS, _floors, _table
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource, TapeSource
from anonhist_testing.statistics import assert_pmf_differs, assert_pmf_equal

EVERY_SLOT = np.arange(1 << 16, dtype="<u2").view("<u8")
WORD = 2**64 - 1
E, ROOT = ExponentialQuotient.exponential(1), ExponentialQuotient.exponential(Fraction(1, 2))
TINY = ExponentialQuotient.exponential(Fraction(1, 10**9))


def decimal(probability: Fraction | ExponentialQuotient) -> Decimal:
    exact = probability if isinstance(probability, Fraction) else Fraction(sum(probability.bounds(900)), 2 << 900)
    return Decimal(exact.numerator) / exact.denominator


PROBABILITIES = [
    *map(Fraction, ("1/2", "1/3", "5/8", "1e-12", "0.999")),
    1 / (E + 1),
    ROOT / (ROOT + 1),
    (TINY - 1) / TINY,
    E**5 / (E**5 + 1),
]
EVERY_PROBABILITY = each_of("probability", PROBABILITIES)


def exact_floors(probability: Fraction | ExponentialQuotient, bits: int) -> list[int]:
    with localcontext() as context:
        context.prec = 250
        p = decimal(probability)
        # Dyadic numbers come out whole but for the last of 250 digits.
        reached = accumulate(p ** pattern.bit_count() * (1 - p) ** (8 - pattern.bit_count()) for pattern in PATTERNS)
        return [int(part * 2**bits + Decimal(10) ** -100) for part in list(reached)[:-1]]


@EVERY_PROBABILITY
@each_of("bits", [16, 64, 256])
def test_the_distribution_of_a_byte_is_exact(probability: Fraction | ExponentialQuotient, bits: int) -> None:
    assert _floors(probability, bits) == exact_floors(probability, bits)
    assert sorted(PATTERNS) == list(range(256))


@EVERY_PROBABILITY
def test_every_slot_is_decided_by_comparison_with_the_thresholds(probability: Fraction | ExponentialQuotient) -> None:
    floors = np.array(exact_floors(probability, 64), dtype=np.uint64)
    looked_at = np.count_nonzero(_table(probability)._lookup == _table(probability).undecided)
    drawn, rest, used = [], 77 << 16, 0
    for slots in np.split(EVERY_SLOT, 2):  # each half fills one chunk
        source = TapeSource([*slots.tolist(), *[rest] * looked_at])
        drawn += bernoulli_bits(probability, 1 << 15, 8, source=source).reshape(-1).tolist()
        used += source.position
    numbers = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48) | np.uint64(77)
    assert not np.isin(numbers, floors).any()
    assert drawn == np.array(PATTERNS)[floors.searchsorted(numbers, side="right")].tolist()
    # Few need more than 16 bits: those that hold a threshold, and those of the rarest byte.
    assert used - (1 << 14) == looked_at <= 255 + 256


@each_of("probability", [1 / (E + 1), Fraction(1, 3)])
@each_of("j", [0, 3, 100, 200])
def test_a_tie_is_broken_by_the_next_digits(probability: Fraction | ExponentialQuotient, j: int) -> None:
    threshold = exact_floors(probability, 256)[j]
    digits = [threshold >> shift & WORD for shift in (192, 128, 64, 0)]
    for tied in (1, 2, 3):
        for off in (-1, 1):
            source = TapeSource([digits[0] >> 48, digits[0] << 16 & WORD, *digits[1:tied], digits[tied] + off])
            drawn = bernoulli_bits(probability, 1, 8, source=source).item()
            assert drawn == PATTERNS[j if off < 0 else j + 1]
            assert source.position == tied + 2


@each_of("columns", [1, 7, 8, 9, 20])
@each_of("probability", [Fraction(1, 5), 1 / (E + 1), Fraction(1)])
def test_rows_are_padded_with_zeros(probability: Fraction | ExponentialQuotient, columns: int) -> None:
    packed = bernoulli_bits(probability, 50, columns, source=SeededSource(7))
    assert packed.dtype == np.uint8
    assert packed.shape == (50, -(-columns // 8))
    assert not np.unpackbits(packed, axis=1, bitorder="little")[:, columns:].any()


@pytest.mark.fresh
def test_bits_have_their_probability_and_are_independent() -> None:
    probability, columns = 1 / (E + 1), 11
    packed = bernoulli_bits(probability, 40_000, columns, source=SeededSource(7))
    bits = np.unpackbits(packed, axis=1, bitorder="little", count=columns).astype(np.int64)
    for column in range(columns):
        assert_pmf_equal(bits[:, column], lambda k: bernoulli_pmf(probability, k))
        assert_pmf_differs(bits[:, column], lambda k: bernoulli_pmf(probability * Fraction(8, 10), k))
    one, zero = float(probability), 1 - float(probability)
    both = {0: zero * zero, 1: one * zero, 2: zero * one, 3: one * one}
    for first, second in ((0, 1), (0, 7), (7, 8), (2, 9), (9, 10)):
        assert_pmf_equal(bits[:, first] + 2 * bits[:, second], both)
    assert_pmf_equal(bits[:-1, 10] + 2 * bits[1:, 0], both)


def test_certain_bits_use_no_words() -> None:
    nothing = TapeSource([])
    assert bernoulli_bits(Fraction(0), 2, 9, source=nothing).tolist() == [[0, 0]] * 2
    assert bernoulli_bits(E / E, 2, 9, source=nothing).tolist() == [[255, 1]] * 2
    assert bernoulli_bits(Fraction(1, 3), 2, 0, source=nothing).shape == (2, 0)
    assert bernoulli_bits(Fraction(1, 3), 0, 9, source=nothing).shape == (0, 2)


def test_chunks_follow_each_other() -> None:
    whole = PART // 2
    source, together = SeededSource(5), bernoulli_bits(Fraction(1, 3), whole + 9, 16, source=SeededSource(5))
    apart = [bernoulli_bits(Fraction(1, 3), rows, 16, source=source) for rows in (whole, 9)]
    assert np.array_equal(together, np.concatenate(apart))
