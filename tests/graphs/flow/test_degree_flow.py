"""Capped degrees: how far one node moves them, on every small graph; and that they are the best, by other solvers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from anonhist.errors import UsageError
from anonhist.graphs.flow import Ratios, degree_flow, degree_flow_distance, edge_count_flow, edge_count_flow_distance
from anonhist.graphs.graph import Direction, EdgePolicy, Graph


def every_pair(nodes: int, *, is_directed: bool = False) -> NDArray[np.int64]:
    pairs = [(u, v) for v in range(nodes) for u in range(nodes) if u < v or (is_directed and u > v)]
    return np.array(pairs, dtype=np.int64)


def every_graph(pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return all sets of pairs, each as a row that says which pairs are there."""
    return (np.arange(2 ** len(pairs))[:, np.newaxis] >> np.arange(len(pairs)) & 1).astype(np.bool_)


def every_pair_of_neighbours(nodes: int) -> NDArray[np.bool_]:
    """Return all graphs up to the names of all nodes but the last."""
    smaller = every_pair(nodes - 1)
    place = {frozenset(pair): number for number, pair in enumerate(smaller.tolist())}
    present = every_graph(smaller)
    # Where each graph goes when two nodes exchange their names: such exchanges make all others.
    exchanged = []
    for first in range(nodes - 2):
        names = [*range(first), first + 1, first, *range(first + 2, nodes - 1)]
        renamed = [place[frozenset(names[node] for node in pair)] for pair in smaller.tolist()]
        exchanged.append(present @ (1 << np.array(renamed, dtype=np.int64)))
    least, before = np.arange(len(present)), None
    while before is None or np.any(least != before):
        before = least
        for image in exchanged:
            least = np.minimum(least, least[image])
    distinct = present[np.unique(least)]
    ends = every_graph(np.arange(nodes - 1))
    # The pairs that hold the last node come last in every_pair.
    return np.hstack([np.repeat(distinct, len(ends), axis=0), np.tile(ends, (len(distinct), 1))])


def many_graphs(pairs: NDArray[np.int64], count: int, seed: int) -> NDArray[np.bool_]:
    """Return random graphs, sparse ones and dense ones."""
    rng = np.random.default_rng(seed)
    return rng.random((count, len(pairs))) < rng.random((count, 1))


def beside_each_other(
    pairs: NDArray[np.int64], present: NDArray[np.bool_], direction: Direction = Direction.UNDIRECTED
) -> Graph:
    """Return one graph that holds a graph of each row: their nodes follow each other."""
    nodes = int(pairs.max()) + 1
    graph, pair = np.nonzero(present)
    ends = pairs[pair] + (graph * nodes)[:, np.newaxis]
    identities = np.arange(len(present) * nodes, dtype=np.uint64)
    return Graph(ends[:, 0].copy(), ends[:, 1].copy(), identities, EdgePolicy(direction))


def flow_lists(
    pairs: NDArray[np.int64], present: NDArray[np.bool_], cap: int, direction: Direction = Direction.UNDIRECTED
) -> tuple[NDArray[np.int64], int]:
    """Return capped degrees, a row for each graph, as multiples of one over the number that is returned with them."""
    nodes = int(pairs.max()) + 1
    common = math.lcm(*range(1, nodes + 1))
    capped = degree_flow(beside_each_other(pairs, present, direction), cap)
    whole, rest = np.divmod(common * capped.numerators, capped.denominators)
    assert not rest.any()
    return whole.reshape(-1, nodes), common


def largest_move(
    pairs: NDArray[np.int64], present: NDArray[np.bool_], cap: int, direction: Direction = Direction.UNDIRECTED
) -> Fraction:
    """Return the largest sorted ℓ1 distance between a list and that without the last node."""
    without_last = present & (pairs < pairs.max()).all(axis=1)
    smaller_graphs, which = np.unique(without_last, axis=0, return_inverse=True)
    (larger, common), (smaller, _) = (flow_lists(pairs, rows, cap, direction) for rows in (present, smaller_graphs))
    larger.sort(axis=1)
    smaller.sort(axis=1)
    smaller = smaller[which.ravel()]
    return Fraction(int(np.abs(larger - smaller).sum(axis=1).max()), common)


def graph_of(edges: list[tuple[int, int]], nodes: int, direction: Direction = Direction.UNDIRECTED) -> Graph:
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Graph(ends[:, 0].copy(), ends[:, 1].copy(), np.arange(nodes, dtype=np.uint64), EdgePolicy(direction))


def test_the_neighbours_that_are_tried_are_all() -> None:
    # 1, 2, 4, 11 and 34 graphs with one node to five, up to names (OEIS A000088), and any edges of one node more.
    assert [len(every_pair_of_neighbours(nodes)) for nodes in (2, 3, 4, 5, 6)] == [2, 8, 32, 176, 1088]


