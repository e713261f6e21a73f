import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.sketches.decoder import STRAY, Counters, Window
from anonhist.sketches.likelihood import Compound, _quick_length
from anonhist.sketches.noise import NoiseDistribution
from anonhist_testing.cases import each_of

DISTRIBUTIONS = [
    NoiseDistribution.of([(Fraction(1), Fraction(1))]),
    NoiseDistribution.of([(Fraction(3), Fraction(1)), (Fraction(2), Fraction(1, 3))]),
    NoiseDistribution(()),
]


def _compound(distribution: NoiseDistribution, numbers: NDArray[np.int64], first: int = 0) -> tuple[Window, Compound]:
    values = np.arange(first, first + numbers.size)
    window = Window.of(Counters(values[numbers > 0], numbers[numbers > 0]), distribution)
    return window, Compound(window, distribution)


def _random(seed: int, distribution: NoiseDistribution, last: int) -> tuple[Window, Compound, NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 50, last)
    numbers[-1] = 100
    window, compound = _compound(distribution, numbers, first=-2 if distribution.parts else 0)
    # Few labels of each count, so that sums of them stay in the window nearly always, as they do where values are seen.
    loads = rng.dirichlet(np.ones(window.counts.size - 2)) * 0.5 / np.arange(1, window.counts.size - 1) ** 1.5
    return window, compound, np.log(window.num_counters * loads / np.diff(window.counts)[1:])


