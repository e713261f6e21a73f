"""Conjugate partitions, Durfee size, Frobenius coordinates."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from anonhist.errors import DataError
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import FrobeniusCoordinates, Profile, sorted_l1
from anonhist_testing.cases import each_of
from anonhist_testing.partitions import distance, larger_neighbors, partitions_up_to
from anonhist_testing.strategies import partitions, profiles, repeatable

SMALL = partitions_up_to(12)


def conjugate(partition: tuple[int, ...]) -> tuple[int, ...]:
    columns = range(1, partition[0] + 1) if partition else ()
    return tuple(sum(part >= column for part in partition) for column in columns)


def pad(partition: tuple[int, ...], length: int) -> np.ndarray:
    """D, then arms, then legs, zeros beyond the Durfee square."""
    coordinates = FrobeniusCoordinates.of(Profile.from_partition(partition))
    vector = np.zeros(1 + 2 * length, dtype=np.int64)
    size = coordinates.durfee_size
    vector[0] = size
    vector[1 : 1 + size] = coordinates.arms
    vector[1 + length : 1 + length + size] = coordinates.legs
    return vector


def test_coordinates_are_those_of_the_diagram() -> None:
    for partition in SMALL:
        columns = conjugate(partition)
        size = sum(part >= k for k, part in enumerate(partition, start=1))
        coordinates = FrobeniusCoordinates.of(Profile.from_partition(partition))
        assert coordinates.durfee_size == Profile.from_partition(partition).durfee_size == size
        assert coordinates.arms.tolist() == [partition[k] - k - 1 for k in range(size)]
        assert coordinates.legs.tolist() == [columns[k] - k - 1 for k in range(size)]
        assert coordinates.arms.dtype == coordinates.legs.dtype == np.int64
        assert size + coordinates.arms.sum() + coordinates.legs.sum() == sum(partition)


@pytest.mark.slow
def test_cumulative_prevalences_are_the_conjugate_partition() -> None:
    for partition in SMALL:
        columns = conjugate(partition)
        profile, turned = Profile.from_partition(partition), Profile.from_partition(columns)
        assert tuple(profile.cumulative_prevalence(np.arange(1, len(columns) + 1)).tolist()) == columns
        assert tuple(turned.cumulative_prevalence(np.arange(1, len(partition) + 1)).tolist()) == partition
        assert profile.n == turned.n
        # Turning the diagram exchanges arms and legs.
        coordinates, swapped = FrobeniusCoordinates.of(profile), FrobeniusCoordinates.of(turned)
        assert coordinates.arms.tolist() == swapped.legs.tolist()
        assert coordinates.legs.tolist() == swapped.arms.tolist()


@pytest.mark.slow
def test_every_pair_of_decreasing_sequences_is_one_partition() -> None:
    # All with n ≤ 12 from both sides: the bijection misses none and meets none twice.
    seen = set()
    for partition in SMALL:
        coordinates = FrobeniusCoordinates.of(Profile.from_partition(partition))
        seen.add((tuple(coordinates.arms.tolist()), tuple(coordinates.legs.tolist())))
    decreasing = [
        tuple(k for k in range(11, -1, -1) if chosen >> k & 1) for chosen in range(2**12) if chosen.bit_count() <= 3
    ]
    expected = {
        (arms, legs)
        for arms, legs in product(decreasing, repeat=2)
        if len(arms) == len(legs) and len(arms) + sum(arms) + sum(legs) <= 12
    }
    assert seen == expected
    for arms, legs in expected:
        built = FrobeniusCoordinates(np.array(arms), np.array(legs)).profile()
        again = FrobeniusCoordinates.of(built)
        assert (tuple(again.arms.tolist()), tuple(again.legs.tolist())) == (arms, legs)


@pytest.mark.slow
def test_coordinates_are_an_isometry_on_all_pairs_up_to_nine() -> None:
    small = partitions_up_to(9)
    vectors = np.array([pad(partition, 9) for partition in small])
    profiles_of = [Profile.from_partition(partition) for partition in small]
    for index, (partition, profile) in enumerate(zip(small, profiles_of, strict=True)):
        rows = np.array([distance(partition, other) for other in small])
        assert (np.abs(vectors - vectors[index]).sum(axis=1) == rows).all()
        # Of two, which comes first does not matter: see the tests of distances.
        assert [sorted_l1(profile, other) for other in profiles_of[index:]] == rows[index:].tolist()


@pytest.mark.slow
def test_one_item_more_changes_one_coordinate_by_one() -> None:
    for partition in partitions_up_to(10):
        vector = pad(partition, 11)
        for grown in larger_neighbors(partition):
            change = pad(grown, 11) - vector
            assert np.abs(change).sum() == 1


@pytest.mark.slow
@settings(repeatable, max_examples=80)  # all of up to twelve items are looked at above
@given(partitions(max_items=300))
def test_round_trip_and_number_of_counts(partition: tuple[int, ...]) -> None:
    profile = Profile.from_partition(partition)
    coordinates = FrobeniusCoordinates.of(profile)
    assert coordinates.profile() == profile
    assert len(profile) <= 2 * profile.durfee_size
    assert profile.durfee_size**2 <= profile.n
    assert len(profile) ** 2 <= 2 * profile.n


@pytest.mark.slow
@repeatable
@given(profiles(max_items=10**10))
def test_round_trip_of_large_profiles(profile: Profile) -> None:
    coordinates = FrobeniusCoordinates.of(profile)
    assert coordinates.profile() == profile
    steps = np.arange(1, coordinates.durfee_size + 1)
    assert (coordinates.legs + steps == profile.cumulative_prevalence(steps)).all()
    total = coordinates.durfee_size + int(coordinates.arms.sum()) + int(coordinates.legs.sum())
    assert total == profile.n


@pytest.mark.slow
@each_of(
    "prevalences",
    [
        {2**62: 1},
        {1: 2**62},
        {2**62: 1, 1: 2**62 - 1},
        {2**63 - 1: 1},
        {1: 2**63 - 1},
        {2: 2**60, 2**60: 2},
        {10**15: 1, 10**6: 10**9, 1: 10**18},
    ],
)
def test_round_trip_near_the_end_of_int64(prevalences: dict[int, int]) -> None:
    profile = Profile.from_prevalences(prevalences)
    coordinates = FrobeniusCoordinates.of(profile)
    assert coordinates.profile() == profile
    assert coordinates.arms[0] == max(prevalences) - 1
    assert coordinates.legs[0] == sum(prevalences.values()) - 1


@each_of(
    ("arms", "legs"),
    [
        ([2**63 - 1], [0]),
        ([0], [2**63 - 1]),
        ([2**62], [2**62]),
        ([2**62, 2**62 - 1], [1, 0]),
        ([2**63 - 2, 0], [1, 0]),
        ([2**63 - 1, 2**63 - 2], [2**63 - 1, 2**63 - 2]),
    ],
)
def test_coordinates_of_too_many_items_are_refused(arms: list[int], legs: list[int]) -> None:
    with pytest.raises(DataError, match="more than"):
        FrobeniusCoordinates(np.array(arms), np.array(legs)).profile()


def test_coordinates_of_just_enough_items_are_not() -> None:
    profile = FrobeniusCoordinates(np.array([2**62 - 1]), np.array([2**62 - 1])).profile()
    assert profile.n == 2**63 - 1
    assert profile == Profile.from_prevalences({2**62: 1, 1: 2**62 - 1})


@each_of(
    ("arms", "legs"),
    [
        ([1], []),
        ([], [0]),
        ([1, 1], [1, 0]),
        ([0, 1], [1, 0]),
        ([1, 0], [0, 1]),
        ([1, -1], [1, 0]),
        ([1, 0], [0, -1]),
        ([[1, 0]], [[1, 0]]),
        ([0.5], [0]),
    ],
)
def test_what_are_no_coordinates_is_refused(arms: Any, legs: Any) -> None:
    with pytest.raises(DataError):
        FrobeniusCoordinates(arms, legs)


def test_the_profile_takes_the_unit_it_is_given() -> None:
    unit = PrivacyUnit.user(max_items=3)
    coordinates = FrobeniusCoordinates.of(Profile.from_counts([5, 2], unit=unit))
    assert coordinates.profile().unit == PrivacyUnit.item()
    assert coordinates.profile(unit=unit).unit == unit
