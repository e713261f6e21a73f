"""Chao1, bias-corrected and as iNEXT has it: against scikit-bio, exact rational numbers and published formulas."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skbio.diversity.alpha import chao1, chao1_ci

from anonhist.profiles import Profile
from anonhist.properties.support_size import support_size
from anonhist.properties.support_size_estimators import Chao1, Chao1Inext
from anonhist_testing.cases import each_of
from anonhist_testing.published import chao1_interval

COUNTS = st.lists(st.one_of(st.integers(1, 3), st.integers(1, 40)), min_size=1, max_size=60)
# scikit-bio takes 1.96 for the quantile.
LEVEL = math.erf(1.96 / math.sqrt(2))


@pytest.mark.slow
@settings(derandomize=True, deadline=None, database=None)
@given(COUNTS)
def test_value_is_that_of_scikit_bio(counts: list[int]) -> None:
    assert support_size(Profile.from_counts(counts), method="chao1").value == pytest.approx(chao1(counts), rel=1e-14)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, database=None)
@given(COUNTS)
def test_interval_is_that_of_scikit_bio_where_labels_are_missing(counts: list[int]) -> None:
    counts = [1, 1, *counts]
    assert chao1_interval(Profile.from_counts(counts), LEVEL) == pytest.approx(chao1_ci(counts), rel=1e-9)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, database=None)
@given(st.lists(st.integers(2, 9), min_size=1, max_size=60))
def test_interval_without_singletons_is_that_of_scikit_bio_and_holds_the_value(counts: list[int]) -> None:
    low, high = chao1_interval(Profile.from_counts(counts), LEVEL)
    of_oracle = chao1_ci(counts)
    assert low == len(counts) <= of_oracle[0]
    assert high == pytest.approx(of_oracle[1], rel=1e-9)


@pytest.mark.parametrize("counts", [[1], [1, 5, 5], [1, 2, 2, 9]])
def test_one_singleton_is_no_proof_that_nothing_is_missing(counts: list[int]) -> None:
    # scikit-bio's interval has no width here.
    assert chao1_ci(counts) == (len(counts), len(counts))
    low, high = chao1_interval(Profile.from_counts(counts), 0.95)
    assert low == len(counts)
    assert high > len(counts) + 0.05


@each_of(("once", "twice", "often"), [(10**15, 10**15 + 7, 3), (2**62, 2**60, 5), (3 * 10**9, 0, 1), (5, 10**17, 0)])
def test_huge_prevalences_against_exact_numbers(once: int, twice: int, often: int) -> None:
    prevalences = {1: once, 2: twice, 7: often}
    profile = Profile.from_prevalences({count: prevalence for count, prevalence in prevalences.items() if prevalence})
    point = Chao1().point(profile)
    labels = once + twice + often
    value = labels + Fraction(once * (once - 1), 2 * (twice + 1))
    more = twice + 1
    variance = (
        Fraction(once * (once - 1), 2 * more)
        + Fraction(once * (2 * once - 1) ** 2, 4 * more**2)
        + Fraction(once**2 * twice * (once - 1) ** 2, 4 * more**4)
    )
    if not twice:
        variance -= Fraction(once**4, 4) / value
    assert point.value == pytest.approx(float(value), rel=1e-13)
    # What is left where no label was seen twice is the difference of terms a million times as large, and more.
    if twice:
        assert point.standard_error == pytest.approx(math.sqrt(variance), rel=1e-13)
    of_inext = Chao1Inext().point(profile)
    finite = Fraction(profile.n - 1, profile.n)
    unseen = Fraction(once**2, 2 * twice) if twice else Fraction(once * (once - 1), 2)
    assert of_inext.value == pytest.approx(float(labels + finite * unseen), rel=1e-13)


def test_variance_of_inext_is_the_delta_method_where_both_were_seen() -> None:
    # Var of c·s²/(2d) + S_obs, s and d Poisson apart from what Σ φ = S allows: cov(φ_i, φ_j) = φ_i·(1[i=j] − φ_j/S).
    profile = Profile.from_prevalences({1: 60, 2: 25, 5: 9})
    point = Chao1Inext().point(profile)
    finite = (profile.n - 1) / profile.n
    prevalences = [60, 25, 9]
    slopes = [1 + finite * 60 / 25, 1 - finite * 60**2 / (2 * 25**2), 1.0]
    mean = sum(slope * phi for slope, phi in zip(slopes, prevalences, strict=True))
    square = sum(slope**2 * phi for slope, phi in zip(slopes, prevalences, strict=True))
    by_delta = square - mean**2 / point.value
    assert point.standard_error is not None
    # The published formula drops one factor (n − 1)/n in one term, so it is not exactly this.
    assert point.standard_error**2 == pytest.approx(by_delta, rel=0.02)


def test_variances_of_inext_by_hand() -> None:
    both = Chao1Inext().point(Profile.from_counts([4, 2, 1, 1]))
    assert both.value == 4 + 7 / 8 * 4 / 2
    assert both.standard_error == pytest.approx(math.sqrt(7 / 8 * 2 + 49 / 64 * (8 + 4)))
    singletons = Chao1Inext().point(Profile.from_counts([6, 1, 1]))
    assert singletons.value == 3 + 7 / 8
    of_singletons = 7 / 8 + 49 / 64 * (2 * 9 / 4 - 16 / 4 / singletons.value)
    assert singletons.standard_error == pytest.approx(math.sqrt(of_singletons))
    complete = Chao1Inext().point(Profile.from_counts([3, 3, 2]))
    assert complete.value == 3
    variance = 2 * (math.exp(-3) - math.exp(-6)) + math.exp(-2) - math.exp(-4)
    variance -= (6 * math.exp(-3) + 2 * math.exp(-2)) ** 2 / 8
    assert complete.standard_error == pytest.approx(math.sqrt(variance))
