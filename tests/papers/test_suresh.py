"""PrivHist: the lower bound is one, and each verdict may go both ways."""

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest

from anonhist.profiles import Profile, sorted_l1
from anonhist.properties.uniformity import DistanceToUniformity
from anonhist_papers.experiment import Point
from anonhist_papers.suresh.bounds import block_height, further_samples, hard_profile, lower_bound, slope
from anonhist_papers.suresh.corollary import COROLLARY, EXPONENTS, ZERO_COUNTS
from anonhist_papers.suresh.errors import (
    BOUND,
    EXPONENTIAL,
    FIFTIETH,
    FROBENIUS,
    ISOTONIC,
    RATE,
    SHORT,
    THIRDS,
)
from anonhist_papers.suresh.properties import PLAIN, WITH_N, WITH_SUM, estimate, largest_step, properties
from anonhist_papers.suresh.theorems import EPSILON, ITEMS, LOWER_BOUND, RELEASED_ITEMS, SECONDS
from anonhist_papers.suresh.zero_counts import KNOWN, RELEASED, ZEROS


def line(series: str, value: Callable[[float], float], xs: Sequence[float], panel: str = "") -> list[Point]:
    return [Point(panel, series, x, value(x), 1e-3 * value(x), 100) for x in xs]


def test_hard_profiles_are_as_many_and_as_far_apart_as_the_bound_needs() -> None:
    # 4 rows: two pairs, one bit each, g = 3; n = g·m²/2 = 24.
    rng = np.random.default_rng(1)
    found = {tuple(hard_profile(24, 3, rng).partition().tolist()) for _ in range(200)}
    assert len(found) == 4
    assert {sum(each) for each in found} == {24}
    ordered = sorted(found)
    distances = [
        sorted_l1(Profile.from_counts(first), Profile.from_counts(second))
        for first, second in product(ordered, ordered)
    ]
    # Each differing pair is 2g apart: itself, two neighbors at 6, and one at 12, from each.
    assert sorted(distances) == [0] * 4 + [6] * 8 + [12] * 4


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_randomized_response_meets_the_lower_bound_on_one_pair(epsilon: float) -> None:
    # Two diagrams of n = 2 items, distance 2: answering rightly with odds e^(2ε) is ε-private for one item each.
    wrong = 1 / (1 + math.exp(2 * epsilon))
    assert lower_bound(2, epsilon, 1) == pytest.approx(2 * wrong)


def test_the_lower_bound_has_the_rates_of_both_papers() -> None:
    # Theorem 2: at least √(n/2)·e^(−2ε). Aldà and Simon: 0.278·√(n/ε).
    for epsilon in (1.5, 3.0, 6.0):
        assert block_height(epsilon) == 1
        assert 1 / math.sqrt(2) <= lower_bound(10**6, epsilon) / (10**3 * math.exp(-2 * epsilon)) <= math.sqrt(2)
    for epsilon in (0.1, 0.01):
        assert lower_bound(10**6, epsilon) == pytest.approx(0.278 * 10**3 / epsilon**0.5, rel=0.01)
        assert lower_bound(10**6, epsilon) >= max(lower_bound(10**6, epsilon, height) for height in range(1, 200))


def test_sums_of_prevalences_bound_the_distance() -> None:
    # Eq. 3 of the paper; the first holds with equality.
    counts = [each for each in product(range(4), repeat=3) if list(each) == sorted(each)]
    for first, second in product([Profile.from_counts(each) for each in counts], repeat=2):
        levels = np.arange(1, 4)
        sums = np.abs(first.cumulative_prevalence(levels) - second.cumulative_prevalence(levels)).sum()
        weighted = sum(r * abs(first.prevalence(r) - second.prevalence(r)) for r in (1, 2, 3))
        assert sorted_l1(first, second) == sums <= weighted


def test_the_slope_and_its_error_are_those_of_weighted_least_squares() -> None:
    found, error = slope([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], [1.0, 1.0, 1e3])
    assert found == pytest.approx(1.0, abs=1e-4)
    assert error == pytest.approx(math.sqrt(2), abs=1e-4)


def test_further_samples_are_those_of_the_corollary() -> None:
    # β = 0: 1/(α·e^(ε/3))² + ln(f/α)/ε, and ln(2/ε)/(α²ε) + ln(f/(αε))/ε.
    assert further_samples(0.1, 3.0, largest=1.0, exponent=0.0) == pytest.approx(100 / math.e**2 + math.log(10) / 3)
    assert further_samples(0.1, 0.5, largest=1.0, exponent=0.0) == pytest.approx(200 * math.log(4) + 2 * math.log(20))
    assert further_samples(0.1, 0.5, largest=1.0, exponent=0.5) == math.inf


def test_estimates_with_n_are_the_statistic_of_that_n() -> None:
    distance = properties(4, 10)["distance to uniformity"]
    # Σ_r |r/N − 1/4|·φ_r, N = 16 in place of the sum 8, and one label never seen.
    assert estimate(distance, Profile.from_counts([4, 2, 2]), 8) == pytest.approx(1 / 4 + 1 / 4)
    assert estimate(distance, Profile.from_counts([4, 2, 2]), 16) == pytest.approx(2 * 1 / 8 + 1 / 4)
    # Cut to possible values.
    assert estimate(distance, Profile.from_counts([4, 2, 2]), 0) == 1.5


def test_the_largest_step_is_that_of_all_counts() -> None:
    for chosen in properties(50, 200).values():
        statistic = chosen.statistic(100)
        weights = statistic.weights(np.arange(101))
        assert largest_step(statistic, 100) == pytest.approx(np.abs(np.diff(weights)).max())
    assert largest_step(DistanceToUniformity(7).statistic(100), 100) == pytest.approx(0.01)


