"""The guessing curve of a profile: against the plain definition."""

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.profiles import Profile
from anonhist.properties.most_frequent import covered_share, log_grid, round_grid


@pytest.mark.slow
@given(st.lists(st.integers(1, 50), min_size=1, max_size=30))
def test_share_is_that_of_the_most_frequent_labels(counts: list[int]) -> None:
    profile = Profile.from_counts(counts)
    sums = [0, *accumulate(sorted(counts, reverse=True))]
    labels = np.arange(len(sums))
    assert covered_share(profile, labels).tolist() == pytest.approx([part / sums[-1] for part in sums])


def test_share_beyond_all_labels_and_of_nothing() -> None:
    assert covered_share(Profile.from_counts([3, 1]), np.array([2, 3, 2**62])).tolist() == [1.0, 1.0, 1.0]
    assert covered_share(Profile([], []), np.array([0, 1, 5])).tolist() == [0.0, 0.0, 0.0]
    huge = Profile([1, 2**62], [2**61, 1])
    assert covered_share(huge, np.array([0, 1])).tolist() == pytest.approx([0, 2 / 3])


@pytest.mark.slow
@given(st.integers(1, 2**63 - 1), st.integers(2, 50))
def test_marks_are_ascending_whole_numbers_with_both_ends(largest: int, points: int) -> None:
    for marks in (log_grid(largest, points=points), round_grid(largest, points=points)):
        assert (marks[0], marks[-1]) == (1, largest)
        assert marks == sorted(set(marks))
        assert len(marks) <= points


def test_marks_are_log_grid_on_a_log_scale() -> None:
    assert log_grid(10**9, points=10) == [10**power for power in range(10)]
    assert log_grid(5, points=100) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("largest", [184_389, 14_344_391, 10**9])
def test_round_grid_are_among_dense_marks(largest: int) -> None:
    marks = round_grid(largest, points=100)
    assert {digit * 10**power for power in range(9) for digit in (1, 2, 5) if digit * 10**power <= largest} <= {*marks}
    # Each was moved by at most half of what lies between two of them.
    half = 0.51 * np.log(largest) / 99
    evenly = np.array([mark for mark in log_grid(largest, points=100) if mark >= 50])
    assert np.abs(np.log(np.array(marks) / evenly[:, np.newaxis])).min(axis=1).max() <= half
