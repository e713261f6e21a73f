"""Intervals of surveys hold: the table of bench/survey_intervals.py, reduced, and what used to fail."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonhist.local import ORAPPOR, ORR, RAPPOR, HeavyHitters
from anonhist_testing.sources import SeededSource

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import the program with its neighbours, as it is when it is run."""
    monkeypatch.syspath_prepend(str(BENCH))
    import survey_intervals

    return survey_intervals


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["recommended", "hadamard-response", "hybrid-projective-geometry"])
def test_intervals_hold_where_reports_are_few(mechanism: str, bench: Any) -> None:
    # Of 900 people less than one supports a value by chance at ε = 9; normal intervals missed nearly always.
    together, each = [], []
    for name in ("drawn 0", "drawn 3", "drawn 7"):
        for epsilon in (2.0, 9.0):
            held = bench.survey_known(mechanism, bench.random_shapes(300)[name], 900, epsilon, 10)
            together += held.together
            each.append(np.mean(held.each))
    # Of 60 surveys 3 may miss; 10 would with probability 0.001.
    assert together.count(False) < 10
    assert min(each) > bench.LEAST


@pytest.mark.slow
def test_intervals_hold_with_two_cohorts(bench: Any) -> None:
    # Half of the values are not listed, the most frequent one among them, and fall on the places of those that are.
    together, each = [], []
    for kind in ("o-rr", "o-rappor"):
        for name in ("drawn 4", "drawn 7"):
            held = bench.cohorts(f"{kind}, 64 buckets, 2 cohorts", bench.random_shapes(30)[name], 3000, 4.0, 8)
            together += held.together
            each.append(np.mean(held.each))
    # Of 32 surveys 1.6 may miss; 7 would with probability 0.002.
    assert together.count(False) < 7
    assert min(each) > bench.LEAST


@pytest.mark.slow
def test_values_that_were_found_are_estimated_on_others() -> None:
    # Twenty values that are found once in a while, which is when noise lifts them.
    people = [f"{number:03d}" for number in range(0, 1000, 50) for _ in range(100)] + [
        f"{number % 1000:03d}" for number in range(1, 2001)
    ]
    shares = {value: people.count(value) / len(people) for value in set(people)}
    survey = HeavyHitters(epsilon=4, max_bytes=3, characters="0123456789")
    scores, held = [], []
    for seed in range(30):
        estimate = survey.estimate(
            survey.tally(survey.randomize(people, source=SeededSource((7, seed)))), decoder="unbiased", level=0.9
        )
        truth = np.array([shares[label] for label in estimate.labels])
        scores += ((estimate.raw - truth) / estimate.standard_errors).tolist()
        held += ((estimate.intervals[:, 0] <= truth) & (truth <= estimate.intervals[:, 1])).tolist()
        assert not estimate.labels or estimate.note.startswith("The values were found in the reports of some people")
        assert estimate.significant.all()
    assert len(scores) > 30
    # Unbiased within four standard errors, and of intervals of 90 % no more are missed than would be once in 1,000.
    assert abs(np.mean(scores)) < 4 / np.sqrt(len(scores))
    assert np.mean(held) > 0.9 - 3.1 * np.sqrt(0.09 / len(held))


def test_people_who_find_values_are_not_those_who_estimate_them() -> None:
    survey = HeavyHitters(epsilon=4, max_bytes=2)
    tally = survey.tally(survey.randomize(["ab"] * 2000, source=SeededSource(7)))
    last = survey._of_length(tally, 1)
    finding, estimating = survey._halves(last)
    buckets = survey._hashing.buckets
    assert (finding.cells // buckets % 2 == 0).all()
    assert (estimating.cells // buckets % 2 == 1).all()
    assert finding + estimating == last
    estimate = survey.estimate(tally)
    assert estimate.labels == ("ab",)
    assert estimate.raw == survey._hashing.raw_of(estimating, survey._words(survey._codes(["ab"]))).frequencies
    assert estimate.p_values == survey._hashing.raw_of(finding, survey._words(survey._codes(["ab"]))).p_values
    # Named, the value is estimated by everybody who answered about it.
    named = survey.estimate(tally, candidates=["ab"])
    assert named.raw == survey._hashing.raw_of(last, survey._words(survey._codes(["ab"]))).frequencies
    assert named.note == ""


def test_an_alphabet_in_cohorts_has_the_limits_of_binomial_counts() -> None:
    for survey in (ORR(alphabet=6, cohorts=3, epsilon=6), ORAPPOR(alphabet=6, cohorts=2, epsilon=6)):
        people = [0] * 30 + [1] * 9 + [2]
        estimate = survey.estimate(survey.tally(survey.randomize(people, source=SeededSource(7))))
        truth = np.array([30, 9, 1, 0, 0, 0]) / 40
        ends = estimate.simultaneous_intervals
        assert ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).all()
        assert (ends[:, 1] > 0).all()


def test_reports_that_deny_what_they_remember_are_read_the_right_way_round() -> None:
    # A bit of the value is reported as 0 more often than others: few supports speak for a label.
    survey = RAPPOR(alphabet=4, cohorts=1, f="1/4", p="3/4", q="1/4")
    people = [0] * 1500 + [1] * 500
    estimate = survey.estimate(survey.tally(survey.randomize(people, source=SeededSource(7))))
    assert estimate.significant.tolist() == [True, True, False, False]
    truth = np.array([0.75, 0.25, 0, 0])
    ends = estimate.simultaneous_intervals
    assert ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).all()
    assert (ends[:, 1] - ends[:, 0] < 0.6).all()
