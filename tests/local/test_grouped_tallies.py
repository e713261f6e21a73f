"""Reports that an engine grouped are counted as often as they were sent."""

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.local import KRR, OptimizedUnary, Reports, SubsetSelection, Survey
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

SURVEYS: list[Survey] = [
    KRR(alphabet=5, epsilon=1),
    SubsetSelection(alphabet=9, epsilon=1),
    OptimizedUnary(alphabet=9, epsilon=1),
]


@pytest.mark.parametrize("survey", SURVEYS, ids=lambda survey: survey.name)
def test_grouped_reports_count_like_all_of_them(survey: Survey) -> None:
    reports = survey.randomize([0, 1, 2, 3, 4, 0, 1], source=SeededSource(7))
    times = np.array([1, 2, 3, 4, 1000, 7, 1])
    each = Reports(survey.digest, {name: np.repeat(column, times, axis=0) for name, column in reports.columns.items()})
    assert survey.tally_groups(reports, times) == survey.tally(each)


def test_times_may_be_as_many_as_a_tally_holds() -> None:
    survey = SURVEYS[0]
    reports = Reports(survey.digest, {"report": np.array([3, 1])})
    tally = survey.tally_groups(reports, np.array([2**61, 2**61]))
    assert (tally.users, tally.cells.tolist(), tally.counts.tolist()) == (2**62, [1, 3], [2**61, 2**61])
    with pytest.raises((DataError, UsageError), match=r"2\^62 users"):
        survey.tally_groups(reports, np.array([2**62, 1]))
    with pytest.raises((DataError, UsageError), match=r"2\^62 users"):
        survey.tally_groups(reports, np.array([2**63 - 1, 2**63 - 1]))


def test_nobody_is_counted_as_nobody() -> None:
    survey = SURVEYS[0]
    nothing = np.empty(0, dtype=np.int64)
    assert survey.tally_groups(Reports(survey.digest, {"report": nothing}), nothing) == survey.empty_tally()


@each_of("times", [np.array([0, 1]), np.array([-1, 1]), np.array([1]), np.array([[1, 1]]), np.array([1.0, 1.0])])
def test_times_are_whole_numbers_from_one(times: np.ndarray) -> None:
    survey = SURVEYS[0]
    with pytest.raises(DataError, match="whole number of times"):
        survey.tally_groups(Reports(survey.digest, {"report": np.array([0, 1])}), times)


def test_what_is_no_report_is_refused() -> None:
    survey = SURVEYS[0]
    with pytest.raises(DataError, match="Report 2 is invalid"):
        survey.tally_groups(Reports(survey.digest, {"report": np.array([0, 5])}), np.array([1, 2]))
    with pytest.raises(UsageError, match="another survey"):
        survey.tally_groups(Reports("0" * 32, {"report": np.array([0, 1])}), np.array([1, 2]))
