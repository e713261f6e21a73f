"""The projection against the plain scan, one edge after the other, however its work is divided."""

import importlib
import tracemalloc
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.graphs.graph import Direction, EdgePolicy, Graph
from anonhist.graphs.projection import kept_edges, project, project_each, stable_order

MODULE = importlib.import_module("anonhist.graphs.projection")


def plain_scan(
    sources: NDArray[np.int64], targets: NDArray[np.int64], order: NDArray[np.int64], cap: int, *, is_directed: bool
) -> list[bool]:
    """Return which edges are kept, by the definition."""
    leaving, entering = {}, {}
    if not is_directed:
        entering = leaving
    kept = [False] * order.size
    for edge in order.tolist():
        source, target = int(sources[edge]), int(targets[edge])
        if leaving.get(source, 0) < cap and entering.get(target, 0) < cap:
            leaving[source] = leaving.get(source, 0) + 1
            entering[target] = entering.get(target, 0) + 1
            kept[edge] = True
    return kept


def random_graph(rng: np.random.Generator, nodes: int, edges: int, direction: Direction) -> Graph:
    """Return a graph of which some nodes have most of the edges."""
    weights = 1 / np.arange(1, nodes + 1)
    ends = rng.choice(nodes, size=(edges, 2), p=weights / weights.sum())
    ends = ends[ends[:, 0] != ends[:, 1]]
    if not direction.is_directed:
        ends.sort(axis=1)
    ends = np.unique(ends, axis=0)
    return Graph(ends[:, 0], ends[:, 1], rng.integers(2**64, size=nodes, dtype=np.uint64), EdgePolicy(direction))


@cache
def small_scans() -> list[tuple[tuple[NDArray[np.int64], ...], dict[str, Any], list[bool]]]:
    """Return edges in some order, how they are to be scanned, and which are kept."""
    rng, found = np.random.default_rng(7), []
    for number in range(250):
        nodes, edges = int(rng.integers(2, 25)), int(rng.integers(60))
        sources = rng.integers(nodes, size=edges)
        targets = (sources + rng.integers(1, nodes, size=edges)) % nodes
        order = rng.permutation(edges)
        cap, is_directed = int(rng.integers(1, 7)), number % 2 == 1
        kept = plain_scan(sources, targets, order, cap, is_directed=is_directed)
        settings = {"num_nodes": nodes, "max_degree": cap, "is_directed": is_directed}
        found.append(((sources, targets, order), settings, kept))
    return found


# Parts of one edge and of all; only rounds, no rounds, and rounds that give up early.
@pytest.mark.slow
@pytest.mark.parametrize("part", [1, 7, 1 << 16])
@pytest.mark.parametrize(("few", "share"), [(256, 32), (1, 1 << 40), (1, 2), (1 << 40, 32)])
def test_it_is_the_plain_scan_in_any_order(monkeypatch: pytest.MonkeyPatch, part: int, few: int, share: int) -> None:
    monkeypatch.setattr(MODULE, "_PART", part)
    monkeypatch.setattr(MODULE, "_FEW", few)
    monkeypatch.setattr(MODULE, "_SHARE", share)
    for edges, settings, kept in small_scans():
        assert kept_edges(*edges, **settings).tolist() == kept


@pytest.mark.parametrize("direction", [Direction.UNDIRECTED, Direction.IN])
@pytest.mark.parametrize("cap", [1, 2, 3, 8, 50])
def test_larger_graphs_with_hubs_are_scanned_right_too(direction: Direction, cap: int) -> None:
    rng = np.random.default_rng(7)
    graph = random_graph(rng, 3000, 15_000, direction)
    sources, targets, is_directed = graph.sources, graph.targets, direction.is_directed
    order = rng.permutation(sources.size)
    kept = kept_edges(sources, targets, order, num_nodes=3000, max_degree=cap, is_directed=is_directed)
    assert 0 < kept.sum() < kept.size
    assert kept.tolist() == plain_scan(sources, targets, order, cap, is_directed=is_directed)


@pytest.mark.parametrize("direction", Direction)
def test_degrees_are_those_of_the_edges_kept_in_the_stable_order(direction: Direction) -> None:
    rng = np.random.default_rng(7)
    graph = random_graph(rng, 60, 400, direction)
    order = stable_order(graph.sources, graph.targets, graph.identities, is_directed=direction.is_directed)
    caps = [1, 2, 5, 11, 1000]
    several = project_each(graph, caps)
    assert list(several) == caps
    for cap in caps:
        kept = plain_scan(graph.sources, graph.targets, order, cap, is_directed=direction.is_directed)
        policy = EdgePolicy(direction)
        expected = Graph(graph.sources[kept], graph.targets[kept], graph.identities, policy).degrees()
        degrees = project(graph, cap)
        assert degrees.dtype == np.int64
        assert degrees.tolist() == expected.tolist() == several[cap].tolist()
        assert degrees.max() == min(cap, graph.degrees().max())


