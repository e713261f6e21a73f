"""Tails of sums over random places, against all places tried and against the normal distribution."""

import numpy as np
import pytest
from scipy.stats import norm

from anonhist.local.cohort_counts import Supports, SymbolCounts
from anonhist.local.cohort_estimates import random_sums
from anonhist.local.randomizers.open import ORR
from anonhist_testing.sources import SeededSource


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
    distribution = (shares[:, None, None] * shares[:, None] * shares).ravel()
    mean, deviation = sums @ distribution, np.sqrt((sums - sums @ distribution) ** 2 @ distribution)
    # Between the sums that there are, the tail is level: a step of the grid does not matter there.
    ordered = np.sort(sums)
    gaps = np.diff(ordered)
    at = (ordered[:-1] + gaps / 2)[gaps > 0.01]
    expected = np.array([distribution[sums >= each].sum() for each in at])
    assert np.allclose(random_sums(table, counts).tail((at - mean) / deviation), expected, atol=1e-9)
    assert random_sums(table, counts).tail(np.array([-1e9, 1e9])).tolist() == pytest.approx([1, 1e-13])
    assert random_sums(table, counts).tail(np.array([-np.inf, np.inf])).tolist() == pytest.approx([1, 1e-13])
    assert random_sums(np.ones((3, 8)), counts).tail(np.array([5.0])).tolist() == [1]
    # And back: sums are so large at most so often, and more often where they are asked for a few steps less.
    drawn, standardised = random_sums(table, counts), (sums - mean) / deviation
    for tail in (0.3, 0.025, 0.004, 1e-9):
        score = drawn.score(tail)
        assert distribution[standardised >= score].sum() <= tail
        assert (
            distribution[standardised >= score - 4 * drawn.step].sum() > tail
            or score - 4 * drawn.step > standardised.max()
        )
    assert random_sums(np.ones((3, 8)), counts).score(0.01) == 0


@pytest.mark.slow
def test_many_cohorts_have_normal_tails() -> None:
    survey = ORR(buckets=16, cohorts=512, key="k", epsilon=1)
    tally = survey.tally(survey.randomize(["a", "b"] * 10_000, source=SeededSource(7)))
    counts = survey._counts(tally, Supports(survey.functions.all_places(survey.functions.codes(["a"])), 512, 16), None)
    scores = np.array([0.0, 1, 2, 3])
    # Counts of two or three are skewed, and so is their sum, a little.
    assert np.allclose(random_sums(counts.weights * counts.table, counts).tail(scores), norm.sf(scores), rtol=0.2)