def test_growth_in_n_is_confirmed_up_to_a_half() -> None:
    def judged(power: float) -> bool | None:
        xs = [10.0**each for each in range(4, 10)]
        points = line(BOUND, lambda _: 0.1, xs, "ε = 4")
        for series in (THIRDS, FIFTIETH):
            points += line(series, lambda x: x ** (power - 0.5), xs, "ε = 4")
        return ITEMS.judge(points).agrees

    assert [judged(0.5), judged(0.4), judged(0.6), judged(0.51)] == [True, True, False, None]


def test_the_error_in_epsilon_is_judged_in_both_regimes() -> None:
    def judged(high: float, low: float) -> bool | None:
        xs = (0.01, 0.1, 1.0, 2.0, 3.0)
        points = line(RATE, lambda x: x**-0.5, xs[:3], "Zipf")
        for series in (THIRDS, FIFTIETH, FROBENIUS, ISOTONIC):
            points += line(series, lambda x: x**-high if x <= 1 else math.exp(-low * x), xs, "Zipf")
        assert len(EPSILON.view(points)) == len(points)
        return EPSILON.judge(points).agrees

    assert [judged(0.4, 1.0), judged(0.8, 1.0), judged(0.4, 0.0)] == [True, False, False]


def test_the_rate_is_drawn_through_the_error_at_one() -> None:
    points = line(RATE, lambda x: 1 / x, (0.1, 1.0), "Zipf") + line(THIRDS, lambda _: 7.0, (0.1, 1.0), "Zipf")
    drawn = EPSILON.view(points)
    assert [point.mean for point in drawn] == [70.0, 7.0, 7.0, 7.0]


def test_the_bound_of_n_is_taken_as_printed() -> None:
    def judged(number: float, total: float) -> tuple[bool | None, str]:
        points = []
        for shares in SHORT.values():
            points += line(f"N, {shares}", lambda x: number / x, (1.5, 4.0), "Zipf")
            points += line(f"sum of the profile, {shares}", lambda _: total, (1.5, 4.0), "Zipf")
        verdict = RELEASED_ITEMS.judge(points)
        return verdict.agrees, verdict.sentence

    assert judged(1.0, 10.0)[0] is True
    assert judged(1.0, 0.5)[0] is False
    agrees, told = judged(3.0, 10.0)
    assert agrees is False
    assert "does not hold as printed" in told
    assert "at ε = 1.5" in told
    assert "at ε = 4" not in told


def test_time_is_judged_beside_the_root_and_n() -> None:
    def judged(power: float) -> bool | None:
        xs = [10.0**each for each in range(4, 12)]
        points = [
            point
            for series in ("PrivHist", ISOTONIC, EXPONENTIAL)
            for point in line(series, lambda x: x**power, xs, "ε = 4")
        ]
        return SECONDS.judge(points).agrees

    assert [judged(0.5), judged(0.65), judged(1.0)] == [True, None, False]


def test_the_lower_bound_is_contradicted_by_one_mechanism_below_it() -> None:
    def judged(factor: float) -> bool | None:
        points = line(BOUND, lambda _: 1.0, (0.5, 2.0), "n")
        points += line(FIFTIETH, lambda _: 2.0, (0.5, 2.0), "n")
        points += line(FROBENIUS, lambda x: factor if x > 1 else 2.0, (0.5, 2.0), "n")
        return LOWER_BOUND.judge(points).agrees

    assert [judged(1.5), judged(0.9)] == [True, False]


def test_the_corollary_is_judged_on_the_worst_distribution() -> None:
    xs = (1e3, 1e4, 1e5, 1e6)

    def judged(private: Callable[[float], float]) -> tuple[bool | None, str]:
        points = []
        for name, factor in (("uniform", 1.0), ("Zipf 1", 0.5)):
            panel = f"support coverage, ε = 4 ({name})"
            points += line(PLAIN, lambda x, f=factor: f * x**-0.5, xs, panel)
            for shares in SHORT.values():
                points += line(f"{shares}, {WITH_N}", lambda x, f=factor: f * private(x), xs, panel)
                points += line(f"{shares}, {WITH_SUM}", lambda x, f=factor: 0.5 * f * private(x), xs, panel)
        assert {point.panel for point in COROLLARY.view(points)} == {"support coverage, ε = 4"}
        verdict = COROLLARY.judge(points)
        return verdict.agrees, verdict.sentence

    agrees, told = judged(lambda x: 1.5 * x**-0.5)
    assert agrees is True
    assert "smaller in 0 settings, larger in 8, within two standard errors in 0" in told
    assert judged(lambda x: 5 * x**-0.5)[0] is None
    assert judged(lambda x: 0.01 * x**0.5)[0] is False


def test_the_condition_is_confirmed_for_small_exponents() -> None:
    def judged(exponent: float) -> bool | None:
        names = ("entropy", "support size", "support coverage", "distance to uniformity")
        return EXPONENTS.judge([point for name in names for point in line(name, lambda _: exponent, (10, 100))]).agrees

    assert [judged(0.05), judged(0.3)] == [True, None]


def test_zero_counts_must_cost_nothing() -> None:
    def judged(known: float, zeros: float) -> bool | None:
        values = {RELEASED: 1.0, KNOWN: known, ZEROS: zeros}
        points = [
            point for name, value in values.items() for point in line(name, lambda _, v=value: v, (10.0,), "Zipf")
        ]
        return ZERO_COUNTS.judge(points).agrees

    assert [judged(0.9, 0.5), judged(1.1, 0.5), judged(0.9, 0.95)] == [True, False, False]