@pytest.mark.parametrize("direction", Direction)
def test_with_a_cap_that_no_degree_exceeds_nothing_is_lost(direction: Direction) -> None:
    graph = random_graph(np.random.default_rng(7), 40, 200, direction)
    ends = [np.bincount(ends, minlength=40) for ends in (graph.sources, graph.targets)]
    cap = int(max(map(np.max, ends)) if direction.is_directed else (ends[0] + ends[1]).max())
    assert project(graph, cap).tolist() == project(graph, 1 << 62).tolist() == graph.degrees().tolist()
    assert project(graph, cap - 1).tolist() != graph.degrees().tolist()


def test_arcs_need_room_at_both_ends_whichever_degrees_are_counted() -> None:
    """Of five arcs from one node, two are left of its out-degree, and three of the five in-degrees are nought."""
    star = np.zeros(5, dtype=np.int64), np.arange(1, 6), np.arange(6, dtype=np.uint64)
    assert project(Graph(*star, EdgePolicy(Direction.OUT)), 2).tolist() == [2, 0, 0, 0, 0, 0]
    assert sorted(project(Graph(*star, EdgePolicy(Direction.IN)), 2).tolist()) == [0, 0, 0, 0, 1, 1]


def test_graphs_without_edges_or_nodes_have_degrees() -> None:
    nothing = np.empty(0, dtype=np.int64)
    for nodes in (0, 1, 3):
        graph = Graph(nothing, nothing, np.zeros(nodes, dtype=np.uint64), EdgePolicy())
        assert project(graph, 5).tolist() == [0] * nodes
    assert project_each(graph, []) == {}


@pytest.mark.slow
@pytest.mark.parametrize("cap", [1, 2, 8, 30])
def test_in_the_stable_order_nearly_all_edges_are_decided_many_at_once(
    monkeypatch: pytest.MonkeyPatch, cap: int
) -> None:
    alone, one_by_one = [], MODULE._one_by_one

    def count_edges(ends: NDArray[np.int64], room: NDArray[np.int64]) -> list[bool]:
        alone.append(ends.shape[1])
        return one_by_one(ends, room)

    monkeypatch.setattr(MODULE, "_one_by_one", count_edges)
    graph = random_graph(np.random.default_rng(7), 10_000, 60_000, Direction.UNDIRECTED)
    project(graph, cap)
    assert len(alone) == 1
    assert alone[0] < MODULE._FEW


@pytest.mark.parametrize("cap", [1, 3])
def test_an_order_that_leaves_nothing_to_decide_at_once_is_scanned_all_the_same(
    monkeypatch: pytest.MonkeyPatch, cap: int
) -> None:
    """Each edge of a path waits for the one before it: were it not given up, there would be 10^5 rounds."""
    rounds, ranks = [], MODULE._ranks

    def count_nodes(node: NDArray[np.int64]) -> NDArray[np.int64]:
        rounds.append(node.size)
        return ranks(node)

    monkeypatch.setattr(MODULE, "_ranks", count_nodes)
    places = np.repeat(np.arange(20_000), 5)
    sources, targets = places, places + 1
    order = np.arange(sources.size)
    kept = kept_edges(sources, targets, order, num_nodes=20_001, max_degree=cap, is_directed=False)
    assert kept.tolist() == plain_scan(sources, targets, order, cap, is_directed=False)
    assert 0 < len(rounds) < 10


@pytest.mark.slow
def test_memory_is_a_small_multiple_of_the_edges() -> None:
    sources, targets = np.repeat(np.arange(700), 700), np.tile(np.arange(700, 1400), 700)
    identities = np.random.default_rng(7).integers(2**64, size=1400, dtype=np.uint64)
    graph = Graph(sources, targets, identities, EdgePolicy())
    tracemalloc.start()
    try:
        project_each(graph, [1, 8, 64, 512])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * (sources.nbytes + targets.nbytes)


@pytest.mark.parametrize("policy", [EdgePolicy(self_loops="count"), EdgePolicy(duplicates="count")])
def test_policies_that_count_loops_or_duplicates_are_refused(policy: EdgePolicy) -> None:
    graph = Graph(np.array([0]), np.array([1]), np.arange(2, dtype=np.uint64), policy)
    with pytest.raises(UsageError, match="self-loops are left out and equal edges count once"):
        project(graph, 3)


@pytest.mark.parametrize("cap", [0, -1, 1.5, (1 << 62) + 1])
def test_caps_that_are_none_are_refused(cap: float) -> None:
    graph = Graph(np.array([0]), np.array([1]), np.arange(2, dtype=np.uint64), EdgePolicy())
    with pytest.raises(UsageError, match="max_degree"):
        project(graph, cap)
