"""A release: frozen, its errors computed once, its numbers looked up with intervals."""

from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.graphs import BoundedDegrees, NodePrivacy, as_graph, release_degrees
from anonhist.mechanisms import (
    BoundedPartitionMechanism,
    CumulativeMechanism,
    FrobeniusMechanism,
    IsotonicMechanism,
    PartitionMechanism,
    PrevalenceMechanism,
    PrivHistMechanism,
    RelaxedPartitionMechanism,
    release,
)
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.properties.estimate import Holds
from anonhist.releases import Mechanism, Release
from anonhist.releases.made import USUAL_RUNS
from anonhist_testing.cases import each_of
from anonhist_testing.progress import assert_moves
from anonhist_testing.sources import SeededSource

TWO, OTHER = Profile.from_counts([4, 1]), Profile.from_counts([4, 2, 1])


@each_of("name", [each.name for each in fields(Release)])
def test_is_frozen(make_release: Any, name: str) -> None:
    made = make_release(TWO)
    with pytest.raises(FrozenInstanceError):
        setattr(made, name, None)


def test_errors_are_computed_when_first_asked_for_and_once(make_release: Any) -> None:
    made = make_release(TWO, TWO, OTHER)
    assert made.mechanism.sizes == []
    first = made.error
    assert made.error is first
    assert made.k_plus(2).standard_error == pytest.approx(0.5**0.5)
    assert made.prevalence(1).interval == (0.0, 2.0)
    # Four runs on what was released, and four on the same made flatter.
    assert made.mechanism.sizes == [4, 4]


def test_with_error_records_what_error_says(make_release: Any) -> None:
    made, seen = make_release(TWO, TWO, OTHER, simulations=40), list[float]()
    recorded = made.with_error(progress=seen.append)
    assert_moves(seen, most=0.5)
    told = len(seen)
    assert recorded.recorded_error is recorded.error is made.error
    assert made.recorded_error is None
    assert recorded.profile is made.profile
    assert recorded.with_error(progress=seen.append).error is made.error
    assert made.with_error().error is made.error
    assert made.mechanism.sizes == [32, 8, 8]
    assert len(seen) == told


def test_with_error_after_error_simulates_no_more(make_release: Any) -> None:
    made = make_release(TWO, TWO, OTHER)
    error = made.error
    assert made.with_error().error is error
    assert made.mechanism.sizes == [4, 4]


def test_recorded_errors_are_not_simulated_again(make_release: Any) -> None:
    made = make_release(TWO, TWO, OTHER).with_error()
    again = replace(make_release(TWO), recorded_error=made.error)
    assert again.error is made.error
    assert again.mechanism.sizes == []


def test_errors_are_left_out_of_the_printed_form(make_release: Any) -> None:
    assert "recorded_error" not in repr(make_release(TWO).with_error())


@each_of("simulations", [1, -1, 2.5, "32", True])
def test_impossible_numbers_of_simulations_are_refused(make_release: Any, simulations: Any) -> None:
    with pytest.raises(UsageError, match="simulations"):
        make_release(TWO, simulations=simulations)


def test_simulations_say_how_many_runs_there_are(make_release: Any) -> None:
    made = make_release(TWO, TWO, OTHER, simulations=2)
    assert made.error.simulations == 2
    assert made.mechanism.sizes[0] == 2
    assert release(TWO, epsilon=1).simulations == USUAL_RUNS


@each_of("items", [0, 1, 6, 2**63 - 1, np.int64(9)])
def test_items_released_on_their_own_are_n(make_release: Any, items: int) -> None:
    made = make_release(TWO)
    assert (made.items, made.n) == (None, TWO.n)
    own = replace(made, items=items)
    assert own.items == own.n == items
    assert type(own.n) is int
    assert own.profile.n == TWO.n
    assert own.with_error().n == items


@each_of("items", [-1, 2**63, 1.0, "3", True])
def test_impossible_numbers_of_items_are_refused(make_release: Any, items: Any) -> None:
    with pytest.raises(UsageError, match="items must be a whole number from 0 to"):
        replace(make_release(TWO), items=items)


