import math

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.local.randomizers.blocks import ProjectiveGeometry
from anonhist_testing.cases import each_of
from anonhist_testing.local import largest_ratio
from anonhist_testing.sources import SeededSource

SURVEYS = [
    ProjectiveGeometry(alphabet=2, epsilon=1),
    ProjectiveGeometry(alphabet=5, epsilon=1),
    ProjectiveGeometry(alphabet=9, epsilon=2, field=2),
    ProjectiveGeometry(alphabet=13, epsilon="0.5", field=3),
    ProjectiveGeometry(alphabet=14, epsilon=1, field=3),
]
# Of n·f, mean over 22,000 values: what Feldman, Nelson, Nguyen and Talwar published. ε, users, everybody with one
# value or Zipf(1), error.
PUBLISHED = [
    (5, 1000, False, 27.25),
    (5, 10_000, True, 272.73),
    (5, 50_000, True, 1378),
    ("1.386", 10_000, True, 17_765),
]


@each_of("survey", SURVEYS)
def test_the_largest_ratio_is_exactly_the_odds(survey: ProjectiveGeometry) -> None:
    assert largest_ratio(survey.matrix()) == survey.odds


@each_of("survey", SURVEYS)
def test_supports_have_the_stated_probabilities_exactly(survey: ProjectiveGeometry) -> None:
    cells, matrix = np.arange(survey.cells), survey.matrix()
    for x in range(survey.size):
        supporting = np.flatnonzero(survey.space.supports(cells, np.array(x)))
        for value, row in enumerate(matrix):
            held = sum(row[cell] for cell in supporting)
            right = survey.true_support_probability if x == value else survey.false_support_probability
            assert held == right


@each_of("survey", SURVEYS)
def test_variances_are_those_of_the_matrix(survey: ProjectiveGeometry) -> None:
    p, q = float(survey.true_support_probability), float(survey.false_support_probability)
    assert survey.variance() == pytest.approx(q * (1 - q) / (p - q) ** 2, rel=1e-9)
    assert survey.variance(1.0) == pytest.approx(p * (1 - p) / (p - q) ** 2, rel=1e-9)


@each_of(("epsilon", "users", "error"), [(e, n, error) for e, n, _, error in PUBLISHED])
def test_the_variance_is_what_was_published(epsilon: str | int, users: int, error: float) -> None:
    survey = ProjectiveGeometry(alphabet=22_000, epsilon=epsilon)
    mean = survey.variance() + (survey.variance(1.0) - survey.variance()) / survey.size
    assert users * mean == pytest.approx(error, rel=0.015)


def test_the_variance_is_hardly_above_the_least_known() -> None:
    for size, epsilon in [(1000, 1), (1000, "0.01"), (22_000, 5), (100_000, 3), (10**6, "1.386")]:
        odds = math.exp(float(epsilon))
        survey = ProjectiveGeometry(alphabet=size, epsilon=epsilon)
        assert survey.variance() <= 1.03 * 4 * odds / (odds - 1) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("spike", [True, False])
def test_simulated_errors_are_those_published(spike: bool) -> None:  # noqa: FBT001
    survey = ProjectiveGeometry(alphabet=22_000, epsilon=5)
    users, published = (10_000, 272.73) if spike else (1000, 27.25)
    shares = np.zeros(survey.size) if spike else 1 / np.arange(1, survey.size + 1)
    if spike:
        shares[17] = 1
    draws = np.random.default_rng(7)
    values = draws.choice(survey.size, users, p=shares / shares.sum())
    truth = np.bincount(values, minlength=survey.size)
    source, errors = SeededSource(7), []
    for _ in range(40):
        raw = survey.estimate(survey.tally(survey.randomize(values, source=source))).raw
        errors.append(float(np.mean((users * raw - truth) ** 2)))
    # With a spike half of the reports are in 150 cells: the mean errs by 5% in a run, 0.8% in forty. Else by less.
    assert np.mean(errors) == pytest.approx(published, rel=0.05)


def test_standard_errors_are_right() -> None:
    survey = ProjectiveGeometry(alphabet=2000, epsilon=2)
    values = np.minimum(np.random.default_rng(7).geometric(0.02, 40_000) - 1, survey.size - 1)
    estimate = survey.estimate(survey.tally(survey.randomize(values, source=SeededSource(7))))
    truth = np.bincount(values, minlength=survey.size) / values.size
    deviations = (estimate.raw - truth) / estimate.standard_errors
    # 2,000 squares with mean 1 and variance 2: their mean errs by 0.032.
    assert abs(np.mean(deviations**2) - 1) < 5 * 0.032
    assert abs(np.mean(deviations[:50] ** 2) - 1) < 5 * 0.2


def test_few_candidates_are_estimated_like_all() -> None:
    survey = ProjectiveGeometry(alphabet=[f"word {i}" for i in range(5000)], epsilon=4)
    values = [f"word {i % 7}" for i in range(3000)]
    tally = survey.tally(survey.randomize(values, source=SeededSource(7)))
    every = survey.estimate(tally)
    some = survey.estimate(tally, candidates=["word 4", "word 4999"])
    np.testing.assert_allclose(some.raw, every.raw[[4, 4999]], rtol=1e-12)
    assert some.labels == ("word 4", "word 4999")


@pytest.mark.slow
def test_values_of_a_space_with_much_room_are_counted_by_folding() -> None:
    survey = ProjectiveGeometry(alphabet=30_000, epsilon=5)
    assert survey.cells == 3_330_300
    assert survey.space.is_folded(survey.size)
    values = np.repeat([0, 3, 149, 22_351, 29_999], 40_000)
    tally = survey.tally(survey.randomize(values, source=SeededSource(7)))
    supports = survey._supports(tally, None)
    chosen = np.array([0, 1, 3, 148, 149, 150, 22_350, 22_351, 22_352, 29_999])
    direct = survey.space.supports(tally.cells, chosen[:, np.newaxis]) @ tally.counts
    np.testing.assert_array_equal(supports[chosen], direct)
    np.testing.assert_array_equal(survey._supports(tally, chosen), direct)
    many = np.arange(0, survey.size, 50)
    assert not survey._design.is_listed(tally, many)
    np.testing.assert_array_equal(survey._supports(tally, many), supports[many])


def test_the_field_is_kept_with_the_survey() -> None:
    survey = ProjectiveGeometry(alphabet=100, epsilon=1)
    again = ProjectiveGeometry(alphabet=100, epsilon=1, field=survey.parameters["field"])
    assert survey.parameters == {"alphabet": {"size": 100}, "field": 3}
    assert again.digest == survey.digest
    assert ProjectiveGeometry(alphabet=100, epsilon=1, field=5).digest != survey.digest


@each_of("field", [0, 4, 2.0, "3", 2**31])
def test_other_fields_are_refused(field: object) -> None:
    with pytest.raises(UsageError, match="field"):
        ProjectiveGeometry(alphabet=10, epsilon=1, field=field)  # type: ignore[arg-type]


def test_points_without_a_value_are_reports_and_others_are_none() -> None:
    survey = ProjectiveGeometry(alphabet=5, epsilon=1, field=2)
    reports = survey.randomize(np.zeros(1000, dtype=np.int64), source=SeededSource(7))
    assert reports.columns["report"].max() == survey.cells - 1 == 6
    assert survey.tally(reports).users == 1000
    reports.columns["report"][0] = 7
    with pytest.raises(DataError, match="Report 1 is invalid"):
        survey.tally(reports)
