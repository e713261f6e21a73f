"""Columns of reports: what they admit, and how long a report is."""

from typing import Any

import numpy as np
import pytest

from anonhist.local import KRR, HadamardResponse, LocalHashing, OptimizedUnary, SubsetSelection, Survey
from anonhist.local.reports import BytesColumn, WholeColumn
from anonhist_testing.cases import each_of


@pytest.mark.parametrize("values", [[0, 4], [4, 0], []])
def test_whole_numbers_below_the_size_are_admitted(values: list[int]) -> None:
    column, array = WholeColumn("report", 5), np.array(values, dtype=np.int64)
    assert column.admits(array, len(values))
    assert column.in_range(array).all()


def test_each_number_out_of_range_is_seen() -> None:
    assert WholeColumn("report", 5).in_range(np.array([0, 5, 4, -1])).tolist() == [True, False, True, False]


@pytest.mark.parametrize("values", [[[1]], [1.0], [True]])
def test_other_numbers_are_not(values: Any) -> None:
    assert not WholeColumn("report", 5).admits(np.array(values), len(values))


def test_bytes_are_bytes_of_one_length() -> None:
    column = BytesColumn("report", 2)
    assert column.admits(np.zeros((3, 2), dtype=np.uint8), 3)
    for wrong in (np.zeros((3, 2), dtype=np.int8), np.zeros((3, 3), dtype=np.uint8), np.zeros((2, 2), dtype=np.uint8)):
        assert not column.admits(wrong, 3)


@each_of(
    ("survey", "length"),
    [
        (KRR(alphabet=256, epsilon=1), 1),
        (KRR(alphabet=257, epsilon=1), 2),
        (OptimizedUnary(alphabet=17, epsilon=1), 3),
        (HadamardResponse(alphabet=255, epsilon=1, blocks=1), 1),
        (LocalHashing(alphabet=9, epsilon=1, buckets=256), 5),
        (SubsetSelection(alphabet=16, epsilon=1, subset_size=3), 2),
    ],
)
def test_reports_are_as_long_as_their_bits(survey: Survey, length: int) -> None:
    assert survey.report_bytes == length


def test_codes_of_sets_are_short_as_long_as_they_fit() -> None:
    for size, width in ((2**16, 2), (2**16 + 1, 4)):
        survey = SubsetSelection(alphabet=size, epsilon=1, subset_size=3)
        reports = survey.randomize([size - 1] * 50)
        assert reports.columns["report"].shape == (50, 3 * width)
        assert survey.tally(reports).counts.sum() == 150