@pytest.mark.full
@pytest.mark.parametrize("nodes", [2, 3, 4, 5, 6, 7])
def test_one_node_moves_the_list_of_every_small_graph_by_twice_the_cap(nodes: int) -> None:
    pairs, present = every_pair(nodes), every_pair_of_neighbours(nodes)
    for cap in range(1, nodes):
        assert largest_move(pairs, present, cap) == degree_flow_distance(Direction.UNDIRECTED, cap)


@pytest.mark.slow
def test_one_node_moves_the_edges_of_every_small_graph_by_the_cap() -> None:
    pairs, present = every_pair(6), every_pair_of_neighbours(6)
    smaller_graphs, which = np.unique(present & (pairs < 5).all(axis=1), axis=0, return_inverse=True)
    for cap in (1, 2, 3, 4, 5):
        (larger, common), (smaller, _) = (flow_lists(pairs, rows, cap) for rows in (present, smaller_graphs))
        moved = larger.sum(axis=1) - smaller.sum(axis=1)[which.ravel()]
        assert moved.min() == 0
        assert moved.max() == 2 * common * edge_count_flow_distance(Direction.UNDIRECTED, cap) == 2 * common * cap


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "count"), [(8, 2000), (11, 1000)])
def test_one_node_moves_the_list_of_no_random_graph_further(nodes: int, count: int) -> None:
    pairs = every_pair(nodes)
    for cap in (1, 2, 3, 4):
        moved = largest_move(pairs, many_graphs(pairs, count, seed=nodes), cap)
        assert moved == degree_flow_distance(Direction.UNDIRECTED, cap)


@pytest.mark.slow
@pytest.mark.parametrize("direction", [Direction.IN, Direction.OUT])
def test_one_node_moves_in_and_out_degrees_by_three_times_the_cap_at_most(direction: Direction) -> None:
    every, some = every_pair(4, is_directed=True), every_pair(7, is_directed=True)
    for cap in (1, 2, 3):
        bound = degree_flow_distance(direction, cap)
        assert bound == 3 * cap
        assert largest_move(every, every_graph(every), cap, direction) <= bound
        assert largest_move(some, many_graphs(some, 1000, seed=7), cap, direction) <= bound


def test_three_times_the_cap_is_approached_by_in_degrees() -> None:
    # Hub i points to leaf i alone. The new node takes its share of all hubs, and points to a node of its own.
    hubs = 99
    smaller = [(hub, hubs + hub) for hub in range(hubs)]
    last = 2 * hubs + 1
    larger = [*smaller, *((hub, last) for hub in range(hubs)), (last, 2 * hubs)]
    before = sorted(degree_flow(graph_of(smaller, last, Direction.IN), 1).fractions())
    after = sorted(degree_flow(graph_of(larger, last + 1, Direction.IN), 1).fractions())
    moved = sum(abs(a - b) for a, b in zip([Fraction(0), *before], after, strict=True))
    assert moved == Fraction(3 * hubs - 1, hubs + 1)
    assert Fraction(296, 100) <= moved < 3


def test_degrees_that_do_not_exceed_the_cap_are_left_alone() -> None:
    pairs = every_pair(5)
    present = every_graph(pairs)
    degrees = beside_each_other(pairs, present).degrees().reshape(-1, 5)
    for cap in (1, 2, 3, 4, 2**62):
        capped, common = flow_lists(pairs, present, cap)
        is_low = degrees.max(axis=1) <= cap
        assert np.array_equal(capped[is_low], common * degrees[is_low])
        assert np.all(capped <= common * np.minimum(degrees, cap))
        assert cap >= 4 or np.any(capped[~is_low] != common * degrees[~is_low])


@pytest.mark.slow
def test_capped_degrees_add_up_to_twice_the_edge_count_flow() -> None:
    pairs = every_pair(5)
    for cap in (1, 2, 3):
        for row in many_graphs(pairs, 40, seed=5):
            graph = beside_each_other(pairs, row[np.newaxis])
            assert sum(degree_flow(graph, cap).fractions()) == 2 * edge_count_flow(graph, cap)


def test_the_list_is_within_twice_the_edges_that_must_be_removed() -> None:
    # The largest subgraph of each with no degree above the cap, found among all graphs.
    pairs = every_pair(5)
    present = every_graph(pairs)
    degrees = beside_each_other(pairs, present).degrees().reshape(-1, 5)
    edges, masks = present.sum(axis=1), np.arange(len(present))
    for cap in (1, 2, 3):
        is_low = degrees.max(axis=1) <= cap
        is_inside = (masks[is_low, np.newaxis] & ~masks) == 0
        most = np.where(is_inside, edges[is_low, np.newaxis], 0).max(axis=0)
        capped, common = flow_lists(pairs, present, cap)
        distance = np.abs(np.sort(capped, axis=1) - common * np.sort(degrees, axis=1)).sum(axis=1)
        assert np.all(distance <= 2 * common * (edges - most))
        assert np.any(distance == 2 * common * (edges - most) * (edges > most))


