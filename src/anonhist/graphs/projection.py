"""Degrees capped by a projection: which edges are kept, and how far one node moves statistics of the degrees.

Edges are added one by one in a stable order, as long as both their nodes have room. Neighbors are a graph and the same
graph with one more node, which has any edges to the others. Both are projected to degrees of at most θ, with their
common edges in the same order.

*Without directions.* Suppose that the new node keeps k ≤ θ edges. Let δ(u) be the excess of the degree of another node
u in the larger graph, at any time of the scan. Then Σ|δ| ≤ k at all times, where k counts the edges kept so far. For an
edge of the new node adds one to k and changes one δ by one. An edge that both graphs have and only the smaller keeps
was left out in the larger because an end is full there but not in the smaller: its δ is positive and falls by one, and
the other end's δ changes by one, so the sum does not rise. The same holds with the graphs exchanged.

*With directions.* Suppose that the new node keeps k arcs that leave it and l arcs that enter it, at most θ of each. Let
U be the sum of the rises of in-degrees and the falls of out-degrees of the other nodes, D that of the falls of
in-degrees and the rises of out-degrees. Then U ≤ k and D ≤ l, because a common arc that only one graph keeps takes one
from the sum to which its full end counts, and then adds one to that sum or takes one from the other. So in-degrees rise
by at most k and fall by at most l in total, and the new node has in-degree l. Out-degrees are in-degrees of the graph
with all arcs reversed.

:func:`sorted_list`, :func:`histogram` and :func:`cumulative_histogram` are the largest distances that these bounds
allow, and graphs attain them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError
from anonhist.graphs.graph import Direction, Graph, check_simple
from anonhist.numeric.arrays import Bools, Ints
from anonhist.numeric.hashing import hash_words
from anonhist.privacy import parse_whole_number

# A part of the scan has at least this many edges, and at least a quarter of the number of nodes: then the work per part
# and node costs no more than the work per edge.
_PART = 1 << 16
_NODES_PER_EDGE = 4
# Rounds continue while a round decides at least this share of the remaining edges, and at least this many remain.
_SHARE = 32
_FEW = 256
# Public, and never changed, because another key would give the same graph another order.
ORDER_KEY = b"anonhist edge order 1"
# 2^64 divided by the golden ratio, rounded to the next odd number.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


def project(graph: Graph, max_degree: int) -> Ints:
    """Return the degrees of all nodes after the projection to a largest degree.

    Edges are added one by one, in an order that does not change when a node is added or removed, and an edge is left
    out if one of its nodes already has ``max_degree`` edges. If arcs are counted, (u, v) is left out if ``max_degree``
    arcs already leave u or enter v. If no degree exceeds the cap, nothing is left out.

    Source: Day and others 2016, algorithm 1.

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
        :mod:`anonhist.graphs.projection` says how far one node moves their statistics.

    Raises
    ------
    UsageError
        If the cap is out of range, or the graph's policy counts self-loops or duplicates.

    See Also
    --------
    projected : for several caps.

    Examples
    --------
    >>> from anonhist.graphs.graph import Graph
    >>> from anonhist.graphs.graph import EdgePolicy
    >>> star = Graph(np.zeros(5, dtype=np.int64), np.arange(1, 6), np.arange(6, dtype=np.uint64), EdgePolicy())
    >>> sorted(project(star, 3).tolist())
    [0, 0, 1, 1, 1, 3]
    """
    (degrees,) = project_each(graph, [max_degree]).values()
    return degrees


def project_each(graph: Graph, caps: Iterable[int]) -> dict[int, Ints]:
    """Return the result of :func:`project` for each of several caps, in order; edges are sorted once.

    Half the sum of degrees is the number of kept edges; for in- or out-degrees, it is the sum itself.
    """
    check_simple(graph.policy)
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
    sources: Ints, targets: Ints, order: Ints, *, num_nodes: int, max_degree: int, is_directed: bool
) -> Bools:
    """Scan edges in an order, a permutation, and keep each whose two nodes have room for it.

    If directed, an edge needs room among the arcs that leave its source and those that enter its target, instead of
    among all edges of both. No edge without direction may join a node to itself.

    Many edges are decided at once, part by part. Ends with room for all their edges, or for all in the part, leave none
    out. At the other ends, the undecided edges are ranked in the order of the scan; an edge is kept if its rank is
    below the room that is left, at both its ends, and left out if there is no room left at one. Rounds go on until all
    are decided.

    *Why this is the scan.* Call an undecided edge e within reach at an end if its rank r there is below the room R
    left. Then the scan does not leave it out for lack of room there: at most the kept edges and the r undecided ones
    before e are added before it, fewer than θ. So all kept edges are kept by the scan.

    An edge e that is left out has an end without room, where θ edges are kept; the scan leaves it out, too, if they all
    come before it. Suppose that one of them, f, does not. When f was kept it was within reach, and so was e, before it.
    An edge within reach stays there until it is decided: let K be the edges kept at the end in a round, a of them
    before e and b after it. The last of K has rank at least r + b and at most R − 1, so r − a < R − a − b: the new rank
    is below the new room, which is therefore not zero, as long as e is undecided. But there is none: a contradiction.

    The first undecided edge of all has rank 0 at both ends, so each round decides at least one. In an order by hashes,
    a few rounds decide nearly all (Blelloch and others 2012). In the worst order a round decides hardly any: when
    rounds no longer pay, the rest of the part is scanned one by one. Time is O((m + n) log(m + n)) in any order.
    """
    ends = _ends_in_order(sources, targets, order, num_nodes=num_nodes, is_directed=is_directed)
    kept = np.empty(order.size, dtype=np.bool_)
    kept[order] = _scan(ends, np.bincount(ends.ravel()), max_degree)
    return kept


def _ends_in_order(sources: Ints, targets: Ints, order: Ints, *, num_nodes: int, is_directed: bool) -> Ints:
    """Return where edges end, shape (2, m): an arc leaves the first copy of its source, enters its target's second."""
    ends = np.empty((2, order.size), dtype=np.int64)
    ends[0], ends[1] = sources[order], targets[order]
    ends[1] += num_nodes if is_directed else 0
    return ends


