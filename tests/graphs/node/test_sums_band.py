"""Bounds from noisy sums: right for sums of any shape, whatever was fitted to them."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.graphs import CumulativeDegrees, HistogramDegrees, SurvivalDegrees
from anonhist.graphs.node_mechanism import NoisyBins
from anonhist.graphs.noisy_sums import TAIL, evidence_of, single_bounds
from anonhist.mechanisms.bands import falling_bounds
from anonhist.mechanisms.noise import noise_quantile, simulated_noise
from anonhist_testing.cases import each_of

Bins = NDArray[np.int64]

MOST, RUNS = 48, 60
HERE = np.arange(1, MOST + 1)
# How many nodes have each degree 0..48: as smooth as a fit expects, and nothing of the kind.
SHAPES: dict[str, Bins] = {
    "falling": np.append(500, np.rint(2000 * 0.85**HERE)).astype(np.int64),
    "every seventh": np.append(0, np.where(HERE % 7 == 3, 700, 0)).astype(np.int64),
    "one spike": np.append(100, np.where(HERE == 20, 4000, 1)).astype(np.int64),
    "none": np.zeros(MOST + 1, dtype=np.int64),
}
# With a chance of 0.95 at each level, of 60 runs fewer than 47 hold with probability 1.2e-6; 3 mechanisms, 4 shapes
# and two numbers at 48 levels are 1,152 levels: a false alarm has a chance below 0.0015.
LEAST, LEAST_ON_AVERAGE = 47, 0.92


def mechanisms() -> list[NoisyBins]:
    two = Fraction(2)
    return [
        SurvivalDegrees(two, max_degree=MOST),
        CumulativeDegrees(two, max_degree=MOST),
        HistogramDegrees(two, max_degree=MOST, nodes_listed=True),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_hold_for_degrees_of_any_shape(shape: str) -> None:
    rng = np.random.default_rng([17, list(SHAPES).index(shape)])
    bins = SHAPES[shape]
    reaching = np.cumsum(bins[:0:-1])[::-1]
    for mechanism in mechanisms():
        held = []
        # A fit of nothing: it may decide where to look, and must decide nothing else.
        nothing = mechanism._publish(mechanism._noisy(0 * bins, lambda _, size: np.zeros(size, dtype=np.int64)))
        for _ in range(RUNS):
            found = mechanism._evidence(mechanism._noisy(bins, simulated_noise(rng)), nothing)
            assert found.prevalences is not None
            assert found.zeros is not None or mechanism.method == "survival"
            low, high = found.zeros or (0, 2**62)
            of_run = [np.full(MOST, low <= bins[0] <= high)]
            for band, truth in ((found.band, reaching), (found.prevalences, bins[1:])):
                lows, highs = band.at(HERE)
                of_run.append((lows <= truth) & (truth <= highs))
            held.append(of_run)
        hits = np.sum(held, axis=0)
        assert hits.min() >= LEAST, mechanism.method
        assert np.all(hits.mean(axis=1) >= LEAST_ON_AVERAGE * RUNS), mechanism.method


def test_windows_make_bounds_of_what_is_flat_narrow() -> None:
    rng = np.random.default_rng(17)
    truth = np.full(256, 1000.0)
    noisy = truth + rng.laplace(scale=50, size=256).round()
    low, high = falling_bounds(noisy, truth, 1 / 50, tail=TAIL)
    alone = noise_quantile(1 / 50, 1, 0.0125)
    # In the middle, means of 128 noises: a tenth of one; at each end nothing stands before, or behind.
    assert high[200] - 1000 < alone / 4
    assert 1000 - low[50] < alone / 4
    assert np.all(np.diff(low) <= 0)
    assert np.all(np.diff(high) <= 0)
    assert high[0] - low[0] > alone


def test_bounds_of_one_sum_are_its_noise() -> None:
    low, high = falling_bounds(np.array([30.0]), np.array([0.0]), 0.5, tail=TAIL)
    reach = noise_quantile(0.5, 1, 0.025)
    assert (low.tolist(), high.tolist()) == ([30 - reach], [30 + reach])


def test_single_bounds_are_the_narrower_of_two_ways() -> None:
    noisy, reach = np.array([900.0, 500.0, 0.0]), noise_quantile(1.0, 2, 0.025)
    wide = np.array([800.0, 400.0, 0.0]), np.array([1000.0, 600.0, 0.0])
    low, high = single_bounds(noisy, 1.0, *wide)
    assert (low.tolist(), high.tolist()) == ([400 - reach, 500 - reach, 0], [400 + reach, 500 + reach, 0])
    sharp = np.array([900.0, 500.0, 0.0]), np.array([901.0, 500.0, 0.0])
    low, high = single_bounds(noisy, 1.0, *sharp)
    assert (low.tolist(), high.tolist()) == ([400, 500, 0], [401, 500, 0])


@each_of(
    ("low", "high", "ends", "lows", "highs"),
    [
        ([5.0, 5.0, -3.0], [9.0, 9.0, 2.0], [2, 3], [5, 0], [9, 2]),
        ([-2.0], [-1.0], [1], [0], [0]),
        ([1e300], [1e300], [1], [2**62], [2**62]),
    ],
)
def test_what_is_kept_is_whole_and_not_negative(
    low: list[float], high: list[float], ends: list[int], lows: list[int], highs: list[int]
) -> None:
    bounds = np.array(low), np.array(high)
    band = evidence_of(bounds, bounds, items=(0, 1)).band
    assert [side.tolist() for side in (band.ends, band.lows, band.highs)] == [ends, lows, highs]
    assert evidence_of(bounds, bounds, items=(0, 1), zeros=(-4.0, 7.0)).zeros == (0, 7)


def test_sums_that_floats_round_are_not_cut() -> None:
    truth = [2**61 + 1 - place for place in range(9)]
    noisy = np.array(truth, dtype=np.float64)
    low, high = falling_bounds(noisy, noisy, 20.0, tail=TAIL)
    assert all(int(least) <= number <= int(most) for least, number, most in zip(low, truth, high, strict=True))
    # Below that nothing is lost, and nothing given away.
    low, high = falling_bounds(np.arange(9.0)[::-1], np.arange(9.0)[::-1], 20.0, tail=TAIL)
    np.testing.assert_array_equal(low, high)
