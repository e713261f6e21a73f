"""Estimates of open alphabets: unbiased, with errors and tests that hold whatever labels nobody listed."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from anonhist.errors import DataError, UsageError
from anonhist.local import cohort_estimates
from anonhist.local.cohort_counts import Supports, SymbolCounts
from anonhist.local.cohort_estimates import random_tails
from anonhist.local.open import CohortSurvey
from anonhist.local.orappor import ORAPPOR
from anonhist.local.orr import ORR
from anonhist.testing.sources import SeededSource

# One label that is not listed has 30 % of the people, twenty that are share the rest, forty listed are of nobody.
SHARES = np.array([0.3] + [0.035] * 20)
LABELS = np.array(["unlisted", *(f"real {i}" for i in range(20))])
CANDIDATES = [*LABELS[1:], *(f"nobody {i}" for i in range(40))]
TRUTH = np.concatenate((SHARES[1:], np.zeros(40)))
USERS, ROUNDS = 20_000, 40
PEOPLE = LABELS.repeat(np.round(SHARES * USERS).astype(int))


def make(kind: str, key: str) -> CohortSurvey:
    return {
        "fitted": lambda: ORR(buckets=64, cohorts=8, key=key, epsilon=4),
        "plain": lambda: ORR(buckets=16, cohorts=4, key=key, epsilon=2),
        "bits": lambda: ORAPPOR(buckets=32, cohorts=8, hashes=2, key=key, epsilon=4),
    }[kind]()


@pytest.mark.parametrize("kind", ["fitted", "plain", "bits"])
def test_raw_estimates_are_unbiased_over_keys_and_errors_and_tests_hold(kind: str) -> None:
    scores, tails, found = [], [], []
    for turn in range(ROUNDS):
        survey = make(kind, f"key {turn}")
        tally = survey.tally(survey.randomize(PEOPLE, source=SeededSource((7, turn))))
        estimate = survey.estimate(tally, candidates=CANDIDATES, decoder="unbiased")
        scores.append((estimate.raw - TRUTH) / estimate.standard_errors)
        tails.append(estimate.p_values[20:])
        found.append(bool(estimate.significant[20:].any()))
    z, p = np.concatenate(scores), np.concatenate(tails)
    # Estimates of one round hang together, so bounds are for rounds: five standard errors of their means.
    means = np.array([each.mean() for each in scores])
    assert abs(means.mean()) < 5 * means.std() / np.sqrt(ROUNDS)
    # Errors are right within 12 %: of 2,400 scores that is far more than chance, and less than a forgotten term.
    assert 0.88 < z.std() < 1.12
    # Conservative tests: at most as many small p-values as there may be, and five standard errors (rounds as units).
    for level in (0.05, 0.01):
        shares = np.array([(each < level).mean() for each in tails])
        assert (p < level).mean() < level + 5 * max(shares.std(), np.sqrt(level / 40)) / np.sqrt(ROUNDS)
    # Families with a false finding: 5 % each, so seven of forty are past any doubt (p < 0.004).
    assert sum(found) < 7


def test_least_squares_are_taken_where_they_err_less() -> None:
    survey = ORR(buckets=64, cohorts=8, key="k", epsilon=4)
    tally = survey.tally(survey.randomize(PEOPLE[6000:], source=SeededSource(7)))
    fitted = survey.estimate(tally, candidates=CANDIDATES)
    counts = survey._counts(tally, supports(survey, CANDIDATES), survey._others(supports(survey, CANDIDATES), ()))
    plain = cohort_estimates._by_supports(counts)
    assert (fitted.standard_errors < 0.99 * plain.errors).all()
    assert np.abs(fitted.raw - TRUTH / 0.7).sum() < np.abs(plain.raw - TRUTH / 0.7).sum()


def supports(survey: CohortSurvey, labels: list[str]) -> Supports:
    return Supports(survey.functions.all_places(survey.functions.codes(labels)), survey.cohorts, survey.places)


def test_labels_that_cannot_be_told_apart_are_estimated_one_by_one() -> None:
    survey = ORR(buckets=4, cohorts=2, key="k", epsilon=4)
    tally = survey.tally(survey.randomize(PEOPLE, source=SeededSource(7)))
    estimate = survey.estimate(tally, candidates=CANDIDATES)
    assert np.isfinite(estimate.raw).all()
    assert (estimate.standard_errors > 0.05).all()


def test_the_plain_estimate_is_that_of_supports() -> None:
    survey = ORR(buckets=16, cohorts=4, key="k", epsilon=2)
    reports = survey.randomize(PEOPLE, source=SeededSource(7))
    counts = survey._counts(survey.tally(reports), supports(survey, CANDIDATES), None)
    places = survey.functions.all_places(survey.functions.codes(CANDIDATES))
    cohort, report = reports.columns["cohort"], reports.columns["report"]
    supporting = np.array([(places[cohort, s] == report).mean() for s in range(60)])
    odds = np.exp(2)
    p, q = odds / (odds + 15), 1 / (odds + 15)
    expected = ((supporting - q) / (p - q) - 1 / 16) / (1 - 1 / 16)
    assert np.allclose(cohort_estimates._by_supports(counts).raw, expected)


def test_random_tails_are_those_of_all_places_tried() -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(3, 8)) ** 3
    shares = rng.dirichlet(np.ones(8))
    counts = SymbolCounts(
        np.ones((3, 8), dtype=np.int64),
        np.full(3, 8),
        Supports(np.zeros((3, 1), np.int32), 3, 8),
        0.1,
        0.1,
        shares,
        None,
        0.1,
    )
    sums = (table[0][:, None, None] + table[1][:, None] + table[2]).ravel()
    law = (shares[:, None, None] * shares[:, None] * shares).ravel()
    mean, deviation = sums @ law, np.sqrt((sums - sums @ law) ** 2 @ law)
    # Between the sums that there are, the tail is level: a step of the grid does not matter there.
    ordered = np.sort(sums)
    gaps = np.diff(ordered)
    at = (ordered[:-1] + gaps / 2)[gaps > 0.01]
    expected = np.array([law[sums >= each].sum() for each in at])
    assert np.allclose(random_tails(table, counts, (at - mean) / deviation), expected, atol=1e-9)
    assert random_tails(table, counts, np.array([-1e9, 1e9])).tolist() == pytest.approx([1, 1e-13])
    assert random_tails(np.ones((3, 8)), counts, np.array([5.0])).tolist() == [1]


def test_many_cohorts_have_normal_tails() -> None:
    survey = ORR(buckets=16, cohorts=512, key="k", epsilon=1)
    tally = survey.tally(survey.randomize(PEOPLE, source=SeededSource(7)))
    counts = survey._counts(tally, supports(survey, CANDIDATES), None)
    scores = np.array([0.0, 1, 2, 3])
    # Counts of two or three are skewed, and so is their sum, a little.
    assert np.allclose(random_tails(counts.weights * counts.table, counts, scores), norm.sf(scores), rtol=0.2)


def test_a_known_alphabet_has_exact_binomial_tests_with_any_number_of_cohorts() -> None:
    words = [f"w{i}" for i in range(10)]
    survey = ORR(alphabet=words, cohorts=4, key="k", epsilon=1)
    tally = survey.tally(survey.randomize(words[:5] * 400, source=SeededSource(7)))
    estimate = survey.estimate(tally)
    places = survey.functions.all_places(np.arange(10))
    supporting = tally.dense(40).reshape(4, 10)[np.arange(4)[:, np.newaxis], places].sum(axis=0)
    q = 1 / (np.e + 9)
    assert np.allclose(estimate.p_values, binom.sf(supporting - 1, 2000, q), rtol=1e-9)
    assert np.allclose(estimate.raw, (supporting / 2000 - q) / (q * (np.e - 1)))
    assert estimate.other == 0


def test_what_candidates_leave_unexplained_is_other() -> None:
    survey = ORR(buckets=64, cohorts=16, key="k", epsilon=4)
    tally = survey.tally(survey.randomize(PEOPLE, source=SeededSource(7)))
    estimate = survey.estimate(tally, candidates=list(LABELS[1:]), decoder="unbiased")
    # The raw share of others: 0.3, and five of its errors.
    assert abs(1 - estimate.raw.sum() - 0.3) < 5 * estimate.other_standard_error
    assert estimate.other_standard_error < 0.1


def test_candidates_are_asked_for_and_checked() -> None:
    survey = ORR(buckets=64, cohorts=4, key="k", epsilon=4)
    tally = survey.tally(survey.randomize(["a"] * 100, source=SeededSource(7)))
    with pytest.raises(UsageError, match="name the candidates"):
        survey.estimate(tally)
    for wrong in ([], ["a", "a"], "a", [1]):
        with pytest.raises(UsageError):
            survey.estimate(tally, candidates=wrong)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="Nobody"):
        survey.estimate(survey.empty_tally(), candidates=["a"])
    closed = ORR(alphabet=["a", "b"], cohorts=4, key="k", epsilon=4)
    with pytest.raises(UsageError, match="not in the alphabet"):
        closed.estimate(closed.tally(closed.randomize(["a"])), candidates=["c"])
    wide = ORR(buckets=2, cohorts=65536, key="k", epsilon=4)
    tally = wide.tally(wide.randomize(["a"]))
    with pytest.raises(UsageError, match="memory"):
        wide.estimate(tally, candidates=map(str, range(3000)))


def test_very_many_users_and_small_epsilons_overflow_nothing() -> None:
    from anonhist.local.tally import Tally

    for epsilon in ("1e-9", 64):
        survey = ORR(buckets=4, cohorts=2, key="k", epsilon=epsilon)
        tally = Tally(survey.digest, 2**62, np.arange(8), np.full(8, 2**59))
        estimate = survey.estimate(tally, candidates=["a", "b"])
        assert np.isfinite(estimate.raw).all()
        assert np.isfinite(estimate.standard_errors).all()
        assert np.isfinite(estimate.p_values).all()
