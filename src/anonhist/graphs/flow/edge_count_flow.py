"""The number of edges, shared out so that no node has more than its cap: one node moves it by at most the cap."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.graphs.flow.transport import largest_transport
from anonhist.privacy import parse_whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.graphs.graph import Graph
    from anonhist.graphs.policy import Direction


def edge_count_flow(graph: Graph, max_degree: int) -> Fraction:
    """Return the largest number of edges that can be shared out with at most ``max_degree`` to each node.

    ``F_D(G) = max Σ_e x_e`` over ``0 ≤ x_e ≤ 1``, where the x of the edges at a node add up to D at most; where arcs
    are counted, those of the arcs that leave a node do, and those of the arcs that enter it.

    Parameters
    ----------
    graph
        Private.
    max_degree
        The cap D, from 1 to 2^62. It must be public, or chosen with budget.

    Returns
    -------
    Fraction
        Exact: a multiple of 1/2, or a whole number where arcs are counted. The number of edges itself if no degree
        exceeds the cap, else less. Private: :func:`edge_count_flow_distance` says how far one node moves it.

    Raises
    ------
    UsageError
        If the cap is out of range, or the graph's policy counts self-loops or duplicates.
    ArithmeticError
        If the flow cannot be verified as a maximum flow.

    Notes
    -----
    A largest flow through the graph's double cover, halved: of an edge {u, v} both (u, v) and (v, u) are arcs from
    left copies of nodes to right copies, and both copies have the cap D. SciPy's flow is certified by a cut of the
    same capacity, in whole numbers [1]_.

    References
    ----------
    .. [1] S. P. Kasiviswanathan, K. Nissim, S. Raskhodnikova, A. Smith, "Analyzing graphs with node differential
       privacy", TCC 2013, section 4.

    Examples
    --------
    >>> from anonhist.graphs.graph import Graph
    >>> from anonhist.graphs.policy import EdgePolicy
    >>> triangle = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> edge_count_flow(Graph(*triangle, np.arange(3, dtype=np.uint64), EdgePolicy()), 1)
    Fraction(3, 2)
    """
    left, right, cap = capped_arcs(graph, max_degree)
    limits = np.full(graph.num_nodes, cap, dtype=np.int64)
    largest = largest_transport(left, right, np.ones(left.size, dtype=np.int64), limits, limits)
    return Fraction(int(largest.flows.sum()), 1 if graph.policy.direction.is_directed else 2)


def edge_count_flow_distance(direction: Direction, max_degree: int) -> int:
    """Return how far one node more, with any edges, moves :func:`edge_count_flow`: D, or 2D where arcs are counted.

    A flow of the smaller graph is one of the larger; and a flow of the larger without what passes the copies of the
    new node, D each at most, is one of the smaller. Both bounds are attained by stars.

    Examples
    --------
    >>> from anonhist.graphs.policy import Direction
    >>> edge_count_flow_distance(Direction.UNDIRECTED, 8), edge_count_flow_distance(Direction.IN, 8)
    (8, 16)
    """
    return (2 if direction.is_directed else 1) * parse_whole_number(max_degree, name="max_degree")


def capped_arcs(graph: Graph, max_degree: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return where the arcs of a graph, or of its double cover, begin and end, and a cap that has the same effect.

    A cap above the largest degree is lowered to it: all edges can be kept under either.
    """
    if not graph.policy.is_simple:
        message = (
            "Degrees can be bounded only if self-loops are left out and equal edges count once: read the edges with "
            "`self_loops='drop'` and `duplicates='merge'`."
        )
        raise UsageError(message)
    cap = parse_whole_number(max_degree, name="max_degree")
    left, right = graph.sources, graph.targets
    if not graph.policy.direction.is_directed:
        left, right = np.concatenate([left, right]), np.concatenate([right, left])
    largest = max(int(np.bincount(ends).max(initial=1)) for ends in (left, right))
    return left, right, min(cap, largest)
