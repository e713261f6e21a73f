"""ACE and Chao–Lee: against scikit-bio, exact rational numbers, and differences of their own values."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skbio.diversity.alpha import ace

from anonhist.profiles import Profile
from anonhist.properties.support_size import support_size
from anonhist.properties.support_size_estimators import Ace, Chao1, ChaoLee
from anonhist_testing.cases import each_of

COUNTS = st.lists(st.one_of(st.integers(1, 4), st.integers(1, 30)), min_size=1, max_size=60)


def chao_lee(prevalences: dict[int, int], *, spread: bool) -> Fraction:
    n, labels = sum(count * phi for count, phi in prevalences.items()), sum(prevalences.values())
    coverage = 1 - Fraction(prevalences.get(1, 0), n)
    pairs = Fraction(sum(count * (count - 1) * phi for count, phi in prevalences.items()), n * (n - 1))
    gamma = max(labels / coverage * pairs - 1, Fraction(0))
    if spread:
        gamma *= 1 + n * (1 - coverage) * pairs / coverage
    return labels / coverage + n * (1 - coverage) / coverage * gamma


def ace_exactly(prevalences: dict[int, int]) -> Fraction:
    rare = {count: phi for count, phi in prevalences.items() if count <= 10}
    return sum(prevalences.values()) - sum(rare.values()) + chao_lee(rare, spread=False)


HUGE = [
    {1: 10**15, 2: 10**14, 10: 10**12, 11: 4},
    {1: 1, 2: 10**15, 10**15: 7},
    {1: 10**9, 2: 1, 3 * 10**15: 1, 2**61: 1},
    {1: 2**61, 9: 3, 10: 10**17},
]


@pytest.mark.slow
@settings(derandomize=True, deadline=None, database=None)
@given(COUNTS)
def test_ace_is_that_of_scikit_bio(counts: list[int]) -> None:
    for with_repeats in ([*counts, 2], [count for count in counts if count > 1]):
        if with_repeats:
            value = Ace().point(Profile.from_counts(with_repeats)).value
            assert value == pytest.approx(ace(with_repeats), rel=1e-12)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, database=None)
@given(COUNTS, st.booleans())
def test_chao_lee_is_its_formula(counts: list[int], spread: bool) -> None:  # noqa: FBT001
    counts = [*counts, 2]
    value = ChaoLee(spread=spread).point(Profile.from_counts(counts)).value
    assert value == pytest.approx(float(chao_lee(Counter(counts), spread=spread)), rel=1e-12)


@each_of("prevalences", HUGE)
def test_huge_profiles_against_exact_numbers(prevalences: dict[int, int]) -> None:
    profile = Profile.from_prevalences(prevalences)
    assert Ace().point(profile).value == pytest.approx(float(ace_exactly(prevalences)), rel=1e-12)
    for spread in (False, True):
        value = ChaoLee(spread=spread).point(profile).value
        assert value == pytest.approx(float(chao_lee(prevalences, spread=spread)), rel=1e-12)


# Heterogeneous, so that γ² > 0, and nearly even, so that it is 0.
SMOOTH = [{1: 90_000, 2: 20_000, 3: 9_000, 9: 5_000, 14: 800}, {1: 20_000, 2: 50_000, 3: 60_000, 4: 40_000, 14: 9}]


@each_of("prevalences", SMOOTH)
@each_of("estimator", [Ace(), ChaoLee(), ChaoLee(spread=True)])
def test_weights_are_what_one_more_label_adds(estimator: Ace | ChaoLee, prevalences: dict[int, int]) -> None:
    counts = np.array([1, 2, 3, 9, 14])

    def value(count: int, more: int) -> float:
        changed = prevalences | {count: prevalences.get(count, 0) + more}
        return estimator.point(Profile.from_prevalences({c: phi for c, phi in changed.items() if phi})).value

    # Labels that are not there can only be added.
    steps = np.array([(value(c, 1) - value(c, -1)) / 2 if prevalences.get(c) else 0 for c in counts.tolist()])
    known = np.array([c in prevalences for c in counts.tolist()])
    weights = estimator.point(Profile.from_prevalences(prevalences)).weights
    assert weights is not None
    difference = (steps - weights(counts))[known] / counts[known]
    if isinstance(estimator, ChaoLee):
        # n moves along with φ, by j a label: that is what its weights leave out, and it is not small.
        assert abs(difference.mean()) > 1e-2
        difference -= difference.mean()
    assert np.abs(difference).max() < 1e-4 * np.abs(weights(counts)).max()
    assert weights(np.array([0]))[0] == 0


@pytest.mark.parametrize(("method", "counts"), [("ace", [30, 20, 1, 1]), ("ace", [1, 1]), ("chao-lee", [1, 1, 1])])
def test_singletons_alone_fall_back_on_chao1_and_say_so(method: str, counts: list[int]) -> None:
    profile = Profile.from_counts(counts)
    estimate = support_size(profile, method=method)
    assert (estimate.value, estimate.standard_error) == (
        Chao1().point(profile).value,
        Chao1().point(profile).standard_error,
    )
    assert any("the value is Chao1's" in warning for warning in estimate.warnings)


def test_no_fall_back_where_it_is_defined() -> None:
    assert support_size(Profile.from_counts([30, 2, 1, 1]), method="ace").warnings == ()
    assert support_size(Profile.from_counts([30, 20]), method="ace").warnings == ()
    assert support_size(Profile.from_counts([30, 20, 1, 1]), method="chao-lee").warnings == ()


def test_cutoff_of_ace_is_a_count_that_is_still_rare() -> None:
    counts = [12, 11, 10, 2, 1, 1]
    for rare in (1, 2, 10, 11, 12):
        if any(1 < count <= rare for count in counts):
            value = Ace(rare=rare).point(Profile.from_counts(counts)).value
            assert value == pytest.approx(ace(counts, rare_threshold=rare), rel=1e-12)


def test_chao_lee_warns_where_a_few_frequent_labels_decide() -> None:
    skewed = Profile.from_prevalences({1: 800, 2: 150, 5: 20, 3000: 2})
    even = Profile.from_prevalences({1: 80, 2: 60, 3: 40, 4: 20, 5: 8})
    assert any("vary too much" in warning for warning in ChaoLee().point(skewed).warnings)
    assert ChaoLee().point(even).warnings == ()
