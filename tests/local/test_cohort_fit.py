"""Least squares over all labels: against NumPy on the whole matrix, and their errors against repeats."""

import numpy as np
import pytest

from anonhist.local.cohort_counts import Supports
from anonhist.local.cohort_estimates import fitted_estimates, plain_estimates, random_moments
from anonhist.local.randomizers.open import ORR, CohortSurvey
from anonhist.local.randomizers.rappor import ORAPPOR, RAPPOR
from anonhist_testing.sources import SeededSource

# One label that is not listed has 30% of the people, twenty that are share the rest, forty listed are of nobody.
SHARES = np.array([0.3] + [0.035] * 20)
LABELS = np.array(["unlisted", *(f"real {i}" for i in range(20))])
CANDIDATES = [*LABELS[1:], *(f"nobody {i}" for i in range(40))]
TRUTH = np.concatenate((SHARES[1:], np.zeros(40)))
USERS, ROUNDS = 20_000, 40
PEOPLE = LABELS.repeat(np.round(SHARES * USERS).astype(int))


def supports(survey: CohortSurvey, labels: list[str]) -> Supports:
    return Supports(survey.functions.all_places(survey.functions.codes(labels)), survey.cohorts, survey.places)


def test_least_squares_are_taken_where_they_err_less() -> None:
    survey = ORR(buckets=64, cohorts=8, key="k", epsilon=4)
    tally = survey.tally(survey.randomize(PEOPLE[6000:], source=SeededSource(7)))
    fitted = survey.estimate(tally, candidates=CANDIDATES)
    counts = survey._counts(tally, supports(survey, CANDIDATES), survey._others(supports(survey, CANDIDATES), ()))
    plain = plain_estimates(counts)
    assert (fitted.standard_errors < 0.99 * plain.errors).all()
    assert np.abs(fitted.raw - TRUTH / 0.7).sum() < np.abs(plain.raw - TRUTH / 0.7).sum()


def test_labels_that_cannot_be_told_apart_are_estimated_one_by_one() -> None:
    survey = ORR(buckets=4, cohorts=2, key="k", epsilon=4)
    tally = survey.tally(survey.randomize(PEOPLE, source=SeededSource(7)))
    estimate = survey.estimate(tally, candidates=CANDIDATES)
    assert np.isfinite(estimate.raw).all()
    assert (estimate.standard_errors > 0.05).all()


def test_fits_solve_the_normal_equations_of_the_whole_matrix() -> None:
    survey = ORAPPOR(buckets=16, cohorts=8, hashes=2, key="k", epsilon=4)
    tally = survey.tally(survey.randomize(PEOPLE, source=SeededSource(7)))
    listed = supports(survey, CANDIDATES[:30])
    counts = survey._counts(tally, listed, survey._others(listed, ()))
    others = counts.others
    assert others is not None
    matrix = listed.matrix().toarray() - others.reshape(-1, 1)
    roots = np.sqrt(np.repeat(counts.weights.ravel(), 16))
    expected = np.linalg.lstsq(
        matrix * roots[:, np.newaxis], roots * (counts.table.ravel() - others.ravel()), rcond=None
    )[0]
    fitted = fitted_estimates(counts)
    assert fitted is not None
    assert np.allclose(fitted.raw, expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "survey",
    [
        ORR(buckets=16, cohorts=3, key="k", epsilon=1),
        ORR(buckets=16, cohorts=3, key="k", epsilon=6),
        ORAPPOR(buckets=16, cohorts=3, key="k", epsilon=6),
    ],
    ids=["O-RR, small epsilon", "O-RR, large epsilon", "O-RAPPOR"],
)
def test_errors_of_a_fit_are_those_of_many_rounds(survey: CohortSurvey) -> None:
    people = np.array(CANDIDATES[:5]).repeat([4000, 2000, 1000, 500, 500])
    truth = np.array([0.5, 0.25, 0.125, 0.0625, 0.0625, 0])
    rounds = []
    for turn in range(150):
        tally = survey.tally(survey.randomize(people, source=SeededSource((7, turn))))
        listed = supports(survey, CANDIDATES[:6])
        fitted = fitted_estimates(survey._counts(tally, listed, survey._others(listed, ())))
        assert fitted is not None
        rounds.append((fitted.raw, fitted.errors))
    raw, errors = np.array(rounds).transpose(1, 0, 2)
    # 150 rounds: a standard deviation is known within 6%, of six labels none is off by five times that.
    assert (np.abs(raw.std(axis=0) / np.median(errors, axis=0) - 1) < 0.3).all()
    assert (np.abs(raw.mean(axis=0) - truth) < 5 * raw.std(axis=0) / np.sqrt(150)).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "survey",
    [
        ORAPPOR(buckets=32, cohorts=8, hashes=2, key="k", epsilon=8),
        RAPPOR(buckets=32, cohorts=8, hashes=4, key="k", f="1/8", p="1/8", q="7/8"),
    ],
    ids=["O-RAPPOR", "RAPPOR"],
)
def test_bits_that_a_person_sets_together_are_not_taken_for_independent(survey: CohortSurvey) -> None:
    # They were, which left next to nothing of the errors of frequent labels: no interval held.
    people = np.array(CANDIDATES[:3]).repeat([1200, 500, 300])
    listed = supports(survey, CANDIDATES[:4])
    others, rounds = survey._others(listed, ()), []
    for turn in range(150):
        tally = survey.tally(survey.randomize(people, source=SeededSource((7, turn))))
        fitted = fitted_estimates(survey._counts(tally, listed, others))
        assert fitted is not None
        rounds.append((fitted.raw, fitted.errors))
    # What is estimated is these fits; its p-values and decoded shares, which nothing here is about, take most of it.
    estimate = survey.estimate(tally, candidates=CANDIDATES[:4])
    assert np.allclose((estimate.raw, estimate.standard_errors), rounds[-1], rtol=1e-12)
    raw, errors = np.array(rounds).transpose(1, 0, 2)
    # 150 rounds: a standard deviation is known within 6%.
    assert (np.abs(raw.std(axis=0) / np.median(errors, axis=0) - 1) < 0.3).all()


