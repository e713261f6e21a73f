"""Subsets: every draw a subset, all of them equally likely, repeats drawn again by the word."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.randomness import random_subsets
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource, TapeSource
from anonhist_testing.statistics import assert_pmf_equal


def words(*slots: int) -> list[int]:
    """Write slots of 16 bits, four to a word."""
    padded = np.array([*slots, *[0] * (-len(slots) % 4)], dtype="<u2")
    return padded.view("<u8").tolist()


@pytest.mark.fresh
@pytest.mark.slow
@each_of(("population", "chosen"), [(5, 2), (6, 3), (7, 3), (7, 5), (4, 1), (4, 3), (9, 4), (8, 4)])
def test_all_subsets_are_equally_likely(population: int, chosen: int) -> None:
    subsets = random_subsets(population, chosen, 40_000, source=SeededSource([7, population, chosen]))
    distribution = {subset: 1 / comb(population, chosen) for subset in combinations(range(population), chosen)}
    assert_pmf_equal(map(tuple, subsets.tolist()), distribution)


@pytest.mark.slow
def test_every_way_to_draw_three_of_six_is_counted() -> None:
    # All 216 first draws and all that can follow where one is repeated, up to two draws more: as many of them have come
    # to an end at each of the 20 subsets.
    masses = dict.fromkeys(combinations(range(6), 3), 0)
    for code in range(6**5):
        slots = [code // 6**i % 6 for i in range(5)]
        source = TapeSource([*words(*slots[:3]), *words(*slots[3:4]), *words(*slots[4:])])
        if len(set(slots[:3])) == 1:  # two are drawn together, from one word
            source = TapeSource([*words(*slots[:3]), *words(*slots[3:])])
        try:
            (subset,) = random_subsets(6, 3, 1, source=source).tolist()
        except UsageError:  # more words were asked for: not at its end
            continue
        masses[tuple(subset)] += 1
    assert len(set(masses.values())) == 1
    assert min(masses.values()) > 0


@each_of(
    ("population", "chosen", "size"),
    [(999, 269, 300), (999, 730, 300), (40_000, 150, 300), (10**9, 20, 300), (2**63, 3, 300), (4, 2, 200_000)],
)
def test_members_are_distinct_ascending_and_in_range(population: int, chosen: int, size: int) -> None:
    subsets = random_subsets(population, chosen, size, source=SeededSource(7))
    assert subsets.shape == (size, chosen)
    assert subsets.dtype == np.int64
    assert (subsets[:, 1:] > subsets[:, :-1]).all()
    assert subsets.min() >= 0
    assert int(subsets.max()) < population


@pytest.mark.parametrize(("population", "chosen"), [(999, 269), (999, 730), (40_000, 150)])
def test_members_of_large_populations_are_equally_likely(population: int, chosen: int) -> None:
    size = 400
    subsets = random_subsets(population, chosen, size, source=SeededSource(7))
    # In how many subsets each of ten parts has members: the standard error of a part's share of the members is
    # at most that of drawing with replacement; 5 of them, so 10^−5 over all tests, decided once by the seed.
    share = np.histogram(subsets, bins=10, range=(0, population))[0] / subsets.size
    parts = np.histogram(np.arange(population), bins=10, range=(0, population))[0] / population
    error = np.sqrt(parts * (1 - parts) / subsets.size)
    assert (np.abs(share - parts) < 5 * error).all()
    # Two neighbours are both in with probability c(c − 1)/(p(p − 1)): sampling without replacement, also of pairs.
    pairs = np.count_nonzero(np.diff(subsets, axis=1) == 1) / size
    expected = chosen * (chosen - 1) / population
    # The number of runs, chosen − pairs, is hypergeometric.
    apart = (population - chosen + 1) / population
    variance = chosen * apart * (1 - apart) * (population - chosen) / (population - 1)
    assert abs(pairs - expected) < 5 * np.sqrt(variance / size)


def test_repeated_members_are_drawn_again() -> None:
    source = TapeSource([*words(4, 4, 4, 7, 2, 9), *words(1, 4), *words(6)])
    assert random_subsets(12, 3, 2, source=source).tolist() == [[1, 4, 6], [2, 7, 9]]
    assert source.position == 4


def test_more_than_half_is_what_the_others_leave() -> None:
    source = TapeSource(words(3, 0, 2, 2))
    assert random_subsets(4, 3, 4, source=source).tolist() == [[0, 1, 2], [1, 2, 3], [0, 1, 3], [0, 1, 3]]


def test_nothing_and_everything_need_no_words() -> None:
    nothing = TapeSource([])
    assert random_subsets(5, 0, 3, source=nothing).shape == (3, 0)
    assert random_subsets(0, 0, 3, source=nothing).shape == (3, 0)
    assert random_subsets(5, 5, 2, source=nothing).tolist() == [[0, 1, 2, 3, 4]] * 2
    assert random_subsets(5, 2, 0, source=nothing).shape == (0, 2)


def test_blocks_follow_each_other() -> None:
    block = (1 << 18) // 2
    source, together = SeededSource(5), random_subsets(9, 2, block + 9, source=SeededSource(5))
    apart = [random_subsets(9, 2, length, source=source) for length in (block, 9)]
    assert np.array_equal(together, np.concatenate(apart))
