"""What a Profile answers, and that it cannot be changed."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from anonhist.errors import DataError, UsageError
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist_testing.cases import each_of
from anonhist_testing.partitions import partitions_up_to
from anonhist_testing.strategies import profiles, repeatable, units

LARGEST = 2**63 - 1
EXAMPLE = Profile.from_prevalences({3: 1, 8: 2})


def test_lookups_agree_with_the_definition() -> None:
    for partition in partitions_up_to(9):
        profile = Profile.from_partition(partition)
        levels = np.arange(-2, 12)
        cumulative = [sum(part >= level for part in partition) for level in levels]
        assert profile.cumulative_prevalence(levels).tolist() == cumulative
        assert [profile.k_plus(level) for level in levels.tolist()] == cumulative
        assert [profile.prevalence(level) for level in levels.tolist()] == [
            sum(part == level for part in partition) for level in levels
        ]


@pytest.mark.slow
@repeatable
@given(profiles())
def test_cumulative_prevalences_add_up(profile: Profile) -> None:
    counts = profile.counts
    cumulative = profile.cumulative_prevalence(counts)
    beyond = [profile.k_plus(count + 1) for count in counts.tolist()]
    assert (cumulative - np.array(beyond, dtype=np.int64)).tolist() == profile.prevalences.tolist()
    # Σ_r φ_{r+} = n: the cumulative prevalence is constant on each gap between counts.
    gaps = np.diff(counts, prepend=0).tolist()
    assert sum(gap * height for gap, height in zip(gaps, cumulative.tolist(), strict=True)) == profile.n
    assert profile.k_plus(1) == profile.k_plus(0) == profile.k_plus(-(10**30)) == profile.num_labels


def test_levels_may_have_any_shape() -> None:
    levels = np.array([[1, 3, 4], [8, 9, 2]])
    assert EXAMPLE.cumulative_prevalence(levels).tolist() == [[3, 3, 2], [2, 0, 3]]
    assert EXAMPLE.cumulative_prevalence(8).shape == ()
    assert EXAMPLE.cumulative_prevalence([]).tolist() == []
    assert EXAMPLE.cumulative_prevalence(np.array([8], dtype=np.uint64)).tolist() == [2]
    assert EXAMPLE.cumulative_prevalence(levels).dtype == np.int64


def test_lookups_at_the_end_of_int64() -> None:
    profile = Profile.from_prevalences({LARGEST: 1})
    assert profile.k_plus(LARGEST) == profile.prevalence(LARGEST) == 1
    for beyond in (2**63, 2**63 + 1, 10**30):
        assert profile.k_plus(beyond) == profile.prevalence(beyond) == 0
    for nothing in (0, -1, -(2**63), -(10**30)):
        assert profile.prevalence(nothing) == 0
        assert profile.k_plus(nothing) == 1
    close = Profile.from_counts([2**61, 2**61 + 1])
    for level in (2**61 + 1, np.int64(2**61 + 1), np.uint64(2**61 + 1)):
        assert close.prevalence(level) == close.k_plus(level) == 1


@each_of("level", [2.5, 3.0, float("nan"), "3", None, np.float64(3), [3], 3 + 0j])
def test_levels_that_are_not_whole_are_refused(level: Any) -> None:
    for lookup in (EXAMPLE.k_plus, EXAMPLE.prevalence):
        with pytest.raises(UsageError, match="whole number"):
            lookup(level)


@each_of("levels", [[2.5], [3.0], [float("nan")], ["3"], [2**63], np.array([2**63], dtype=np.uint64)])
def test_lists_of_levels_that_are_not_whole_are_refused(levels: Any) -> None:
    with pytest.raises(UsageError, match="whole numbers"):
        EXAMPLE.cumulative_prevalence(levels)


@each_of("name", ["counts", "prevalences", "n", "num_labels", "unit", "_cumulative", "anything"])
def test_attributes_cannot_be_set_or_deleted(name: str) -> None:
    profile = Profile.from_counts([8, 8, 3])
    with pytest.raises(AttributeError, match="immutable"):
        setattr(profile, name, 1)
    with pytest.raises(AttributeError, match="immutable"):
        delattr(profile, name)
    assert profile == EXAMPLE


def test_arrays_are_read_only_copies() -> None:
    counts, prevalences = np.array([3, 8]), np.array([1, 2])
    profile = Profile(counts, prevalences)
    counts[0], prevalences[0] = 5, 5
    assert profile == EXAMPLE
    for array in (profile.counts, profile.prevalences):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
        with pytest.raises(ValueError, match="read-only"):
            array.sort()
    listed = profile.partition()
    listed[0] = 100
    answered = profile.cumulative_prevalence([1, 2])
    answered[0] = 100
    assert profile.partition().tolist() == [8, 8, 3]
    assert profile.k_plus(1) == 3


def test_coordinates_are_read_only_copies() -> None:
    arms, legs = np.array([5, 1]), np.array([4, 0])
    coordinates = FrobeniusCoordinates(arms, legs)
    arms[0] = 9
    assert coordinates.arms.tolist() == [5, 1]
    with pytest.raises(ValueError, match="read-only"):
        coordinates.legs[0] = 3
    with pytest.raises(AttributeError):
        coordinates.arms = arms  # type: ignore[misc]  # it is frozen


@pytest.mark.slow
@repeatable
@given(profiles(unit=units()))
def test_copies_and_pickles_are_equal_and_hash_alike(profile: Profile) -> None:
    for made in (
        copy.copy(profile),
        copy.deepcopy(profile),
        *(pickle.loads(pickle.dumps(profile, level)) for level in range(6)),  # noqa: S301  # our own pickle
    ):
        assert made == profile
        assert hash(made) == hash(profile)
        assert made.unit == profile.unit
        assert not made.counts.flags.writeable
        assert made.n == profile.n


class Named(Profile):
    """A profile of another class."""


def test_a_class_that_extends_profile_is_kept() -> None:
    made = Named.from_counts([3, 8, 8])
    for again in (made.with_unit(PrivacyUnit.item()), copy.copy(made), pickle.loads(pickle.dumps(made))):  # noqa: S301  # our own pickle
        assert type(again) is Named
        assert again == EXAMPLE


def test_a_damaged_pickle_is_refused() -> None:
    rebuild, (counts, prevalences) = EXAMPLE.__reduce__()  # type: ignore[misc]  # always a pair
    assert rebuild(counts, prevalences) == EXAMPLE
    for bad in (-prevalences, prevalences * 2**62, prevalences / 3, prevalences[:1]):
        with pytest.raises(DataError):
            rebuild(counts, bad)


def test_equality_compares_counts_prevalences_and_unit() -> None:
    others = [
        Profile.from_prevalences({3: 1, 8: 1}),
        Profile.from_prevalences({3: 1, 9: 2}),
        Profile.from_prevalences({3: 1}),
        Profile.from_counts([]),
        EXAMPLE.with_unit(PrivacyUnit.user(max_items=2)),
    ]
    assert all(other != EXAMPLE for other in others)
    assert len({EXAMPLE, Profile.from_counts([3, 8, 8]), *others}) == 1 + len(others)
    assert EXAMPLE != {3: 1, 8: 2}
    assert EXAMPLE != "profile"


@pytest.mark.parametrize(
    ("profile", "shown"),
    [
        (Profile.from_counts([]), "Profile(n=0, num_labels=0, {})"),
        (EXAMPLE, "Profile(n=19, num_labels=3, {3: 1, 8: 2})"),
        (
            Profile.from_counts(range(1, 8)),
            "Profile(n=28, num_labels=7, {1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, …})",
        ),
    ],
)
def test_repr_is_short(profile: Profile, shown: str) -> None:
    assert repr(profile) == shown


@pytest.mark.parametrize("change", [lambda profile: profile.counts, lambda profile: profile.prevalences])
def test_flags_of_a_view_do_not_open_the_array(change: Callable[[Profile], np.ndarray]) -> None:
    view = change(EXAMPLE)[:]
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.setflags(write=True)
