"""Every sampler against its pmf in both directions.

Each assertion fails by chance with probability at most 10^−9, and the sizes make the wrong distributions be missed with
probability at most 10^−9 as well; the seeds are fixed, so all this was decided once.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from anonhist.numeric import ExponentialQuotient
from anonhist.randomness import (
    bernoulli,
    bernoulli_exp,
    bernoulli_exp_pmf,
    bernoulli_pmf,
    categorical,
    categorical_pmf,
    categorical_rows,
    discrete_laplace,
    discrete_laplace_pmf,
    geometric,
    geometric_pmf,
)
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import (
    assert_pmf_differs,
    assert_pmf_equal,
    min_samples_for,
    pmf_discrepancy,
)

E = ExponentialQuotient.exponential(1)
DISTRIBUTIONS = [
    *[(discrete_laplace, discrete_laplace_pmf, Fraction(text)) for text in ("3", "1", "0.1", "1/65", "0.0005")],
    *[(geometric, geometric_pmf, Fraction(text)) for text in ("3", "1", "0.1", "1/65", "0.0005")],
    *[(bernoulli_exp, bernoulli_exp_pmf, Fraction(text)) for text in ("2", "0.3")],
    (bernoulli, bernoulli_pmf, Fraction(2, 7)),
    (bernoulli, bernoulli_pmf, E / (E + 9)),
]
IDS = [f"{sampler.__name__} {parameter}" for sampler, _, parameter in DISTRIBUTIONS]


@pytest.mark.fresh
@pytest.mark.slow
@pytest.mark.parametrize(("sampler", "pmf", "parameter"), DISTRIBUTIONS, ids=IDS)
def test_the_right_distribution_is_accepted_and_wrong_scales_are_not(
    sampler: Callable[..., np.ndarray], pmf: Callable[..., np.ndarray], parameter: Fraction
) -> None:
    right = partial(pmf, parameter)
    wrong = [partial(pmf, parameter * Fraction(10, tenths)) for tenths in (7, 13)]
    size = max(20_000, *(min_samples_for(pmf_discrepancy(right, each)) for each in wrong))
    assert size < 150_000
    samples = sampler(parameter, size, source=SeededSource([1, size]))
    assert_pmf_equal(samples, right)
    for each in wrong:
        assert_pmf_differs(samples, each)


@pytest.mark.fresh
@pytest.mark.parametrize("gamma", [Fraction(1, 10**6), Fraction(1, 10**12)])
def test_tiny_rates(gamma: Fraction) -> None:
    """Quarters of the distribution and the lowest digits: the pmf itself has too many values."""
    size = 60_000
    noise = discrete_laplace(gamma, size, source=SeededSource(5))
    # Uniform on (0, 1] but for a grid of width gamma; at 1, where the noise is 0, in the last cell.
    scaled = np.exp(-np.abs(noise) * float(gamma))
    cells = np.where(noise < 0, -1, 1) * np.minimum(1 + (scaled * 16).astype(np.int64), 16)
    uniform = {sign * cell: 1 / 32 for sign in (-1, 1) for cell in range(1, 17)}
    # The grid moves a probability by at most gamma, far below what so many samples show.
    assert_pmf_equal(cells, uniform)
    assert_pmf_equal(noise & 255, dict.fromkeys(range(256), 1 / 256))
    wider = np.exp(-np.abs(noise) * float(gamma) * 0.7)
    assert_pmf_differs(np.where(noise < 0, -1, 1) * (1 + (wider * 16).astype(np.int64)), uniform)


@pytest.mark.fresh
@pytest.mark.slow
def test_neighbouring_draws_are_independent() -> None:
    """Draws share words: pairs at distance 1 to 4 have the product distribution."""
    gamma, size = Fraction(1, 2), 400_000
    noise = np.clip(discrete_laplace(gamma, size, source=SeededSource(6)), -3, 3)
    k = np.arange(-200, 201)
    masses = np.bincount(np.clip(k, -3, 3) + 3, weights=discrete_laplace_pmf(gamma, k))
    product = np.outer(masses, masses)
    pairs = {(a, b): product[a + 3, b + 3] for a in range(-3, 4) for b in range(-3, 4)}
    for distance in (1, 2, 3, 4):
        blocks = noise[: size // (2 * distance) * 2 * distance].reshape(-1, 2, distance)
        first, second = blocks[:, 0].ravel(), blocks[:, 1].ravel()
        assert_pmf_equal(zip(first.tolist(), second.tolist(), strict=True), pairs)


def test_the_mean_absolute_value() -> None:
    gamma, size = Fraction(1), 10**6
    noise = discrete_laplace(gamma, size, source=SeededSource(8))
    # Var |Z| < Var Z < 2, so 6.2 standard errors are less than 0.009.
    assert np.abs(noise).mean() == pytest.approx(1 / math.sinh(gamma), abs=0.009)


@pytest.mark.fresh
@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 50])
def test_categorical_draws_follow_the_weights(size: int) -> None:
    weights = np.linspace(0.5, 1, size) ** 2
    right = dict(enumerate(categorical_pmf(weights).tolist()))
    heavier = weights.copy()
    heavier[: size // 2] *= 1.3
    wrong = dict(enumerate(categorical_pmf(heavier).tolist()))
    draws = min_samples_for(pmf_discrepancy(right, wrong))
    source = SeededSource([7, size])
    rows = categorical_rows(np.broadcast_to(weights, (draws, size)), source=source)
    single = [categorical(weights, source=source) for _ in range(draws)]
    for samples in (rows, single):
        assert_pmf_equal(samples, right)
        assert_pmf_differs(samples, wrong)
