"""Intervals for single prevalences from noisy arms and legs: they hold whatever the data are."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.mechanisms import FrobeniusMechanism
from anonhist.mechanisms.frobenius.row_band import Guess, prevalence_rows
from anonhist.mechanisms.frobenius.row_weights import NoisyRows
from anonhist.mechanisms.noise import noise_quantile
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.releases import PrevalenceBand
from anonhist.releases.runs import prevalences_at
from anonhist_testing.cases import each_of
from anonhist_testing.partitions import partitions_up_to

SHAPES = {
    "one large": Profile([10**6], [1]),
    "uniform": Profile([10], [100]),
    "two steps": Profile([5, 50], [100, 10]),
    "staircase": Profile(np.arange(1, 46), np.ones(45, dtype=np.int64)),
    "Zipf": Profile.from_counts(300 // np.arange(1, 101)),
    "flat": Profile([1], [1000]),
}


def exact_rows(profile: Profile, length: int) -> tuple[NoisyRows, NoisyRows]:
    coordinates = FrobeniusCoordinates.of(profile)
    arms, legs = (
        NoisyRows.alone(np.pad(side, (0, length - side.size))[None, :]) for side in (coordinates.arms, coordinates.legs)
    )
    return arms, legs


def prevalence_band(profile: Profile, arms: NoisyRows, legs: NoisyRows, *, epsilon: float) -> PrevalenceBand:
    """Return the band of a single run."""
    guess = Guess.of([profile], arms.sums.shape[1])
    (band,) = prevalence_rows(guess, arms, legs, epsilon=epsilon).bands(PrevalenceBand)
    return band


def test_without_noise_the_truth_is_held_and_inside_the_square_nothing_else() -> None:
    for partition in partitions_up_to(9):
        profile = Profile.from_counts(partition)
        r = np.arange(1, 12)
        low, high = prevalence_band(profile, *exact_rows(profile, 6), epsilon=60.0).at(r)
        truth = prevalences_at(profile, r)
        assert np.all(low <= truth), partition
        assert np.all(truth <= high), partition
        # A leg of zero does not tell whether the square reaches that far.
        inside = profile.cumulative_prevalence(r + 1) > r + 1
        assert np.array_equal(low[inside], high[inside]), partition


def count_misses(profile: Profile, epsilon: str, runs: int) -> NDArray[np.int64]:
    """Return at counts of the data, and at 1 to 3, how many intervals do not hold the truth."""
    r = np.unique(np.concatenate(([1, 2, 3], profile.counts, profile.counts + 1)))
    truth = prevalences_at(profile, r)
    mechanism = FrobeniusMechanism(Fraction(epsilon))
    found = np.zeros(r.size, dtype=np.int64)
    for _, evidence in mechanism.simulate_with_evidence(profile, size=runs, rng=np.random.default_rng()):
        assert evidence.prevalences is not None
        low, high = evidence.prevalences.at(r)
        found += (truth < low) | (high < truth)
    return found


@pytest.mark.slow
@each_of(("name", "epsilon"), [*((name, "1") for name in SHAPES), ("two steps", "0.8")])
def test_bands_of_single_prevalences_hold_on_every_shape(name: str, epsilon: str) -> None:
    # With a chance of 5% a miss, 14 or more of 60 have a chance of 2e-6, and there are some 200 numbers here.
    assert count_misses(SHAPES[name], epsilon, 60).max() < 14


@pytest.mark.slow
def test_bands_from_too_little_noise_are_seen_to_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    def quarter(epsilon: float, terms: int, tail: float) -> int:
        return noise_quantile(epsilon, terms, tail) // 4

    for module in ("frobenius.row_band",):
        monkeypatch.setattr(f"anonhist.mechanisms.{module}.noise_quantile", quarter)
    assert count_misses(SHAPES["Zipf"], "1", 60).max() >= 14


def test_two_legs_are_used_only_inside_the_square_and_where_each_has_a_noise_of_its_own() -> None:
    profile = Profile.from_counts([9, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    arms, legs = exact_rows(profile, 12)
    wide = noise_quantile(1.0, 2, 0.01875)
    alone = prevalence_band(profile, arms, legs, epsilon=1.0)
    low, high = alone.at([1])
    assert (low[0], high[0]) == (0, 1 + wide)
    # Columns 1 and 2 in one sum: nothing tells one from the other but the bounds of both.
    grouped = NoisyRows(legs.sums.copy(), legs.begins.copy())
    grouped.sums[0, :2] = legs.sums[0, 0] + legs.sums[0, 1]
    grouped.begins[0, 1] = False
    assert prevalence_band(profile, arms, grouped, epsilon=1.0).at([1])[1][0] > 1 + wide
    cut = NoisyRows(legs.sums.copy(), legs.begins)
    cut.sums[0, 0] = MAX_ITEMS
    assert prevalence_band(profile, arms, cut, epsilon=1.0).at([1])[1][0] > MAX_ITEMS // 2


def test_no_data_have_a_band() -> None:
    nothing = Profile([], [])
    low, high = prevalence_band(nothing, *exact_rows(nothing, 3), epsilon=50.0).at([1, 2])
    assert low.tolist() == [0, 0]
    # One label that occurs once is all square.
    assert high.tolist() == [1, 0]
