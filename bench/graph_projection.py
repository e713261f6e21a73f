"""Speed and memory of the projection to a largest degree. Run as ``python bench/graph_projection.py``.

The graphs have heavy-tailed degrees: a power law with exponent 2.5, where hubs join hubs, and preferential attachment.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.graphs.graph import Direction, EdgePolicy, Graph
from anonhist.graphs.projection import kept_edges, project_each, stable_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

CAPS = (1, 8, 64, 512)
# What a choice of the cap looks at.
MANY_CAPS = tuple(1 << power for power in range(12))


def power_law(nodes: int, edges: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return pairs whose ends are node i with probability in proportion to i^(−2/3): degrees have exponent 2.5."""
    places = np.cumsum(np.arange(1, nodes + 1) ** (-2 / 3))
    return rng.permutation(nodes)[np.searchsorted(places, rng.random((edges, 2)) * places[-1])]


def attachment(nodes: int, edges: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return pairs of a new node and one end, drawn at random, of all edges before: degrees have exponent 3."""
    sources = np.arange(edges) * nodes // edges
    chosen = (rng.random(edges) * 2 * np.arange(edges)).astype(np.int64)
    # An even draw is the source of an edge before, an odd one its target, which was itself drawn so.
    targets, place = np.empty(edges, dtype=np.int64), np.arange(edges)
    pending = place
    while pending.size:
        drawn = chosen[place]
        is_source = drawn % 2 == 0
        targets[pending[is_source]] = sources[drawn[is_source] // 2]
        pending, place = pending[~is_source], drawn[~is_source] // 2
    return np.stack([sources, targets], axis=1)


def graph_of(pairs: NDArray[np.int64], nodes: int, direction: Direction, rng: np.random.Generator) -> Graph:
    """Return the simple graph of some pairs."""
    ends = pairs[pairs[:, 0] != pairs[:, 1]]
    if not direction.is_directed:
        ends = np.sort(ends, axis=1)
    keys = np.unique(ends[:, 0] * nodes + ends[:, 1])
    identities = rng.integers(2**64, size=nodes, dtype=np.uint64)
    return Graph(keys // nodes, keys % nodes, identities, EdgePolicy(direction))


def seconds(act: Callable[[], Any]) -> float:
    """Return how long it takes the processor, of which one thread is used."""
    start = time.process_time()
    act()
    return time.process_time() - start


def bytes_per_edge(act: Callable[[], Any], edges: int) -> float:
    """Return the most memory that is taken at a time, besides the graph."""
    tracemalloc.start()
    act()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / edges


def rows(name: str, graph: Graph, repeats: int) -> Iterator[str]:
    """Return rows of the table for one graph."""
    size, is_directed = graph.num_edges, graph.policy.direction.is_directed
    ends = graph.sources, graph.targets

    def in_order() -> NDArray[np.int64]:
        return stable_order(*ends, graph.identities, is_directed=is_directed)

    def scan(order: NDArray[np.int64], cap: int) -> Callable[[], Any]:
        return lambda: kept_edges(*ends, order, num_nodes=graph.num_nodes, max_degree=cap, is_directed=is_directed)

    order = in_order()
    jobs: dict[str, Callable[[], Any]] = {"order alone": in_order}
    jobs |= {f"θ = {cap}, order known": scan(order, cap) for cap in CAPS}
    jobs |= {f"θ = {cap}": lambda cap=cap: project_each(graph, [cap]) for cap in CAPS}
    jobs[f"{len(MANY_CAPS)} caps, θ = 1 … {MANY_CAPS[-1]:,}"] = lambda: project_each(graph, MANY_CAPS)
    jobs["θ = 8, edges scanned in the order of their nodes"] = scan(np.arange(size), 8)
    for what, job in jobs.items():
        took = statistics.median(seconds(job) for _ in range(repeats))
        yield f"| {name} | {what} | {took:.2f} s | {size / took / 1e6:.1f} M/s |"
    yield f"| {name} | θ = 8, memory | {bytes_per_edge(jobs['θ = 8'], size):.0f} bytes an edge | |"


def projecting(edges: int = 10**7, nodes: int = 10**6, repeats: int = 3) -> Iterator[str]:
    """Return rows of the table for graphs of that size; aim: 2 million edges a second at each cap, order included."""
    for name, draw, direction in (
        ("power law", power_law, Direction.UNDIRECTED),
        ("power law, in-degrees", power_law, Direction.IN),
        ("preferential attachment", attachment, Direction.UNDIRECTED),
    ):
        rng = np.random.default_rng(7)
        graph = graph_of(draw(nodes, edges, rng), nodes, direction, rng)
        yield from rows(f"{name}, largest degree {graph.degrees().max():,}", graph, repeats)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, default=10**7)
    parser.add_argument("--nodes", type=int, default=10**6)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.edges, options.nodes, options.repeats = 2000, 500, 1
    print("| graph | job | processor | edges |\n|---|---|---|---|")
    for line in projecting(options.edges, options.nodes, options.repeats):
        print(line, flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
