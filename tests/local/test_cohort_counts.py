"""The distribution of what is counted in cohorts, against the exact matrix of the survey and against loops."""

import numpy as np

from anonhist.local.cohort_counts import Supports
from anonhist.local.randomizers.open import ORR, CohortSurvey
from anonhist.local.randomizers.rappor import ORAPPOR, BloomSurvey
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

WORDS = ["a", "b", "c", "d", "e"]
SURVEYS: list[CohortSurvey] = [
    ORR(buckets=4, cohorts=3, key="k", epsilon=1),
    ORR(alphabet=WORDS, cohorts=3, key="k", epsilon=1),
    ORR(alphabet=WORDS, buckets=3, cohorts=3, key="k", epsilon=1),
    ORR(alphabet=WORDS, buckets=7, cohorts=3, key="k", epsilon=1),
    ORAPPOR(buckets=4, cohorts=2, hashes=3, key="k", epsilon=1),
    ORAPPOR(alphabet=WORDS, buckets=3, cohorts=2, hashes=2, key="k", epsilon=1),
    ORAPPOR(alphabet=WORDS, cohorts=2, hashes=2, key="k", epsilon=1),
]


def supports_of(survey: CohortSurvey, words: list[str]) -> Supports:
    return Supports(survey.functions.all_places(survey.functions.codes(words)), survey.cohorts, survey.places)


def test_a_place_met_twice_by_a_label_counts_once() -> None:
    supports = Supports(np.array([[0, 1], [0, 2], [0, 1], [2, 2], [1, 2], [2, 0]], dtype=np.int32), 2, 3)
    assert supports.distinct.tolist() == [[0, 1], [3, 2], [3, 3], [2, 2], [1, 3], [3, 0]]
    table = np.arange(6.0).reshape(2, 3)
    assert supports.gather(table).tolist() == [0 + 5 + 4, 1 + 2 + 5 + 3]
    assert supports.gather_each(table).tolist() == [[0, 9], [3, 8]]
    assert supports.total(table).tolist() == [0 + 0 + 0 + 5 + 4 + 5, 1 + 2 + 1 + 5 + 5 + 3]
    shares = np.array([0.25, 0.5])
    assert supports.spread(shares).tolist() == [[0.25, 0.5, 0.5], [0.5, 0.25, 0.75]]
    assert np.allclose(supports.matrix() @ shares, supports.spread(shares).ravel())


def test_a_place_met_by_any_function_before_counts_once() -> None:
    assert Supports(np.array([[0], [1], [1]], dtype=np.int32), 1, 4).distinct.tolist() == [[0], [1], [4]]


@each_of("survey", SURVEYS)
def test_the_channel_is_the_exact_distribution_of_the_survey(survey: CohortSurvey) -> None:
    tally = survey.tally(survey.randomize(WORDS * 50, source=SeededSource(7)))
    counts = survey._counts(tally, supports_of(survey, WORDS), None)
    channel, observed = counts.channel()
    exact = np.array([[float(entry) for entry in row] for row in survey.matrix(WORDS)])
    exact = exact.reshape(5, survey.cohorts, -1) * (counts.users / counts.users.sum() * survey.cohorts)[:, np.newaxis]
    if isinstance(survey, BloomSurvey):
        bits = np.arange(1 << survey.places)[:, np.newaxis] >> np.arange(survey.places) & 1
        ones, zeros = exact @ bits, exact @ (1 - bits)
        exact = np.concatenate((ones.reshape(5, -1), zeros.reshape(5, -1)), axis=1) / survey.places
    else:
        exact = exact.reshape(5, -1)
    assert channel.cells == exact.shape[1] == observed.size
    assert np.allclose([channel.forward(row) for row in np.eye(5)], exact, atol=1e-15)
    assert np.allclose(np.array([channel.adjoint(row) for row in np.eye(channel.cells)]).T, exact, atol=1e-15)
    per_report = survey.places if isinstance(survey, BloomSurvey) else 1
    assert observed.sum() == 250 * per_report


@each_of("survey", SURVEYS)
def test_others_are_one_item_more_whose_distribution_adds_up_to_one(survey: CohortSurvey) -> None:
    tally = survey.tally(survey.randomize(WORDS * 50, source=SeededSource(7)))
    supports = supports_of(survey, WORDS[:3])
    channel, _ = survey._counts(tally, supports, survey._others(supports, tuple(WORDS[:3]))).channel()
    assert channel.items == 4
    columns = np.array([channel.forward(row) for row in np.eye(4)])
    assert np.allclose(columns.sum(axis=1), 1)
    assert columns.min() > 0
    weights = np.random.default_rng(1).normal(size=channel.cells)
    assert np.allclose(channel.adjoint(weights), columns @ weights)
    if survey.alphabet is not None:
        both, _ = survey._counts(tally, supports_of(survey, WORDS), None).channel()
        assert np.allclose(columns[3], both.forward(np.array([0, 0, 0, 0.5, 0.5])))


def test_cohorts_without_reports_are_nothing() -> None:
    survey = ORR(buckets=4, cohorts=50, key="k", epsilon=1)
    tally = survey.tally(survey.randomize(WORDS, source=SeededSource(7)))
    counts = survey._counts(tally, supports_of(survey, WORDS), None)
    assert counts.total == 5
    assert np.count_nonzero(counts.table.any(axis=1)) == np.count_nonzero(counts.users) <= 5
    assert np.isfinite(survey.estimate(tally, candidates=WORDS).raw).all()
