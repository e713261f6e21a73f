"""The statistical assertions themselves: right distributions pass, wrong ones do not, and the stated rates hold."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.stats import binom

from anonhist.errors import UsageError
from anonhist.randomness import discrete_laplace_pmf, geometric_pmf
from anonhist_testing.cases import each_of
from anonhist_testing.statistics import (
    MAX_TESTS,
    assert_pmf_differs,
    assert_pmf_equal,
    min_samples_for,
    pmf_discrepancy,
)

DIE = dict.fromkeys(range(1, 7), 1 / 6)
LOADED = {1: 0.15, 2: 1 / 6, 3: 1 / 6, 4: 1 / 6, 5: 1 / 6, 6: 1 / 6 + 1 / 6 - 0.15}
LAPLACE = partial(discrete_laplace_pmf, Fraction(1))
FAILS = pytest.raises(AssertionError, match="do not follow the pmf")


def laplace_samples(rng: np.random.Generator, gamma: float, size: int) -> np.ndarray:
    """NumPy's own geometric numbers, good enough to try a test on."""
    one, two = rng.geometric(-np.expm1(-gamma), (2, size))
    return one - two


@pytest.mark.slow
def test_good_samplers_pass_at_every_seed() -> None:
    for seed in np.random.SeedSequence(1).spawn(400):
        rng = np.random.default_rng(seed)
        assert_pmf_equal(rng.integers(1, 7, 500), DIE)
        assert_pmf_equal(laplace_samples(rng, 1.0, 500), LAPLACE)


def test_bad_samplers_are_caught_at_every_seed() -> None:
    size = min_samples_for(pmf_discrepancy(LAPLACE, partial(discrete_laplace_pmf, Fraction(10, 13))))
    for seed in np.random.SeedSequence(2).spawn(25):
        rng = np.random.default_rng(seed)
        wide = laplace_samples(rng, 1 / 1.3, size)
        assert_pmf_differs(wide, LAPLACE)
        with FAILS:
            assert_pmf_equal(wide, LAPLACE)


@pytest.mark.parametrize(
    "spoil",
    [
        np.abs,
        lambda samples: np.clip(samples, -6, 6),
        lambda samples: samples - (samples > 6),
        lambda samples: np.where(samples == 0, 1, samples),
        lambda samples: samples + (np.arange(samples.size) % 50 == 0),
    ],
    ids=["sign lost", "tail cut", "tail shifted", "no zero", "one in fifty off by one"],
)
def test_typical_mistakes_are_caught(spoil) -> None:  # noqa: ANN001 - the table above
    samples = laplace_samples(np.random.default_rng(3), 1.0, 400_000)
    assert_pmf_equal(samples, LAPLACE)
    with FAILS:
        assert_pmf_equal(spoil(samples), LAPLACE)


@pytest.mark.slow
def test_false_alarms_are_no_more_than_stated() -> None:
    """At a rate of one in ten, 1,000 good samples raise far fewer than the stated 100 alarms, and at some they do."""
    rng, alarms = np.random.default_rng(4), 0
    for _ in range(1000):
        try:
            assert_pmf_equal(rng.integers(1, 7, 60), DIE, false_fail_rate=0.1)
        except AssertionError:
            alarms += 1
    assert 0 < alarms <= int(binom.isf(1e-9, 1000, 0.1))


@pytest.mark.slow
def test_misses_are_no_more_than_stated() -> None:
    """With the number of samples for a miss rate of one in ten, a loaded die is missed in far fewer cases."""
    size = min_samples_for(pmf_discrepancy(LOADED, DIE), false_fail_rate=1e-3, false_pass_rate=0.1)
    rng, misses = np.random.default_rng(5), 0
    for _ in range(100):
        samples = rng.choice(6, size, p=list(LOADED.values())) + 1
        try:
            assert_pmf_differs(samples, DIE, false_fail_rate=1e-3)
        except AssertionError:
            misses += 1
    assert misses <= int(binom.isf(1e-9, 100, 0.1))


