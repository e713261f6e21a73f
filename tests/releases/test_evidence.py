"""Bands and misfits in releases: validated, used for intervals, and for the expected error."""

from dataclasses import replace

import numpy as np
import pytest

from anonhist.errors import DataError
from anonhist.mechanisms import FrobeniusMechanism
from anonhist.profiles import Profile
from anonhist.releases import Evidence, KPlusBand, Release
from anonhist.testing.cases import each_of


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
def released() -> Release:
    return FrobeniusMechanism("0.5").release(Profile.from_counts(300 // np.arange(1, 101)))


def test_intervals_of_k_plus_are_those_of_the_band_and_hold_what_was_released(released: Release) -> None:
    assert released.evidence is not None
    moved = KPlusBand(np.array([1, 10]), np.array([200, 0]), np.array([300, 1]))
    of_it = replace(released, evidence=Evidence(moved, released.evidence.misfit), simulations=2)
    value = released.profile.k_plus(1)
    assert value < 200
    assert of_it.k_plus(1).interval == (value, 300)
    assert of_it.k_plus(11).interval == (0, released.profile.k_plus(11))
    assert of_it.k_plus(1).value == value


def test_a_misfit_beyond_the_usual_makes_errors_larger(released: Release) -> None:
    assert released.evidence is not None
    usual = replace(released, evidence=Evidence(released.evidence.band, 0.0)).error
    band = released.evidence.band
    far = replace(released, evidence=Evidence(band, 1e6)).error
    assert far.sorted_l1.value > 100 * usual.sorted_l1.value
    assert far.prevalence_errors[0] > 100 * usual.prevalence_errors[0]
    assert usual.band is band


def test_the_range_of_the_error_holds_its_value(released: Release) -> None:
    low, high = released.error.expected_range
    assert 0 < low < released.error.sorted_l1.interval[0]
    assert released.error.sorted_l1.interval[1] < high