def test_privhist_alone_releases_items_on_their_own() -> None:
    assert PrivHistMechanism(40).release(TWO, source=SeededSource(7)).items == TWO.n
    assert PrivHistMechanism("0.01").release(Profile([], []), source=SeededSource(7)).items is not None
    assert CumulativeMechanism(40, public_cap=9).release(TWO, source=SeededSource(7)).items is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [
        FrobeniusMechanism(1),
        PartitionMechanism(1),
        PrevalenceMechanism(1, PrivacyUnit.label(max_count=3)),
        PrevalenceMechanism(1, public_cap=9),
        CumulativeMechanism(1, public_cap=9),
        IsotonicMechanism(1, public_labels=9),
        PrivHistMechanism(1),
        PrivHistMechanism(2),
        BoundedPartitionMechanism(1, public_items=9),
        RelaxedPartitionMechanism(1, public_items=9),
    ],
    ids=lambda mechanism: mechanism.name,
)
@pytest.mark.parametrize("profile", [Profile([], []), TWO], ids=["empty", "small"])
def test_every_mechanism_makes_releases_with_errors(mechanism: Any, profile: Profile) -> None:
    made = mechanism.release(profile, source=SeededSource(7))
    assert isinstance(made.mechanism, Mechanism)
    assert made.error.simulations == USUAL_RUNS
    low, high = made.k_plus(1).interval
    assert 0 <= low <= made.profile.num_labels < high
    assert made.error.sorted_l1.value > 0


@pytest.mark.parametrize(("durfee_size", "runs"), [(2**15, 1000), (2**18, 128), (2**20, 32), (2**31, 32)])
def test_large_releases_are_simulated_less_often(make_release: Any, durfee_size: int, runs: int) -> None:
    profile = Profile.from_prevalences({durfee_size: durfee_size})
    made = make_release(profile, simulations=1000)
    assert (made.error.simulations, len(made.resimulate())) == (runs, runs)
    assert make_release(profile, simulations=7).error.simulations == 7


def test_counts_beyond_the_cap_of_labels_are_not_said_to_be_none() -> None:
    made = PrevalenceMechanism(1, PrivacyUnit.label(max_count=3)).release(
        Profile.from_prevalences({1: 90, 3: 40}), source=SeededSource(2)
    )
    assert made.largest_count == 3
    capped = made.k_plus(3)
    assert capped.statement.holds is Holds.BOTH
    for found in (made.k_plus(4), made.prevalence(9)):
        assert found.interval == (0.0, capped.interval[1])
        assert found.interval[1] >= 40
        assert str(found).endswith(": counts of 3 or more were merged")
        assert found.statement.holds is Holds.AT_MOST


@each_of("mechanism", ["survival", "histogram", "partition"])
def test_degrees_beyond_the_bound_are_not_said_to_be_none(mechanism: str) -> None:
    star = as_graph([(0, leaf) for leaf in range(1, 60)])
    how = BoundedDegrees(max_degree=2, method=mechanism)
    made = release_degrees(star, privacy=NodePrivacy(), mechanism=how, epsilon=2, simulations=2)
    assert made.largest_count == 2
    for found in (made.k_plus(3), made.prevalence(59)):
        assert found.interval == (0.0, float("inf"))
        assert str(found) == "0, no interval: edges were left out until no node had more than 2"
    # The hub has 59 edges, which its interval of two ends cannot tell.
    below, both = made.k_plus(2), made.error.k_plus(made.profile, 2)
    assert below.interval == (both.interval[0], float("inf"))
    assert str(below).endswith("edges were left out until no node had more than 2")
    assert str(below).startswith("at least ")
    assert made.prevalence(2).assumes == "no node has more than 2 edges: edges beyond that were left out"


def test_what_a_bound_on_users_left_out_is_assumed_to_be_nothing() -> None:
    made = FrobeniusMechanism(1, PrivacyUnit.user(max_items=3)).release(TWO, source=SeededSource(1))
    for found in (made.k_plus(1), made.prevalence(1)):
        assert found.assumes == "users with more than 3 items had none left out"


def test_other_releases_have_no_largest_count(make_release: Any) -> None:
    made = make_release(TWO, TWO)
    assert made.largest_count is None
    assert made.k_plus(1_000).interval[0] == 0
    assert not made.k_plus(1_000).assumes
