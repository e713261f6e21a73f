"""The constants against brute force: over all small graphs and all they have as neighbours, each is attained."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from anonhist.graphs import projection
from anonhist.graphs.graph import Direction, EdgePolicy, Graph
from anonhist.graphs.projection import kept_edges, project_each

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Projection = Callable[[Graph, range], dict[int, NDArray[np.int64]]]

UNDIRECTED, IN, OUT = Direction
STATISTICS = (
    "kept edges",
    "lost edges",
    "survival",
    "sorted list",
    "histogram",
    "histogram without zeros",
    "cumulative histogram",
)
NEEDS_LIST = ("histogram", "cumulative histogram")


def constants(cap: int, direction: Direction) -> dict[str, int]:
    """Return what the module says, by the names of STATISTICS."""
    values = (
        # A graph never keeps fewer edges for one more node, and at most those that node keeps more.
        (2 if direction.is_directed else 1) * cap,
        0,
        projection.sorted_list(cap, direction),
        projection.sorted_list(cap, direction),
        projection.histogram(cap, direction, counts_zeros=True),
        projection.histogram(cap, direction, counts_zeros=False),
        projection.cumulative_histogram(cap, direction),
    )
    return dict(zip(STATISTICS, values, strict=True))


def pairs_of(nodes: int, direction: Direction) -> NDArray[np.int64]:
    every_pair = permutations(range(nodes), 2) if direction.is_directed else combinations(range(nodes), 2)
    return np.array(list(every_pair))


def all_graphs(nodes: int, direction: Direction) -> NDArray[np.bool_]:
    """Return, row by row, which pairs of nodes are edges."""
    pairs = len(pairs_of(nodes, direction))
    return (np.arange(1 << pairs)[:, None] >> np.arange(pairs) & 1).astype(np.bool_)


def random_graphs(nodes: int, direction: Direction, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return 15,000 graphs, of all densities."""
    return rng.random((15_000, len(pairs_of(nodes, direction)))) < rng.random((15_000, 1))


def copies(rows: NDArray[np.bool_], nodes: int, direction: Direction, identities: NDArray[np.uint64]) -> Graph:
    """Return many graphs on the same nodes as one graph, whose nodes have the same identities in each."""
    row, pair = np.nonzero(rows)
    sources, targets = (row * nodes + ends[pair] for ends in pairs_of(nodes, direction).T)
    return Graph(sources, targets, np.tile(identities, len(rows)), EdgePolicy(direction), nodes_listed=True)


def distances(
    larger: NDArray[np.int64], smaller: NDArray[np.int64], cap: int, direction: Direction
) -> dict[str, NDArray[np.int64]]:
    """Return how far the two lists of degrees in each row are from each other, by the names of STATISTICS."""
    bins = np.stack([(larger == r).sum(1) - (smaller == r).sum(1) for r in range(cap + 1)])
    padded = np.pad(smaller, ((0, 0), (larger.shape[1] - smaller.shape[1], 0)))
    edges = (larger.sum(1) - smaller.sum(1)) // (1 if direction.is_directed else 2)
    return {
        "kept edges": edges,
        "lost edges": np.maximum(-edges, 0),
        "survival": np.abs(np.cumsum(bins[:0:-1], axis=0)).sum(0),
        "sorted list": np.abs(np.sort(larger) - np.sort(padded)).sum(1),
        "histogram": np.abs(bins).sum(0),
        "histogram without zeros": np.abs(bins[1:]).sum(0),
        "cumulative histogram": np.abs(np.cumsum(bins, axis=0)).sum(0),
    }


def largest_distances(
    rows: NDArray[np.bool_],
    nodes: int,
    direction: Direction,
    caps: range,
    rng: np.random.Generator,
    project: Projection = project_each,
) -> dict[tuple[int, str], int]:
    """Return the largest distance between a graph in rows and the same without one node, drawn for all."""
    identities = rng.integers(2**64, size=nodes, dtype=np.uint64)
    leaving = int(rng.integers(nodes))
    fewer = rows[:, np.all(pairs_of(nodes, direction) != leaving, axis=1)]
    # Graphs that are equal without the node need not be looked at twice.
    _, first, places = np.unique(fewer @ (1 << np.arange(fewer.shape[1])), return_index=True, return_inverse=True)
    larger = project(copies(rows, nodes, direction, identities), caps)
    smaller = project(copies(fewer[first], nodes - 1, direction, np.delete(identities, leaving)), caps)
    found = {}
    for cap in caps:
        one, other = larger[cap].reshape(-1, nodes), smaller[cap].reshape(-1, nodes - 1)[places]
        for name, values in distances(one, other, cap, direction).items():
            found[cap, name] = int(values.max())
    return found


def largest_of(all_found: list[dict[tuple[int, str], int]]) -> dict[tuple[int, str], int]:
    return {key: max(found[key] for found in all_found) for key in all_found[0]}


