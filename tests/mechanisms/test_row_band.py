"""Intervals for φ_{k+} from noisy arms and legs: they hold whatever the data are."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.mechanisms import FrobeniusMechanism
from anonhist.mechanisms.frobenius.row_band import Guess, k_plus_rows, unsmoothed_misfit
from anonhist.mechanisms.frobenius.row_weights import NoisyRows, noisy_rows
from anonhist.mechanisms.noise import noise_quantile, simulated_noise
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.releases import KPlusBand
from anonhist_testing.cases import each_of
from anonhist_testing.partitions import partitions_up_to

SHAPES = {
    "none": Profile([], []),
    "one": Profile([1], [1]),
    "one large": Profile([10**6], [1]),
    "uniform": Profile([10], [100]),
    "two steps": Profile([5, 50], [100, 10]),
    "staircase": Profile(np.arange(1, 46), np.ones(45, dtype=np.int64)),
    "Zipf": Profile.from_counts(300 // np.arange(1, 101)),
    "flat": Profile([1], [1000]),
}


def exact_rows(profile: Profile, length: int) -> tuple[NoisyRows, NoisyRows]:
    coordinates = FrobeniusCoordinates.of(profile)
    sides = (coordinates.arms, coordinates.legs)
    arms, legs = (NoisyRows.alone(np.pad(side, (0, length - side.size))[None, :]) for side in sides)
    return arms, legs


def k_plus_band(profile: Profile, arms: NoisyRows, legs: NoisyRows, *, epsilon: float) -> KPlusBand:
    """Return the band of a single run."""
    (band,) = k_plus_rows(Guess.of([profile], arms.sums.shape[1]), arms, legs, epsilon=epsilon).bands(KPlusBand)
    return band


def test_without_noise_the_truth_is_held_and_little_else() -> None:
    for partition in partitions_up_to(9):
        profile = Profile.from_counts(partition)
        band = k_plus_band(profile, *exact_rows(profile, 6), epsilon=60.0)
        k = np.arange(1, 12)
        low, high = band.at(k)
        truth = profile.cumulative_prevalence(k)
        assert np.all(low <= truth), partition
        assert np.all(truth <= high), partition
        # Beyond the Durfee size D a column is only known to have at most as many cells as its number.
        assert np.all(high - low <= np.maximum(1, np.minimum(k, profile.durfee_size + 1))), partition


def count_misses(profile: Profile, epsilon: float, runs: int) -> NDArray[np.int64]:
    """Return at each of some k how many bands do not hold the truth."""
    k = np.unique(np.geomspace(1, max(2, *profile.counts.tolist(), 2), 12).astype(np.int64))
    truth = profile.cumulative_prevalence(k)
    coordinates, noise = FrobeniusCoordinates.of(profile), simulated_noise(np.random.default_rng())
    length = coordinates.durfee_size + int(8 / epsilon)
    sizes = np.full(runs, coordinates.durfee_size)
    found = np.zeros(k.size, dtype=np.int64)
    arms, legs = (
        noisy_rows(side[None], noise(Fraction(epsilon), runs * length).reshape(runs, length), sizes, epsilon=epsilon)
        for side in (coordinates.arms, coordinates.legs)
    )
    for run in np.eye(runs, dtype=np.bool_):
        low, high = k_plus_band(profile, arms.of(run), legs.of(run), epsilon=epsilon).at(k)
        found += (truth < low) | (high < truth)
    return found


@pytest.mark.slow
@each_of("name", SHAPES)
@each_of("epsilon", [0.05, 0.5, 1.0])
def test_bands_hold_on_every_shape(name: str, epsilon: float) -> None:
    # With a chance of 5% a miss, 14 or more of 60 have a chance of 2e-7, and there are some 250 numbers here.
    assert count_misses(SHAPES[name], epsilon, 60).max() < 14


@pytest.mark.slow
def test_bands_from_too_little_noise_are_seen_to_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    def quarter(epsilon: float, terms: int, tail: float) -> int:
        return noise_quantile(epsilon, terms, tail) // 4

    monkeypatch.setattr("anonhist.mechanisms.frobenius.row_band.noise_quantile", quarter)
    assert count_misses(SHAPES["Zipf"], 0.5, 60).max() >= 14


@pytest.mark.slow
def test_releases_have_bands_that_hold() -> None:
    profile = SHAPES["Zipf"]
    k = np.array([1, 3, 10, 30, 100, 300])
    held = []
    for _ in range(40):
        evidence = FrobeniusMechanism("0.5").release(profile).evidence
        assert evidence is not None
        low, high = evidence.band.at(k)
        held.append((low <= profile.cumulative_prevalence(k)) & (profile.cumulative_prevalence(k) <= high))
    # Ten misses of 40, at 5%, have a chance of 3e-5.
    assert np.sum(held, axis=0).min() > 30


def test_saturated_sums_bound_nothing_from_above() -> None:
    arms = NoisyRows.alone(np.array([[MAX_ITEMS, 0, 0]]))
    band = k_plus_band(Profile([2**62], [1]), arms, NoisyRows.alone(np.array([[0, 0, 0]])), epsilon=1.0)
    low, high = band.at([1, 2**40, 2**62])
    assert np.all(low >= 0)
    assert high[-1] >= 1


def test_one_row_of_extreme_noise_does_not_bound_the_number_of_labels() -> None:
    # The fourth row is below the square of the guess; its noise once in many releases is below any row that there is.
    counts = [90, 80, 70] + [1] * 1_000
    legs, arms = np.array([[1_002, 1, 0, 0, 0]]), np.array([[89, 78, 67, -500, 0]])
    band = k_plus_rows(Guess.of([Profile.from_counts(counts)], 5), *map(NoisyRows.alone, (arms, legs)), epsilon=1.0)
    low, high = (int(ends[0, 0]) for ends in band.at(np.array([[1]])))
    assert low <= 1_003 <= high


def test_groups_bound_the_rows_beside_them() -> None:
    arms = NoisyRows(np.array([[30, 12, 12, 3, 3]]), np.array([[True, True, False, True, False]]))
    legs = NoisyRows.alone(np.zeros((1, 5), dtype=np.int64))
    band = k_plus_band(Profile.from_counts([31, 9, 8]), arms, legs, epsilon=60.0)
    # Rows 2 and 3 have 12 + 2 + 3 cells: row 2 at least 9, row 3 at most 8. Row 2 may be as long as row 1.
    low, high = band.at([9, 31, 32])
    assert low.tolist() == [2, 1, 0]
    assert high.tolist() == [2, 2, 0]


def test_a_fit_of_exact_rows_has_no_misfit_and_a_wrong_one_has_its_distance() -> None:
    profile = SHAPES["Zipf"]
    coordinates = FrobeniusCoordinates.of(profile)
    arms, legs = exact_rows(profile, 30)
    rows = arms.beside(legs)
    assert unsmoothed_misfit([coordinates.arms], [coordinates.legs], rows) == [0.0]
    longer = coordinates.arms.copy()
    longer[0] += 7
    assert unsmoothed_misfit([longer], [coordinates.legs], rows) == [7.0]
    nothing = np.zeros(0, dtype=np.int64)
    assert unsmoothed_misfit([nothing], [nothing], rows) == [0.0]


def test_steps_of_a_band_are_found() -> None:
    band = KPlusBand(np.array([2, 9]), np.array([3, 0]), np.array([5, 2]))
    assert [side.tolist() for side in band.at(np.array([1, 2, 3, 9, 10]))] == [[3, 3, 0, 0, 0], [5, 5, 2, 2, 0]]
    empty = KPlusBand(np.array([]), np.array([]), np.array([]))
    assert [side.tolist() for side in empty.at([1])] == [[0], [0]]
