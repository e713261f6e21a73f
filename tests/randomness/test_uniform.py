"""Uniform whole numbers at every slot, at the ends of the slots, and all of them counted."""

import numpy as np
import pytest

from anonhist.randomness import uniform_integers, uniform_integers_pmf
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource, TapeSource
from anonhist_testing.statistics import assert_pmf_equal

EVERY_SLOT = np.arange(1 << 16, dtype="<u2").view("<u8")


@each_of("bound", [2, 3, 6, 7, 10, 255, 256, 257, 1000, 3855, 4095, 4096])
def test_of_the_slots_that_are_used_every_number_has_as_many(bound: int) -> None:
    drawn = []
    again = (1 << 16) % bound  # the last slots are too many: each is drawn again
    for half, tape in enumerate(np.split(EVERY_SLOT, 2)):  # each half fills one chunk
        spare = [0] * (-(-again // 4) if half else 0)
        source = TapeSource([*tape.tolist(), *spare])
        drawn += uniform_integers(bound, 1 << 15, source=source).tolist()
        assert source.position == tape.size + len(spare)
    decided = (1 << 16) - again
    assert np.bincount(drawn[:decided]).tolist() == [(1 << 16) // bound] * bound
    assert drawn[decided:] == [0] * again


@pytest.mark.parametrize(
    ("bits", "bounds"),
    [
        (32, [4097, 65536, 10**6, (1 << 28) - 1, 1 << 28]),
        (64, [(1 << 28) + 1, 10**12, 3 << 60, (1 << 63) - 1, 1 << 63]),
    ],
)
def test_longer_slots_are_cut_at_the_last_whole_multiple(bits: int, bounds: list[int]) -> None:
    for bound in bounds:
        end = bound * ((1 << bits) // bound)
        slots = [0, 1, bound - 1, bound, bound + 1, 12345678901234567 % end, end - bound, end - 1]
        assert draw(slots, bits, bound) == [slot % bound for slot in slots]
        if end < 1 << bits:
            for rejected in (end, (1 << bits) - 1):
                # The slot that fills up the word is left unseen: the fresh one comes from the next word.
                assert draw([rejected], bits, bound, spare=5) == [5]


def draw(slots: list[int], bits: int, bound: int, *, spare: int | None = None) -> list[int]:
    words = np.array(slots, dtype=f"<u{bits // 8}").tobytes()
    words += bytes(-len(words) % 8)
    tape = [*np.frombuffer(words, dtype="<u8").tolist(), *([] if spare is None else [spare])]
    source = TapeSource(tape)
    drawn = uniform_integers(bound, len(slots), source=source).tolist()
    assert source.position == len(tape)
    return drawn


def test_one_number_needs_no_words() -> None:
    assert uniform_integers(1, 3, source=TapeSource([])).tolist() == [0, 0, 0]


def test_a_slot_may_be_drawn_again_more_than_once() -> None:
    full = (1 << 64) - 1  # four slots of 65,535, too large for 7
    source = TapeSource([full, full, full, full, 6 << 48 | 5 << 32 | 4 << 16 | 3, 2])
    assert uniform_integers(7, 5, source=source).tolist() == [3, 4, 5, 6, 2]
    assert source.position == 6


@pytest.mark.fresh
@each_of("bound", [6, 1000, 5000, 10**6, 2**62 + 1])
def test_the_distribution_is_uniform(bound: int) -> None:
    draws = uniform_integers(bound, 60_000, source=SeededSource(7))
    assert draws.dtype == np.int64
    # Cells of numbers with the same ⌊30·k/bound⌋, so many each.
    starts = [-(-cell * bound // 30) for cell in range(31)]
    distribution = {cell: (starts[cell + 1] - starts[cell]) / bound for cell in range(30)}
    assert_pmf_equal(np.searchsorted(np.array(starts), draws, side="right") - 1, distribution)
    # And the low ends: numbers modulo 5, a fraction below 10^−3 from equal for the larger bounds.
    distribution = {rest: len(range(rest, bound, 5)) / bound for rest in range(5)}
    assert_pmf_equal(draws % 5, distribution)


def test_chunks_follow_each_other() -> None:
    size = (1 << 15) + 9
    source, together = SeededSource(5), uniform_integers(3000, size, source=SeededSource(5))
    apart = [uniform_integers(3000, length, source=source) for length in (1 << 15, 9)]
    assert np.array_equal(together, np.concatenate(apart))


def test_the_pmf_at_the_ends() -> None:
    assert uniform_integers_pmf(1 << 63, [-1, 0, (1 << 63) - 1]).tolist() == [0.0, 2.0**-63, 2.0**-63]
    assert uniform_integers_pmf(3, [2, 3]).tolist() == [1 / 3, 0.0]