def bounds_of(caps: range, direction: Direction) -> dict[tuple[int, str], int]:
    return {(cap, name): value for cap in caps for name, value in constants(cap, direction).items()}


@pytest.mark.slow
def test_without_directions_all_graphs_of_six_nodes_attain_the_constants_and_none_exceeds_them() -> None:
    rng = np.random.default_rng(7)
    rows, caps = all_graphs(6, UNDIRECTED), range(1, 6)
    found = largest_of([largest_distances(rows, 6, UNDIRECTED, caps, rng) for _ in range(3)])
    assert found == bounds_of(caps, UNDIRECTED)


@pytest.mark.slow
def test_without_directions_random_graphs_of_eight_nodes_attain_the_constants_and_none_exceeds_them() -> None:
    rng = np.random.default_rng(7)
    caps = range(1, 8)
    rows = random_graphs(8, UNDIRECTED, rng)
    found = largest_distances(rows, 8, UNDIRECTED, caps, rng)
    assert found == bounds_of(caps, UNDIRECTED)


@pytest.mark.slow
@pytest.mark.parametrize("direction", [IN, OUT])
def test_with_directions_no_graph_of_four_nodes_exceeds_the_constants(direction: Direction) -> None:
    rng = np.random.default_rng(7)
    rows, caps = all_graphs(4, direction), range(1, 4)
    found = largest_of([largest_distances(rows, 4, direction, caps, rng) for _ in range(6)])
    most = bounds_of(caps, direction)
    assert all(found[key] <= most[key] for key in most)
    assert [found[1, name] for name in STATISTICS] == [most[1, name] for name in STATISTICS]
    # Three other nodes are too few for larger caps: this is what they do.
    assert [found[2, name] for name in STATISTICS] == [4, 0, 4, 4, 7, 6, 4]
    assert [found[3, name] for name in STATISTICS] == [6, 0, 6, 6, 7, 7, 6]


@pytest.mark.slow
@pytest.mark.parametrize("direction", [IN, OUT])
def test_with_directions_no_random_graph_of_six_or_seven_nodes_exceeds_the_constants(direction: Direction) -> None:
    rng = np.random.default_rng(7)
    caps = range(1, 5)
    all_found = [
        largest_distances(random_graphs(nodes, direction, rng), nodes, direction, caps, rng) for nodes in (6, 7)
    ]
    found, most = largest_of(all_found), bounds_of(caps, direction)
    assert all(found[key] <= most[key] for key in most)
    assert all(found[cap, name] == most[cap, name] for cap in (1, 2) for name in STATISTICS)