def _by_convolution(window: Window, distribution: NoiseDistribution, rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distribution of noise and sums of Poisson numbers of labels, one count after the other."""
    buckets, length = window.num_counters, 40 * window.last
    found = np.zeros(length)
    found[0] = 1.0
    for count in range(1, rates.size):
        load = rates[count] / buckets
        labels = np.zeros(length)
        for number in range(min(60, (length - 1) // count + 1)):
            labels[number * count] = math.exp(-load) * load**number / math.factorial(number)
        found = np.convolve(found, labels)[:length]
    reach = 4 * window.reach + 10
    return np.convolve(found, distribution.pmf(reach))[reach + window.low : reach + window.last]


@each_of("distribution", DISTRIBUTIONS)
@each_of("last", [2, 7, 12])
def test_the_distribution_of_a_bucket_is_that_of_noise_and_labels(distribution: NoiseDistribution, last: int) -> None:
    window, compound, logs = _random(last, distribution, last)
    rates = compound.spread_out(np.exp(logs))
    brute = _by_convolution(window, distribution, rates)
    # 10^-12 of the noise is beyond its reach, and comes round.
    np.testing.assert_allclose(compound._distribution(rates), brute + STRAY, atol=3e-12)


def test_one_more_label_shifts_the_distribution() -> None:
    window, compound, logs = _random(1, DISTRIBUTIONS[0], 20)
    rates = compound.spread_out(np.exp(logs))
    distribution = compound._distribution(rates)
    for count in (1, 2, 9, 15):
        step = np.zeros(rates.size)
        step[count] = 1e-4 * window.num_counters
        slope = (compound._distribution(rates + step) - compound._distribution(rates - step)) / 2e-4
        shifted = np.concatenate((np.zeros(count), distribution[:-count]))
        # What comes from below the window is below the reach of the noise.
        np.testing.assert_allclose(slope, shifted - distribution, atol=1e-8)


def _slopes(compound: Compound, logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Derivatives of the probabilities of the cells of values, by differences, shape (cells, logs)."""
    step = 1e-4
    return np.stack(
        [
            (
                compound._window.gather(compound._distribution(compound.spread_out(np.exp(logs + step * unit))))
                - compound._window.gather(compound._distribution(compound.spread_out(np.exp(logs - step * unit))))
            )
            / (2 * step)
            for unit in np.eye(logs.size)
        ],
        axis=1,
    )


@each_of("distribution", DISTRIBUTIONS[:2])
@each_of("last", [5, 30, 120])
def test_derivatives_of_the_likelihood_are_those_of_differences(distribution: NoiseDistribution, last: int) -> None:
    window, compound, logs = _random(last, distribution, last)
    found = compound.curvature(logs)
    slopes = _slopes(compound, logs)
    seen = window.cell_numbers
    means = window.gather(compound._distribution(compound.spread_out(np.exp(logs))))
    assert found.value == compound.value(logs.copy())
    np.testing.assert_allclose(found.value, seen @ np.log(window.num_counters * means), rtol=1e-12)
    scale = np.abs(found.gradient).max()
    np.testing.assert_allclose(found.gradient, (seen / means) @ slopes, atol=1e-6 * scale)
    np.testing.assert_allclose(
        found.information, (slopes.T * (seen / means**2)) @ slopes, atol=1e-6 * np.abs(found.information).max()
    )


def test_information_is_the_curvature_where_the_law_is_true() -> None:
    distribution = DISTRIBUTIONS[0]
    window, compound, _ = _random(3, distribution, 30)
    logs = np.log(window.num_counters) - np.arange(window.counts.size - 2.0)
    numbers = np.maximum(1, np.rint(1e12 * compound._distribution(compound.spread_out(np.exp(logs))))).astype(np.int64)
    before = window.num_counters
    window, compound = _compound(distribution, numbers, first=window.low)
    logs += np.log(window.num_counters / before)
    step = 1e-4
    hessian = np.stack(
        [
            (compound.curvature(logs + step * unit).gradient - compound.curvature(logs - step * unit).gradient) / step
            for unit in np.eye(logs.size)
        ]
    )
    information = compound.curvature(logs).information
    np.testing.assert_allclose(-hessian / 2, information, atol=1e-5 * np.abs(information).max())


def test_labels_expected_of_buckets_are_added_up_over_all_of_them() -> None:
    window, compound, logs = _random(5, DISTRIBUTIONS[0], 15)
    rates = compound.spread_out(np.exp(logs))
    distribution = compound._distribution(rates)
    brute = [
        rates[count]
        * sum(
            window.seen[place] / window.num_counters * distribution[place - count] / distribution[place]
            for place in range(count, window.seen.size)
        )
        for count in range(rates.size)
    ]
    np.testing.assert_allclose(
        compound.expected_labels(rates, compound._window.seen.astype(np.float64))[1:], brute[1:], rtol=1e-9
    )


def test_the_search_begins_with_as_many_labels_as_buckets() -> None:
    window, compound, _ = _random(2, DISTRIBUTIONS[0], 300)
    rates = compound.spread_out(np.exp(compound.starts[0]))
    assert rates.shape == (window.last,)
    assert rates[0] == 0
    assert rates.sum() == pytest.approx(window.num_counters)
    assert [start.shape for start in compound.starts] == 2 * [(window.counts.size - 2,)]


@each_of("log", [-1e4, -700.0, -80.0, 30.0, 59.0, 61.0, 1e300])
def test_no_rates_are_too_small_or_large(log: float) -> None:
    _, compound, logs = _random(2, DISTRIBUTIONS[0], 40)
    value = compound.value(np.full(logs.size, log))
    assert value == -math.inf if log > 60 else math.isfinite(value)
    if log <= 60:
        found = compound.curvature(np.full(logs.size, log))
        assert np.isfinite(found.gradient).all()
        assert np.isfinite(found.information).all()


def test_rounding_of_large_loads_makes_no_distribution_larger_than_one() -> None:
    for seed in range(20):
        window, compound, logs = _random(seed, DISTRIBUTIONS[0], 300)
        logs = np.random.default_rng(seed).uniform(40, 60, logs.size)
        distribution = compound._distribution(compound.spread_out(logs))
        assert distribution.max() <= 1
        assert distribution.shape == window.seen.shape


@each_of("least", [2, 3, 9, 31, 32, 33, 1000, 131_131, 147_456, 147_457])
def test_transforms_are_of_quick_lengths(least: int) -> None:
    found = _quick_length(least)
    assert max(2, least) <= found <= max(16, 1.25 * least)
    assert found % 2 == 0
    for factor in (2, 3, 5):
        while found % factor == 0:
            found //= factor
    assert found == 1
