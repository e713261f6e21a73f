"""Estimates of open alphabets: unbiased, with errors and tests that hold whatever labels nobody listed."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from anonhist.local.cohort_counts import Supports
from anonhist.local.cohort_estimates import _collision_variance, plain_estimates
from anonhist.local.randomizers.open import ORR, CohortSurvey
from anonhist.local.randomizers.rappor import ORAPPOR
from anonhist_testing.sources import SeededSource

# One label that is not listed has 30% of the people, twenty that are share the rest, forty listed are of nobody.
SHARES = np.array([0.3] + [0.035] * 20)
LABELS = np.array(["unlisted", *(f"real {i}" for i in range(20))])
CANDIDATES = [*LABELS[1:], *(f"nobody {i}" for i in range(40))]
KNOWN = ["unlisted", *CANDIDATES]
TRUTH = np.concatenate((SHARES[1:], np.zeros(40)))
USERS, ROUNDS = 20_000, 40
PEOPLE = LABELS.repeat(np.round(SHARES * USERS).astype(int))


def make(kind: str, key: str) -> CohortSurvey:
    return {
        "fitted": lambda: ORR(buckets=64, cohorts=8, key=key, epsilon=4),
        "plain": lambda: ORR(buckets=16, cohorts=4, key=key, epsilon=2),
        "bits": lambda: ORAPPOR(buckets=32, cohorts=8, hashes=2, key=key, epsilon=4),
        "known": lambda: ORR(alphabet=KNOWN, buckets=24, cohorts=8, key=key, epsilon=4),
        "known, plain": lambda: ORR(alphabet=KNOWN, buckets=12, cohorts=4, key=key, epsilon=2),
        "known, bits": lambda: ORAPPOR(alphabet=KNOWN, buckets=24, cohorts=8, hashes=2, key=key, epsilon=4),
    }[kind]()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fitted", "plain", "bits", "known", "known, plain", "known, bits"])
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
    # Errors are right within 12%: of 2,400 scores that is far more than chance, and less than a forgotten term.
    assert 0.88 < z.std() < 1.12
    # Conservative tests: at most as many small p-values as there may be, and five standard errors (rounds as units).
    for level in (0.05, 0.01):
        shares = np.array([(each < level).mean() for each in tails])
        assert (p < level).mean() < level + 5 * max(shares.std(), np.sqrt(level / 40)) / np.sqrt(ROUNDS)
    # Families with a false finding: 5% each, so seven of forty are past any doubt (p < 0.004).
    assert sum(found) < 7


def supports(survey: CohortSurvey, labels: list[str]) -> Supports:
    return Supports(survey.functions.all_places(survey.functions.codes(labels)), survey.cohorts, survey.places)


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
    assert np.allclose(plain_estimates(counts).raw, expected)


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


def test_very_many_users_and_small_epsilons_overflow_nothing() -> None:
    from anonhist.local.reports import Tally

    for epsilon in ("1e-9", 64):
        survey = ORR(buckets=4, cohorts=2, key="k", epsilon=epsilon)
        tally = Tally(survey.digest, 2**62, np.arange(8), np.full(8, 2**59))
        estimate = survey.estimate(tally, candidates=["a", "b"])
        assert np.isfinite(estimate.raw).all()
        assert np.isfinite(estimate.standard_errors).all()
        assert np.isfinite(estimate.p_values).all()


@pytest.mark.slow
def test_frequent_labels_do_not_stand_in_the_way_of_rarer_ones() -> None:
    rare = [f"rare {i}" for i in range(10)]
    people = np.array(["frequent"] * 60_000 + [label for label in rare for _ in range(4_000)])
    many = ["frequent", *rare, *(f"nobody {i}" for i in range(2000))]
    survey = ORR(buckets=128, cohorts=8, key="k", epsilon=4)
    tally = survey.tally(survey.randomize(people, source=SeededSource(7)))
    counts = survey._counts(tally, supports(survey, many), survey._others(supports(survey, many), ()))
    plain, estimate = plain_estimates(counts), survey.estimate(tally, candidates=many, decoder="unbiased")
    # At first only the frequent one is beyond chance, for it may be what raises the others.
    assert (plain.p_values(counts) < 0.05 / 2011).tolist() == [True] + [False] * 2010
    assert estimate.significant.tolist() == [True] * 11 + [False] * 2000
    truth = np.array([0.6] + [0.04] * 10 + [0] * 2000)
    scores = (estimate.raw - truth) / estimate.standard_errors
    # 2,011 scores, five standard errors of their spread; the largest of so many is below 6 but once in 250,000 surveys.
    assert abs(scores.std() - 1) < 5 / np.sqrt(2 * 2011)
    assert np.abs(scores).max() < 6
    assert (estimate.standard_errors[11:] < 0.5 * plain.errors[11:]).all()


@pytest.mark.slow
@pytest.mark.parametrize("hashes", [1, 3])
def test_errors_label_by_label_are_right_where_noise_is_most_of_them(hashes: int) -> None:
    scores = []
    for turn in range(20):
        survey = ORAPPOR(buckets=64, cohorts=8, hashes=hashes, key=f"key {turn}", epsilon=2)
        tally = survey.tally(survey.randomize(PEOPLE[6000:], source=SeededSource((7, turn))))
        counts = survey._counts(tally, supports(survey, CANDIDATES), survey._others(supports(survey, CANDIDATES), ()))
        plain = plain_estimates(counts)
        scores.append((plain.raw - TRUTH / 0.7) / plain.errors)
    # 1,200 scores, hardly dependent: their spread is known within 2%, and is off by less than five times that.
    assert abs(np.concatenate(scores).std() - 1) < 0.1


@pytest.mark.parametrize(("hashes", "buckets"), [(1, 5), (2, 5), (3, 4)])
def test_collisions_vary_as_all_places_tried_do(hashes: int, buckets: int) -> None:
    every = list(product(range(buckets), repeat=hashes))
    parts = np.array([np.mean([place in other for place in own]) for own in every for other in every])
    kappa = 1 - (1 - 1 / buckets) ** hashes
    assert np.isclose(parts.mean(), kappa)
    assert np.isclose(parts.var(), _collision_variance(kappa, hashes, buckets))
