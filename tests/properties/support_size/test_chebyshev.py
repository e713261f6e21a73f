"""The Chebyshev estimate: against its definition in exact rational numbers, and the promise about its bias."""

import math
from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.support_size import Chebyshev, support_size
from anonhist_testing.cases import each_of


def exact_weights(n: int, k: int, degree: int, interval: float) -> list[Fraction]:
    """Expand T_L(y − A) as it is written, and take 1 − (b_j/b_0)·j!·s^j."""
    end, least = Fraction(interval), Fraction(n, k)
    shift, scale = (end + least) / (end - least), 2 / (end - least)
    before, now = [Fraction(1)], [-shift, Fraction(1)]
    for _ in range(degree - 1):
        shifted = [Fraction(0), *now]
        after = [2 * a - 2 * shift * b for a, b in zip(shifted, [*now, Fraction(0)], strict=True)]
        for index, value in enumerate(before):
            after[index] -= value
        before, now = now, after
    return [Fraction(0)] + [1 - now[j] / now[0] * math.factorial(j) * scale**j for j in range(1, degree + 1)]


@each_of(
    ("n", "k", "degree", "interval"),
    [
        (3000, 10**5, 5, 5.756),
        (10**5, 10**5, 5, 5.756),
        (10**15, 10**15, 15, 17.25),
        (1, 2**62, 19, 21.5),
        (10**6, 10**6, 40, 20.0),
        (7 * 10**6, 10**6, 60, 7.5),
        (5, 10, 1, 1.2),
    ],
)
def test_no_digit_is_lost(n: int, k: int, degree: int, interval: float) -> None:
    statistic = Chebyshev(k, degree, interval).statistic(n)
    expected = [float(weight) for weight in exact_weights(n, k, degree, interval)]
    weights = statistic.weights(np.arange(degree + 4))
    assert weights[: degree + 1].tolist() == pytest.approx(expected, rel=1e-12)
    assert weights[degree + 1 :].tolist() == [1.0, 1.0, 1.0]
    assert statistic.head == degree + 1


@pytest.mark.parametrize("k", [10**5, np.int64(10**5)])
def test_number_of_the_published_code(k: int) -> None:
    profile = Profile.from_prevalences({1: 2910, 2: 45})
    assert support_size(profile, method="chebyshev", alphabet_size=k).value == pytest.approx(23722.43554, abs=5e-6)


def test_degree_and_interval_follow_the_alphabet() -> None:
    # ⌊0.45·ln k⌋ and 0.5·ln k.
    for k, degree in [(9, 0), (10, 1), (10**4, 4), (10**6, 6), (2**62, 19)]:
        table = np.arange(1, 25)
        chosen = Chebyshev(k).statistic(1)
        given = Chebyshev(k, degree, 0.5 * math.log(k)).statistic(1)
        assert chosen.head == degree + 1
        assert chosen.weights(table).tolist() == given.weights(table).tolist()


def test_more_items_than_the_polynomial_is_for_leave_the_labels_seen() -> None:
    statistic = Chebyshev(1000).statistic(10**4)
    assert statistic.weights(np.arange(5)).tolist() == [0.0, 1.0, 1.0, 1.0, 1.0]
    # M = 0.5·ln 1000 = 3.4539 items a label.
    assert Chebyshev(1000).statistic(3453).weights(np.ones(1, dtype=np.int64))[0] != 1
    assert Chebyshev(1000).statistic(3454).weights(np.ones(1, dtype=np.int64))[0] == 1


@pytest.mark.parametrize(("n", "k"), [(2000, 10**4), (10**4, 10**4), (3 * 10**5, 10**6)])
def test_bias_of_labels_is_as_promised_and_no_better(n: int, k: int) -> None:
    # E w(N) for N ~ Poisson(m), m from n/k to M, must be within P(N = 0)/T_L(A) of 1, and reach it.
    chebyshev = Chebyshev(k)
    means = np.linspace(n / k, 0.5 * math.log(k), 2001)
    counts = np.arange(80)
    logs = np.array([math.lgamma(count + 1) for count in counts.tolist()])
    pmf = np.exp(counts * np.log(means)[:, None] - means[:, None] - logs)
    misjudged = np.abs(pmf @ chebyshev.statistic(n).weights(counts) - 1) / np.exp(-means)
    assert misjudged.max() == pytest.approx(chebyshev.bias(n), rel=1e-6)


def test_value_is_cut_to_what_there_can_be() -> None:
    singletons = Profile.from_prevalences({1: 500})
    assert support_size(singletons, method="chebyshev", alphabet_size=600).value == 600
    doubletons = Profile.from_prevalences({2: 500})
    raw = Chebyshev(10**4).statistic(1000).of(doubletons)
    assert raw < 500
    assert support_size(doubletons, method="chebyshev", alphabet_size=10**4).value == 500


def test_says_what_is_missing_and_when_items_are_few() -> None:
    few, many = Profile.from_prevalences({1: 20, 2: 3}), Profile.from_prevalences({1: 2000, 2: 3000, 3: 900})
    with pytest.raises(UsageError, match="needs alphabet_size: give a k"):
        support_size(few, method="chebyshev")
    assert "%" in support_size(few, method="chebyshev", alphabet_size=10**4).warnings[0]
    assert support_size(many, method="chebyshev", alphabet_size=10**4).warnings == ()


@each_of(("degree", "interval"), [(-1, 5.0), (2.5, 5.0), (5, 0.0), (5, -1.0), (5, math.nan), (5, math.inf), (500, 3.0)])
def test_impossible_parameters_are_refused(degree: int, interval: float) -> None:
    with pytest.raises(UsageError):
        Chebyshev(10**5, degree, interval)


@each_of("k", [1, 2, 9, 10, 100, 2**62])
@each_of("n", [1, 5, 10**15])
def test_all_alphabets_and_sizes_have_finite_weights(n: int, k: int) -> None:
    weights = Chebyshev(k).statistic(n).weights(np.array([0, 1, 2, 19, 20, 2**62]))
    assert bool(np.isfinite(weights).all())
    assert (weights[0], weights[-1]) == (0.0, 1.0)
