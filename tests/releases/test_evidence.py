"""Bands and misfits in releases: validated, used for intervals, and for the expected error."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import DataError
from anonhist.graphs import HistogramDegrees
from anonhist.mechanisms import FrobeniusMechanism
from anonhist.profiles import Profile
from anonhist.releases import Evidence, KPlusBand, PrevalenceBand, Release, ReleaseError, simulate_error
from anonhist_testing.cases import each_of


@each_of(
    ("ends", "lows", "highs"),
    [
        ([1, 1], [1, 0], [1, 1]),
        ([2, 1], [1, 0], [1, 1]),
        ([0, 1], [1, 0], [1, 1]),
        ([1, 2], [0, 1], [2, 2]),
        ([1, 2], [0, 0], [1, 2]),
        ([1, 2], [2, 0], [1, 1]),
        ([1, 2], [0, -1], [1, 1]),
        ([1, 2], [0], [1, 1]),
        ([1.5], [0], [1]),
    ],
)
def test_what_is_no_band_is_refused(ends: list[int], lows: list[int], highs: list[int]) -> None:
    with pytest.raises(DataError):
        KPlusBand(ends, lows, highs)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def make_released() -> Release:
    return FrobeniusMechanism("0.5").release(Profile.from_counts(300 // np.arange(1, 101)))


def test_intervals_of_k_plus_are_those_of_the_band_and_hold_what_was_released(make_released: Release) -> None:
    assert make_released.evidence is not None
    moved = KPlusBand(np.array([1, 10]), np.array([200, 0]), np.array([300, 1]))
    of_it = replace(make_released, evidence=Evidence(moved, make_released.evidence.misfit), simulations=2)
    value = make_released.profile.k_plus(1)
    assert value < 200
    assert of_it.k_plus(1).interval == (value, 300)
    assert of_it.k_plus(11).interval == (0, make_released.profile.k_plus(11))
    assert of_it.k_plus(1).value == value


@pytest.mark.full
def test_a_misfit_beyond_the_usual_makes_errors_larger(make_released: Release) -> None:
    assert make_released.evidence is not None
    usual = replace(make_released, evidence=Evidence(make_released.evidence.band, 0.0)).error
    band = make_released.evidence.band
    far = replace(make_released, evidence=Evidence(band, 1e6)).error
    assert far.sorted_l1.value > 100 * usual.sorted_l1.value
    assert far.prevalence_errors[0] > 100 * usual.prevalence_errors[0]
    assert usual.band is band


def test_the_range_of_the_error_holds_its_value(make_released: Release) -> None:
    low, high = make_released.error.expected_range
    expected = make_released.error.sorted_l1
    assert 0 < low <= expected.interval[0] < expected.value < expected.interval[1] <= high


BANDS = {"prevalences": PrevalenceBand([1, 3, 6], [2, 0, 1], [9, 40, 4]), "zeros": (3, 90)}


def smoothed_error(profile: Profile, **fields: object) -> ReleaseError:
    evidence = Evidence(KPlusBand([1, 6], [3, 0], [50, 45]), **(BANDS | fields))  # type: ignore[arg-type]
    mechanism = HistogramDegrees(Fraction(1000), max_degree=6, nodes_listed=True)
    rng = np.random.default_rng(0)
    return simulate_error(profile, mechanism, zeros=5, evidence=evidence, simulations=2, rng=rng)


def test_intervals_of_single_counts_are_those_of_their_band_and_hold_what_was_released() -> None:
    profile = Profile.from_prevalences({1: 10, 5: 2})
    error = smoothed_error(profile)
    assert [error.prevalence(profile, r).interval for r in (1, 2, 5, 6, 7)] == [
        (2, 10),
        (0, 40),
        (1, 4),
        (0, 4),
        (0, 0),
    ]
    assert error.of_zeros(5).interval == (3, 90)
    # Noise of rate 1000 / 13 errs by nothing, and the band says that it may be 40 labels off.
    assert error.prevalence(profile, 2).standard_error == pytest.approx(20 / 1.96, rel=1e-3)
    assert error.k_plus(profile, 2).standard_error == pytest.approx(22.5 / 1.96, rel=1e-3)
    assert error.of_zeros(5).standard_error == pytest.approx(43.5 / 1.96, rel=1e-3)


def test_without_a_band_of_single_counts_runs_tell_if_they_are_trusted() -> None:
    profile = Profile.from_prevalences({1: 10, 5: 2})
    error = smoothed_error(profile, prevalences=None, zeros=None)
    for number in (error.prevalence(profile, 1), error.of_zeros(5)):
        assert number.interval == (0, math.inf)
        assert "may have smaller errors" in str(number)
    trusted = replace(error, runs_fall_short="")
    assert trusted.prevalence(profile, 1).interval == (9, 11)
    assert trusted.of_zeros(5).interval == (4, 6)


def test_a_band_ends_where_no_count_is_larger() -> None:
    band = KPlusBand([2, 9], [3, 0], [5, 2])
    assert [side.tolist() for side in (band.up_to(1).ends, band.up_to(2).ends, band.up_to(99).ends)] == [
        [1],
        [2],
        [2, 9],
    ]


@each_of("ends", [(-1, 3), (4, 3)])
def test_intervals_of_zeros_ascend(ends: tuple[int, int]) -> None:
    error = smoothed_error(Profile.from_counts([1]))
    with pytest.raises(DataError, match="count zero"):
        replace(error, zeros_interval=ends)


class AddsOneItem:
    """Its runs have one item more, and noisy values 3 items from what was fitted to them."""

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        del rng
        return [Profile.from_counts([*profile.partition(), 1])] * size

    def simulate_with_misfit(
        self, profile: Profile, *, size: int, rng: np.random.Generator
    ) -> list[tuple[Profile, float]]:
        return [(run, 3.0) for run in self.simulate(profile, size=size, rng=rng)]


@each_of(("misfit", "expected"), [(3.0, 1.0), (1.0, 1.0), (10.0, 8.0)])
def test_what_the_noisy_values_are_farther_off_than_usual_is_added_but_may_be_chance(
    misfit: float, expected: float
) -> None:
    evidence = Evidence(KPlusBand([1], [0], [9]), misfit)
    error = simulate_error(
        Profile.from_counts([5, 3]),
        AddsOneItem(),  # type: ignore[arg-type]
        evidence=evidence,
        simulations=32,
        rng=np.random.default_rng(0),
    )
    assert error.sorted_l1.value == expected
    # Runs on the release, which all err by 1, may be off by the interval of their mean.
    few = expected - error.sorted_l1.interval[0]
    assert error.expected_range == pytest.approx(((1 - few) / 1.25, expected * 1.6))
    # Standard errors grow in the same proportion.
    assert error.k_plus_errors[0] == expected


def test_a_bound_from_noisy_values_is_the_upper_end() -> None:
    def error(bound: float) -> ReleaseError:
        evidence = Evidence(KPlusBand([1], [0], [9]), 3.0, distance_bound=bound)
        mechanism, rng = AddsOneItem(), np.random.default_rng(0)
        profile = Profile.from_counts([5, 3])
        return simulate_error(profile, mechanism, evidence=evidence, simulations=32, rng=rng)  # type: ignore[arg-type]

    assert error(7.5).expected_range[1] == 7.5
    # It never excludes what runs say.
    assert error(0.5).expected_range[1] == error(0.5).sorted_l1.interval[1] > 1


def test_a_range_from_few_runs_is_wider() -> None:
    error = simulate_error(
        Profile.from_counts([5, 3]),
        AddsOneItem(),  # type: ignore[arg-type]
        simulations=2,
        rng=np.random.default_rng(0),
    )
    assert error.expected_range == error.sorted_l1.interval


class Adds:
    """Its runs have so many items more on data, and so many on none."""

    def __init__(self, on_data: int, on_none: int) -> None:
        self.on_data, self.on_none = on_data, on_none

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        del rng
        return [Profile.from_counts([*profile.partition(), self.on_data if profile.n else self.on_none])] * size


@each_of(
    ("on_data", "on_none", "expected"),
    [(100, 90, 100), (100, 105, 105), (100, 150, 110), (100, 200, 125), (100, 400, 250), (100, 0, 100)],
)
def test_where_noise_hides_the_data_runs_on_no_data_move_the_expected_error_up_but_not_to_all_they_say(
    on_data: int, on_none: int, expected: float
) -> None:
    error = simulate_error(
        Profile.from_counts([500]),
        Adds(on_data, on_none),  # type: ignore[arg-type]
        simulations=32,
        rng=np.random.default_rng(0),
    )
    assert error.sorted_l1.value == pytest.approx(expected)
    # Errors of single numbers are the larger ones.
    assert error.k_plus_errors[0] == 1
