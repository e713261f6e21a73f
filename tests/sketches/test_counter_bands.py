"""Intervals from noisy counters: right for counts of any shape, whatever a decoder made of them."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.profiles import Profile
from anonhist.sketches import HashedSketch
from anonhist.sketches.counter_bands import counter_bands
from anonhist.sketches.decoder import Counters, CounterSetting, Prevalences
from anonhist.sketches.noise import NoiseDistribution
from anonhist.sketches.release import SketchMechanism, default_decoder
from anonhist_testing.cases import each_of

Counts = NDArray[np.int64]

LABELS, RUNS = 3000, 40
LEVELS = np.array([1, 2, 3, 5, 8, 12, 20, 21, 30, 45])
# As smooth as decoders expect, and nothing of the kind.
SHAPES: dict[str, Counts] = {
    "geometric": np.minimum(1 + (np.log(np.arange(1, LABELS + 1) / (LABELS + 1)) / np.log(0.9)).astype(np.int64), 60),
    "1 and 20": np.repeat([1, 20], LABELS // 2),
    "all ones": np.ones(LABELS, dtype=np.int64),
    "every fifth": np.repeat(np.arange(5, 55, 5), LABELS // 10),
}
# With a chance of 0.95 at each level, of 40 runs fewer than 29 hold with probability 4e-7; 4 shapes, 3 rates, two
# kinds and two numbers at 10 levels are 480 levels: a false alarm has a chance below 0.0002.
LEAST, LEAST_ON_AVERAGE = 29, 0.92


def noise(*parts: str, shape: str = "1") -> NoiseDistribution:
    return NoiseDistribution.of([(Fraction(gamma), Fraction(shape)) for gamma in parts])


def counters(counts: Counts, setting: CounterSetting, rng: np.random.Generator) -> Counters:
    values = counts.copy()
    if setting.is_hashed:
        values = np.zeros(2 * counts.size, dtype=np.int64)
        np.add.at(values, rng.integers(values.size, size=counts.size), counts)
    return Counters.of(values + setting.noise.simulate(values.size, rng=rng))


def poor_decoding(observed: Counters) -> Prevalences:
    """Read each value as a count, noise and all: it may decide where to look, and must decide nothing else."""
    values = np.maximum(observed.values, 0)
    seen = Counters.sum_of(values, observed.numbers)
    return Prevalences(seen.values, seen.numbers.astype(np.float64))


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_hold_for_counts_of_any_shape(shape: str) -> None:
    rng, truth = np.random.default_rng([18, list(SHAPES).index(shape)]), Profile.from_counts(SHAPES[shape])
    expected = truth.cumulative_prevalence(LEVELS), np.array([truth.prevalence(r) for r in LEVELS.tolist()])
    for is_hashed in (False, True):
        for gamma in ("1/5", "1", "4"):
            setting = CounterSetting(noise(gamma), is_hashed=is_hashed)
            held = []
            for _ in range(RUNS):
                observed = counters(SHAPES[shape], setting, rng)
                bands = counter_bands(observed, setting, poor_decoding(observed), labels=1.0)
                ends = [band.at(LEVELS) for band in bands]
                held.append([(low <= true) & (true <= high) for (low, high), true in zip(ends, expected, strict=True)])
            hits = np.sum(held, axis=0)
            assert hits.min() >= LEAST, setting
            assert np.all(hits.mean(axis=1) >= LEAST_ON_AVERAGE * RUNS), setting


def check_one_alone(far: int, shift: int, *, is_hashed: bool) -> None:
    """Check intervals where noise has moved the counter of the only label that is not small."""
    setting = CounterSetting(noise("1/2"), is_hashed=is_hashed)
    observed = Counters.of(np.append(np.zeros(1_999, dtype=np.int64), far + shift))
    bands = counter_bands(observed, setting, poor_decoding(observed), labels=1.0)
    for band, at in ((bands[0], [1, far - 9, far]), (bands[1], [far])):
        low, high = band.at(at)
        assert np.all((low <= 1) & (high >= 1)), shift
        assert band.at([far + 1])[0][0] == 0, shift


@each_of("is_hashed", [False, True])
def test_the_largest_count_may_be_above_all_counters(*, is_hashed: bool) -> None:
    # Noise of this rate is lower in 5%, and higher in 5%; the largest count has one end that can miss.
    for shift in (-4, -2, 0, 2, 4):
        check_one_alone(500, shift, is_hashed=is_hashed)


def test_counters_that_are_all_full_may_hold_any_number_of_labels() -> None:
    rng = np.random.default_rng(20)
    setting = CounterSetting(noise("4"), is_hashed=True)
    # 3.8 labels a counter: hardly any has none.
    held = np.bincount(rng.integers(1_000, size=3_800), minlength=1_000)
    observed = Counters.of(held + setting.noise.simulate(held.size, rng=rng))
    reaching, _ = counter_bands(observed, setting, default_decoder(setting).decode(observed, setting), labels=1.0)
    low, high = reaching.at([1])
    assert low[0] <= 3_800 <= high[0]


@pytest.mark.slow
@each_of("method", ["three-tap", "isotonic"])
def test_decoders_of_counters_that_labels_do_not_share_do_not_mislead(method: str) -> None:
    sketch = HashedSketch(buckets=3_800, epsilon=4, key=b"week 47")
    mechanism = sketch.reconstruct(method, simulations=0).mechanism
    assert isinstance(mechanism, SketchMechanism)
    observed = mechanism._simulate(Profile([1, 2], [3_000, 800]), np.random.default_rng(21))
    found, evidence = mechanism.read(observed)
    assert found.num_labels < 3_000
    for band, true in ((evidence.band, [3_800, 800]), (evidence.prevalences, [3_000, 800])):
        assert band is not None
        low, high = band.at([1, 2])
        # Ends are 2 standard errors away and here moved by 4 more: by chance none of eight is wrong, below 1e-8.
        assert np.all((low - (high - low) <= true) & (true <= high + (high - low)))


@pytest.mark.slow
def test_the_largest_count_may_be_where_counts_are_not_told_apart() -> None:
    check_one_alone(2**15 + 1, -4, is_hashed=False)


@pytest.mark.parametrize("is_hashed", [False, True])
def test_intervals_are_not_wide_for_nothing(*, is_hashed: bool) -> None:
    rng, counts = np.random.default_rng(19), SHAPES["geometric"]
    setting = CounterSetting(noise("1"), is_hashed=is_hashed)
    observed = counters(counts, setting, rng)
    reaching, single = counter_bands(observed, setting, default_decoder(setting).decode(observed, setting), labels=1.0)
    low, high = reaching.at(LEVELS)
    assert np.all(high - low <= (0.25 if is_hashed else 0.08) * LABELS)
    low, high = single.at(LEVELS)
    assert np.all(high - low <= (0.25 if is_hashed else 0.1) * LABELS)
    # Far above all counts, nothing is left to be unsure of.
    for band in (reaching, single):
        assert [end.tolist() for end in band.at([10_000])] == [[0], [0]]


def test_labels_that_stand_for_others_are_scaled_and_less_sure() -> None:
    setting = CounterSetting(noise("50"), is_hashed=False)
    observed = Counters.of(np.repeat([0, 3], 1000))
    decoded = Prevalences(np.array([0, 3]), np.array([1000.0, 1000.0]))
    (low,), (high,) = counter_bands(observed, setting, decoded, labels=4.0)[0].at([3])
    # A quarter of 8,000 listed labels was drawn: 4000 ± 2.24·√(4·3·1000·(1 − 1/2)).
    assert 4000 - low == high - 4000 == 173


@each_of(
    "setting",
    [
        CounterSetting(noise("1/10", "1/10", "1/10", "1/10", "1/10"), is_hashed=False),
        CounterSetting(noise("1/10", "1/10", "1/10", "1/10", "1/10"), is_hashed=True),
    ],
)
def test_where_transforms_say_nothing_the_sum_of_all_counters_still_bounds(setting: CounterSetting) -> None:
    rng = np.random.default_rng(20)
    observed = counters(SHAPES["geometric"], setting, rng)
    reaching, single = counter_bands(observed, setting, Prevalences.none(), labels=1.0)
    total, truth = int(SHAPES["geometric"].sum()), Profile.from_counts(SHAPES["geometric"])
    for k in LEVELS.tolist():
        (low,), (high,) = reaching.at([k])
        assert low == 0
        assert truth.k_plus(k) <= high <= 1.5 * total / k + 1
        assert single.at([k])[1][0] == high


@pytest.mark.full
def test_counters_far_out_bound_what_is_there() -> None:
    for is_hashed in (False, True):
        setting = CounterSetting(noise("1"), is_hashed=is_hashed)
        observed = counters(np.append(SHAPES["1 and 20"], [10**9, 10**9, 10**12]), setting, np.random.default_rng(21))
        bands = counter_bands(observed, setting, poor_decoding(observed), labels=1.0)
        for k, truth in ((10**6, 3), (10**9 - 100, 3), (10**9 + 100, 1), (10**12 - 100, 1), (10**12 + 100, 0)):
            (low,), (high,) = bands[0].at([k])
            assert low <= truth <= high <= 8
            if not is_hashed:
                assert low == high == truth
        assert bands[1].at([10**9])[1][0] >= 2


def test_no_counters_hold_no_labels() -> None:
    nothing = Counters(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    for band in counter_bands(nothing, CounterSetting(noise("1"), is_hashed=True), Prevalences.none(), labels=1.0):
        assert band.at([1, 2])[1].tolist() == [0, 0]