def rises_and_falls(cap: int, rising: int, falling: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return in-degrees with and without a node that raises so many as it can, and lowers so many others.

    The node has arcs to θ nodes of in-degree ``rising``. To it lead arcs from θ nodes, each of which has θ others, of
    which the last leads to a node of in-degree ``falling``. Arcs of the node come first in the scan.
    """
    arcs = []
    count = 1
    for _ in range(cap):
        raised, giving, lowered = count, count + 1, count + 2
        arcs += [(0, raised), (giving, 0)]
        count += 3
        for node, others in ((raised, rising), (lowered, falling - 1)):
            arcs += [(count + other, node) for other in range(others)]
            count += others
        arcs += [(giving, count + other) for other in range(cap - 1)]
        count += cap - 1
        arcs.append((giving, lowered))
    arcs.sort(key=lambda arc: 0 not in arc)
    degrees = []
    for chosen in (arcs, [arc for arc in arcs if 0 not in arc]):
        sources, targets = np.array(chosen).T
        order = np.arange(sources.size)
        kept = kept_edges(sources, targets, order, num_nodes=count, max_degree=cap, is_directed=True)
        degrees.append(np.bincount(targets[kept], minlength=count))
    return degrees[0][None], degrees[1][None, 1:]


@pytest.mark.parametrize("cap", range(2, 12))
def test_with_directions_some_graphs_attain_the_constants(cap: int) -> None:
    levels = {
        "survival": (1, 1),
        "sorted list": (1, 1),
        "histogram": (1, 1),
        "histogram without zeros": (1, 1) if cap == 2 else (2, 2),
        "cumulative histogram": (0, 2),
    }
    for name, (rising, falling) in levels.items():
        found = distances(*rises_and_falls(cap, rising, falling), cap, IN)
        assert found[name].tolist() == [constants(cap, IN)[name]]


@pytest.mark.parametrize("cap", range(1, 12))
def test_without_directions_a_star_among_pairs_attains_the_constants(cap: int) -> None:
    # Node 0 is joined to θ nodes, each of which has a partner; with a cap of 1, none has.
    joined = np.arange(1, cap + 1)
    partners = joined[: 0 if cap == 1 else None]
    sources, targets = np.append(0 * joined, partners), np.append(joined, partners + cap)
    count = 2 * cap + 1
    degrees = []
    for begin in (0, cap):
        ends = sources[begin:], targets[begin:]
        kept = kept_edges(*ends, np.arange(ends[0].size), num_nodes=count, max_degree=cap, is_directed=False)
        degrees.append(np.bincount(np.concatenate(ends)[np.tile(kept, 2)], minlength=count))
    found = distances(degrees[0][None], degrees[1][None, 1:], cap, UNDIRECTED)
    assert {name: int(value[0]) for name, value in found.items()} == constants(cap, UNDIRECTED)


def order_by_degree(graph: Graph) -> NDArray[np.int64]:
    degrees = graph.degrees()
    return np.argsort(np.maximum(degrees[graph.sources], degrees[graph.targets]), kind="stable")


def order_by_new_seed(graph: Graph) -> NDArray[np.int64]:
    return np.random.default_rng(graph.num_edges).permutation(graph.num_edges)


@pytest.mark.slow
@pytest.mark.parametrize("order_of", [order_by_degree, order_by_new_seed])
def test_orders_that_are_not_stable_exceed_the_constants_twofold(
    order_of: Callable[[Graph], NDArray[np.int64]],
) -> None:
    def project(graph: Graph, caps: range) -> dict[int, NDArray[np.int64]]:
        size, order, degrees = graph.num_nodes, order_of(graph), {}
        for cap in caps:
            kept = kept_edges(graph.sources, graph.targets, order, num_nodes=size, max_degree=cap, is_directed=False)
            ends = np.concatenate([graph.sources[kept], graph.targets[kept]])
            degrees[cap] = np.bincount(ends, minlength=size)
        return degrees

    rng = np.random.default_rng(7)
    six = largest_distances(all_graphs(6, UNDIRECTED), 6, UNDIRECTED, range(1, 4), rng, project)
    assert [six[cap, "survival"] for cap in (1, 2, 3)] == [4, 6, 8]
    assert six[1, "lost edges"] > 0
    eight = largest_distances(random_graphs(8, UNDIRECTED, rng), 8, UNDIRECTED, range(1, 3), rng, project)
    assert [eight[cap, "survival"] for cap in (1, 2)] == [4 * cap for cap in (1, 2)]


@pytest.mark.parametrize("cap", [1, 3, 10])
def test_where_nodes_are_not_listed_nodes_without_edges_cannot_be_counted(cap: int) -> None:
    leaves = 1000
    star = Graph(
        np.zeros(leaves, dtype=np.int64),
        np.arange(1, leaves + 1),
        np.arange(leaves + 1, dtype=np.uint64),
        EdgePolicy(),
    )
    # Without its centre, a file of edges is empty: nobody is left who would be counted.
    nothing = np.empty((1, 0), dtype=np.int64)
    found = distances(project_each(star, [cap])[cap][None], nothing, cap, UNDIRECTED)
    most = constants(cap, UNDIRECTED)
    assert found["histogram"] == leaves + 1
    assert found["cumulative histogram"] >= leaves - cap
    for name in ("survival", "sorted list", "histogram without zeros"):
        assert found[name] <= most[name]


@pytest.mark.slow
def test_where_nodes_are_not_listed_what_counts_no_zeros_keeps_its_constants() -> None:
    """Nodes that have edges to one node alone go with it: so the sets of nodes differ, and so do the indices."""
    rng = np.random.default_rng(7)
    found = dict.fromkeys(STATISTICS, 0)
    caps = range(1, 4)
    for _ in range(150):
        size = int(rng.integers(2, 12))
        names = rng.integers(2**64, size=size, dtype=np.uint64)
        pairs = pairs_of(size, UNDIRECTED)
        pairs = pairs[rng.random(len(pairs)) < rng.random()]
        leaving = rng.integers(size)
        one, other = (
            project_each(of_edges_alone(chosen, names), caps)
            for chosen in (pairs, pairs[np.all(pairs != leaving, axis=1)])
        )
        for cap in caps:
            most = constants(cap, UNDIRECTED)
            for name, value in distances(one[cap][None], other[cap][None], cap, UNDIRECTED).items():
                found[name] = max(found[name], int(value[0]) - most[name])
    assert [found[name] for name in STATISTICS if name not in NEEDS_LIST] == [0] * 5
    assert all(found[name] > 0 for name in NEEDS_LIST)


def of_edges_alone(pairs: NDArray[np.int64], names: NDArray[np.uint64]) -> Graph:
    """Return the graph of a file that has these edges, and so only their ends."""
    there, ends = np.unique(pairs, return_inverse=True)
    ends = ends.reshape(-1, 2)
    return Graph(ends[:, 0], ends[:, 1], names[there], EdgePolicy())
