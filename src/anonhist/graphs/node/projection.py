"""Edges are added one by one in a stable order, as long as both their nodes have room: no degree exceeds a cap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.graphs.node.edge_order import stable_order
from anonhist.graphs.policy import Direction
from anonhist.privacy import parse_whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from anonhist.graphs.graph import Graph

# Of so many edges at least, and of a quarter as many as there are nodes, is a part of the scan: then what is done once
# for each part and node costs no more than what is done for each edge.
_PART = 1 << 16
_NODES_PER_EDGE = 4
# The last round must have decided one in so many of the edges left, and left so many; else they are scanned one by one.
_SHARE = 32
_FEW = 256


def project(graph: Graph, max_degree: int) -> NDArray[np.int64]:
    """Return the degrees of all nodes after the projection to a largest degree.

    Edges are added one by one, in an order that does not change when a node comes or goes, and an edge is left out if
    one of its nodes has ``max_degree`` edges by then. Where arcs are counted, (u, v) is left out if u has so many arcs
    that lead away, or v so many that lead to it. If no degree is larger from the start, nothing is left out.

    Parameters
    ----------
    graph
        Private.
    max_degree
        The cap θ, from 1 to 2^62. It must be public, or chosen with budget.

    Returns
    -------
    ndarray of int64, shape (num_nodes,)
        From 0 to θ: degrees, or the in- or out-degrees that the graph's policy asks for. Private:
        :mod:`anonhist.graphs.node.sensitivity` says how far one node moves what is counted of them.

    Raises
    ------
    UsageError
        If the cap is out of range, or the graph's policy counts self-loops or duplicates.

    See Also
    --------
    projected : for several caps.

    References
    ----------
    .. [1] W.-Y. Day, N. Li, M. Lyu, "Publishing graph degree distribution with node differential privacy", SIGMOD
       2016, algorithm 1.

    Examples
    --------
    >>> from anonhist.graphs.graph import Graph
    >>> from anonhist.graphs.policy import EdgePolicy
    >>> star = Graph(np.zeros(5, dtype=np.int64), np.arange(1, 6), np.arange(6, dtype=np.uint64), EdgePolicy())
    >>> sorted(project(star, 3).tolist())
    [0, 0, 1, 1, 1, 3]
    """
    (degrees,) = project_each(graph, [max_degree]).values()
    return degrees


def project_each(graph: Graph, caps: Iterable[int]) -> dict[int, NDArray[np.int64]]:
    """Return what :func:`project` does for each of several caps, in their order; edges are put in order once.

    Parameters
    ----------
    graph
        Private.
    caps
        Whole numbers from 1 to 2^62.

    Returns
    -------
    dict of int to ndarray of int64, shape (num_nodes,)
        For each cap, the degrees. Half their sum is the number of edges that are kept (the sum itself, of in- or
        out-degrees).

    Raises
    ------
    UsageError
        If a cap is out of range, or the graph's policy counts self-loops or duplicates.

    Examples
    --------
    >>> from anonhist.graphs.graph import Graph
    >>> from anonhist.graphs.policy import EdgePolicy
    >>> star = Graph(np.zeros(5, dtype=np.int64), np.arange(1, 6), np.arange(6, dtype=np.uint64), EdgePolicy())
    >>> {cap: int(degrees.sum()) // 2 for cap, degrees in project_each(star, [1, 2, 4, 8]).items()}
    {1: 1, 2: 2, 4: 4, 8: 5}
    """
    if not graph.policy.is_simple:
        raise UsageError(
            "Degrees can be bounded only if self-loops are left out and equal edges count once: read the edges with "
            "`self_loops='drop'` and `duplicates='merge'`."
        )
    parsed = [parse_whole_number(cap, name="max_degree") for cap in caps]
    direction, size = graph.policy.direction, graph.num_nodes
    order = stable_order(graph.sources, graph.targets, graph.identities, is_directed=direction.is_directed)
    ends = _ends_in_order(graph.sources, graph.targets, order, num_nodes=size, is_directed=direction.is_directed)
    del order
    full = np.bincount(ends.ravel(), minlength=2 * size if direction.is_directed else size)
    counted = slice(size, None) if direction is Direction.IN else slice(size)
    return {
        cap: np.bincount(ends[:, _scan(ends, full, cap)].ravel(), minlength=full.size)[counted].copy() for cap in parsed
    }


def kept_edges(
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    order: NDArray[np.int64],
    *,
    num_nodes: int,
    max_degree: int,
    is_directed: bool,
) -> NDArray[np.bool_]:
    """Scan edges in an order and keep each whose two nodes have room for it.

    Parameters
    ----------
    sources, targets
        Indices of nodes from 0 to num_nodes − 1, shape (m,). No edge without direction joins a node to itself.
    order
        A permutation of the m edges: which is looked at first, which second, and so on.
    num_nodes, max_degree
        n ≥ 0 and the cap θ ≥ 1.
    is_directed
        Whether an edge needs room among the arcs that leave its source and among those that enter its target, and not
        among all edges of either.

    Returns
    -------
    ndarray of bool, shape (m,)
        Which edges are kept, in the order of ``sources``.

    Notes
    -----
    The result is that of looking at one edge after the other, but many are decided at once, part after part of the
    scan. Ends that have room for all their edges, or for all in the part, leave none out. At the others, the undecided
    edges are ranked in the order of the scan; an edge is kept if its rank is below the room that is left, at both its
    ends, and left out if there is no room left at one. Rounds of this go on until all are decided.

    *Why this is the scan.* Call an undecided edge e within reach at an end if its rank r there is below the room R
    left. Then the scan does not leave it out for want of room there: at most the kept edges and the r undecided before
    e are added before it, fewer than θ. So what is kept is kept by the scan.

    What is left out has an end without room, where θ edges are kept; the scan leaves it out too if they all come
    before it. Suppose that one of them, f, does not. When f was kept it was within reach, and so was e, before it. An
    edge within reach stays there until it is decided: let K be the edges kept at the end in a round, a of them before
    e and b after it. The last of K has rank at least r + b and at most R − 1, so r − a < R − a − b: the new rank is
    below the new room, which is therefore not zero, as long as e is undecided. But there is none: a contradiction.

    The undecided edge that comes first of all has rank 0 at both ends, so each round decides one at least. In an order
    by hashes, a few rounds decide nearly all [1]_. In the worst order a round decides hardly any: so, once it pays no
    more, what is left of the part is looked at one by one. Time is O((m + n) log(m + n)) in any order.

    References
    ----------
    .. [1] G. E. Blelloch, J. T. Fineman, J. Shun, "Greedy sequential maximal independent set and matching are parallel
       on average", SPAA 2012: O(log² m) rounds for θ = 1 in a random order, and why parts of the scan are best.

    Examples
    --------
    >>> path = np.arange(4)
    >>> kept_edges(path, path + 1, np.array([2, 0, 1, 3]), num_nodes=5, max_degree=1, is_directed=False).tolist()
    [True, False, True, False]
    """
    ends = _ends_in_order(sources, targets, order, num_nodes=num_nodes, is_directed=is_directed)
    kept = np.empty(order.size, dtype=np.bool_)
    kept[order] = _scan(ends, np.bincount(ends.ravel()), max_degree)
    return kept


def _ends_in_order(
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    order: NDArray[np.int64],
    *,
    num_nodes: int,
    is_directed: bool,
) -> NDArray[np.int64]:
    """Return where edges end, shape (2, m): an arc leaves the first copy of its source, enters its target's second."""
    ends = np.empty((2, order.size), dtype=np.int64)
    ends[0], ends[1] = sources[order], targets[order]
    ends[1] += num_nodes if is_directed else 0
    return ends


def _scan(ends: NDArray[np.int64], full: NDArray[np.int64], max_degree: int) -> NDArray[np.bool_]:
    """Return which edges are kept, of edges in the order of the scan; ``full`` has each end's degree before it."""
    is_over = full > max_degree
    kept: NDArray[np.bool_] = ~(is_over[ends[0]] | is_over[ends[1]])
    scanned = np.flatnonzero(~kept)
    room = np.where(is_over, max_degree, full)
    length = max(_PART, full.size // _NODES_PER_EDGE)
    for start in range(0, scanned.size, length):
        part = scanned[start : start + length]
        part = part[(room[ends[0, part]] > 0) & (room[ends[1, part]] > 0)]
        kept[part] = _keep(ends[:, part], room)
    return kept


def _keep(ends: NDArray[np.int64], room: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which edges of a part of the scan are kept, and take them from the room left at their ends."""
    is_short = np.bincount(ends.ravel(), minlength=room.size) > room
    kept: NDArray[np.bool_] = ~(is_short[ends[0]] | is_short[ends[1]])
    disputed = np.flatnonzero(~kept)
    room -= np.bincount(ends[:, kept].ravel(), minlength=room.size)
    kept[disputed] = _settle(ends[:, disputed], is_short, room)
    return kept


def _settle(ends: NDArray[np.int64], is_short: NDArray[np.bool_], room: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the edges that end in a short node, one without room for all, are kept; take them from room."""
    num_edges = ends.shape[1]
    shift = num_edges.bit_length()
    side, edge = np.nonzero(is_short[ends])
    places = (ends[side, edge] << shift) | edge
    places.sort()
    node, edge = places >> shift, places & ((1 << shift) - 1)
    kept = np.zeros(num_edges, dtype=np.bool_)
    is_open = np.ones(num_edges, dtype=np.bool_)
    before, left = 2 * num_edges, num_edges
    while left >= _FEW and before - left >= left // _SHARE:
        can_stay = is_open.copy()
        can_stay[edge[_ranks(node) >= room[node]]] = False
        staying = np.flatnonzero(can_stay)
        kept[staying] = True
        is_open[staying] = False
        np.subtract.at(room, ends[:, staying].ravel(), 1)
        is_open[edge[room[node] == 0]] = False
        is_left = is_open[edge]
        node, edge = node[is_left], edge[is_left]
        before, left = left, int(np.count_nonzero(is_open))
    rest = np.flatnonzero(is_open)
    kept[rest] = _one_by_one(ends[:, rest], room)
    return kept


def _ranks(node: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many entries of the same value come before each, of ascending values."""
    places = np.arange(node.size)
    begins = np.zeros(node.size, dtype=np.int64)
    begins[1:] = np.where(node[1:] != node[:-1], places[1:], 0)
    return places - np.maximum.accumulate(begins)


def _one_by_one(ends: NDArray[np.int64], room: NDArray[np.int64]) -> list[bool]:
    """Return which edges are kept, where too few can be decided at once to gain by it; take them from room."""
    nodes, places = np.unique(ends, return_inverse=True)
    left = room[nodes].tolist()
    sources, targets = places.reshape(ends.shape)
    kept = []
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        has_room = left[source] > 0 and left[target] > 0
        left[source] -= has_room
        left[target] -= has_room
        kept.append(has_room)
    room[nodes] = left
    return kept
