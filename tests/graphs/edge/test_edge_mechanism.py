"""Edge privacy: how far one edge moves the degrees, and what is released of them."""

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.graphs import Direction, EdgeMechanism, EdgePolicy, EdgePrivacy, Graph, as_graph, release_degrees
from anonhist.graphs.graph import Degrees
from anonhist.mechanisms import MECHANISM_NAMES, FrobeniusMechanism, IsotonicMechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist_testing.sources import SeededSource

NODES = list("abcde")
RING = as_graph([(str(node), str((node + 1) % 60)) for node in range(60)], nodes=map(str, range(64)))


def policies() -> list[EdgePolicy]:
    return [EdgePolicy(*choices) for choices in product(Direction, ("drop", "count"), ("merge", "count"))]


@pytest.mark.parametrize("policy", policies(), ids=str)
def test_one_edge_moves_the_list_by_what_the_unit_says(policy: EdgePolicy) -> None:
    """All lists of up to three rows of six kinds: one pair of nodes both ways, two self-loops, two more ends."""
    possible = [*product(NODES[:2], repeat=2), (NODES[0], NODES[2]), (NODES[2], NODES[1])]
    known = {
        rows: as_graph(rows, policy=policy, nodes=NODES).degree_profile().profile
        for size in range(4)
        for rows in combinations_with_replacement(sorted(possible), size)
    }
    farthest = 0
    for edges, before in known.items():
        for extra in possible if len(edges) < 3 else ():
            farthest = max(farthest, sorted_l1(before, known[tuple(sorted((*edges, extra)))]))
    assert farthest == policy.degrees_per_edge == PrivacyUnit.edge(degrees=policy.degrees_per_edge).max_distance


@pytest.mark.parametrize("direction", Direction)
def test_mechanisms_are_told_how_many_cells_an_edge_has(direction: Direction) -> None:
    graph = as_graph([("a", "b"), ("b", "c")], policy=EdgePolicy(direction))
    released = release_degrees(graph, privacy=EdgePrivacy(), epsilon=1, source=SeededSource(7))
    mechanism = released.mechanism
    assert isinstance(mechanism, EdgeMechanism)
    assert mechanism.central.epsilon_per_cell == (Fraction(1, 2) if direction is Direction.UNDIRECTED else 1)
    assert released.guarantee.epsilon == 1
    assert released.guarantee.unit.kind == "edge"
    twice = release_degrees(
        graph, privacy=EdgePrivacy(relation=NeighboringRelation.SUBSTITUTE), epsilon=1, source=SeededSource(7)
    )
    assert isinstance(twice.mechanism, EdgeMechanism)
    assert twice.mechanism.central.epsilon_per_cell == mechanism.central.epsilon_per_cell / 2


@pytest.mark.parametrize("name", MECHANISM_NAMES)
def test_every_mechanism_releases_degrees(name: str) -> None:
    released = release_degrees(RING, privacy=EdgePrivacy(64), mechanism=name, epsilon=16, source=SeededSource(7))
    assert released.profile.unit == released.guarantee.unit == PrivacyUnit.edge()
    assert released.zeros == 64 - released.profile.num_labels
    assert released.profile.k_plus(64) == 0
    assert sorted_l1(released.profile, RING.degree_profile().profile) < 60
    assert released.mechanism.name.startswith("edge-")


def test_public_numbers_follow_from_the_number_of_nodes() -> None:
    released = release_degrees(RING, privacy=EdgePrivacy(100), mechanism="isotonic", epsilon=2, source=SeededSource(7))
    assert isinstance(released.mechanism, EdgeMechanism)
    assert released.mechanism.central == IsotonicMechanism(2, PrivacyUnit.edge(), public_labels=100)
    for name in ("isotonic", "cumulative", "bounded-partition"):
        with pytest.raises(UsageError, match="needs the number of nodes"):
            release_degrees(RING, privacy=EdgePrivacy(), mechanism=name, epsilon=2)
    loops = as_graph([("a", "a"), ("a", "b")], policy=EdgePolicy(self_loops="count"))
    with pytest.raises(UsageError, match="without self-loops"):
        release_degrees(loops, privacy=EdgePrivacy(5), mechanism="cumulative", epsilon=2)


@pytest.mark.slow
def test_nothing_is_said_of_isolated_nodes_unless_their_number_is_public() -> None:
    released = release_degrees(RING, privacy=EdgePrivacy(), epsilon=2, source=SeededSource(7))
    assert released.zeros is None
    assert "which nodes there are is not protected" in str(released.guarantee)
    public = release_degrees(RING, privacy=EdgePrivacy(64), epsilon=2, source=SeededSource(7))
    assert "64 nodes must be public knowledge" in str(public.guarantee)
    estimate = public.prevalence(0)
    assert estimate.value == public.zeros
    assert estimate.interval[0] <= 4 <= estimate.interval[1]


