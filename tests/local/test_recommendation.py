"""Which mechanism is recommended, and whether the errors predicted are those that happen."""

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.local import recommend
from anonhist.local.mechanisms import TOLERANCE, survey_class
from anonhist_testing.sources import SeededSource


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 4])
def test_predicted_errors_are_those_that_happen(epsilon: int) -> None:
    size, users, runs = 40, 2000, 40
    values = np.repeat([0, 1, 39], [1000, 600, 400])
    truth = np.bincount(values, minlength=size)
    for row in recommend(alphabet_size=size, epsilon=epsilon, users=users).rows:
        survey, source = survey_class(row.mechanism)(alphabet=size, epsilon=epsilon), SeededSource(7)  # type: ignore[call-arg]
        errors = [
            np.mean((users * survey.estimate(survey.tally(survey.randomize(values, source=source))).raw - truth) ** 2)
            for _ in range(runs)
        ]
        # Of 40·40 squares, hardly dependent: a standard error of 3.5%, five of them allowed.
        assert np.mean(errors) == pytest.approx(row.mean_squared_error, rel=0.18), row.mechanism
        assert row.standard_error == pytest.approx(row.mean_squared_error**0.5 / users)
        assert row.report_bytes == survey.report_bytes


def test_the_smallest_report_of_those_that_err_hardly_more_is_best() -> None:
    for size, epsilon in ((4, 1), (100, 1), (1000, 3), (22_000, 5), (2**32, 1)):
        found = recommend(alphabet_size=size, epsilon=epsilon, users=10**6)
        errors = [row.mean_squared_error for row in found.rows]
        assert errors == sorted(errors)
        near = [row for row in found.rows if row.mean_squared_error <= 1.05**2 * errors[0]]
        assert found.best in [row.mechanism for row in near if row.report_bytes == min(r.report_bytes for r in near)]
    assert TOLERANCE == 1.05


def test_reports_that_are_too_large_are_marked_and_not_recommended() -> None:
    free = recommend(alphabet_size=1000, epsilon=1, users=1000)
    bound = recommend(alphabet_size=1000, epsilon=1, users=1000, max_bytes=2)
    assert {row.mechanism for row in bound.rows if row.note} == {
        row.mechanism for row in free.rows if row.report_bytes > 2
    }
    assert next(row for row in bound.rows if row.mechanism == bound.best).report_bytes <= 2
    with pytest.raises(UsageError, match="the smallest report takes 2"):
        recommend(alphabet_size=1000, epsilon=1, users=1000, max_bytes=1)


@pytest.mark.parametrize("size", [2, 4, 50])
def test_the_error_predicted_for_randomized_response_is_that_of_kairouz_less_the_draw_of_the_people(size: int) -> None:
    found = recommend(alphabet_size=size, epsilon=1, users=1000)
    error = next(row.mean_squared_error for row in found.rows if row.mechanism == "k-rr")
    odds = np.exp(1.0)
    risk = (((odds + size - 1) / (odds - 1)) ** 2 - 1) * (1 - 1 / size)
    assert error == pytest.approx(1000 * risk / size)
