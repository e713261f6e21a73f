"""The survival form against its definition, counter by counter, and stretches against every value written out."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from anonhist.sketches.decoder import Counters, CounterSetting
from anonhist.sketches.inverses import Isotonic, at_least_zero, without_noise
from anonhist.sketches.noise import NoiseDistribution
from anonhist_testing.cases import each_of

ONE = Fraction(1)


def survival(counters: NDArray[np.int64], gamma: float, largest: int) -> NDArray[np.float64]:
    """Return ``Σ_x F(h̃_x − r)`` for r = 1..largest."""
    p = math.exp(-gamma)
    over = counters[:, None] - np.arange(1, largest + 1)
    terms = np.where(over > 0, 1.0, 0.0)
    terms[over == 0] = 1 + p / (1 - p) ** 2
    terms[over == -1] = -p / (1 - p) ** 2
    return np.asarray(terms.sum(axis=0))


def with_gaps(seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    return np.concatenate((rng.poisson(2, 300) + rng.integers(-3, 4, 300), rng.integers(30, 400, 12), [-20, 150, 151]))


@each_of("gamma", [0.1, 0.5, 1.0, 4.0])
def test_running_sums_of_three_taps_are_the_survival_form(gamma: float) -> None:
    counters = with_gaps(1)
    distribution = NoiseDistribution(((Fraction(str(gamma)), ONE),))
    counts, numbers = at_least_zero(*without_noise(Counters.of(counters), distribution))
    largest = int(counts[-1])
    dense = np.zeros(largest + 1)
    dense[counts] = numbers
    reaching = np.cumsum(dense[:0:-1])[::-1]
    expected = survival(counters, gamma, largest)
    np.testing.assert_allclose(reaching, expected, atol=1e-13 * counters.size / math.tanh(gamma / 2) ** 2)


@each_of("gamma", [0.05, 0.3, 1.0, 4.0])
@each_of("seed", range(5))
def test_is_the_unweighted_fit_of_every_value(gamma: float, seed: int) -> None:
    counters = with_gaps(seed)
    found = Isotonic().decode(
        Counters.of(counters),
        CounterSetting(NoiseDistribution(((Fraction(str(gamma)), ONE),)), is_hashed=False),
    )
    largest = int(counters.max()) + 1
    fit = np.clip(isotonic_regression(survival(counters, gamma, largest), increasing=False).x, 0, counters.size)
    expected = -np.diff(fit, prepend=counters.size, append=0)
    dense = np.zeros(largest + 1)
    dense[found.counts] = found.numbers
    np.testing.assert_allclose(dense, expected, atol=1e-9)


def test_a_label_of_astronomic_count_costs_and_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    distribution = NoiseDistribution(((ONE, ONE), (Fraction(2), ONE)))
    setting = CounterSetting(distribution, is_hashed=False)
    near = rng.poisson(2, 5000) + distribution.simulate(5000, rng=rng)
    found = Isotonic().decode(Counters.of(near), setting)
    more = Isotonic().decode(Counters.of(np.append(near, [2**60, 2**61])), setting)
    low = more.counts < 1000
    assert more.numbers.sum() == pytest.approx(5002, rel=1e-12)
    assert more.numbers[~low].sum() == pytest.approx(2, rel=1e-9)
    np.testing.assert_array_equal(found.counts, more.counts[low])
    np.testing.assert_allclose(found.numbers, more.numbers[low], atol=1e-8)
