"""Degrees, and the number of edges, capped by sharing edges out: one node moves them by a multiple of the cap."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.graphs.flow_shares import Ratios, certified_sums, even_shares, largest_transport
from anonhist.graphs.graph import Direction, Graph, check_simple
from anonhist.numeric.exponential import exp_bounds
from anonhist.privacy import EpsilonLike, parse_epsilon, parse_whole_number
from anonhist.randomness import RandomSource, SystemSource
from anonhist.randomness.categorical import resolve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.numeric.arrays import Ints


def edge_count_flow(graph: Graph, max_degree: int) -> Fraction:
    """Return the largest fractional number of edges that leaves each node at most ``max_degree``.

    ``F_D(G) = max Σ_e x_e`` over ``0 ≤ x_e ≤ 1``, where the x of the edges at a node add up to at most D. If arcs
    are counted, that holds for the arcs that leave a node, and for the arcs that enter it.

    Parameters
    ----------
    graph
        Private.
    max_degree
        The cap D, from 1 to 2^62. It must be public, or chosen with budget.

    Returns
    -------
    Fraction
        Exact: a multiple of 1/2, or a whole number if arcs are counted. The number of edges itself if no degree exceeds
        the cap, otherwise less. Private: :func:`edge_count_flow_distance` says how far one node moves it.

    Raises
    ------
    UsageError
        If the cap is out of range, or the graph's policy counts self-loops or duplicates.
    ArithmeticError
        If the flow cannot be verified as a maximum flow.

    Notes
    -----
    A maximum flow through the graph's double cover, halved: an edge {u, v} becomes two arcs, (u, v) and (v, u), from
    left copies of nodes to right copies, and both copies have the cap D. SciPy's flow is certified by a cut of the
    same capacity, in whole numbers (Kasiviswanathan and others 2013, section 4).

    Examples
    --------
    >>> from anonhist.graphs.graph import Graph
    >>> from anonhist.graphs.graph import EdgePolicy
    >>> triangle = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> edge_count_flow(Graph(*triangle, np.arange(3, dtype=np.uint64), EdgePolicy()), 1)
    Fraction(3, 2)
    """
    left, right, cap = capped_arcs(graph, max_degree)
    limits = np.full(graph.num_nodes, cap, dtype=np.int64)
    largest = largest_transport(left, right, np.ones(left.size, dtype=np.int64), limits, limits)
    return Fraction(int(largest.flows.sum()), 1 if graph.policy.direction.is_directed else 2)


def edge_count_flow_distance(direction: Direction, max_degree: int) -> int:
    """Return how far one extra node, with any edges, moves :func:`edge_count_flow`: D, or 2D if arcs are counted.

    Stars attain both bounds. Proof: docs/proofs/graphs-flow.md, §2.
    """
    return (2 if direction.is_directed else 1) * parse_whole_number(max_degree, name="max_degree")


def capped_arcs(graph: Graph, max_degree: int) -> tuple[Ints, Ints, int]:
    """Return where the arcs of a graph, or of its double cover, begin and end, and a cap that has the same effect.

    A cap above the largest degree is lowered to it: either keeps all edges.
    """
    check_simple(graph.policy)
    cap = parse_whole_number(max_degree, name="max_degree")
    left, right = graph.sources, graph.targets
    if not graph.policy.direction.is_directed:
        left, right = np.concatenate([left, right]), np.concatenate([right, left])
    largest = max(int(np.bincount(ends).max(initial=1)) for ends in (left, right))
    return left, right, min(cap, largest)


def degree_flow(graph: Graph, max_degree: int) -> Ratios:
    """Return capped degrees of all nodes, as exact fractions.

    ``s_v = Σ x_e`` over the edges at v, where x minimizes ``Σ_v (D − s_v)²`` over ``0 ≤ x_e ≤ 1``, ``s_v ≤ D``. There
    is only one such s. If arcs are counted, x minimizes ``Σ_u (D − a_u)² + Σ_v (D − b_v)²``, a_u and b_v the sums
    over the arcs from u and to v, both at most D; the b are returned for in-degrees, the a for out-degrees.

    Source: Raskhodnikova and Smith 2016, the list, with distance 3D.

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
    The sum of all s is twice :func:`edge_count_flow` (once if arcs are counted). As no s_v exceeds the degree, the
    distance from the degrees is 2·(edges − that number): at most twice the number of edges that must be removed so that
    no degree exceeds D, and never more than after the projection
    (:func:`~anonhist.graphs.projection.project`).

    A maximum flow through the graph's double cover, with capacity D at the left and right copies, separates three kinds
    of copies: those with slack in the optimum, those that are full and next to slack, and those that are full for other
    reasons. All arcs but those between the first two kinds are full or empty, or any flow on them is optimal. Between
    these two kinds, the full copies distribute D so that the remaining slack is as even as possible
    (:func:`even_shares`). Everything is exact, and the result is checked by the optimality conditions, in whole numbers
    (:func:`certified_sums`): privacy does not depend on how it was found. Proof: docs/proofs/graphs-flow.md.

    Examples
    --------
    A hub divides two edges among three of its neighbors. The other two, joined to each other, have less slack:

    >>> from anonhist.graphs.graph import Graph
    >>> from anonhist.graphs.graph import EdgePolicy
    >>> edges = np.array([0, 0, 0, 0, 0, 4]), np.array([1, 2, 3, 4, 5, 5])
    >>> capped = degree_flow(Graph(*edges, np.arange(6, dtype=np.uint64), EdgePolicy()), 2)
    >>> print(*capped.fractions())
    2 2/3 2/3 2/3 1 1
    """
    left, right, cap = capped_arcs(graph, max_degree)
    given, got = _least_squares(left, right, np.full(graph.num_nodes, cap, dtype=np.int64), cap)
    return got if graph.policy.direction is Direction.IN else given


def degree_flow_distance(direction: Direction, max_degree: int) -> int:
    """Return how far one extra node, with any edges, moves :func:`degree_flow` in sorted ℓ1: 2D, or 3D for arcs.

    A node with D neighbors of its own attains 2D; 3D is approached, not attained. Proof: docs/proofs/graphs-flow.md,
    §2.
    """
    return (3 if direction.is_directed else 2) * parse_whole_number(max_degree, name="max_degree")


def _least_squares(left: Ints, right: Ints, limits: Ints, cap: int) -> tuple[Ratios, Ratios]:
    """Return the optimal sums at the left and at the right copies of all nodes."""
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


# Long division by these gives 32 binary digits at a time, in 64 bits.
LARGEST_DENOMINATOR = 2**32
# Decimal digits of a rate, and binary digits to which e^(−γ) is compared.
_DIGITS = 7
_BITS = 1024


def randomized_rounding(values: Ratios, *, source: RandomSource | None = None) -> NDArray[np.int64]:
    """Round each fraction x down or up, independently, so that its mean stays: ``⌊x⌋ + B``, ``P(B = 1) = x − ⌊x⌋``.

    A mechanism for whole lists then applies to the list, at a slightly lower budget (:func:`rounded_epsilon`).
    Fractions are at least 0, with denominators up to 2^32. Whole numbers stay the same, and no result exceeds a
    whole-number bound on the fractions.

    The distribution is exact. A random word is compared with the first 64 binary digits of each fractional part, and
    further words with further digits as long as they agree. A word is drawn for every fraction, whole or not; another
    is needed with probability 2^−64.
    """
    if not np.all((values.denominators >= 1) & (values.denominators <= LARGEST_DENOMINATOR)):
        raise UsageError("Fractions can be rounded if their denominators are from 1 to 2^32.")
    if np.any(values.numerators < 0):
        raise UsageError("Fractions can be rounded if they are at least 0.")
    whole, rest = np.divmod(values.numerators, values.denominators)
    thresholds = _binary_digits(rest, values.denominators)
    randomness = source or SystemSource()
    words = randomness.words(rest.size)
    is_up = words < thresholds
    for place in np.flatnonzero((words == thresholds) & (rest > 0)).tolist():
        part = Fraction(int(rest[place]), int(values.denominators[place]))
        is_up[place] = not resolve(int(words[place]), bits=64, thresholds=partial(_floors, part), source=randomness)
    return np.asarray(whole + is_up, dtype=np.int64)


def rounded_epsilon(epsilon: EpsilonLike, distance: int) -> Fraction:
    """Return the budget per unit of ℓ1 that leaves ``epsilon`` after rounding: γ ≤ ln(1 + ε/d).

    Take a mechanism for lists of whole numbers whose probabilities change by a factor of at most e^γ when one number
    changes by 1. Applied to fractions rounded by :func:`randomized_rounding` it is ε-differentially private if
    neighbors' lists of fractions are at most d apart in sorted ℓ1 distance, ``(e^γ − 1)·d ≤ ε``, and its probabilities
    do not depend on the order of the list. Exact arithmetic ensures the inequality; γ is rounded down to six or seven
    significant decimal digits. Little is lost: ln(1 + ε/d) is at least (1 − ε/(2d))·ε/d.
    Proof: docs/proofs/graphs-flow.md, §5.
    """
    exact, units = parse_epsilon(epsilon), parse_whole_number(distance, name="distance")
    ratio = exact / units
    estimate = math.log1p(ratio)
    unit = Fraction(10) ** (math.floor(math.log10(estimate)) + 1 - _DIGITS)
    steps = math.floor(Fraction(estimate) / unit) + 1
    while not _is_within(steps * unit, ratio):
        steps -= 1
    return steps * unit


def _is_within(gamma: Fraction, ratio: Fraction) -> bool:
    """Say whether e^γ ≤ 1 + ratio is certain."""
    lower, _ = exp_bounds(gamma, bits=_BITS)
    return lower * (1 + ratio) >= 1 << _BITS


def _floors(part: Fraction, bits: int) -> list[int]:
    return [(part.numerator << bits) // part.denominator]


def _binary_digits(rest: NDArray[np.int64], denominators: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return ⌊2^64·rest/denominator⌋, for rests below their denominators."""
    below, half = denominators.astype(np.uint64), np.uint64(32)
    high, left = np.divmod(rest.astype(np.uint64) << half, below)
    return np.asarray(high << half | (left << half) // below)