def test_more_nodes_than_are_public_are_refused() -> None:
    for graph in (RING, RING.degree_profile()):
        with pytest.raises(UsageError, match="public_nodes is below the number of nodes"):
            release_degrees(graph, privacy=EdgePrivacy(63), epsilon=2)
    unlisted = as_graph([("a", "b"), ("b", "c")])
    with pytest.raises(UsageError, match="public_nodes is below the number of nodes"):
        release_degrees(unlisted, privacy=EdgePrivacy(2), epsilon=2)
    assert release_degrees(unlisted, privacy=EdgePrivacy(3), epsilon=2).zeros is not None


def test_what_so_many_nodes_cannot_have_is_cut() -> None:
    edges = EdgeMechanism(FrobeniusMechanism(1, PrivacyUnit.edge()), EdgePolicy(), public_nodes=4)
    cut = edges._possible(Profile.from_counts([9, 7, 2, 2, 2, 1, 1], unit=PrivacyUnit.edge()))
    assert cut.partition().tolist() == [3, 3, 2, 2]
    alone = EdgeMechanism(FrobeniusMechanism(1, PrivacyUnit.edge()), EdgePolicy(), public_nodes=1)
    assert alone._possible(Profile.from_counts([3, 1], unit=PrivacyUnit.edge())).n == 0
    loops = EdgeMechanism(FrobeniusMechanism(1, PrivacyUnit.edge()), EdgePolicy(self_loops="count"), public_nodes=2)
    assert loops._possible(Profile.from_counts([9, 7, 2], unit=PrivacyUnit.edge())).partition().tolist() == [9, 7]


@pytest.mark.slow
def test_cutting_never_leads_away_from_the_truth() -> None:
    edges = EdgeMechanism(FrobeniusMechanism(1, PrivacyUnit.edge()), EdgePolicy(), public_nodes=8)
    rng = np.random.default_rng(7)
    moved = 0
    for _ in range(300):
        truth = Profile.from_counts(rng.integers(0, 8, size=8), unit=PrivacyUnit.edge())
        drawn = Profile.from_counts(rng.integers(0, 14, size=12), unit=PrivacyUnit.edge())
        cut = edges._possible(drawn)
        assert sorted_l1(truth, cut) <= sorted_l1(truth, drawn)
        moved += cut != drawn
    assert moved > 100


def test_simulations_know_the_public_number_of_nodes() -> None:
    edges = EdgeMechanism(FrobeniusMechanism(1, PrivacyUnit.edge()), EdgePolicy(), public_nodes=50)
    public = Profile.from_counts([3] * 20, unit=PrivacyUnit.edge())
    for run, zeros in edges.simulate_with_zeros(public, 30, size=20, rng=np.random.default_rng(7)):
        assert run.num_labels + zeros == 50
        assert run.k_plus(50) == 0


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(UsageError, match="edge of this policy"):
        EdgeMechanism(FrobeniusMechanism(1), EdgePolicy())
    with pytest.raises(UsageError, match="edge of this policy"):
        EdgeMechanism(FrobeniusMechanism(1, PrivacyUnit.edge()), EdgePolicy(Direction.IN))
    mechanism = EdgeMechanism(FrobeniusMechanism(1, PrivacyUnit.edge(degrees=1)), EdgePolicy(Direction.IN))
    with pytest.raises(UsageError, match="different policy"):
        mechanism.release(RING)
    for bad in (0, 2**31 + 1, "many"):
        with pytest.raises(UsageError, match="public_nodes"):
            EdgePrivacy(bad)  # type: ignore[arg-type]
    for name in ("mine", 3):
        with pytest.raises(UsageError, match="mechanism"):
            release_degrees(RING, privacy=EdgePrivacy(), mechanism=name, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="A Graph or Degrees"):
        release_degrees([(1, 2)], privacy=EdgePrivacy(), epsilon=1)  # type: ignore[arg-type]


def test_nothing_at_all_is_released() -> None:
    unit = PrivacyUnit.edge()
    empty = Degrees(Profile([], [], unit=unit), EdgePolicy(), 7)
    released = release_degrees(empty, privacy=EdgePrivacy(7), epsilon=30, source=SeededSource(7))
    assert (released.profile.n, released.zeros) == (0, 7)
    none = np.zeros(0, dtype=np.int64)
    graph = Graph(none, none, np.zeros(0, dtype=np.uint64), EdgePolicy())
    assert release_degrees(graph, privacy=EdgePrivacy(), epsilon=30, source=SeededSource(7)).zeros is None


def test_nodes_without_an_edge_have_the_interval_that_all_others_leave_them() -> None:
    edges = EdgeMechanism(FrobeniusMechanism("0.1", PrivacyUnit.edge()), EdgePolicy(), public_nodes=64)
    released = edges.release(RING, source=SeededSource(7))
    low, high = released.k_plus(1).interval
    assert released.prevalence(0).interval == (64 - high, 64 - low)
    assert 0 <= low < high <= 64
    told = released.evidence
    assert told is not None
    assert told.prevalences is not None
    assert max(told.prevalences.highs) == max(told.band.highs) == 64
    assert "_simulated_error" not in vars(released)
