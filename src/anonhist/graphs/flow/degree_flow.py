"""The list of degrees, capped by sharing edges out evenly: one node moves it by at most twice the cap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.graphs.flow.certificate import certified_sums
from anonhist.graphs.flow.edge_count_flow import capped_arcs
from anonhist.graphs.flow.even_shares import even_shares
from anonhist.graphs.flow.ratios import Ratios
from anonhist.graphs.flow.transport import largest_transport
from anonhist.graphs.policy import Direction
from anonhist.privacy import parse_whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.graphs.graph import Graph


def degree_flow(graph: Graph, max_degree: int) -> Ratios:
    """Return capped degrees of all nodes, as exact fractions.

    ``s_v = Σ x_e`` over the edges at v, where x minimizes ``Σ_v (D − s_v)²`` over ``0 ≤ x_e ≤ 1``, ``s_v ≤ D``. There
    is only one such s. Where arcs are counted, x minimizes ``Σ_u (D − a_u)² + Σ_v (D − b_v)²``, a_u and b_v the sums
    over the arcs from u and to v, both at most D; the b are returned for in-degrees, the a for out-degrees.

    Parameters
    ----------
    graph
        Private.
    max_degree
        The cap D, from 1 to 2^62. It must be public, or chosen with budget.

    Returns
    -------
    Ratios, shape (num_nodes,)
        From 0 to D, and never above the node's degree; the degrees themselves if none exceeds the cap. Private:
        :func:`degree_flow_distance` says how far one node moves it.

    Raises
    ------
    UsageError
        If the cap is out of range, or the graph's policy counts self-loops or duplicates.
    DataError
        If the graph is too large: D times the number of nodes that share edges with one another may not reach 2^31.
    ArithmeticError
        If x cannot be verified as optimal.

    Notes
    -----
    The sum of all s is twice the largest number of edges that can be shared out (:func:`edge_count_flow`; not twice
    where arcs are counted). As no s_v exceeds the degree, the distance from the degrees is 2·(edges − that number): at
    most twice as many edges as must be removed for no degree to exceed D, and never more than after the projection
    (:func:`~anonhist.graphs.node.projection.project`).

    A largest flow through the graph's double cover, which has capacity D at the left and at the right copies, tells
    three kinds of copies apart. Those with slack in the optimum; those that are full and border on slack; and those
    that are full for other reasons. All arcs but those between the first two kinds are full or empty, or their flow is
    as good as any other. There, the full copies share D out so that the slack that is left is as even as possible
    (:func:`even_shares`). All is exact, and the outcome is checked by the conditions of optimality, in whole numbers
    (:func:`certified_sums`): it does not matter for privacy how it was found. Proof: docs/proofs/graphs-flow.md.

    References
    ----------
    .. [1] S. Raskhodnikova, A. Smith, "Lipschitz extensions for node-private graph statistics and the generalized
       exponential mechanism", FOCS 2016: the list, with distance 3D.

    Examples
    --------
    A hub shares two edges out to three of its neighbors. The other two, joined to each other, have less slack:

    >>> from anonhist.graphs.graph import Graph
    >>> from anonhist.graphs.policy import EdgePolicy
    >>> edges = np.array([0, 0, 0, 0, 0, 4]), np.array([1, 2, 3, 4, 5, 5])
    >>> capped = degree_flow(Graph(*edges, np.arange(6, dtype=np.uint64), EdgePolicy()), 2)
    >>> print(*capped.fractions())
    2 2/3 2/3 2/3 1 1
    """
    left, right, cap = capped_arcs(graph, max_degree)
    given, got = _least_squares(left, right, np.full(graph.num_nodes, cap, dtype=np.int64), cap)
    return got if graph.policy.direction is Direction.IN else given


def degree_flow_distance(direction: Direction, max_degree: int) -> int:
    """Return how far one node more, with any edges, moves :func:`degree_flow` in sorted ℓ1: 2D, or 3D for arcs.

    2D is attained, by a node with D neighbors of its own. 3D is a supremum that is approached. Proof:
    docs/proofs/graphs-flow.md.

    Examples
    --------
    >>> degree_flow_distance(Direction.UNDIRECTED, 8), degree_flow_distance(Direction.IN, 8)
    (16, 24)
    """
    return (3 if direction.is_directed else 2) * parse_whole_number(max_degree, name="max_degree")


def _least_squares(
    left: NDArray[np.int64], right: NDArray[np.int64], limits: NDArray[np.int64], cap: int
) -> tuple[Ratios, Ratios]:
    """Return the best sums at the left and at the right copies of all nodes."""
    largest = largest_transport(left, right, np.ones(left.size, dtype=np.int64), limits, limits)
    slack_left, wanted_right = largest.source_side
    wanted_left, slack_right = largest.sink_side
    shares = Ratios.of_whole(largest.flows)
    prices = Ratios.of_whole(np.zeros_like(limits)), Ratios.of_whole(np.zeros_like(limits))
    for begins, ends, is_open, price in (
        (left, right, wanted_left[left] & slack_right[right], prices[0]),
        (right, left, wanted_right[right] & slack_left[left], prices[1]),
    ):
        taken = np.bincount(ends[~is_open & (largest.flows > 0)], minlength=limits.size)
        shared, paid = even_shares(begins[is_open], ends[is_open], limits, limits - taken)
        shares.put(is_open, shared)
        price.put(begins[is_open], paid.at(begins[is_open]))
    return certified_sums(left, right, shares, prices, bound=cap)
