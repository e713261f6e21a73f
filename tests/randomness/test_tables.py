"""The look-up tables against the distributions, at every slot and every threshold: no chance involved.

The oracle sums the pmfs in decimals of 150 digits, in the order of the table, and shares no code with it.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import reduce
from importlib import import_module
from itertools import accumulate, product

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.randomness import discrete_laplace, geometric
from anonhist.randomness.categorical import CHUNK, InversionTable, resolve
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource, TapeSource

# The functions of these names hide the modules from a plain import.
LAPLACE = import_module("anonhist.randomness.geometric")._laplace_tables
GEOMETRIC = import_module("anonhist.randomness.geometric")._tables
BOTH = pytest.mark.parametrize("tables_of", [LAPLACE, GEOMETRIC], ids=["discrete_laplace", "geometric"])
RATES = [Fraction(text) for text in ("60", "10", "2.5", "1", "1/7", "1/64", "1/65", "0.005", "1/2000", "1/900000")]
EVERY_RATE = each_of("gamma", RATES)
EVERY_SLOT = np.arange(1 << 16, dtype="<u2").view("<u8")
EVERY_SLOT_LISTED = EVERY_SLOT.tolist()
DIGITS = 150

Tables = tuple[InversionTable, ...]


def powers(gamma: Fraction, count: int) -> list[Decimal]:
    """e^(−γk), k = 0..count − 1."""
    with localcontext() as context:
        context.prec = DIGITS
        ratio = (-Decimal(gamma.numerator) / gamma.denominator).exp()
        return list(accumulate([ratio] * (count - 1), lambda a, b: a * b, initial=Decimal(1)))


def low_values(tables: Tables) -> int:
    """How many values the tables of low digits have together."""
    return int(np.prod([table.values.size for table in tables[1:]], dtype=np.int64))


def high_masses(tables: Tables, gamma: Fraction) -> list[Decimal]:
    """The probability of each value of the first table but its tail: the pmf, summed over the low digits."""
    width, bases = low_values(tables), tables[0].values[:-1].tolist()
    two_sided = any(base < 0 for base in bases)
    with localcontext() as context:
        context.prec = DIGITS
        p = powers(gamma, tables[0].tail_step + 1)
        weight = (1 - p[1]) / (1 + p[1]) if two_sided else 1 - p[1]
        return [weight * sum(p[abs(base ^ low)] for low in range(width)) for base in bases]


def low_masses(table: InversionTable, gamma: Fraction) -> list[Decimal]:
    """The probability of each value of a table of low digits: proportional to the pmf at that value."""
    with localcontext() as context:
        context.prec = DIGITS
        step = int(table.values[1])
        p = powers(gamma * step, table.values.size)
        return [each / sum(p) for each in p]


def floors(masses: list[Decimal], bits: int) -> list[int]:
    """⌊T_j·2^bits⌋ for the cumulated masses T_1, T_2 and so on."""
    with localcontext() as context:
        context.prec = DIGITS
        return [int(total * 2**bits) for total in accumulate(masses)]


@BOTH
@each_of("gamma", RATES[:-1])  # the sum over 65,536 low digits would be long
def test_thresholds_of_high_digits_are_the_distribution_function(
    tables_of: Callable[[Fraction], Tables], gamma: Fraction
) -> None:
    tables = tables_of(gamma)
    masses = high_masses(tables, gamma)
    for bits in (64, 128, 256):
        assert list(tables[0].thresholds(bits)) == floors(masses, bits)


@BOTH
@EVERY_RATE
def test_thresholds_of_low_digits_are_the_distribution_function(
    tables_of: Callable[[Fraction], Tables], gamma: Fraction
) -> None:
    tables = tables_of(gamma)
    assert len(tables) == 1 + (gamma < Fraction(1, 64)) + (gamma < Fraction(1, 5000))
    for table in tables[1:]:
        masses = low_masses(table, gamma)[:-1]
        for bits in (64, 128, 256):
            assert list(table.thresholds(bits)) == floors(masses, bits)


@BOTH
@EVERY_RATE
def test_every_value_is_joined_from_one_value_of_each_table(
    tables_of: Callable[[Fraction], Tables], gamma: Fraction
) -> None:
    high, *low = tables_of(gamma)
    joined = reduce(np.bitwise_xor.outer, (table.values for table in low), np.zeros(1, dtype=np.int64)).ravel()
    width = low_values((high, *low))
    assert sorted(joined.tolist()) == list(range(width))
    # A base b ≥ 0 stands for b..b + width − 1, its complement for the values of which these are the complements.
    multiples = np.arange(0, high.tail_step, width)
    signs = multiples if tables_of is GEOMETRIC else np.stack((multiples, ~multiples), axis=1).ravel()
    assert np.array_equal(high.values[:-1], signs)


@BOTH
@pytest.mark.parametrize("gamma", RATES, ids=str)
@pytest.mark.parametrize("rest", [0, 2**64 - 1])
def test_every_slot_is_decided_as_its_first_and_its_last_number_are(
    tables_of: Callable[[Fraction], Tables], gamma: Fraction, rest: int
) -> None:
    for table in tables_of(gamma):
        at_64 = table.thresholds(64)
        open_slots = sorted({floor >> 48 for floor in at_64})
        # The last slot holds the tail, which has its own test; its first number is not in it.
        rests = [0 if slot == 0xFFFF else rest for slot in open_slots]
        tape = TapeSource([*EVERY_SLOT_LISTED, *rests])
        drawn = np.empty(1 << 16, dtype=np.int64)
        table.fill(drawn, source=tape)
        numbers = (np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)) | np.uint64(rest >> 16)
        numbers[-1] = 0xFFFF << 48
        limits = np.array(at_64, dtype=np.uint64)
        assert not np.isin(limits, numbers).any()
        assert np.array_equal(drawn, table.values[np.searchsorted(limits, numbers, side="right")])
        assert tape.position == EVERY_SLOT.size + len(open_slots)


@BOTH
@pytest.mark.parametrize("gamma", RATES, ids=str)
def test_a_tie_is_broken_by_the_next_digits(tables_of: Callable[[Fraction], Tables], gamma: Fraction) -> None:
    for table in tables_of(gamma):
        exact = table.thresholds(256)
        for j in {0, len(exact) // 2, len(exact) - 1}:
            digits = [exact[j] >> shift & (2**64 - 1) for shift in (192, 128, 64, 0)]
            for tied, off in product((1, 2, 3), (-1, 1)):
                # U has the digits of the threshold for so many words, then one unit less or more.
                number = [*digits[:tied], digits[tied] + off]
                count = bisect_right(exact, sum(word << 64 * (3 - i) for i, word in enumerate(number)))
                assert count == j + (off > 0)
                in_tail = bool(table.tail_step) and count == len(exact)
                # The first word gives 16 digits, the second 48, the others 64 each; a tail starts again, here at 0.
                words = [digits[0] >> 48, digits[0] << 16 & (2**64 - 1), *number[1:], *[0] * in_tail]
                tape = TapeSource(words)
                drawn = np.empty(1, dtype=np.int64)
                table.fill(drawn, source=tape)
                assert drawn[0] == (table.tail_step if in_tail else table.values[count])
                assert tape.position == len(words)


@BOTH
@EVERY_RATE
def test_the_tail_is_the_same_law_moved_outwards(tables_of: Callable[[Fraction], Tables], gamma: Fraction) -> None:
    table = tables_of(gamma)[0]
    depth = 3
    into_tail = [0xFFFF, 2**64 - 1]
    if table.thresholds(64)[-1] == 2**64 - 1:
        into_tail.append(2**64 - 1)
    for last_slot in range(0, 0xFFFF, 1021):
        alone, moved = np.empty(1, dtype=np.int64), np.empty(1, dtype=np.int64)
        table.fill(alone, source=TapeSource([last_slot, 5 << 32]))
        table.fill(moved, source=TapeSource([*into_tail * depth, last_slot, 5 << 32]))
        outwards = 1 if alone[0] >= 0 else -1
        assert moved[0] == alone[0] + outwards * depth * table.tail_step


@BOTH
@EVERY_RATE
def test_a_tail_is_lighter_than_a_slot(tables_of: Callable[[Fraction], Tables], gamma: Fraction) -> None:
    assert tables_of(gamma)[0].thresholds(64)[-1] >> 48 == 0xFFFF


@EVERY_RATE
def test_draws_are_joined_from_all_tables_chunk_by_chunk(gamma: Fraction) -> None:
    size, source = CHUNK + 5, SeededSource(11)
    expected = []
    for length in (CHUNK, 5):
        parts = [np.empty(length, dtype=np.int64) for _ in LAPLACE(gamma)]
        for table, part in zip(LAPLACE(gamma), parts, strict=True):
            table.fill(part, source=source)
        expected.append(reduce(np.bitwise_xor, parts))
    assert np.array_equal(discrete_laplace(gamma, size, source=SeededSource(11)), np.concatenate(expected))
    assert geometric(gamma, size, source=SeededSource(11)).min() >= 0


def test_resolve_on_every_short_tape() -> None:
    """Thresholds 1/3, 1/2 and 6/7 of 8-digit numbers: what is decided is decided right, the rest is one number each."""
    exact = [Fraction(1, 3), Fraction(1, 2), Fraction(6, 7)]

    def thresholds(bits: int) -> list[int]:
        return [int(each * 2**bits) for each in exact]

    decided, open_numbers = Counter(), 0
    for prefix in range(256):
        source = TapeSource([])
        try:
            count = resolve(prefix, bits=8, thresholds=thresholds, source=source)
        except UsageError:
            open_numbers += 1
            continue
        decided[count] += Fraction(1, 256)
        low, high = Fraction(prefix, 256), Fraction(prefix + 1, 256)
        assert all(each <= low for each in exact[:count])
        assert all(each >= high for each in exact[count:])
    assert open_numbers == 3
    distribution = [Fraction(1, 3), Fraction(1, 6), Fraction(5, 14), Fraction(1, 7)]
    for count, mass in enumerate(distribution):
        assert abs(decided[count] - mass) <= Fraction(2, 256)


def test_a_number_that_begins_like_a_dyadic_threshold_is_above_it() -> None:
    tape = TapeSource([0, 0, 1])
    assert resolve(128, bits=8, thresholds=lambda bits: [1 << (bits - 1)], source=tape) == 1
    assert tape.position == 3
