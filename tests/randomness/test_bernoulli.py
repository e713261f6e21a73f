"""Bits at every slot, at ties and at the ends: no chance involved."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from anonhist.numeric import ExponentialQuotient
from anonhist.randomness import bernoulli, bernoulli_exp
from anonhist_testing.sources import SeededSource, TapeSource

EVERY_SLOT = np.arange(1 << 16, dtype="<u2").view("<u8")
WORD = 2**64 - 1


def exp_digits(gamma: Fraction, bits: int) -> int:
    """⌊e^(−γ)·2^bits⌋."""
    with localcontext() as context:
        context.prec = 150
        return int((-Decimal(gamma.numerator) / gamma.denominator).exp() * 2**bits)


E = ExponentialQuotient.exponential(Fraction(1, 2))
TINY = ExponentialQuotient.exponential(Fraction(1, 10**9))
CASES = [
    *[(bernoulli, p, int(p * 2**256)) for p in map(Fraction, ("1/3", "2/7", "1e-30", "0.999999", "1/2", "5/8"))],
    *[(bernoulli, p, sum(p.bounds(300)) >> 45) for p in (E / (E + 999), (TINY - 1) / TINY, E**9 / (E**9 + 1))],
    *[(bernoulli_exp, g, exp_digits(g, 256)) for g in map(Fraction, ("1e-9", "1/3", "1", "22/7", "50"))],
]
EVERY_CASE = pytest.mark.parametrize(
    ("sampler", "parameter", "threshold"),
    CASES,
    ids=[f"{sampler.__name__} {float(parameter):.6g}" for sampler, parameter, _ in CASES],
)


@EVERY_CASE
def test_every_slot_is_decided_by_comparison_with_the_threshold(sampler, parameter, threshold) -> None:  # noqa: ANN001 - see CASES
    open_slot = threshold >> 240
    for rest in (3 << 16, WORD):
        drawn = []
        for slots in np.split(EVERY_SLOT, 2):  # each half fills one chunk
            tape = TapeSource([*slots.tolist(), rest])
            drawn += sampler(parameter, 1 << 15, source=tape).tolist()
            assert tape.position == slots.size + (open_slot in slots.view("<u2"))
        numbers = [slot << 48 | rest >> 16 for slot in range(1 << 16)]
        assert threshold >> 192 not in numbers
        assert drawn == [number < threshold >> 192 for number in numbers]


@EVERY_CASE
def test_a_tie_is_broken_by_the_next_digits(sampler, parameter, threshold) -> None:  # noqa: ANN001 - see CASES
    digits = [threshold >> shift & WORD for shift in (192, 128, 64, 0)]
    for tied in (1, 2, 3):
        for off in (-1, 1):
            last = digits[tied] + off
            if not 0 <= last <= WORD:
                continue
            tape = TapeSource([digits[0] >> 48, digits[0] << 16 & WORD, *digits[1:tied], last])
            assert sampler(parameter, 1, source=tape).tolist() == [off < 0]
            assert tape.position == tied + 2


def test_chunks_follow_each_other() -> None:
    size = (1 << 15) + 9
    source, together = SeededSource(5), bernoulli(Fraction(1, 3), size, source=SeededSource(5))
    apart = [bernoulli(Fraction(1, 3), length, source=source) for length in (1 << 15, 9)]
    assert np.array_equal(together, np.concatenate(apart))
    assert together.dtype == np.bool_


def test_certain_bits_use_no_words() -> None:
    nothing = TapeSource([])
    assert bernoulli(Fraction(0), 3, source=nothing).tolist() == [False] * 3
    assert bernoulli(Fraction(1), 3, source=nothing).tolist() == [True] * 3
    assert bernoulli_exp(Fraction(0), 3, source=nothing).tolist() == [True] * 3
    assert bernoulli(E / E, 3, source=nothing).tolist() == [True] * 3
    assert bernoulli(E - E, 3, source=nothing).tolist() == [False] * 3


def test_a_gamma_beyond_all_digits_is_still_drawn_exactly() -> None:
    # e^(−γ) begins with 10^30 zeros: a bit is decided once U shows a digit 1.
    tape = TapeSource([0, 0, 0, 0, 1])
    assert bernoulli_exp(Fraction(10**30), 1, source=tape).tolist() == [False]
    assert tape.position == 5