def test_an_impossible_value_fails_at_once() -> None:
    with pytest.raises(AssertionError, match="7 has probability 0 and occurs"):
        assert_pmf_equal([1, 2, 7], DIE)
    with pytest.raises(AssertionError, match="'b' has probability 0 and occurs"):
        assert_pmf_equal(["a", "b"], {"a": 1.0, "b": 0.0})
    with pytest.raises(AssertionError, match="-1 has probability 0 and occurs"):
        assert_pmf_equal(np.array([0, 1, -1]), partial(geometric_pmf, Fraction(1)))


def test_two_values_far_outside_are_enough() -> None:
    samples = laplace_samples(np.random.default_rng(6), 1.0, 1000)
    samples[17] = samples[18] = 200  # beyond the window, outside of which lies at most 10^-12
    with pytest.raises(AssertionError, match="values outside the window occur 2 times"):
        assert_pmf_equal(samples, LAPLACE)


def test_the_message_names_the_event() -> None:
    with pytest.raises(AssertionError, match="values 2 to 2 occur 50 times in 50 samples, 5 were expected"):
        assert_pmf_equal([2] * 50, {1: 0.45, 2: 0.1, 3: 0.45})
    with pytest.raises(AssertionError, match="values up to 3"):
        assert_pmf_equal([1, 2, 3] * 20, DIE)
    with pytest.raises(AssertionError, match="do not show"):
        assert_pmf_differs([1, 2, 3, 4, 5, 6], DIE)


@pytest.mark.slow
def test_distributions_on_many_values_are_grouped() -> None:
    pmf = partial(geometric_pmf, Fraction(1, 2000))
    rng = np.random.default_rng(7)
    size = 20_000
    samples = rng.geometric(-np.expm1(-1 / 2000), size) - 1
    assert_pmf_equal(samples, pmf)
    # A distribution with a mean 5% too large differs by e^(-1)·0.05 at some step.
    assert pmf_discrepancy(partial(geometric_pmf, Fraction(1, 2100)), pmf) == pytest.approx(0.05 / np.e, rel=0.1)
    assert_pmf_differs(rng.geometric(-np.expm1(-1 / 2600), size), pmf)


def test_values_of_any_kind() -> None:
    pmf = {(2,): 0.5, (1, 1): 0.25, (): 0.25}
    samples = [(2,), (2,), (1, 1), ()] * 50
    assert_pmf_equal(samples, pmf)
    assert_pmf_equal(iter(samples), pmf)
    with FAILS:
        assert_pmf_equal([(2,)] * 100, pmf)
    assert_pmf_equal(np.array([True, False, True]), {0: 0.5, 1: 0.5})


def test_the_number_of_samples_follows_the_formula() -> None:
    tests, rate = np.log(MAX_TESTS / 1e-6), np.log(1 / 1e-3)
    expected = (np.sqrt(tests) + np.sqrt(rate)) ** 2 / (2 * 0.05**2)
    found = min_samples_for(0.05, false_fail_rate=1e-6, false_pass_rate=1e-3)
    assert found == pytest.approx(expected, abs=1.1)


@each_of("pmf", [{0: 0.5, 1: 0.4}, {0: 1.5, 1: -0.5}, lambda k: np.exp(-np.abs(k) * 1e-9), lambda k: k**0])
def test_what_is_not_a_pmf_is_refused(pmf) -> None:  # noqa: ANN001 - wrong on purpose
    with pytest.raises(UsageError, match="The probabilities of a pmf must"):
        assert_pmf_equal([0], pmf)


def test_no_samples_prove_nothing() -> None:
    with pytest.raises(UsageError, match="There are no samples"):
        assert_pmf_equal([], DIE)


@each_of("arguments", [(0,), (1.5,), (0.1, 0), (0.1, 1e-9, 1), (-0.1,)])
def test_rates_that_make_no_sense_are_refused(arguments: tuple[float, ...]) -> None:
    names = ("discrepancy", "false_fail_rate", "false_pass_rate")
    with pytest.raises(UsageError, match="The discrepancy must be"):
        min_samples_for(**dict(zip(names, arguments, strict=False)))
