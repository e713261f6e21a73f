import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.graphs.graph import IDENTITY_KEY, SIMPLE, Degrees, Direction, EdgePolicy, Graph
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile

MULTIGRAPH = EdgePolicy(self_loops="count", duplicates="count")
ARCS = EdgePolicy(Direction.OUT, self_loops="count", duplicates="count")


def graph(
    edges: list[tuple[int, int]], nodes: int, policy: EdgePolicy = SIMPLE, *, nodes_listed: bool = False
) -> Graph:
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Graph(ends[:, 0].copy(), ends[:, 1].copy(), np.arange(nodes, dtype=np.uint64), policy, nodes_listed)


def test_edges_are_sorted_and_arrays_read_only() -> None:
    made = graph([(1, 2), (0, 3), (0, 1)], 4)
    assert list(zip(made.sources.tolist(), made.targets.tolist(), strict=True)) == [(0, 1), (0, 3), (1, 2)]
    assert (made.num_nodes, made.num_edges, repr(made)) == (4, 3, "Graph(4 nodes, 3 edges)")
    for array in (made.sources, made.targets, made.identities):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("policy", "degrees"),
    [
        (MULTIGRAPH, [2, 1, 5]),
        (EdgePolicy(Direction.IN, self_loops="count", duplicates="count"), [0, 1, 3]),
        (ARCS, [2, 0, 2]),
    ],
)
def test_degrees_go_by_direction_and_loops_have_two_ends(policy: EdgePolicy, degrees: list[int]) -> None:
    made = graph([(0, 1), (0, 2), (2, 2), (2, 2)], 3, policy)
    assert made.degrees().tolist() == degrees


def test_the_profile_of_degrees_carries_the_edge_as_its_unit() -> None:
    degrees = graph([(0, 1), (1, 3)], 5).degree_profile()
    assert degrees.profile == Profile.from_counts([1, 2, 1], unit=PrivacyUnit.edge(degrees=2))
    assert (degrees.num_nodes, degrees.num_zeros) == (None, None)
    arcs = graph([(0, 1), (1, 3)], 5, EdgePolicy(Direction.IN), nodes_listed=True).degree_profile()
    assert arcs.profile == Profile.from_counts([1, 1], unit=PrivacyUnit.edge(degrees=1))
    assert (arcs.num_nodes, arcs.num_zeros, arcs.policy) == (5, 3, EdgePolicy(Direction.IN))


def test_graphs_without_edges_or_nodes_are_graphs() -> None:
    for nodes in (0, 1, 3):
        empty = graph([], nodes, nodes_listed=True)
        assert empty.degrees().tolist() == [0] * nodes
        assert empty.degree_profile().num_zeros == nodes
    loop = graph([(0, 0)], 1, MULTIGRAPH)
    assert loop.degrees().tolist() == [2]


@pytest.mark.parametrize(
    ("edges", "policy", "told"),
    [
        ([(0, 3)], SIMPLE, "node indices"),
        ([(-1, 0)], SIMPLE, "node indices"),
        ([(1, 0)], SIMPLE, "source before its target"),
        ([(1, 1)], SIMPLE, "self-loops"),
        ([(0, 1), (1, 2), (0, 1)], SIMPLE, "equal edges"),
        ([(1, 0), (0, 1), (1, 0)], EdgePolicy(Direction.IN), "equal edges"),
    ],
)
def test_edges_that_the_policy_leaves_out_are_refused(
    edges: list[tuple[int, int]], policy: EdgePolicy, told: str
) -> None:
    with pytest.raises(DataError, match=told):
        graph(edges, 3, policy)


def test_arrays_of_other_types_or_lengths_are_refused() -> None:
    ends, identities = np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.uint64)
    with pytest.raises(DataError, match="one-dimensional array of int64"):
        Graph(ends.astype(np.int32), ends + 1, identities, SIMPLE)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="one-dimensional array of uint64"):
        Graph(ends, ends + 1, identities.astype(np.int64), SIMPLE)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="one-dimensional array of int64"):
        Graph(ends.reshape(1, 1), ends + 1, identities, SIMPLE)
    with pytest.raises(DataError, match="a source and a target"):
        Graph(ends, np.ones(2, dtype=np.int64), identities, SIMPLE)
    with pytest.raises(UsageError, match="EdgePolicy"):
        Graph(ends, ends + 1, identities, "simple")  # type: ignore[arg-type]


def test_degrees_reach_two_to_the_sixty_second() -> None:
    huge = Degrees(Profile.from_counts([2**62, 1], unit=PrivacyUnit.edge(degrees=2)), SIMPLE, num_nodes=2**62)
    assert huge.num_zeros == 2**62 - 2


def test_degrees_of_another_unit_or_with_too_few_nodes_are_refused() -> None:
    profile = Profile.from_counts([1, 2, 1], unit=PrivacyUnit.edge(degrees=2))
    with pytest.raises(UsageError, match=r"PrivacyUnit\.edge\(degrees=1\)"):
        Degrees(profile, EdgePolicy(Direction.IN))
    with pytest.raises(UsageError, match=r"PrivacyUnit\.edge\(degrees=2\)"):
        Degrees(Profile.from_counts([1, 1]), SIMPLE)
    with pytest.raises(DataError, match="below the number of nodes"):
        Degrees(profile, SIMPLE, num_nodes=2)
    assert Degrees(profile, SIMPLE, num_nodes=3).num_zeros == 0
    with pytest.raises(UsageError, match="EdgePolicy"):
        Degrees(profile, None)  # type: ignore[arg-type]


def test_the_key_of_identities_never_changes() -> None:
    assert IDENTITY_KEY == b"anonhist edges 1"
