"""Power sums and what is made of them: against plain definitions, published sums and scikit-bio."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skbio.diversity import alpha

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties import (
    gini_simpson,
    hill_number,
    power_sum,
    renyi_entropy,
    simpson,
    tsallis_entropy,
)
from anonhist.properties.power_sum import PowerSum, falling_share, least_share, log_rise
from anonhist_testing.cases import each_of

COUNTS = st.lists(st.integers(1, 30), min_size=1, max_size=12)
GIRDLED = Profile.from_prevalences({1: 12, 2: 4, 4: 1, 6: 2, 8: 1, 9: 1, 15: 2, 17: 1, 22: 1, 46: 1})
LOGGED = Profile.from_prevalences(
    {1: 14, 2: 4, 3: 4, 4: 3, 5: 1, 7: 3, 8: 2, 10: 1, 13: 1, 15: 1, 16: 1, 22: 1, 88: 1},
)
HUGE = Profile.from_prevalences({1: 10**8, 2: 3 * 10**7, 3: 999, 10**7 + 1: 5, 10**15 + 7: 2})


@pytest.mark.slow
@given(COUNTS, st.sampled_from([0, 0.5, 0.999999, 1, 1.000001, 1.5, 2, 3.7, 12]))
def test_plug_in_is_that_of_scikit_bio(counts: list[int], order: float) -> None:
    profile, array = Profile.from_counts(counts), np.array(counts)
    # scikit-bio cancels near order 1: from there the digits are its own.
    tolerance = {"rel": 1e-9, "abs": 1e-9} if abs(order - 1) < 1e-3 and order != 1 else {"rel": 1e-11, "abs": 1e-13}
    options = {"order": order, "method": "plug-in"}
    assert renyi_entropy(profile, **options).value == pytest.approx(float(alpha.renyi(array, order=order)), **tolerance)
    assert tsallis_entropy(profile, **options).value == pytest.approx(
        float(alpha.tsallis(array, order=order)), **tolerance
    )
    if order == 1 or abs(order - 1) > 1e-3:
        assert hill_number(profile, **options).value == pytest.approx(float(alpha.hill(array, order=order)), rel=1e-11)


@pytest.mark.slow
@given(COUNTS.filter(lambda counts: sum(counts) > 1))
def test_unbiased_order_two_is_that_of_scikit_bio(counts: list[int]) -> None:
    profile, array = Profile.from_counts(counts), np.array(counts)
    expected = float(alpha.dominance(array, finite=True))
    assert simpson(profile).value == pytest.approx(expected, rel=1e-12)
    assert gini_simpson(profile).value == pytest.approx(float(alpha.simpson(array, finite=True)), abs=1e-12)
    assert tsallis_entropy(profile, method="unbiased").value == pytest.approx(1 - expected, abs=1e-12) or not expected
    if expected:
        inverse = float(alpha.inv_simpson(array, finite=True))
        assert hill_number(profile, order=2).value == pytest.approx(inverse, rel=1e-12)
        assert renyi_entropy(profile, method="unbiased", base=2).value == pytest.approx(math.log2(inverse), abs=1e-12)


@each_of("order", [2, 3, 5, 12])
def test_power_sums_of_10_to_the_15_items_are_right_to_the_last_digits(order: int) -> None:
    exact = Fraction(0)
    for count, prevalence in zip(HUGE.counts.tolist(), HUGE.prevalences.tolist(), strict=True):
        exact += prevalence * Fraction(math.perm(count, order), math.perm(HUGE.n, order))
    assert power_sum(HUGE, order=order).value == pytest.approx(float(exact), rel=1e-13)
    assert PowerSum(order).statistic(HUGE.n).of(HUGE) == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 3])
def test_mean_over_all_samples_is_the_power_sum_of_the_distribution(order: int) -> None:
    probabilities = (0.5, 0.3, 0.2)
    mean = 0.0
    for sample in product(range(3), repeat=5):
        mean += math.prod(probabilities[x] for x in sample) * power_sum(Profile.from_labels(sample), order=order).value
    assert mean == pytest.approx(sum(p**order for p in probabilities), rel=1e-12)


def test_steps_of_the_weights_rise_from_the_head() -> None:
    for order in (2, 3, 7):
        statistic = PowerSum(order).statistic(500)
        steps = np.diff(statistic.weights(np.arange(501)))
        assert bool(np.all(np.diff(steps[statistic.head :]) >= -1e-18))
        # The largest difference of two steps is just below a/n.
        assert 0.9 * order / 500 < steps.max() - steps.min() <= order / 500 + 1e-15


def _binomial(above: Fraction, below: int) -> Fraction:
    return math.prod(((above - i) / (i + 1) for i in range(below)), start=Fraction(1))


def published_sum(counts: list[int], order: Fraction) -> float:
    """Sum of powers by Chao and Jost (2015), eq. 5, as printed, in exact rationals and 80 digits."""
    n, once, twice = sum(counts), counts.count(1), counts.count(2)
    a = Fraction(2 * twice, (n - 1) * once + 2 * twice) if twice else Fraction(2, (n - 1) * max(once - 1, 0) + 2)
    seen = Fraction(0)
    for k in range(n):
        delta = sum(Fraction(x, n) * Fraction(comb(n - x, k), comb(n - 1, k)) for x in counts if x <= n - k)
        seen += _binomial(order - 1, k) * (-1) ** k * delta
    if not once or a == 1:
        return float(seen)
    polynomial = sum(_binomial(order - 1, r) * (a - 1) ** r for r in range(n))
    with localcontext() as context:
        context.prec = 80

        def decimal(number: Fraction) -> Decimal:
            return Decimal(number.numerator) / Decimal(number.denominator)

        power = decimal(a) ** decimal(order - 1)
        rest = decimal(Fraction(once, n) * (1 - a) ** (1 - n)) * (power - decimal(polynomial))
        return float(decimal(seen) + rest)


@pytest.mark.slow
@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=7),
    st.sampled_from([Fraction(q, 10) for q in (0, 1, 5, 9, 11, 15, 20, 25, 30, 37)]),
)
def test_closed_form_is_the_published_double_sum(counts: list[int], order: Fraction) -> None:
    if order > sum(counts):
        return
    expected, got = published_sum(counts, order), tsallis_entropy(Profile.from_counts(counts), order=float(order))
    # Not above 0, what is published has no Hill number: see the conventions.
    if order < 2 or 1e-5 * least_share(sum(counts), float(order)) < expected <= 1:
        assert got.value == pytest.approx((expected - 1) / (1 - float(order)), rel=1e-10, abs=1e-12)


@pytest.mark.slow
@given(st.lists(st.integers(1, 9), min_size=2, max_size=9))
def test_order_one_is_the_published_entropy(counts: list[int]) -> None:
    n, once, twice = sum(counts), counts.count(1), counts.count(2)
    expected = sum(x / n * math.fsum(1 / k for k in range(x, n)) for x in counts)
    a = Fraction(2 * twice, (n - 1) * once + 2 * twice) if twice else Fraction(2, (n - 1) * max(once - 1, 0) + 2)
    if once and a != 1:
        with localcontext() as context:
            context.prec = 80
            b = Decimal((1 - a).numerator) / Decimal((1 - a).denominator)
            rest = -(1 - b).ln() - sum(b**r / r for r in range(1, n))
            expected += once / n * float(b ** (1 - n) * rest)
    got = hill_number(Profile.from_counts(counts), order=1).value
    assert got == pytest.approx(math.exp(expected), rel=1e-11)


@pytest.mark.parametrize(
    ("profile", "numbers"), [(GIRDLED, (43.893, 13.826, 8.175)), (LOGGED, (61.403, 16.337, 6.920))]
)
def test_spiders_are_those_that_inext_prints(profile: Profile, numbers: tuple[float, ...]) -> None:
    assert [round(hill_number(profile, order=order).value, 3) for order in (0, 1, 2)] == [*numbers]


@pytest.mark.slow
@pytest.mark.parametrize("profile", [GIRDLED, HUGE, Profile.from_prevalences({1: 10**7, 5: 10**6})])
def test_hill_numbers_fall_smoothly_with_the_order_through_one_two_and_three(profile: Profile) -> None:
    for whole in (0, 1, 2, 3):
        nearby = [whole + step for step in (-1e-9, 0.0, 1e-9) if whole + step >= 0]
        values = [hill_number(profile, order=order).value for order in nearby]
        assert values == pytest.approx([values[0]] * len(values), rel=1e-6)
    curve = [hill_number(profile, order=order / 10).value for order in range(31)]
    assert curve == sorted(curve, reverse=True)
    # Between 1 − h and 1 + h the middle is right to h².
    low, middle, high = (renyi_entropy(profile, order=1 + step).value for step in (-1e-5, 0, 1e-5))
    assert (low + high) / 2 == pytest.approx(middle, rel=1e-7)


def test_labels_not_seen_are_found_at_any_size() -> None:
    # The same shape at every size: the entropy beyond that of the sample is (φ_1/n)·g(φ_2/φ_1) but for terms of 1/n.
    excess = []
    for size in (10**4, 10**9, 10**15):
        profile = Profile.from_prevalences({1: size, 2: size // 5, 10: size // 2})
        entropy = renyi_entropy(profile, order=1).value
        excess.append(entropy - math.log(profile.n))
    assert excess[1] == pytest.approx(excess[2], abs=1e-8)
    assert excess[0] == pytest.approx(excess[2], abs=1e-3)


@pytest.mark.slow
@given(st.floats(0.1, 12), st.integers(13, 400))
def test_falling_shares_are_products(order: float, n: int) -> None:
    counts = np.arange(n + 1)
    steps = [(y - order) / y for y in range(1, n + 1)]
    expected = [math.prod(steps[x:]) for x in counts.tolist()]
    assert falling_share(counts, n, order).tolist() == pytest.approx(expected, rel=1e-11, abs=1e-300)


def test_rises_of_large_and_small_numbers() -> None:
    assert log_rise(np.array([1.0]), 0.0).tolist() == pytest.approx([-np.euler_gamma], rel=1e-14)
    assert log_rise(np.array([10.0**15]), 0.5).tolist() == pytest.approx([math.log(10**15)], rel=1e-15)
    assert log_rise(np.array([2.5]), -1.5).tolist() == pytest.approx([-math.lgamma(2.5) * -1 / 1.5], rel=1e-12)
    assert least_share(10**15, 2.0) == pytest.approx(2 / (10**15 * (10**15 - 1)), rel=1e-13)


CONVENTIONS = {
    # profile: (Hill number of order 0, 1, 2, plug-in of any order) by the default method
    "one label once": (Profile([1], [1]), (1, 1, 1), 1),
    "one label": (Profile([7], [1]), (1, 1, 1), 1),
    "one label, huge": (Profile([2**63 - 1], [1]), (1, 1, 1), 1),
    "singletons": (Profile([1], [10]), (10 + 0.9 * 45, None, 45), 10),
    "two singletons": (Profile([1], [2]), (2.5, None, 2), 2),
    "singletons, huge": (Profile([1], [10**15]), (5e29, None, 5e29), 1e15),
    "alike": (Profile([10**9], [10**6]), (10**6, 10**6, 10**6), 10**6),
}


@pytest.mark.parametrize(("profile", "numbers", "plug_in"), CONVENTIONS.values(), ids=CONVENTIONS)
def test_conventions(profile: Profile, numbers: tuple[float | None, ...], plug_in: float) -> None:
    for order, number in enumerate(numbers):
        if number is not None:
            assert hill_number(profile, order=order).value == pytest.approx(number, rel=1e-8)
    for order in (0, 0.5, 1, 1.5, 2, 2.5, 12):
        sample = hill_number(profile, order=order, method="plug-in")
        assert sample.value == pytest.approx(plug_in, rel=1e-8)
        for function in (hill_number, renyi_entropy, tsallis_entropy):
            estimate = function(profile, order=order)
            low, high = estimate.interval
            assert math.isfinite(estimate.standard_error)
            assert low <= estimate.value <= high
        assert hill_number(profile, order=order).value >= plug_in * (1 - 1e-9)


def test_doubts_are_said() -> None:
    singletons = Profile([1], [10])
    assert "twice" in hill_number(singletons, order=0).warnings[0]
    assert "too few items" in hill_number(singletons, order=2).warnings[0].lower()
    assert "fewer items" in power_sum(singletons, order=12).warnings[0]
    assert "too low" in hill_number(singletons, order=1, method="plug-in").warnings[0]
    assert not hill_number(GIRDLED, order=2).warnings


def test_nothing_is_an_interval_of_all_there_can_be() -> None:
    nothing = Profile([], [])
    assert hill_number(nothing, order=0).interval == (0, math.inf)
    # From 1 on, and the value 0 that stands for nothing known.
    assert hill_number(nothing, order=2).interval == (0, math.inf)
    assert tsallis_entropy(nothing, order=3).interval == (0, 0.5)
    assert power_sum(nothing, order=2).interval == (0, 1)


@each_of("order", [-1, 12.5, math.nan, "2", True, None])
def test_impossible_orders_are_refused(order: object) -> None:
    with pytest.raises(UsageError, match="order must be"):
        hill_number(GIRDLED, order=order)  # type: ignore[arg-type]  # refusing it is tested


def test_other_impossible_things_are_refused() -> None:
    for order in (0, 1, 1.5, 2.5):
        with pytest.raises(UsageError, match="whole orders"):
            renyi_entropy(GIRDLED, order=order, method="unbiased")
    with pytest.raises(UsageError, match="no method"):
        tsallis_entropy(GIRDLED, method="chao1")
    for order in (1, 2.0, 13):
        with pytest.raises(UsageError, match="order"):
            power_sum(GIRDLED, order=order)  # type: ignore[arg-type]  # refusing it is tested
    with pytest.raises(UsageError, match="n must be"):
        PowerSum(3).statistic(2)
