"""Weights of every statistic of support coverage: against the definitions, in exact or longer arithmetic."""

import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy import stats

from anonhist.profiles import Profile
from anonhist.properties.estimator import LinearStatistic
from anonhist.properties.support_coverage import support_coverage
from anonhist.properties.unseen_labels import (
    GoodToulmin,
    Rarefaction,
    SeriesEstimator,
    SmoothedBinomialA,
    SmoothedBinomialB,
    SmoothedPoisson,
)
from anonhist_testing.cases import each_of

SERIES = (GoodToulmin, SmoothedPoisson, SmoothedBinomialA, SmoothedBinomialB)
SMOOTHED = SERIES[1:]


def weight_of(statistic: LinearStatistic, count: int) -> float:
    return float(statistic.weights(np.array([count]))[0])


@each_of("n", [1, 2, 7, 63, 64, 65, 150, 300])
def test_rarefaction_is_exact_for_every_count_and_every_number_of_draws(n: int) -> None:
    counts = np.arange(n + 1)
    for draws in sorted({1, min(2, n), n // 3 + 1, n // 2 + 1, max(n - 66, 1), max(n - 1, 1), n}):
        ways = math.comb(n, draws)
        exact = [float(1 - Fraction(math.comb(n - r, draws), ways)) for r in counts.tolist()]
        assert Rarefaction(draws).statistic(n).weights(counts).tolist() == pytest.approx(exact, rel=1e-13)


def miss_chance(n: int, count: int, draws: int) -> Decimal:
    """Return C(n−r, m)/C(n, m) in 80 digits, by Stirling's series for each factorial."""

    def log_factorial(x: int) -> Decimal:
        if x < 200:
            return Decimal(math.factorial(x)).ln()
        y = Decimal(x)
        tau = 2 * Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803")
        correction = 1 / (12 * y) - 1 / (360 * y**3) + 1 / (1260 * y**5) - 1 / (1680 * y**7) + 1 / (1188 * y**9)
        return (y + Decimal("0.5")) * y.ln() - y + tau.ln() / 2 + correction

    parts = (log_factorial(n - count), log_factorial(n - draws), log_factorial(n), log_factorial(n - count - draws))
    return (parts[0] + parts[1] - parts[2] - parts[3]).exp()


@pytest.mark.parametrize("n", [10**4, 10**9, 10**15, 2**63 - 1])
def test_rarefaction_keeps_its_digits_for_large_numbers(n: int) -> None:
    root = math.isqrt(n)
    sizes = [1, 2, 64, 65, root // 10, root, 7 * root, n // 100, n // 2, n - root, n - 70, n - 3, n - 1]
    with localcontext() as context:
        context.prec = 80
        for draws in sizes:
            for count in sizes:
                if count + draws <= n:
                    exact = float(1 - miss_chance(n, count, draws))
                    assert weight_of(Rarefaction(draws).statistic(n), count) == pytest.approx(exact, rel=1e-11)


def test_rarefaction_of_one_draw_and_of_all() -> None:
    counts = np.array([0, 1, 5, 10**14, 10**15])
    assert Rarefaction(1).statistic(10**15).weights(counts) == pytest.approx(counts / 10**15, rel=1e-15)
    assert Rarefaction(10**15).statistic(10**15).weights(counts).tolist() == [0, 1, 1, 1, 1]
    # Weights are asked for beyond n where sampling errors are computed.
    assert weight_of(Rarefaction(3).statistic(10), 12) == 1.0


@each_of("beyond", [0.01, 0.3, 1.0, 1.5, 2.0, 7.0])
def test_series_weights_are_their_definitions(beyond: float) -> None:
    n = 10_000
    draws = n + round(beyond * n)
    inside = max(beyond, 1.001)
    rate = math.log(n * (inside + 1) ** 2 / (inside - 1)) / (2 * beyond)
    fold = n * inside**2 / (inside - 1)
    counts = np.arange(30)
    distributions: dict[type[SeriesEstimator], object] = {
        SmoothedPoisson: stats.poisson(rate),
        SmoothedBinomialA: stats.binom(math.ceil(0.5 * math.log2(fold)), 1 / (1 + beyond)),
        SmoothedBinomialB: stats.binom(math.ceil(0.5 * math.log(fold, 3)), 2 / (2 + beyond)),
    }
    for estimator, distribution in distributions.items():
        expected = 1 - (-beyond) ** counts * distribution.sf(counts - 1)
        assert estimator(draws).statistic(n).weights(counts) == pytest.approx(expected, rel=1e-10, abs=1e-12)
    # Up to t = 1 the terms of labels that are sure to be seen fade out.
    kept = stats.poisson(48).sf(counts - 1) if beyond <= 1 else 1.0
    expected = 1 - (-beyond) ** counts * kept
    assert GoodToulmin(draws).statistic(n).weights(counts) == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_labels_that_are_sure_to_be_seen_add_no_noise_to_good_toulmin() -> None:
    # Terms of equal size and turning signs would add an error of 10 labels here, whatever their counts.
    profile = Profile([960, 985, 1000, 1013, 1042], [20] * 5)
    found = support_coverage(profile, draws=2 * profile.n)
    assert found.value == pytest.approx(100, abs=1e-6)
    assert found.standard_error < 1e-3


def test_chosen_parameters_are_used() -> None:
    counts = np.arange(12)
    poisson = SmoothedPoisson(300, 4.5).statistic(100).weights(counts)
    assert poisson == pytest.approx(1 - (-2.0) ** counts * stats.poisson(4.5).sf(counts - 1), rel=1e-10)
    for estimator, probability in ((SmoothedBinomialA, 1 / 3), (SmoothedBinomialB, 1 / 2)):
        chosen = estimator(300, 7).statistic(100).weights(counts)
        assert chosen == pytest.approx(1 - (-2.0) ** counts * stats.binom(7, probability).sf(counts - 1), rel=1e-10)


@pytest.mark.parametrize("beyond", [0.1, 0.5, 0.999, 1.0])
@pytest.mark.parametrize("mean", [0.01, 1.0, 30.0])
def test_good_toulmin_is_unbiased_for_poisson_counts(mean: float, beyond: float) -> None:
    counts = np.arange(200)
    statistic = GoodToulmin(1000 + round(1000 * beyond)).statistic(1000)
    expected = float(stats.poisson(mean).pmf(counts) @ statistic.weights(counts))
    assert expected == pytest.approx(-math.expm1(-mean * (1 + beyond)), rel=1e-10)


@each_of("estimator", SERIES)
@each_of(("n", "draws"), [(1, 2), (3, 4), (100, 101), (100, 200), (10**4, 10**5), (10**15, 2**64)])
def test_from_head_on_weights_are_one(estimator: type[SeriesEstimator], n: int, draws: int) -> None:
    linear = estimator(draws).statistic(n)
    assert linear.head <= 4097
    later = linear.head + np.arange(3)
    assert linear.weights(later).tolist() == [1, 1, 1]
    assert weight_of(linear, 2**62) == 1
    assert weight_of(linear, linear.head - 1) != 1
    table = linear.weights(np.arange(linear.head))
    assert table[0] == 0
    assert bool(np.isfinite(table**2).all())


def sensitivity(linear: LinearStatistic, n: int) -> float:
    """Return max |d(j) − d(i)| over i + j ≤ n − 1, by trying all pairs."""
    steps = np.diff(linear.weights(np.arange(n + 1)))
    pairs = np.abs(steps[:, None] - steps[None, :])
    reachable = np.add.outer(np.arange(n), np.arange(n)) <= n - 1
    return float(pairs[reachable].max())


@each_of(("beyond", "expected"), [(0.1, 1.21), (0.25, 1.5625), (0.5, 2.25), (0.75, 3.0625), (0.9, 3.61), (1, 4)])
def test_replacing_one_item_moves_good_toulmin_by_the_square_of_one_plus_t(beyond: float, expected: float) -> None:
    statistic = GoodToulmin(400 + round(400 * beyond)).statistic(400)
    assert sensitivity(statistic, 400) == pytest.approx(expected)


def largest_change(linear: LinearStatistic, n: int) -> float:
    """Return the largest change of f over all samples of n items and all ways to replace one."""
    most = 0.0
    for sample in combinations_with_replacement(range(n), n):
        tally = Counter(sample)
        before = linear.of(Profile.from_counts([*tally.values()]))
        for old in tally:
            for new in range(n):
                changed = tally.copy()
                changed[old] -= 1
                changed[new] += 1
                most = max(most, abs(linear.of(Profile.from_counts([*changed.values()])) - before))
    return most


@pytest.mark.parametrize("draws", [1, 2, 4])
def test_sensitivity_of_rarefaction_is_that_of_all_samples(draws: int) -> None:
    linear = Rarefaction(draws).statistic(4)
    assert largest_change(linear, 4) == pytest.approx(sensitivity(linear, 4))
    # One draw gives one label, whatever the data; of more, an item moves the share that is drawn.
    assert sensitivity(linear, 4) == pytest.approx(draws / 4 if draws > 1 else 0)


@pytest.mark.parametrize("estimator", SERIES)
def test_sensitivity_of_series_is_that_of_all_samples(estimator: type[SeriesEstimator]) -> None:
    linear = estimator(9).statistic(4)
    assert largest_change(linear, 4) == pytest.approx(sensitivity(linear, 4))
