from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from anonhist.errors import DataError, UsageError
from anonhist.graphs.graph import IDENTITY_KEY, SIMPLE, Direction, EdgePolicy, Graph
from anonhist.graphs.release import as_graph
from anonhist.numeric.hashing import keyed_hash

POLICIES = [
    EdgePolicy(direction, loops, duplicates)
    for direction in Direction
    for loops in ("drop", "count")
    for duplicates in ("merge", "count")
]
EDGES = [("b", "a"), ("a", "b"), ("c", "c"), ("b", "é"), ("b", "é"), ("\uffff", "\U0001f600"), ("a\0", "a")]


def reference(edges: list[tuple[str, str]], policy: EdgePolicy, nodes: list[str]) -> list[int]:
    """Count degrees, one edge at a time, of nodes in the order of their code points."""
    kept: Counter[tuple[str, str]] = Counter()
    for u, v in edges:
        if u != v or policy.self_loops == "count":
            kept[(u, v) if policy.direction.is_directed else (min(u, v), max(u, v))] += 1
    degrees: Counter[str] = Counter()
    for (u, v), times in kept.items():
        each = times if policy.duplicates == "count" else 1
        if policy.direction is not Direction.IN:
            degrees[u] += each
        if policy.direction is not Direction.OUT:
            degrees[v] += each
    return [degrees[node] for node in sorted(nodes)]


class EdgeView(Mapping[tuple[Any, Any], dict[str, Any]]):
    """The edges of a networkx graph, which are a mapping from edges to their attributes."""

    def __init__(self, edges: list[tuple[Any, Any]]) -> None:
        self._edges = edges

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self._edges)

    def __len__(self) -> int:
        return len(self._edges)

    def __getitem__(self, edge: tuple[Any, Any]) -> dict[str, Any]:
        raise KeyError(edge)


class Network:
    """What is asked of a networkx graph."""

    def __init__(self, nodes: list[Any], edges: list[tuple[Any, Any]], *, is_directed: bool) -> None:
        self._nodes, self._edges, self._is_directed = nodes, edges, is_directed

    def nodes(self) -> list[Any]:
        return self._nodes

    def edges(self) -> EdgeView:
        return EdgeView(self._edges)

    def is_directed(self) -> bool:
        return self._is_directed


def ends(graph: Graph) -> list[tuple[int, int]]:
    return list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_pairs_have_the_degrees_that_counting_them_one_by_one_gives(policy: EdgePolicy) -> None:
    names = sorted({name for edge in EDGES for name in edge})
    graph = as_graph(EDGES, policy=policy)
    assert graph.degrees().tolist() == reference(EDGES, policy, names)
    assert graph.policy == policy
    assert not graph.nodes_listed
    listed = as_graph(iter(EDGES), policy=policy, nodes=[*names, "alone", "alone"])
    assert listed.degrees().tolist() == reference(EDGES, policy, [*names, "alone"])
    assert listed.nodes_listed


def test_nodes_are_ranked_by_code_points_and_known_by_hashes_of_their_names() -> None:
    names = ["a", "a\0", "b", "c", "é", "\uffff", "\U0001f600"]
    graph = as_graph(EDGES)
    assert graph.identities.tolist() == keyed_hash(names, key=IDENTITY_KEY)[:, 0].tolist()
    assert ends(graph) == [(0, 1), (0, 2), (2, 4), (5, 6)]


def test_a_node_that_comes_changes_neither_order_nor_identity_of_the_others() -> None:
    few, more = as_graph([(9, 10), (10, 2)]), as_graph([(9, 10), (1, 9), (10, 2), (1, 2), (1, 10)])
    places = [more.identities.tolist().index(identity) for identity in few.identities.tolist()]
    assert places == sorted(places)
    assert {(places[u], places[v]) for u, v in ends(few)} <= set(ends(more))


def test_arrays_lists_and_texts_of_the_same_numbers_are_the_same_graph() -> None:
    rng = np.random.default_rng(3)
    pairs = rng.integers(-5, 40, size=(200, 2))
    expected = as_graph([(str(u), str(v)) for u, v in pairs.tolist()])
    for source in (
        pairs,
        pairs.astype(np.int8),
        pairs.astype(str),
        pairs.astype(np.dtypes.StringDType()),
        pairs.astype(object),
        pairs.tolist(),
        list(pairs),
    ):
        graph = as_graph(source)
        assert ends(graph) == ends(expected)
        assert graph.identities.tolist() == expected.identities.tolist()
    huge = np.array([[2**64 - 1, 2**63]], dtype=np.uint64)
    assert as_graph(huge).identities.tolist() == as_graph([(2**64 - 1, 2**63)]).identities.tolist()


