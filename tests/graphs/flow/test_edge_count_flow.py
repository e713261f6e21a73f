"""Edges shared out under a cap: how far one node moves their number, and that no more can be, by another solver."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from anonhist.errors import UsageError
from anonhist.graphs.flow import edge_count_flow, edge_count_flow_distance
from anonhist.graphs.graph import Direction, EdgePolicy, Graph


def graph_of(edges: list[tuple[int, int]], nodes: int, direction: Direction = Direction.UNDIRECTED) -> Graph:
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Graph(ends[:, 0].copy(), ends[:, 1].copy(), np.arange(nodes, dtype=np.uint64), EdgePolicy(direction))


@pytest.mark.slow
def test_one_node_moves_the_number_of_every_graph_with_four_nodes_by_the_cap() -> None:
    # All graphs with six nodes are tried in test_degree_flow, where the number is half a sum.
    pairs, last = list(combinations(range(3), 2)), 3
    for cap in (1, 2, 3):
        moved = set()
        for mask in range(2**3):
            inner = [pair for place, pair in enumerate(pairs) if mask >> place & 1]
            before = edge_count_flow(graph_of(inner, last), cap)
            for ends in range(2**3):
                outer = [(node, last) for node in range(3) if ends >> node & 1]
                moved.add(edge_count_flow(graph_of(inner + outer, last + 1), cap) - before)
        assert min(moved) == 0
        assert max(moved) == edge_count_flow_distance(Direction.UNDIRECTED, cap) == cap
        assert cap > 1 or Fraction(1, 2) in moved


@pytest.mark.slow
def test_one_node_moves_a_number_of_arcs_by_twice_the_cap() -> None:
    rng = np.random.default_rng(5)
    pairs = [(u, v) for u in range(7) for v in range(7) if u != v]
    for cap in (1, 2):
        bound = edge_count_flow_distance(Direction.OUT, cap)
        moved = set()
        for _ in range(150):
            present = rng.random(len(pairs)) < rng.random()
            arcs = [pair for pair, is_there in zip(pairs, present, strict=True) if is_there]
            inner = [(u, v) for u, v in arcs if max(u, v) < 6]
            graphs = graph_of(arcs, 7, Direction.OUT), graph_of(inner, 6, Direction.OUT)
            moved.add(edge_count_flow(graphs[0], cap) - edge_count_flow(graphs[1], cap))
        assert min(moved) >= 0
        assert max(moved) == bound == 2 * cap


@pytest.mark.slow
@pytest.mark.parametrize("direction", [Direction.UNDIRECTED, Direction.IN])
def test_linear_programming_finds_the_same_number(direction: Direction) -> None:
    rng = np.random.default_rng(6)
    below = 0
    for _ in range(40):
        u, v = np.triu_indices(9, 1)
        chosen = rng.random(u.size) < rng.choice([0.2, 0.5, 0.8])
        graph = graph_of(list(zip(u[chosen].tolist(), v[chosen].tolist(), strict=True)), 9, direction)
        cap = int(rng.integers(1, 5))
        ends = np.zeros((18, graph.num_edges))
        ends[graph.sources, np.arange(graph.num_edges)] = 1
        ends[graph.targets + (9 if direction.is_directed else 0), np.arange(graph.num_edges)] = 1
        best = -linprog(-np.ones(graph.num_edges), ends, np.full(18, cap), bounds=(0, 1)).fun
        assert float(edge_count_flow(graph, cap)) == pytest.approx(best, abs=1e-9)
        below += edge_count_flow(graph, cap) < graph.num_edges
    assert below > 10


def test_all_edges_are_kept_where_no_degree_exceeds_the_cap() -> None:
    path = graph_of([(0, 1), (1, 2), (2, 3)], 4)
    assert [edge_count_flow(path, cap) for cap in (1, 2, 3, 2**62)] == [2, 3, 3, 3]
    assert edge_count_flow(graph_of([], 4), 1) == edge_count_flow(graph_of([], 0), 1) == 0


def test_what_cannot_be_capped_is_refused() -> None:
    nodes = np.zeros(1, dtype=np.int64)
    multigraph = Graph(nodes, nodes + 1, np.arange(2, dtype=np.uint64), EdgePolicy(duplicates="count"))
    with pytest.raises(UsageError, match="self-loops"):
        edge_count_flow(multigraph, 3)
    with pytest.raises(UsageError, match="max_degree"):
        edge_count_flow(graph_of([(0, 1)], 2), 0)
    with pytest.raises(UsageError, match="max_degree"):
        edge_count_flow_distance(Direction.UNDIRECTED, 0)
