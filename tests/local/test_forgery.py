"""What one forged report can do: the largest weights against those of every possible report."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from anonhist.local import (
    KRAPPOR,
    KRR,
    ORAPPOR,
    ORR,
    RAPPOR,
    HadamardResponse,
    HeavyHitters,
    HybridProjectiveGeometry,
    LocalHashing,
    OptimizedUnary,
    ProjectiveGeometry,
    Reports,
    SubsetSelection,
    Survey,
    WarnerRR,
)
from anonhist.local.cohort_counts import Supports
from anonhist.local.cohort_estimates import plain_estimates
from anonhist.local.estimate import ForgedWeight
from anonhist.local.randomizers.open import CohortSurvey
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

# Small, so that all reports can be enumerated.
CLOSED: list[Any] = [
    WarnerRR(epsilon=1),
    KRR(alphabet=5, epsilon=1),
    KRAPPOR(alphabet=6, epsilon=2),
    OptimizedUnary(alphabet=7, epsilon=1),
    SubsetSelection(alphabet=7, epsilon=1, subset_size=3),
    ProjectiveGeometry(alphabet=13, epsilon=1, field=3),
    ProjectiveGeometry(alphabet=9, epsilon=1, field=3),
    HadamardResponse(alphabet=10, epsilon=1, blocks=1),
    HadamardResponse(alphabet=10, epsilon=2, blocks=3),
    HadamardResponse(alphabet=4, epsilon=2, blocks=4),
    HybridProjectiveGeometry(alphabet=17, epsilon=1, field=2, blocks=3),
]
COHORTS: list[Any] = [
    ORR(alphabet=5, cohorts=2, epsilon=1),
    ORR(alphabet=5, buckets=3, cohorts=2, epsilon=1),
    ORR(alphabet=5, buckets=7, cohorts=2, epsilon=1),
    ORAPPOR(alphabet=5, cohorts=2, epsilon=1),
    ORAPPOR(alphabet=5, buckets=3, cohorts=2, epsilon=1),
    ORAPPOR(alphabet=5, buckets=3, cohorts=1, hashes=2, epsilon=2),
    ORAPPOR(alphabet=5, cohorts=1, hashes=2, epsilon=2),
    RAPPOR(alphabet=5, cohorts=1, hashes=2, f="1/2", p="3/4", q="1/4"),
]


def _every_report(survey: Survey) -> Reports:
    columns: list[np.ndarray] = []
    if isinstance(survey, SubsetSelection):
        sets = np.array(list(combinations(range(survey.size), survey.subset_size)), dtype="<u2")
        return Reports(survey.digest, {"report": sets.view(np.uint8)})
    ranges = [range(getattr(column, "size", 1 << 8)) for column in survey.columns]
    rows = np.array(list(product(*ranges)))
    for place, column in enumerate(survey.columns):
        values = rows[:, place]
        columns.append(values if hasattr(column, "size") else values.astype(np.uint8)[:, np.newaxis])
    return Reports(survey.digest, {column.name: each for column, each in zip(survey.columns, columns, strict=True)})


def _weights(survey: Any, reports: Reports) -> np.ndarray:
    """What each possible report adds to the raw estimates in people, shape (reports, values)."""
    rows = []
    for number in np.flatnonzero(survey.possible(reports)).tolist():
        tally = survey.tally(reports.rows(np.array([number])))
        if isinstance(survey, CohortSurvey):
            assert survey.alphabet is not None
            places = survey.functions.all_places(np.arange(survey.alphabet.size))
            counts = survey._counts(tally, Supports(places, survey.cohorts, survey.places), None)
            rows.append(plain_estimates(counts).raw)
        else:
            rows.append(survey.raw_of(tally, None).frequencies)
    return np.array(rows)


@pytest.mark.slow
@each_of("survey", [*CLOSED, *COHORTS])
def test_no_report_has_more_weight_and_one_has_as_much(survey: Any) -> None:
    weights = np.abs(_weights(survey, _every_report(survey)))
    bound = survey.forged_weight
    assert weights.max() <= bound.each * (1 + 1e-9)
    assert weights.sum(axis=1).max() <= bound.total * (1 + 1e-9)
    if survey.name == "o-rappor" and survey.hashes == 2:
        return  # which labels share bits decides what can be reached
    assert weights.max() == pytest.approx(bound.each)
    assert weights.sum(axis=1).max() == pytest.approx(bound.total)


def test_the_weight_of_bits_is_that_of_the_reports_that_are_possible() -> None:
    survey = OptimizedUnary(alphabet=1000, epsilon=1)
    _, q, gap = survey._probabilities
    most = survey.honest_ones[1]
    assert survey.forged_weight.each == pytest.approx(3.16, abs=0.01)
    assert survey.forged_weight.total == pytest.approx((most * (1 - q) + (1000 - most) * q) / gap)
    # All ones would have a total of 1,000 times the weight of each.
    assert survey.forged_weight.total < 0.61 * 1000 * survey.forged_weight.each
    reports = survey.randomize(np.arange(300) % 1000)
    bits = np.arange(1000) < most
    reports.columns["report"][5] = np.packbits(bits, bitorder="little")
    one = survey.raw_of(survey.tally(reports.rows(np.array([5]))), None).frequencies
    assert np.abs(one).sum() == pytest.approx(survey.forged_weight.total)


@pytest.mark.parametrize(
    "survey",
    [OptimizedUnary(alphabet=3, epsilon=1), KRAPPOR(alphabet=11, epsilon=1), ORAPPOR(alphabet=5, cohorts=1, epsilon=1)],
)
def test_bits_behind_the_last_one_are_zero_in_every_report(survey: Any) -> None:
    reports = survey.randomize([0] * 50)
    assert survey.possible(reports).all()
    columns = {name: column.copy() for name, column in reports.columns.items()}
    columns["report"][:, -1] |= 0x80
    assert not survey.possible(Reports(survey.digest, columns)).any()


def test_any_text_may_be_named_where_the_survey_is_open() -> None:
    for survey in (
        LocalHashing(epsilon=1),
        ORR(buckets=16, cohorts=2, epsilon=1),
        ORAPPOR(buckets=16, cohorts=2, epsilon=1),
    ):
        assert survey.forged_weight is not None
        assert survey.forged_weight.total == np.inf
        assert "any number of values" in str(survey.forged_weight)
    assert HeavyHitters(epsilon=1, max_bytes=3).forged_weight is None


@pytest.mark.slow
def test_hashes_may_meet_in_one_bucket() -> None:
    survey = LocalHashing(alphabet=4, epsilon=1)
    reports = survey.randomize([0, 1, 2, 3] * 200)
    weights = np.abs(_weights(survey, reports))
    assert weights.sum(axis=1).max() <= survey.forged_weight.total
    assert weights.max() == pytest.approx(survey.forged_weight.each)


@pytest.mark.slow
def test_least_squares_may_give_more_weight_and_the_sentence_says_so() -> None:
    labels = [f"l{number}" for number in range(40)]
    survey = RAPPOR(alphabet=labels, cohorts=4, hashes=2, f="1/2", p="1/2", q="3/4")
    source = SeededSource(1)
    honest, forged = (survey.randomize(labels * times, source=source) for times in (40, 1))

    def people(reports: Reports) -> np.ndarray:
        found = survey.estimate(survey.tally(reports), decoder="unbiased")
        return np.asarray(found.frequencies) * len(reports)

    most = max(
        np.abs(people(joined) - people(honest)).max()
        for number in range(20)
        for one in [forged.rows(np.array([number]))]
        for joined in [
            Reports(survey.digest, {k: np.append(v, one.columns[k], axis=0) for k, v in honest.columns.items()})
        ]
    )
    assert most > survey.forged_weight.each
    assert "one by one" in str(survey.forged_weight)
    assert "one by one" in str(ORR(buckets=16, cohorts=2, epsilon=1).forged_weight)
    assert "one by one" not in str(KRR(alphabet=5, epsilon=1).forged_weight)


def test_the_sentence_rounds_to_a_few_digits() -> None:
    assert str(ForgedWeight(3.16395, 1377.7)) == (
        "one forged report changes the raw estimate of a value by up to 3.16 people, "
        "and all estimates together by up to 1,378"
    )
    assert str(ForgedWeight(3.3281, 5.6562)).endswith("by up to 3.33 people, and all estimates together by up to 5.66")


def test_large_spaces_are_bounded_without_being_counted() -> None:
    survey = ProjectiveGeometry(alphabet=2**32, epsilon=1)
    assert survey.forged_weight.total <= 2**32 * survey.forged_weight.each