@pytest.mark.parametrize("form", [scipy.sparse.coo_array, scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_entries_of_a_matrix_are_edges_whichever_triangle_they_are_in(form: Any) -> None:
    rows, columns, values = [0, 2, 2, 5, 5, 1, 1], [1, 0, 2, 2, 2, 4, 4], [1.0, -3.0, 1.0, 1.0, 1.0, 2.0, -2.0]
    upper = form(scipy.sparse.coo_array((values, (rows, columns)), shape=(6, 6)))
    for matrix in (upper, form(upper + upper.T)):
        before = matrix.nnz
        graph = as_graph(matrix)
        # Row 5 has two entries in one place, rows 1 and 4 entries that add up to nothing.
        assert graph.identities.tolist() == keyed_hash(["0", "1", "2", "5"], key=IDENTITY_KEY)[:, 0].tolist()
        assert ends(graph) == [(0, 1), (0, 2), (2, 3)]
        assert matrix.nnz == before
    listed = as_graph(upper, policy=EdgePolicy(Direction.IN, self_loops="count"), nodes=range(6))
    assert listed.degrees().tolist() == [1, 1, 2, 0, 0, 0]


def test_entries_in_one_place_are_one_entry_and_none_if_they_add_up_to_nothing() -> None:
    # Three in one place of row 0, two in one of row 1.
    matrix = scipy.sparse.csr_array(([1, 1, 1, 5, -5], [1, 1, 1, 2, 2], [0, 3, 5, 5]), shape=(3, 3))
    graph = as_graph(matrix)
    assert graph.identities.tolist() == keyed_hash(["0", "1"], key=IDENTITY_KEY)[:, 0].tolist()
    assert ends(graph) == [(0, 1)]
    assert matrix.nnz == 5


def test_rows_of_a_matrix_are_ranked_as_texts() -> None:
    matrix = scipy.sparse.coo_array(([1, 1], ([2, 10], [10, 9])), shape=(12, 12))
    assert ends(as_graph(matrix, policy=EdgePolicy(Direction.OUT))) == [(0, 2), (1, 0)]


def test_matrices_that_are_not_square_or_cannot_say_what_is_asked_are_refused() -> None:
    with pytest.raises(DataError, match="square"):
        as_graph(scipy.sparse.csr_array((2, 3)))
    with pytest.raises(UsageError, match="merge"):
        as_graph(scipy.sparse.csr_array((3, 3)), policy=EdgePolicy(duplicates="count"))


class NodeView(EdgeView, AbstractSet[Any]):
    """The nodes of a networkx graph, which are a set and a mapping to their attributes."""

    def __contains__(self, node: object) -> bool:
        return node in self._edges


def test_nodes_of_a_networkx_graph_are_there_because_of_their_edges_unless_they_are_listed() -> None:
    nodes = [3, "x", (1, 2), "alone"]
    network = Network(nodes, [(3, "x"), ("x", (1, 2)), (3, 3)], is_directed=False)
    graph = as_graph(network)
    assert not graph.nodes_listed
    assert sorted(graph.degrees().tolist()) == [1, 1, 2]
    for listed in (as_graph(network, nodes=nodes), as_graph(network, nodes=NodeView(nodes))):
        assert listed.nodes_listed
        assert sorted(listed.degrees().tolist()) == [0, 1, 1, 2]
    arcs = Network(["a", "b", "c"], [("a", "b"), ("b", "a"), ("c", "a")], is_directed=True)
    assert as_graph(arcs, policy=EdgePolicy(Direction.IN)).degrees().tolist() == [2, 1, 0]
    assert as_graph(arcs).degrees().tolist() == [2, 1, 1]


@pytest.mark.parametrize("form", ["networkx", "pairs", "matrix"])
def test_a_star_without_its_hub_has_no_nodes(form: str) -> None:
    """One node more moves no number of nodes by a thousand: those that only it made are counted nowhere."""
    counts = []
    for leaves in (1000, 0):
        edges = [(0, leaf) for leaf in range(1, leaves + 1)]
        hubs = np.zeros(leaves, dtype=np.int64)
        sources: dict[str, Any] = {
            "networkx": Network(list(range(1001)), edges, is_directed=False),
            "pairs": edges,
            "matrix": scipy.sparse.coo_array((hubs + 1, (hubs, np.arange(1, leaves + 1))), shape=(1001, 1001)),
        }
        graph = as_graph(sources[form])
        assert not graph.nodes_listed
        assert graph.degree_profile().num_nodes is None
        counts.append(graph.num_nodes)
    # No mechanism for nodes may look at their number then, or at nodes of degree 0.
    assert counts == [1001, 0]


def test_in_degrees_of_a_graph_without_directions_are_refused() -> None:
    edges = Network(["a", "b"], [("a", "b")], is_directed=False)
    with pytest.raises(UsageError, match="undirected"):
        as_graph(edges, policy=EdgePolicy(Direction.IN))


@pytest.mark.parametrize(
    "empty", [[], np.zeros((0, 2), dtype=np.int64), scipy.sparse.csr_array((4, 4)), Network([], [], is_directed=True)]
)
def test_no_edges_are_a_graph_without_edges(empty: Any) -> None:
    graph = as_graph(empty)
    assert (graph.num_nodes, graph.num_edges, graph.degrees().tolist()) == (0, 0, [])


def test_nodes_without_edges_are_there_where_they_are_listed() -> None:
    assert as_graph([], nodes=["one"]).degrees().tolist() == [0]
    assert as_graph([("one", "one")]).degrees().tolist() == [0]
    assert as_graph([("one", "one")], policy=EdgePolicy(self_loops="count")).degrees().tolist() == [2]


@pytest.mark.parametrize("nodes", [["a", "c"], np.array(["a", "c"]), [], ["0", "a"]])
def test_an_edge_with_a_node_that_is_not_listed_is_refused_without_its_name(nodes: Any) -> None:
    with pytest.raises(DataError, match="not listed") as told:
        as_graph([("a", "secret")], nodes=nodes)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    "edges",
    [[(1, "1")], [(1.0, "1")], [(1, 2), (True, 2)], [("a", "b"), ("None", None)], [(float("nan"), 1)]],
)
def test_ids_that_a_text_does_not_tell_apart_or_that_are_missing_are_refused(edges: list[tuple[Any, Any]]) -> None:
    with pytest.raises(DataError, match=r"compared as text|missing"):
        as_graph(edges)


def test_ids_that_cannot_be_told_apart_are_refused_among_nodes_too() -> None:
    with pytest.raises(DataError, match="compared as text"):
        as_graph([], nodes=["1", 1])


@pytest.mark.parametrize("edges", [[(1, 2, 3)], [(1, 2), (3,)]])
def test_rows_that_are_no_pairs_are_refused(edges: Any) -> None:
    with pytest.raises(DataError, match="a pair"):
        as_graph(edges)


def test_ids_that_cannot_be_hashed_are_refused() -> None:
    with pytest.raises(DataError, match="hashable"):
        as_graph([([1], [2])])


@pytest.mark.parametrize(
    "source", ["ab", b"ab", ["ab", "cd"], {"a": "b"}, [{1, 2}], 5, None, np.zeros((2, 3)), np.zeros(4, dtype=np.int64)]
)
def test_what_holds_no_edges_is_refused(source: Any) -> None:
    with pytest.raises(UsageError):
        as_graph(source)


WHOLE = [(1, 7), (7, 0), (2**53 - 1, -3)]


@pytest.mark.parametrize(
    "floats",
    [
        [(1.0, 7), (7.0, -0.0), (2.0**53 - 1, -3.0)],
        [(np.float32(1), np.float64(7)), (Decimal("7.0"), 0.0), (2**53 - 1, np.int8(-3))],
        np.array(WHOLE, dtype=np.float64),
        np.array(WHOLE, dtype=np.float64).astype(object),
    ],
    ids=["python", "numpy", "array", "objects"],
)
def test_whole_numbers_have_one_name_whatever_holds_them(floats: Any) -> None:
    expected = as_graph(WHOLE)
    for graph in (as_graph(floats), as_graph(floats, nodes=[0, 1, 7.0, "-3", np.float64(2**53 - 1)])):
        assert graph.identities.tolist() == expected.identities.tolist()
        assert ends(graph) == ends(expected)


@pytest.mark.parametrize("secret", [7.25, 2.0**53, -1e300, float("inf"), np.float32(0.5), Decimal("7.25")])
def test_other_floats_have_no_name(secret: Any) -> None:
    for source in ([(secret, 1)], np.array([(secret, 1)], dtype=np.float64), [(1, 2), (3, secret)]):
        with pytest.raises(DataError, match="whole numbers or text") as told:
            as_graph(source)
        assert str(secret) not in str(told.value)
    with pytest.raises(DataError, match="whole numbers or text"):
        as_graph([(1, 2)], nodes=[1, 2, secret])


def test_arrays_of_floats_with_missing_ends_are_refused() -> None:
    with pytest.raises(DataError, match="missing"):
        as_graph(np.array([(1.0, np.nan)]))
    with pytest.raises(UsageError, match="numbers or strings"):
        as_graph(np.zeros((3, 2), dtype=np.complex128))


@pytest.mark.parametrize("nodes", ["ab", {"a": 1}, np.zeros((2, 2), dtype=np.int64)])
def test_what_lists_no_nodes_is_refused(nodes: Any) -> None:
    with pytest.raises(UsageError, match="nodes must"):
        as_graph([("a", "b")], nodes=nodes)


def test_a_policy_is_needed() -> None:
    with pytest.raises(UsageError, match="EdgePolicy"):
        as_graph([("a", "b")], policy="simple")  # type: ignore[arg-type]
    assert as_graph([("a", "b")], policy=SIMPLE).num_edges == 1
