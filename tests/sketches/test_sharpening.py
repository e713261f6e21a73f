"""Steps from a smooth distribution toward what was seen: as many as help, and no more."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from anonhist.sketches.decoder import Counters, CounterSetting, SmoothDecoder, Window
from anonhist.sketches.likelihood import Decompounding, EmpiricalBayes, _Counters, sharpen
from anonhist.sketches.noise import NoiseDistribution

LAST = 120


def distribution_of(epsilon: str) -> NoiseDistribution:
    return NoiseDistribution.of([(Fraction(epsilon), Fraction(1))])


def read_noisy(truth: np.ndarray, epsilon: str, seed: int) -> tuple[_Counters, np.ndarray]:
    """Return the reading of noisy counters with these true numbers, and how many have each value."""
    rng = np.random.default_rng(seed)
    distribution = distribution_of(epsilon)
    counters = np.repeat(np.arange(truth.size), truth)
    counters = np.append(counters + distribution.simulate(counters.size, rng=rng), LAST - 1)
    window = Window.of(Counters.of(counters), distribution)
    return _Counters(distribution.pmf(window.reach), window), window.seen


def one_step(reading: _Counters, rates: np.ndarray, seen: np.ndarray) -> np.ndarray:
    return reading.expected_labels(rates, seen.astype(np.float64))


def away(found: np.ndarray, truth: np.ndarray) -> float:
    size = max(found.size, truth.size)
    return float(np.abs(np.pad(found, (0, size - found.size)) - np.pad(truth, (0, size - truth.size))).sum())


@pytest.mark.parametrize("epsilon", ["1", "3"])
def test_spikes_that_a_smooth_distribution_blurs_are_found_again(epsilon: str) -> None:
    truth = np.zeros(LAST, dtype=np.int64)
    truth[20:110:6] = 5000
    reading, seen = read_noisy(truth, epsilon, 1)
    smooth = np.ones(_last(seen, reading))
    found = sharpen(reading, smooth, seen)
    assert away(found, truth) < 0.4 * away(one_step(reading, smooth, seen), truth)


def test_a_distribution_that_is_right_is_followed_for_one_step_only() -> None:
    rng = np.random.default_rng(2)
    shape = 1 / (1 + np.arange(LAST)) ** 1.5
    truth = rng.multinomial(100_000, shape / shape.sum())
    reading, seen = read_noisy(truth, "1", 3)
    rates = np.zeros(_last(seen, reading))
    rates[:LAST] = 1e5 * shape / shape.sum()
    assert np.array_equal(sharpen(reading, rates, seen), one_step(reading, rates, seen))


def test_a_distribution_of_another_sum_is_followed_as_far() -> None:
    truth = np.zeros(LAST, dtype=np.int64)
    truth[20:110:6] = 500
    reading, seen = read_noisy(truth, "1", 1)
    smooth = np.full(_last(seen, reading), seen.sum() / _last(seen, reading))
    found = sharpen(reading, smooth, seen)
    for factor in (0.5, 2.0):
        assert sharpen(reading, factor * smooth, seen) == pytest.approx(found)
    assert not np.allclose(found, one_step(reading, smooth, seen), atol=5)


def test_reading_twice_gives_the_same_and_keeps_the_sum() -> None:
    truth = np.full(30, 40)
    reading, seen = read_noisy(truth, "0.5", 4)
    rates = np.linspace(2, 1, _last(seen, reading))
    found = sharpen(reading, rates, seen)
    assert np.array_equal(found, sharpen(reading, rates, seen))
    assert found.sum() == pytest.approx(seen.sum())


def test_so_few_counters_that_a_half_has_none_are_read_in_one_step() -> None:
    distribution = distribution_of("1")
    window = Window.of(Counters.of(np.array([3])), distribution)
    reading = _Counters(distribution.pmf(window.reach), window)
    rates = np.ones(window.last)
    assert np.array_equal(sharpen(reading, rates, window.seen), one_step(reading, rates, window.seen))


def _last(seen: np.ndarray, reading: _Counters) -> int:
    """Return how many counts the window has: the values from zero on."""
    return seen.size + reading._window.low


@pytest.mark.slow
@pytest.mark.parametrize("decoder", [EmpiricalBayes(), Decompounding()])
def test_simulated_readings_are_moved_by_chance_and_lose_no_counter(decoder: SmoothDecoder) -> None:
    distribution, rng = distribution_of("0.5"), np.random.default_rng(3)
    observed = Counters.of(rng.geometric(0.4, 3000) + distribution.simulate(3000, rng=rng))
    setting = CounterSetting(distribution, is_hashed=isinstance(decoder, Decompounding))
    plain = decoder.decode(observed, setting).numbers
    moved = [decoder.redecode(observed, setting, rng=np.random.default_rng(seed)).numbers for seed in (1, 1, 2)]
    assert np.array_equal(moved[0], moved[1])
    for each in (moved[0], moved[2]):
        assert np.abs(each - plain).sum() > 20
        assert np.isfinite(each).all()
    if isinstance(decoder, EmpiricalBayes):
        assert moved[2].sum() == pytest.approx(3000)