@pytest.mark.slow
@pytest.mark.parametrize("direction", [Direction.UNDIRECTED, Direction.IN, Direction.OUT])
def test_another_solver_finds_the_same_list(direction: Direction) -> None:
    # Least squares with bounds: (D − s)² and, with a large weight, the caps as equations with slacks.
    rng = np.random.default_rng(3)
    pairs = every_pair(7, is_directed=direction.is_directed)
    worst = 0.0
    for _ in range(25):
        chosen = pairs[rng.random(len(pairs)) < rng.choice([0.3, 0.6, 0.9])]
        graph = graph_of([(int(u), int(v)) for u, v in chosen], 7, direction)
        cap = int(rng.integers(1, 4))
        expected = floating_list(graph, cap)
        worst = max(worst, float(np.abs(degree_flow(graph, cap).floats() - expected).max()))
    assert worst < 1e-6


def floating_list(graph: Graph, cap: int) -> NDArray[np.float64]:
    """Minimise Σ t_v² over s_v + t_v = D, t ≥ 0, 0 ≤ x ≤ 1, in floats."""
    nodes, edges = graph.num_nodes, graph.num_edges
    is_directed = graph.policy.direction.is_directed
    ends = np.zeros((2 * nodes if is_directed else nodes, edges))
    ends[graph.sources, np.arange(edges)] = 1
    ends[graph.targets + (nodes if is_directed else 0), np.arange(edges)] = 1
    rows = len(ends)
    heavy = 1e5
    matrix = np.block([[heavy * ends, heavy * np.eye(rows)], [np.zeros((rows, edges)), np.eye(rows)]])
    wanted = np.concatenate([np.full(rows, heavy * cap), np.zeros(rows)])
    above = np.concatenate([np.ones(edges), np.full(rows, float(cap) + 1)])
    found = lsq_linear(matrix, wanted, bounds=(0, above), method="bvls", tol=1e-15)
    sums: NDArray[np.float64] = ends @ found.x[:edges]
    return sums[nodes:] if graph.policy.direction is Direction.IN else sums[:nodes]


def test_the_list_of_a_graph_with_many_levels_is_known() -> None:
    # Hub 0 has 9 neighbours and the cap 6; neighbour i has i − 1 leaves of its own, up to the cap, so the hub gives
    # to the six that have least, and neighbours 5, 6 and 7 of the same slack share.
    leaves = [0, 1, 2, 3, 4, 4, 4, 5, 6]
    edges, node = [], 10
    for neighbour, own in enumerate(leaves, start=1):
        edges.append((0, neighbour))
        edges += [(neighbour, node + leaf) for leaf in range(own)]
        node += own
    capped = degree_flow(graph_of(edges, node), 6).fractions()
    third = Fraction(2, 3)
    assert capped[:10] == [6, 1, 2, 3, 4, 4 + third, 4 + third, 4 + third, 5, 6]
    assert set(capped[10:]) == {1}


def test_the_order_of_nodes_does_not_matter() -> None:
    pairs = every_pair(8)
    chosen = pairs[np.random.default_rng(2).random(len(pairs)) < 0.6]
    names = np.random.default_rng(4).permutation(8)
    renamed = np.sort(names[chosen], axis=1)
    one, other = (degree_flow(graph_of([(int(u), int(v)) for u, v in ends], 8), 2) for ends in (chosen, renamed))
    assert len(chosen) > 12
    assert one.fractions() == [other.fractions()[name] for name in names]


def test_a_graph_without_edges_has_degrees_zero() -> None:
    assert degree_flow(graph_of([], 3), 2).fractions() == [0, 0, 0]
    assert degree_flow(graph_of([], 0), 2).fractions() == []


@pytest.mark.parametrize("policy", [EdgePolicy(self_loops="count"), EdgePolicy(duplicates="count")])
def test_graphs_that_are_not_simple_are_refused(policy: EdgePolicy) -> None:
    nodes = np.zeros(1, dtype=np.int64)
    graph = Graph(nodes, nodes + 1, np.arange(2, dtype=np.uint64), policy)
    with pytest.raises(UsageError, match="self-loops"):
        degree_flow(graph, 3)


@pytest.mark.parametrize("cap", [0, -1, 1.5, True])
def test_caps_that_are_not_positive_whole_numbers_are_refused(cap: object) -> None:
    with pytest.raises(UsageError, match="max_degree"):
        degree_flow(graph_of([(0, 1)], 2), cap)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="max_degree"):
        degree_flow_distance(Direction.IN, cap)  # type: ignore[arg-type]


def test_a_solver_that_stops_early_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import anonhist.graphs.flow as module

    graph = graph_of([(0, leaf) for leaf in range(1, 4)], 4)
    assert degree_flow(graph, 2).fractions()[1:] == [Fraction(2, 3)] * 3

    def first_come(left: NDArray[np.int64], *_: object) -> tuple[Ratios, Ratios]:
        first = np.arange(left.size) < 2
        return Ratios.of_whole(first.astype(np.int64)), Ratios.of_whole(np.zeros(4, dtype=np.int64))

    monkeypatch.setattr(module, "even_shares", first_come)
    with pytest.raises(ArithmeticError, match="not be verified as optimal"):
        degree_flow(graph, 2)
