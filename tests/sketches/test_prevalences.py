"""Estimated prevalences: scaled, and rounded to a profile."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.errors import DataError
from anonhist.privacy import PrivacyUnit
from anonhist.sketches.decoder import Prevalences
from anonhist_testing.cases import each_of
from anonhist_testing.strategies import repeatable


@pytest.mark.slow
@repeatable
@given(st.dictionaries(st.integers(0, 2**40), st.floats(0, 1000), max_size=30))
def test_every_number_of_labels_reaching_a_count_is_rounded_to_the_nearest(estimated: dict[int, float]) -> None:
    counts = np.array(sorted(estimated), dtype=np.int64)
    numbers = np.array([estimated[count] for count in counts.tolist()], dtype=np.float64)
    profile = Prevalences(counts, numbers).to_profile()
    for count in counts[counts > 0].tolist():
        exactly = numbers[counts >= count].sum()
        rounded = int(profile.prevalences[profile.counts >= count].sum())
        assert abs(rounded - exactly) <= 0.5 + 1e-9
    assert set(profile.counts.tolist()) <= {count for count in estimated if count > 0}


def test_small_numbers_of_many_counts_are_not_lost() -> None:
    """Each alone would be rounded to nothing."""
    spread = Prevalences(np.arange(1, 101), np.full(100, 0.1))
    assert spread.to_profile().num_labels == 10


def test_scaling_keeps_counts_and_the_profile_its_unit() -> None:
    unit = PrivacyUnit.user(max_items=3)
    profile = Prevalences(np.array([0, 2]), np.array([5.0, 3.0])).scale(4.0).to_profile(unit=unit)
    assert (profile.counts.tolist(), profile.prevalences.tolist(), profile.unit) == ([2], [12], unit)
    assert Prevalences(np.zeros(0, dtype=np.int64), np.zeros(0)).to_profile().num_labels == 0


@each_of(
    ("counts", "numbers"),
    [([2, 1], [1, 1]), ([1, 1], [1, 1]), ([1], [1, 1]), ([-1], [1]), ([1], [-0.5]), ([1], [np.nan]), ([1], [np.inf])],
)
def test_what_is_no_estimate_is_refused(counts: list[int], numbers: list[Any]) -> None:
    with pytest.raises(DataError, match="Estimated prevalences"):
        Prevalences(np.array(counts), np.array(numbers, dtype=np.float64))


def test_more_labels_than_can_be_counted_are_refused() -> None:
    few = Prevalences(np.array([0, 1]), np.array([1e30, 8.0]))
    assert few.to_profile().num_labels == 8
    assert few.scale(2.0**58).to_profile().num_labels == 2**61
    with pytest.raises(DataError, match="More than 2\\^63 − 1 labels"):
        few.scale(2.0**60).to_profile()
