"""Counts that others collected: decoded like our own reports, with the guarantee that their parameters give."""

from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.local.cohorts.counts import Supports
from anonhist.local.randomizers.rappor import RAPPOR
from anonhist.local.rappor_counts import RapporCounts, RapporMap, RapporParameters
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
WORDS = [f"v{i}" for i in range(12)]


def collect(hashes: int = 2) -> tuple[RAPPOR, RapporCounts, RapporMap]:
    survey = RAPPOR(buckets=16, cohorts=8, hashes=hashes, key="k", f="1/2", p="1/4", q="3/4")
    people = np.array(WORDS[:6]).repeat([8000, 4000, 2000, 1000, 500, 4500])
    tally = survey.tally(survey.randomize(people, source=SeededSource(7)))
    table = tally.dense(survey.cells).reshape(8, 17)
    counts = RapporCounts(RapporParameters(16, hashes, 8, QUARTER, 3 * QUARTER, HALF), table[:, 0], table[:, 1:])
    listed = WORDS[:5] + WORDS[6:]
    return survey, counts, RapporMap(listed, survey.functions.all_places(survey.functions.codes(listed)))


@pytest.mark.parametrize("decoder", ["projected", "least-squares"])
def test_counts_of_a_survey_give_its_own_estimate(decoder: str) -> None:
    survey, counts, candidates = collect()
    table = np.column_stack((counts.users, counts.bits)).ravel()
    cells = np.flatnonzero(table)
    tally = type(survey.empty_tally())(survey.digest, 20_000, cells, table[cells])
    own = survey.estimate(tally, candidates=candidates.candidates, decoder=decoder)
    theirs = counts.estimate(candidates, decoder=decoder)
    for field in ("raw", "standard_errors", "p_values", "frequencies", "other"):
        # Sixteen buckets are exactly as wide as each other.
        assert np.allclose(getattr(own, field), getattr(theirs, field), rtol=1e-12), field
    assert theirs.guarantee.epsilon == survey.epsilon
    truth = np.array([0.4, 0.2, 0.1, 0.05, 0.025] + [0] * 6)
    assert (np.abs(theirs.raw - truth) < 5 * theirs.standard_errors).all()
    assert theirs.significant[0]
    assert not theirs.significant[5:].any()


def test_basic_rappor_is_estimated_bit_by_bit() -> None:
    counts = RapporCounts(
        RapporParameters(4, 1, 1, QUARTER, 3 * QUARTER, HALF), np.array([1000]), np.array([[500, 430, 375, 400]])
    )
    p, q = 0.375, 0.625
    everything = counts.estimate(RapporMap(list("abcd"), np.array([[0, 1, 2, 3]], dtype=np.int32)), decoder="unbiased")
    assert np.allclose(everything.raw, (np.array([0.5, 0.43, 0.375, 0.4]) - p) / (q - p))
    assert everything.other == 0
    some = counts.estimate(RapporMap(["b", "a"], np.array([[1, 0]], dtype=np.int32)))
    assert np.allclose(some.raw, [0.22, 0.5])
    assert np.allclose(some.p_values, everything.p_values[[1, 0]])
    # Others have the bits that are left.
    collision, others = counts._others(Supports(np.array([[1, 0]], dtype=np.int32), 1, 4))
    assert collision == 0
    assert others is not None
    assert others.tolist() == [[0, 0, 0.5, 0.5]]


@each_of(
    ("parameters", "odds"),
    [
        ((16, 2, 8, QUARTER, 3 * QUARTER, HALF), 3**4),
        ((16, 1, 8, Fraction(0), 3 * QUARTER, HALF), 9),
        ((16, 1, 8, QUARTER, 3 * QUARTER, Fraction(0)), 9),
        ((16, 1, 8, 3 * QUARTER, QUARTER, Fraction(0)), 9),
    ],
)
def test_guarantees_are_those_of_the_parameters(
    parameters: tuple[int, int, int, Fraction, Fraction, Fraction], odds: int
) -> None:
    guarantee = RapporParameters(*parameters).guarantee
    assert guarantee is not None
    assert 0 <= float(guarantee.epsilon) - np.log(odds) < 2e-9


def test_reports_without_noise_are_refused() -> None:
    parameters = RapporParameters(2, 1, 1, Fraction(0), Fraction(1), Fraction(0))
    assert parameters.guarantee is None
    counts = RapporCounts(parameters, np.array([10]), np.array([[4, 6]]))
    with pytest.raises(UsageError, match="not private"):
        counts.estimate(RapporMap(["a"], np.zeros((1, 1), dtype=np.int32)))


@each_of(
    "wrong",
    [
        (0, 1, 1, QUARTER, HALF, HALF),
        (2, 1, 1, HALF, HALF, HALF),
        (2, 1, 1, QUARTER, HALF, Fraction(1)),
        (2, 1, 1, QUARTER, Fraction(2), HALF),
    ],
)
def test_parameters_that_say_nothing_are_refused(wrong: tuple[int, int, int, Fraction, Fraction, Fraction]) -> None:
    with pytest.raises(UsageError):
        RapporParameters(*wrong)


def test_counts_and_maps_that_do_not_fit_are_refused() -> None:
    parameters = RapporParameters(2, 1, 2, QUARTER, 3 * QUARTER, HALF)
    users, bits = np.array([5, 6]), np.array([[1, 5], [0, 6]])
    counts = RapporCounts(parameters, users, bits)
    for few, many in (
        (users[:1], bits[:1]),
        (users, bits[:, :1]),
        (users, bits + 1),
        (users, bits - 1),
        (0 * users, 0 * bits),
    ):
        with pytest.raises(DataError):
            RapporCounts(parameters, few, many)
    for places in ([[0]], [[0], [2]], [[0], [-1]], [[0, 0], [1, 1]]):
        with pytest.raises(UsageError, match="bits"):
            counts.estimate(RapporMap(["a"], np.array(places, dtype=np.int32)))
    with pytest.raises(UsageError, match="twice"):
        RapporMap(["a", "a"], np.zeros((2, 2), dtype=np.int32))
