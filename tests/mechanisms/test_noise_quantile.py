"""How far sums of noises reach, against convolutions of their probabilities."""

import numpy as np

from anonhist.mechanisms.noise import noise_quantile
from anonhist_testing.cases import each_of


def reaching(epsilon: float, terms: int, q: int) -> float:
    """Return P(sum > q) by convolution."""
    reach = int(60 / epsilon)
    one = np.exp(-epsilon * np.abs(np.arange(-reach, reach + 1)))
    one /= one.sum()
    whole = np.ones(1)
    for _ in range(terms):
        whole = np.convolve(whole, one)
    return float(whole[terms * reach + q + 1 :].sum())


@each_of("epsilon", [0.05, 0.5, 1.0, 3.0])
@each_of("terms", [1, 2, 5])
@each_of("tail", [0.25, 0.0125, 1e-6])
def test_the_quantile_is_the_least_that_holds(epsilon: float, terms: int, tail: float) -> None:
    q = noise_quantile(epsilon, terms, tail)
    assert reaching(epsilon, terms, q) <= tail * (1 + 1e-6)
    assert reaching(epsilon, terms, q - 1) > tail * (1 - 1e-6)


@each_of("epsilon", [0.009, 0.001, 1e-6])
@each_of("terms", [1, 8])
def test_small_rates_are_a_scale(epsilon: float, terms: int) -> None:
    q = noise_quantile(epsilon, terms, 0.0125)
    fine = noise_quantile(0.01, terms, 0.0125) * 0.01 / epsilon
    assert fine <= q <= 1.02 * fine + 0.02 / epsilon


def test_of_one_noise_it_is_the_closed_form() -> None:
    # P(G > q) = p^(q+1) / (1 + p)
    for epsilon in (0.03, 0.4, 2.0, 20.0):
        p = np.exp(-epsilon)
        expected = max(0, int(np.ceil(np.log(0.0125 * (1 + p)) / -epsilon)) - 1)
        assert noise_quantile(epsilon, 1, 0.0125) == expected
