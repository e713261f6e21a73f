"""Counts that others collected: decoded like our own reports, with the guarantee that their parameters give."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.local import cohort_estimates
from anonhist.local.cohort_counts import Supports
from anonhist.local.estimate import FrequencyEstimate
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
        # Two values differ in the only bit there is.
        ((1, 2, 8, QUARTER, 3 * QUARTER, HALF), 3),
        ((1, 1, 1, QUARTER, HALF, Fraction(0)), 2),
        ((1, 1, 1, 3 * QUARTER, HALF, Fraction(0)), 2),
    ],
)
def test_guarantees_are_those_of_the_parameters(
    parameters: tuple[int, int, int, Fraction, Fraction, Fraction], odds: int
) -> None:
    guarantee = RapporParameters(*parameters).guarantee
    assert guarantee is not None
    assert 0 <= float(guarantee.epsilon) - np.log(odds) < 2e-9


def boolean(
    users: list[int], ones: list[int], *, hashes: int = 1, p: Fraction = QUARTER, q: Fraction = 3 * QUARTER
) -> FrequencyEstimate:
    parameters = RapporParameters(1, hashes, len(users), p, q, Fraction(0))
    places = np.zeros((len(users) * hashes, 1), dtype=np.int32)
    return RapporCounts(parameters, np.array(users), np.array(ones)[:, np.newaxis]).estimate(
        RapporMap(["TRUE"], places)
    )


@each_of(
    ("users", "ones", "hashes"),
    [([100_000], [25_500], 1), ([50_000, 50_000], [12_700, 12_800], 1), ([90_000, 10_000, 0], [22_900, 2600, 0], 2)],
)
def test_a_single_bit_is_a_boolean(users: list[int], ones: list[int], hashes: int) -> None:
    found = boolean(users, ones, hashes=hashes)
    # By the formula of google/rappor, over all cohorts.
    assert np.allclose(found.raw, (25_500 - 100_000 / 4) / (3 / 4 - 1 / 4) / 100_000)
    assert np.allclose(found.frequencies, 0.01, atol=1e-4)
    assert np.allclose(found.other, 0.99, atol=1e-4)
    assert np.allclose(found.standard_errors, np.sqrt(3 / 16 / 100_000) / (1 / 2), rtol=1e-3)
    assert 0.004 < found.intervals[0, 0] < 0.005
    assert 0.015 < found.intervals[0, 1] < 0.016


def test_a_boolean_that_is_rather_not_reported_is_read_the_other_way_round() -> None:
    """As p > q, the counts of zeros say what those of ones say else."""
    plain, turned = boolean([600, 400], [200, 180]), boolean([600, 400], [400, 220], p=3 * QUARTER, q=QUARTER)
    for field in ("raw", "standard_errors", "p_values", "frequencies", "intervals"):
        assert np.allclose(getattr(plain, field), getattr(turned, field), atol=1e-12), field


@pytest.mark.full
@each_of("share", [0, 0.01, 0.4, 1])
def test_intervals_of_booleans_hold(share: float) -> None:
    """Exactly: the number of ones is the sum of two binomial numbers, and their intervals depend on it alone."""
    from scipy.stats import binom

    users, true = 400, round(400 * share)
    likelihood = np.convolve(
        binom.pmf(np.arange(true + 1), true, 3 / 4), binom.pmf(np.arange(users - true + 1), users - true, 1 / 4)
    )
    likely = np.flatnonzero(likelihood > 1e-6)
    held = []
    for ones in likely.tolist():
        (low, high), *_ = boolean([100, 300], [ones // 4, ones - ones // 4]).intervals
        held.append(low <= share <= high)
    assert float(likelihood[likely] @ held) >= 0.94


def test_two_candidates_of_one_bit_are_refused() -> None:
    parameters = RapporParameters(1, 1, 2, QUARTER, 3 * QUARTER, Fraction(0))
    counts = RapporCounts(parameters, np.array([1000, 1000]), np.array([[255], [255]]))
    with pytest.raises(UsageError, match="only one candidate from all other values, and there are 2"):
        counts.estimate(RapporMap(["TRUE", "FALSE"], np.zeros((2, 2), dtype=np.int32)))


def small_estimate(
    rng: np.random.Generator, k: int, h: int, m: int, shares: list[float], listed: int
) -> tuple[FrequencyEstimate, NDArray[np.float64]]:
    """Draw a map and reports of 4,000 people, and return the estimate with the true shares."""
    people = np.round(4000 * np.array(shares)).astype(int)
    places = rng.integers(k, size=(m * h, people.size)).astype(np.int32)
    if m == h == 1:
        # Basic RAPPOR: a bit for each value.
        places = rng.permutation(k)[np.newaxis, : people.size].astype(np.int32)
    users, bits = np.zeros(m, dtype=np.int64), np.zeros((m, k), dtype=np.int64)
    for value, count in enumerate(people):
        parts = rng.multinomial(count, np.full(m, 1 / m))
        users += parts
        for cohort, part in enumerate(parts):
            own = np.isin(np.arange(k), places[cohort * h : (cohort + 1) * h, value])
            bits[cohort] += rng.binomial(part, np.where(own, 3 / 4, 1 / 4))
    parameters = RapporParameters(k, h, m, QUARTER, 3 * QUARTER, Fraction(0))
    names = [f"v{number}" for number in range(listed)]
    found = RapporCounts(parameters, users, bits).estimate(RapporMap(names, places[:, :listed]))
    return found, people[:listed] / 4000


@pytest.mark.slow
@pytest.mark.drawn(3)
@pytest.mark.parametrize(("k", "h", "m"), [(2, 1, 1), (2, 1, 2), (2, 2, 2), (2, 2, 4), (4, 1, 2), (4, 2, 1), (4, 2, 4)])
def test_intervals_hold_where_bits_are_few(k: int, h: int, m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over maps drawn at random: with listed values and others, and where all reports are of one value."""
    monkeypatch.setattr(cohort_estimates, "_STEPS", 1 << 11)
    rng = np.random.default_rng(20_261_126)
    shapes: list[tuple[list[float], int]] = [([1.0], 1), ([1, 0], 2), ([0, 1], 1), ([0.6, 0.4], 2)]
    if k > 2 or m * h > 1:
        shapes.append(([0.4, 0.3, 0.2, 0.1], 4))
    held = []
    for shares, listed in shapes:
        for _ in range(40):
            found, truth = small_estimate(rng, k, h, m, shares, listed)
            for field in ("raw", "standard_errors", "p_values", "frequencies", "intervals"):
                assert np.isfinite(getattr(found, field)).all(), field
            low, high = found.intervals.T
            held.append(float(((low <= truth + 1e-9) & (truth - 1e-9 <= high)).mean()))
    assert np.mean(held) - 2 * np.std(held) / np.sqrt(len(held)) >= 0.92


def test_candidates_with_the_same_bits_have_the_same_numbers() -> None:
    parameters = RapporParameters(4, 1, 2, QUARTER, 3 * QUARTER, Fraction(0))
    counts = RapporCounts(parameters, np.array([500, 500]), np.array([[350, 125, 120, 130], [130, 350, 125, 120]]))
    found = counts.estimate(RapporMap(["a", "b", "c"], np.array([[0, 0, 3], [1, 1, 1]], dtype=np.int32)))
    for field in ("raw", "standard_errors", "p_values", "frequencies", "intervals"):
        numbers = getattr(found, field)
        assert np.isfinite(numbers).all(), field
        assert np.allclose(numbers[0], numbers[1]), field


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
        (2, 64, 1, QUARTER, 3 * QUARTER, HALF),
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
