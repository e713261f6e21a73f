"""Sample coverage: against scikit-bio, exact rational numbers and simulated samples."""

import math
from fractions import Fraction
from functools import cache
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skbio.diversity.alpha import esty_ci, goods_coverage

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.estimate import Holds
from anonhist.properties.sample_coverage import SAMPLE_COVERAGE_METHODS, GoodTuring, sample_coverage
from anonhist_testing.cases import each_of

COUNTS = st.lists(st.one_of(st.integers(1, 3), st.integers(1, 40)), min_size=1, max_size=60)
MANY = 10**15


@pytest.mark.slow
@settings(derandomize=True, deadline=None, database=None)
@given(COUNTS)
def test_good_turing_and_its_interval_are_those_of_scikit_bio(counts: list[int]) -> None:
    estimate = sample_coverage(Profile.from_counts(counts))
    assert estimate.value == pytest.approx(goods_coverage(counts), abs=1e-15)
    # Esty's interval is one of φ_1/n.
    low, high = esty_ci(counts)
    assert estimate.standard_error == pytest.approx((high - low) / (2 * 1.959963984540054), abs=1e-8)
    # Ours is that of a count: lower at its lower end, so that no singleton does not mean that nothing is missing.
    assert estimate.interval[0] <= max(0.0, 1 - high) + 1e-9
    assert estimate.value <= estimate.interval[1] <= 1


@pytest.mark.slow
@settings(derandomize=True, deadline=None, database=None)
@given(COUNTS)
def test_good_turing_is_linear(counts: list[int]) -> None:
    profile = Profile.from_counts(counts)
    assert GoodTuring().statistic(profile.n).of(profile) == pytest.approx(sample_coverage(profile).value, abs=1e-12)


@each_of(
    "prevalences",
    [{1: 300_000, 2: 999_999, 3: 1}, {1: 10**15, 2: 10**15, 10**14: 3}, {1: 2**62, 2: 2**60}, {1: 1, 2**62: 1}],
)
def test_where_others_overflow_against_exact_numbers(prevalences: dict[int, int]) -> None:
    profile = Profile.from_prevalences(prevalences)
    n, once, twice = profile.n, profile.prevalence(1), profile.prevalence(2)
    variance = Fraction(once * (n - once) + 2 * n * twice, n**3)
    estimate, of_inext = sample_coverage(profile), sample_coverage(profile, method="chao-jost")
    assert estimate.value == float(1 - Fraction(once, n))
    assert estimate.standard_error == of_inext.standard_error == pytest.approx(math.sqrt(variance), rel=1e-15)
    # A = n·f/(n·f + φ_1), f the labels not seen of Chao1 as iNEXT has it.
    pairs = Fraction(once**2, 2 * twice) if twice else Fraction(once * (once - 1), 2)
    unseen = Fraction(n - 1, n) * pairs
    assert of_inext.value == float(1 - Fraction(once, n) * n * unseen / (n * unseen + once))


# One item; a label seen often, thrice and twice; two labels; one singleton; all singletons; huge counts; nothing.
CONVENTIONS = {
    "good-turing": (0, 1, 1, 1, 0, 0.75, 0, 0.5, 0),
    "chao-jost": (0, 1, 1, 1, 2 / 3, 1, 1 / 9, 0.5 + 0.5 * (2 / (2.0 * MANY**2)), 0),
}
SAMPLES = (
    Profile.from_counts([1]),
    Profile.from_counts([7]),
    Profile.from_counts([3]),
    Profile.from_counts([2]),
    Profile.from_counts([1, 1]),
    Profile.from_counts([3, 1]),
    Profile.from_counts([1] * 5),
    Profile([1, MANY], [MANY, 1]),
    Profile([], []),
)


@each_of("method", SAMPLE_COVERAGE_METHODS)
@each_of("sample", range(len(SAMPLES)))
def test_conventions(method: str, sample: int) -> None:
    profile = SAMPLES[sample]
    estimate = sample_coverage(profile, method=method)
    assert estimate.value == pytest.approx(CONVENTIONS[method][sample], rel=1e-14)
    if profile.n:
        assert bool(estimate.warnings) == (estimate.standard_error == 0)
    else:
        assert (estimate.interval, estimate.statement.holds) == ((0, 1), Holds.NONE)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, database=None)
@given(
    st.dictionaries(st.integers(1, 10**6), st.integers(1, 10**12), min_size=1, max_size=6),
    st.sampled_from(SAMPLE_COVERAGE_METHODS),
    st.floats(0.01, 0.999),
)
def test_interval_is_inside_the_unit_interval(prevalences: dict[int, int], method: str, level: float) -> None:
    estimate = sample_coverage(Profile.from_prevalences(prevalences), method=method, level=level)
    low, high = estimate.interval
    assert 0 <= low <= estimate.value <= high <= 1


def test_wrong_calls_are_refused() -> None:
    profile = Profile.from_counts([2, 1])
    with pytest.raises(UsageError, match="good-turing, chao-jost"):
        sample_coverage(profile, method="turing")
    with pytest.raises(UsageError, match="level"):
        sample_coverage(profile, level=1.0)


@cache
def samples_with_coverage() -> list[tuple[Profile, float]]:
    """Return samples and what they cover."""
    rng = np.random.default_rng(23)
    weights = 1 / np.arange(1.0, 3001)
    probabilities = weights / weights.sum()
    drawn = [rng.multinomial(2000, probabilities) for _ in range(1500)]
    return [(Profile.from_counts(counts), float(probabilities[counts > 0].sum())) for counts in drawn]


@pytest.mark.slow
@pytest.mark.parametrize("method", SAMPLE_COVERAGE_METHODS)
def test_error_is_that_against_the_coverage_of_each_sample(method: str) -> None:
    # Zipf's law on 3,000 labels. 1,500 differences: their root mean square is off by more than 10% with probability
    # below 1e-6, and the share of intervals that hold the truth by more than 2.7%.
    differences, told, held = [], [], 0
    for profile, truth in samples_with_coverage():
        estimate = sample_coverage(profile, method=method)
        differences.append(estimate.value - truth)
        told.append(estimate.standard_error)
        held += estimate.interval[0] <= truth <= estimate.interval[1]
    spread, error = math.sqrt(np.mean(np.square(differences))), math.sqrt(np.mean(np.square(told)))
    assert error == pytest.approx(spread, rel=0.1)
    margin = NormalDist().inv_cdf(1 - 5e-7) * math.sqrt(0.95 * 0.05 / 1500)
    assert held / 1500 == pytest.approx(0.95, abs=margin)
    assert abs(np.mean(differences)) < 5 * spread / math.sqrt(1500)
