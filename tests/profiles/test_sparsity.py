"""Memory follows the number of distinct counts and the Durfee size, never the counts or the labels."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from anonhist.errors import DataError
from anonhist.profiles import FrobeniusCoordinates, Profile, sorted_l1, sorted_l2_squared, sorted_linf
from anonhist_testing.cases import each_of

HUGE = Profile.from_prevalences({1: 2**61, 3: 10**15, 10**15: 7, 2**61: 1})


def peak_of(run: Callable[[], object]) -> int:
    run()  # what is made once and kept is not counted
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@each_of(
    "run",
    [
        lambda: Profile.from_prevalences({1: 2**61, 3: 10**15, 10**15: 7, 2**61: 1}),
        lambda: FrobeniusCoordinates.of(HUGE).profile(),
        lambda: sorted_l1(HUGE, Profile.from_prevalences({2**62: 1})),
        lambda: sorted_l2_squared(HUGE, Profile.from_prevalences({2**62: 1})),
        lambda: sorted_linf(HUGE, Profile.from_prevalences({5: 2**60})),
        lambda: (HUGE.durfee_size, HUGE.k_plus(10**14), HUGE.prevalence(3), repr(HUGE), hash(HUGE)),
    ],
)
def test_huge_counts_and_prevalences_take_no_memory(run: Callable[[], object]) -> None:
    assert peak_of(run) < 100_000


@pytest.mark.slow
def test_each_distinct_count_takes_a_hundred_bytes() -> None:
    counts = np.arange(1, 2**18 + 1)
    ones = np.ones(2**18, dtype=np.int64)
    profile, shifted = Profile(counts, ones), Profile(counts + 1, ones)
    assert profile.durfee_size == 2**17
    assert peak_of(lambda: Profile(counts, ones)) < 100 * 2**18
    assert peak_of(lambda: sorted_l1(profile, shifted)) < 200 * 2**18
    assert peak_of(lambda: FrobeniusCoordinates.of(profile).profile()) < 200 * 2**18
    assert sorted_l1(profile, shifted) == 2**18
    assert FrobeniusCoordinates.of(profile).profile() == profile


@pytest.mark.slow
def test_the_diagonal_of_a_dense_trillion() -> None:
    # Every count up to √(2·10^12) once: the densest profile of 10^12 items.
    counts = np.arange(1, 1_414_213)
    profile = Profile(counts, np.ones_like(counts))
    coordinates = FrobeniusCoordinates.of(profile)
    assert coordinates.durfee_size == 707_106
    assert coordinates.arms.tolist() == list(range(1_414_211, -1, -2))
    assert coordinates.legs.tolist() == list(range(1_414_211, -1, -2))


def test_a_count_and_prevalence_of_ten_to_the_fifteen_are_refused() -> None:
    with pytest.raises(DataError, match="more than"):
        Profile.from_prevalences({10**15: 10**15})
    assert Profile.from_prevalences({2**62: 1}).n == 2**62
