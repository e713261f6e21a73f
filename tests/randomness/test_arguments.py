from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.numeric import ExponentialQuotient
from anonhist.randomness import (
    SystemSource,
    bernoulli,
    bernoulli_bits,
    bernoulli_exp,
    bernoulli_exp_pmf,
    bernoulli_pmf,
    categorical,
    categorical_pmf,
    categorical_rows,
    discrete_laplace,
    discrete_laplace_pmf,
    discrete_laplace_variance,
    geometric,
    geometric_pmf,
    random_subsets,
    uniform_integers,
    uniform_integers_pmf,
)
from anonhist_testing.cases import each_of
from anonhist_testing.sources import TapeSource

E = ExponentialQuotient.exponential(1)
NOTHING = TapeSource([])
RATED = [
    partial(geometric, size=3, source=NOTHING),
    partial(discrete_laplace, size=3, source=NOTHING),
    partial(geometric_pmf, k=0),
    partial(discrete_laplace_pmf, k=0),
    discrete_laplace_variance,
]
NOT_EXACT = [0.5, "1/2", None, True, np.float64(1), float("nan")]


@each_of("call", RATED)
@each_of("gamma", [0, -1, Fraction(-1, 2), Fraction(1, 2**41), *NOT_EXACT])
def test_a_rate_must_be_exact_and_not_too_small(call: Callable[[object], object], gamma: object) -> None:
    with pytest.raises(UsageError, match="gamma must be"):
        call(gamma)


@each_of("call", [partial(bernoulli_exp, size=3, source=NOTHING), partial(bernoulli_exp_pmf, k=0)])
@each_of("gamma", [-1, Fraction(-1, 2), *NOT_EXACT])
def test_an_exponent_must_be_exact_and_not_negative(call: Callable[[object], object], gamma: object) -> None:
    with pytest.raises(UsageError, match="gamma must be"):
        call(gamma)


@each_of(
    "call",
    [
        partial(bernoulli, size=3, source=NOTHING),
        partial(bernoulli_bits, rows=3, columns=9, source=NOTHING),
        partial(bernoulli_pmf, k=0),
    ],
)
@each_of("probability", [-1, 2, Fraction(-1, 10**30), Fraction(10**30 + 1, 10**30), E, -1 / E, 3 * E / E, *NOT_EXACT])
def test_a_probability_must_be_exact_and_from_0_to_1(call: Callable[[object], object], probability: object) -> None:
    with pytest.raises(UsageError, match="probability must be"):
        call(probability)


@each_of("sampler", [geometric, discrete_laplace, bernoulli, bernoulli_exp])
@each_of("size", [-1, 1.0, "3", None, True])
def test_a_size_must_be_a_whole_number(sampler: Callable[..., object], size: object) -> None:
    for parameter in (1, Fraction(1, 3)):
        with pytest.raises(UsageError, match="size must be a whole number of at least 0"):
            sampler(parameter, size, source=NOTHING)
    with pytest.raises(UsageError, match="size must be a whole number of at least 0"):
        uniform_integers(1, size, source=NOTHING)


BOUNDED = [partial(uniform_integers, size=3, source=NOTHING), partial(uniform_integers_pmf, k=0)]


@each_of("call", BOUNDED)
@each_of("bound", [0, -1, 2**63 + 1, 6.0, "6", None, True, Fraction(6)])
def test_a_bound_must_be_a_whole_number_that_fits(call: Callable[[object], object], bound: object) -> None:
    with pytest.raises(UsageError, match="bound must be a whole number from 1 to 2"):
        call(bound)


@each_of("wrong", [-1, 1.0, None, True])
def test_rows_columns_and_subsets_are_counted_in_whole_numbers(wrong: object) -> None:
    for name in ("rows", "columns"):
        shape = {"rows": 1, "columns": 1, name: wrong}
        with pytest.raises(UsageError, match=f"{name} must be a whole number of at least 0"):
            bernoulli_bits(1, **shape, source=NOTHING)
    for name in ("population", "chosen", "size"):
        counts = {"population": 3, "chosen": 0, "size": 0, name: wrong}
        with pytest.raises(UsageError, match=f"{name} must be a whole number of at least 0"):
            random_subsets(**counts, source=NOTHING)


@pytest.mark.parametrize(("population", "chosen"), [(3, 4), (0, 1), (2**63 + 1, 1)])
def test_a_subset_is_of_a_population_that_fits(population: int, chosen: int) -> None:
    with pytest.raises(UsageError, match="chosen must be at most the population and that at most 2"):
        random_subsets(population, chosen, 1, source=NOTHING)


def test_a_count_of_words_must_be_a_whole_number() -> None:
    with pytest.raises(UsageError, match="count must be a whole number of at least 0, not -1"):
        SystemSource().words(-1)


@each_of("sampler", [geometric, discrete_laplace, bernoulli, bernoulli_exp])
def test_integers_are_exact_and_nothing_can_be_drawn(sampler: Callable[..., np.ndarray]) -> None:
    assert sampler(1, np.int64(0), source=NOTHING).shape == (0,)
    assert sampler(Fraction(1, 3), 0, source=NOTHING).shape == (0,)


BAD_ROWS = [[1.0, -1.0], [0.0, 0.0], [np.nan, 1.0], [1.0, np.nan], [np.inf, 1.0], [0.0, np.inf], [-np.inf, np.inf]]


@each_of("row", BAD_ROWS)
def test_weights_must_be_finite_not_negative_and_not_all_zero(row: list[float]) -> None:
    message = "weights must be finite, at least 0 and not all zero"
    for words in ([0], [2**63], [2**64 - 1]):
        with pytest.raises(UsageError, match=message):
            categorical(np.array(row), source=TapeSource(words))
        with pytest.raises(UsageError, match=message):
            categorical_rows(np.array([[1.0, 1.0], row]), source=TapeSource([2**62, *words]))
    with pytest.raises(UsageError, match=message):
        categorical_pmf(np.array(row))


@pytest.mark.parametrize("weights", [np.zeros(0), np.ones((2, 2)), np.float64(1)])
def test_weights_of_one_draw_have_one_dimension(weights: np.ndarray) -> None:
    with pytest.raises(UsageError, match="weights must be an array with 1 dimension"):
        categorical(weights, source=NOTHING)


@pytest.mark.parametrize("weights", [np.zeros((3, 0)), np.ones(2), np.ones((1, 2, 2))])
def test_weights_of_rows_have_two_dimensions(weights: np.ndarray) -> None:
    with pytest.raises(UsageError, match="weights must be an array with 2 dimension"):
        categorical_rows(weights, source=NOTHING)