def _scan(ends: Ints, full: Ints, max_degree: int) -> Bools:
    """Return which edges are kept, of edges in the order of the scan; ``full`` has each end's degree before it."""
    is_over = full > max_degree
    kept: Bools = ~(is_over[ends[0]] | is_over[ends[1]])
    scanned = np.flatnonzero(~kept)
    room = np.where(is_over, max_degree, full)
    length = max(_PART, full.size // _NODES_PER_EDGE)
    for start in range(0, scanned.size, length):
        part = scanned[start : start + length]
        part = part[(room[ends[0, part]] > 0) & (room[ends[1, part]] > 0)]
        kept[part] = _keep(ends[:, part], room)
    return kept


def _keep(ends: Ints, room: Ints) -> Bools:
    """Return which edges of a part of the scan are kept, and deduct them from the room at their ends."""
    is_short = np.bincount(ends.ravel(), minlength=room.size) > room
    kept: Bools = ~(is_short[ends[0]] | is_short[ends[1]])
    disputed = np.flatnonzero(~kept)
    room -= np.bincount(ends[:, kept].ravel(), minlength=room.size)
    kept[disputed] = _settle(ends[:, disputed], is_short, room)
    return kept


def _settle(ends: Ints, is_short: Bools, room: Ints) -> Bools:
    """Return which edges at a short node, one without room for all, are kept; deduct them from the room."""
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


def _ranks(node: Ints) -> Ints:
    """Return, for ascending values, how many equal entries come before each."""
    places = np.arange(node.size)
    begins = np.zeros(node.size, dtype=np.int64)
    begins[1:] = np.where(node[1:] != node[:-1], places[1:], 0)
    return places - np.maximum.accumulate(begins)


def _one_by_one(ends: Ints, room: Ints) -> list[bool]:
    """Return which edges are kept, scanned one by one; deduct them from the room."""
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


def stable_order(sources: Ints, targets: Ints, identities: NDArray[np.uint64], *, is_directed: bool) -> Ints:
    """Return edges in scan order: that of a hash of their two nodes.

    The key of an edge is the first four bytes of :func:`~anonhist.numeric.hash_words` of C·a + b mod 2^64, under a
    fixed public key. Here a and b are the identities of the edge's source and target, the smaller first if edges have
    no direction, and C = 0x9E3779B97F4A7C15. Edges with equal keys are in ascending order of (source, target). Edges
    must be given in that order, fewer than 2^32, with sources ≤ targets if they have no direction.

    *Why the order is stable.* Keys decide which of two edges comes first; if they are equal, the indices of their ends
    do. A key depends only on the identities of the edge's two nodes: not on other edges, nor on the number of nodes or
    edges. Indices are ranks of names: they change when a node is added or removed, but the order of two other nodes
    does not. So any two edges that two graphs have in common come in the same order in both. Nothing here depends on
    chance; the quality of the hash only affects how evenly edges are lost.
    """
    if sources.size >= 1 << 32:
        raise DataError("Only graphs with fewer than 2^32 edges can be projected: take a sample of the nodes.")
    rises = sources[1:] > sources[:-1]
    if not bool((rises | ((sources[1:] == sources[:-1]) & (targets[1:] >= targets[:-1]))).all()):
        raise DataError("Edges must be in ascending order of source and target.")
    # The key in the upper half of a word, the position in the lower: sorting words is faster than sorting indices.
    words = hash_words(_pair_words(sources, targets, identities, is_directed=is_directed), key=ORDER_KEY)[:, 0] << _HALF
    words |= np.arange(words.size, dtype=np.uint64)
    words.sort()
    words &= np.uint64(0xFFFFFFFF)
    return words.view(np.int64)


def _pair_words(
    sources: Ints, targets: Ints, identities: NDArray[np.uint64], *, is_directed: bool
) -> NDArray[np.uint64]:
    """Return C·a + b mod 2^64: for random identities, two pairs have the same word with probability 2^−64."""
    first, second = identities[sources], identities[targets]
    if not is_directed:
        first, second = np.minimum(first, second), np.maximum(first, second)
    first *= _MULTIPLIER
    first += second
    return first


def sorted_list(max_degree: int, direction: Direction) -> int:
    """Return the largest sorted ℓ1 distance of the degree lists of neighbors, the shorter one padded with zeros.

    2θ: its own degree of θ, and θ changes by one. With directions max(2θ, 3θ − 2): its own in-degree l, up to k ≤ θ
    rises and up to l falls; a fall from degree r reduces the number of nodes of degree ≥ r, which the new node
    increases, and that takes two from l + k + l if l = θ.

    It is also the largest ℓ1 distance of φ_{r+}, the numbers of nodes of degree ≥ r, for r = 1 … θ. Both hold even if
    nodes are not listed, because nodes without edges add nothing to a list.
    """
    return max(2 * max_degree, 3 * max_degree - 2) if direction.is_directed else 2 * max_degree


def histogram(max_degree: int, direction: Direction, *, counts_zeros: bool) -> int:
    """Return the largest ℓ1 distance of φ_r, the numbers of nodes of degree r, for r = 0 … θ or r = 1 … θ.

    2θ + 1: one for the new node, and two for each of θ changes by one. With directions there are 2θ changes: 4θ + 1.
    If the caps are too small for all of them to count, it is less: without zeros 2 for θ = 1, and with directions 3
    (2 without zeros) for θ = 1, and 7 without zeros for θ = 2.

    φ_0 may be counted only if nodes are listed: otherwise any number of nodes of degree 0, which exist only because of
    their edges to one node, may be added or removed with that node.
    """
    if not direction.is_directed:
        return 2 * max_degree + (max_degree > 1 or counts_zeros)
    if max_degree == 1:
        return 3 if counts_zeros else 2
    return 4 * max_degree + 1 if counts_zeros or max_degree > 2 else 7


def cumulative_histogram(max_degree: int, direction: Direction) -> int:
    """Return the largest ℓ1 distance of the numbers of nodes of degree ≤ i, i = 0 … θ; nodes must be listed.

    θ + 1: the new node counts for the θ + 1 − k values of i from its degree k on, and each of the k changes by one of
    other nodes moves one count by one. With directions it is 2θ + 1, because the new node counts for θ + 1 − l, and
    there are k + l changes with k ≤ θ; 2 for θ = 1.
    """
    if not direction.is_directed:
        return max_degree + 1
    return 2 * max_degree + 1 if max_degree > 1 else 2