def test_what_is_unexplained_is_what_fits_without_the_cell_or_the_label_leave() -> None:
    # Residuals of the fit itself hide what falls on the cells of a label with little other evidence.
    survey = ORR(buckets=64, cohorts=2, key="key 0", epsilon=4)
    tally = survey.tally(survey.randomize(PEOPLE, source=SeededSource(7)))
    listed = supports(survey, CANDIDATES[:30])
    counts = survey._counts(tally, listed, survey._others(listed, ()))
    assert counts.others is not None
    matrix, chances = listed.matrix().toarray() - counts.others.reshape(-1, 1), counts.others.ravel()
    weights, rest = np.repeat(counts.weights.ravel(), 64), counts.table.ravel() - chances
    roots = np.sqrt(weights)
    fitted = fitted_estimates(counts)
    assert fitted is not None
    for cell in (0, int(np.argmax(rest)), 127):
        kept = np.arange(128) != cell
        shares = np.linalg.lstsq(roots[kept, None] * matrix[kept], roots[kept] * rest[kept], rcond=None)[0]
        left = weights[cell] * (rest[cell] - matrix[cell] @ shares)
        assert fitted.unexplained.ravel()[cell] == pytest.approx(left, rel=1e-6)
    for label in (0, 29):
        others = np.delete(matrix, label, axis=1)
        shares = np.linalg.lstsq(roots[:, None] * others, roots * rest, rcond=None)[0]
        total = matrix[:, label] @ (weights * (rest - others @ shares))
        unit = np.broadcast_to(fitted.unit, fitted.raw.shape)[label]
        deviation, mean = random_moments(fitted.unexplained, counts)[::-1]
        assert fitted.raw[label] * deviation / unit == pytest.approx(total, rel=1e-6)
        assert fitted.scores[label] == pytest.approx((total - mean) / deviation, rel=1e-6)


@pytest.mark.slow
def test_labels_that_nobody_has_are_not_found_with_two_cohorts() -> None:
    false, held = 0, 0
    for turn in range(20):
        survey = ORR(buckets=64, cohorts=2, key=f"key {turn}", epsilon=4)
        tally = survey.tally(survey.randomize(PEOPLE, source=SeededSource((7, turn))))
        estimate = survey.estimate(tally, candidates=CANDIDATES, decoder="unbiased")
        false += bool(estimate.significant[20:].any())
        ends = estimate.simultaneous_intervals
        held += bool(((ends[:, 0] <= TRUTH) & (ends[:, 1] >= TRUTH)).all())
    # 5% of the surveys may miss: more than four of twenty do with probability 0.003.
    assert false <= 4
    assert held >= 16
