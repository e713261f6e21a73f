"""How far one node moves what is counted of the degrees after the projection, to the unit.

Neighbors are a graph and the same graph with one node more, which has any edges to the others. Both are projected to
degrees of θ at most, with their common edges in the same order (:mod:`anonhist.graphs.node.projection`).

*Without directions.* Say that the new node keeps k ≤ θ edges. Let δ(u) be by how much the degree of another node u is
greater in the larger graph, at any time of the scan. Then Σ|δ| ≤ k at all times, where k counts what is kept by then.
For an edge of the new node adds one to k and changes one δ by one. An edge that both graphs have and only the smaller
keeps was left out in the larger because an end is full there but not in the smaller: its δ is positive and falls by
one, and the other end's δ changes by one, so the sum does not rise. The same holds with the graphs exchanged.

*With directions.* Say that the new node keeps k arcs that leave it and l that enter it, of at most θ each. Let U be
the sum of the rises of in-degrees and the falls of out-degrees of the other nodes, D that of the falls of in-degrees
and the rises of out-degrees. Then U ≤ k and D ≤ l, since a common arc that only one graph keeps takes one from the sum
to which its full end counts, and then adds one to that sum or takes one from the other. So in-degrees rise by k and
fall by l in all, at most, and the new node has in-degree l. Out-degrees are in-degrees of the graph with all arcs
turned round.

The constants below are the largest distances that these bounds allow, and graphs attain them.

>>> from anonhist.graphs.policy import Direction
>>> [sorted_list(4, Direction.UNDIRECTED), cumulative_histogram(4, Direction.UNDIRECTED)]
[8, 5]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonhist.graphs.policy import Direction


def sorted_list(max_degree: int, direction: Direction) -> int:
    """Return the largest sorted ℓ1 distance of the degree lists of neighbors, the shorter one filled up with zeros.

    2θ: its own degree of θ, and θ changes by one. With directions max(2θ, 3θ − 2): its own in-degree l, up to k ≤ θ
    rises and up to l falls; what falls from degree r makes fewer nodes of degree ≥ r, of which the new node makes one
    more, and that takes two from l + k + l if l = θ.

    It is as well the largest ℓ1 distance of φ_{r+}, how many nodes have degree ≥ r, for r = 1 … θ. Where nodes are not
    listed, both hold all the same: nodes without edges add nothing to a list.

    Parameters
    ----------
    max_degree
        θ ≥ 1.
    direction
        Which degrees are counted.

    Examples
    --------
    >>> from anonhist.graphs.policy import Direction
    >>> [sorted_list(cap, Direction.UNDIRECTED) for cap in (1, 2, 3, 4)]
    [2, 4, 6, 8]
    >>> [sorted_list(cap, Direction.OUT) for cap in (1, 2, 3, 4)]
    [2, 4, 7, 10]
    """
    return max(2 * max_degree, 3 * max_degree - 2) if direction.is_directed else 2 * max_degree


def histogram(max_degree: int, direction: Direction, *, counts_zeros: bool) -> int:
    """Return the largest ℓ1 distance of φ_r, how many nodes have degree r, for r = 0 … θ or r = 1 … θ.

    2θ + 1: one for the new node, and two for each of θ changes by one. With directions there are 2θ changes: 4θ + 1.
    Where the caps are too small for all of them to count, it is less: without zeros 2 for θ = 1, and with directions
    3 (2 without zeros) for θ = 1, and 7 without zeros for θ = 2.

    Parameters
    ----------
    max_degree
        θ ≥ 1.
    direction
        Which degrees are counted.
    counts_zeros
        Whether φ_0 is one of the bins. It may be only where nodes are listed: else any number of nodes of degree 0,
        which are there because of their edges to one node, may come or go with that node.

    Examples
    --------
    >>> from anonhist.graphs.policy import Direction
    >>> histogram(8, Direction.UNDIRECTED, counts_zeros=True), histogram(8, Direction.IN, counts_zeros=False)
    (17, 33)
    """
    if not direction.is_directed:
        return 2 * max_degree + (max_degree > 1 or counts_zeros)
    if max_degree == 1:
        return 3 if counts_zeros else 2
    return 4 * max_degree + 1 if counts_zeros or max_degree > 2 else 7


def cumulative_histogram(max_degree: int, direction: Direction) -> int:
    """Return the largest ℓ1 distance of how many nodes have degree ≤ i, for i = 0 … θ.

    θ + 1: the new node counts for the θ + 1 − k values of i from its degree k on, and of the other nodes' k changes by
    one each moves one count by one. With directions 2θ + 1, since the new node counts for θ + 1 − l, and there are
    k + l changes with k ≤ θ; 2 for θ = 1.

    Nodes must be listed, as for :func:`histogram` with zeros.

    Parameters
    ----------
    max_degree
        θ ≥ 1.
    direction
        Which degrees are counted.

    Examples
    --------
    >>> from anonhist.graphs.policy import Direction
    >>> cumulative_histogram(8, Direction.UNDIRECTED), cumulative_histogram(8, Direction.IN)
    (9, 17)
    """
    if not direction.is_directed:
        return max_degree + 1
    return 2 * max_degree + 1 if max_degree > 1 else 2
