"""Degrees and the number of edges, capped by sharing edges: one node moves them by a multiple of the cap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.graphs.graph import Direction, Graph, check_simple
from anonhist.numeric.arrays import Bools, Floats, Ints
from anonhist.numeric.exponential import exp_bounds
from anonhist.numeric.transport import MAX_CAPACITY, Transport, largest_transport
from anonhist.privacy import EpsilonLike, parse_epsilon, parse_whole_number
from anonhist.randomness import RandomSource, SystemSource
from anonhist.randomness.categorical import resolve


@dataclass(frozen=True, eq=False)
class Ratios:
    """Fractions ``numerators[i] / denominators[i]``, not always in lowest terms.

    Attributes
    ----------
    numerators : ndarray of int64, shape (k,)
    denominators : ndarray of int64, shape (k,)
        At least 1.

    Examples
    --------
    >>> Ratios(np.array([3, 4]), np.array([2, 1])).fractions()
    [Fraction(3, 2), Fraction(4, 1)]
    """

    numerators: Ints
    denominators: Ints

    @classmethod
    def of_whole(cls, numbers: Ints) -> Ratios:
        """Return whole numbers as fractions; the numbers are copied."""
        return cls(np.array(numbers, dtype=np.int64), np.ones(len(numbers), dtype=np.int64))

    def put(self, places: Ints | Bools, values: Ratios) -> None:
        """Overwrite the fractions at some positions."""
        self.numerators[places] = values.numerators
        self.denominators[places] = values.denominators

    def at(self, places: Ints | Bools) -> Ratios:
        """Return the fractions at some positions."""
        return Ratios(self.numerators[places], self.denominators[places])

    def fractions(self) -> list[Fraction]:
        """Return them one by one, for short lists."""
        pairs = zip(self.numerators.tolist(), self.denominators.tolist(), strict=True)
        return [Fraction(above, below) for above, below in pairs]

    def floats(self) -> Floats:
        """Return the nearest floats, shape (k,), where both parts are below 2^53."""
        return np.asarray(self.numerators / self.denominators)


def even_shares(left: Ints, right: Ints, supplies: Ints, rooms: Ints) -> tuple[Ratios, Ratios]:
    """Distribute all supplies and leave rooms ``t_v`` with the least sum of squares; return shares x and prices p.

    Minimizes ``Σ_v t_v²``, ``t_v = rooms[v] − Σ x_a`` over the arcs a to v, where ``0 ≤ x_a ≤ 1`` and the arcs from u
    carry ``supplies[u]`` ≥ 0 together. The caller must make sure that the supplies fit, that is, that such x exist, and
    that no two arcs are the same; nodes without arcs are ignored. The optimal t is unique; x may not be. x_a = 1 if the
    remaining room exceeds the price p of the left node, and 0 if it is below p. Supplies, multiplied by the number of
    right nodes in their part, must stay below 2^31.

    Divide and conquer (Fujishige 1980): if a maximum flow shows that a connected part cannot be left with equal rooms,
    its cut splits the part. All parts are tried at once, in one network; each round removes at least one arc of each
    part that is not even. Proof: docs/proofs/graphs-flow.md, §4.
    """
    supplies, rooms = supplies.copy(), rooms.copy()
    shares = Ratios.of_whole(np.zeros(left.size, dtype=np.int64))
    prices = Ratios.of_whole(np.zeros(supplies.size, dtype=np.int64))
    undecided = np.arange(left.size)
    while undecided.size:
        lefts, begins = np.unique(left[undecided], return_inverse=True)
        rights, ends = np.unique(right[undecided], return_inverse=True)
        part_of_left, part_of_right = _parts(begins, ends, lefts.size, rights.size)
        level = _levels(part_of_left, part_of_right, supplies[lefts], rooms[rights])
        prices.put(lefts, level.at(part_of_left))

        scale, scale_of_right = level.denominators[part_of_left], level.denominators[part_of_right]
        above = rooms[rights] * scale_of_right - level.numerators[part_of_right]
        tried = _transport(begins, ends, scale[begins], supplies[lefts] * scale, np.maximum(above, 0))
        # Nodes that start with less room than t get nothing, and stay below t.
        is_less_left, is_less_right = tried.source_side[0], tried.source_side[1] | (above < 0)
        is_uneven = np.zeros(level.numerators.size, dtype=np.bool_)
        is_uneven[part_of_left[is_less_left]] = True
        is_uneven[part_of_right[is_less_right]] = True

        is_even = ~is_uneven[part_of_left][begins]
        shares.put(undecided[is_even], Ratios(tried.flows[is_even], scale[begins[is_even]]))
        is_crossing = is_less_left[begins] != is_less_right[ends]
        full = undecided[is_crossing & is_less_left[begins]]
        shares.numerators[full] = 1
        np.subtract.at(supplies, left[full], 1)
        np.subtract.at(rooms, right[full], 1)
        supplies[lefts[~is_uneven[part_of_left]]] = 0
        undecided = undecided[~is_even & ~is_crossing]
    if supplies[left].any():
        raise ArithmeticError("The supplies do not match, so their shares must not be used.")
    return shares, prices


def _parts(begins: Ints, ends: Ints, lefts: int, rights: int) -> tuple[Ints, Ints]:
    """Return the number of the connected part of each left and of each right node."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    shape = (lefts + rights, lefts + rights)
    arcs = csr_array((np.ones(begins.size, dtype=np.int8), (begins, lefts + ends)), shape=shape)
    parts = connected_components(arcs, directed=False)[1].astype(np.int64)
    return parts[:lefts], parts[lefts:]


def _levels(part_of_left: Ints, part_of_right: Ints, supplies: Ints, rooms: Ints) -> Ratios:
    """Return the average room that the right nodes of each part have left, in lowest terms."""
    sharing = np.bincount(part_of_right)
    total = np.zeros(sharing.size, dtype=np.int64)
    np.add.at(total, part_of_right, rooms)
    np.subtract.at(total, part_of_left, supplies)
    common = np.gcd(total, sharing)
    return Ratios(total // common, sharing // common)


def _transport(left: Ints, right: Ints, capacities: Ints, supplies: Ints, demands: Ints) -> Transport:
    """Return a maximum flow, or say what to do if the graph is too large for one."""
    if max(int(limits.max(initial=0)) for limits in (capacities, supplies, demands)) > MAX_CAPACITY:
        raise DataError("The graph is too large for an exact flow: give a smaller `max_degree`, or use the projection.")
    return largest_transport(left, right, capacities, supplies, demands)


# Two such products are added in 64 bits.
_LARGEST_PRODUCT = 2**62


def certified_sums(
    left: Ints, right: Ints, shares: Ratios, prices: tuple[Ratios, Ratios], *, bound: int
) -> tuple[Ratios, Ratios]:
    """Return how much each node gives or gets, a and b, if prices prove that the shares x are optimal.

    Optimal shares minimize ``Σ_u (D − a_u)² + Σ_v (D − b_v)²`` over ``0 ≤ x ≤ 1``, ``a_u ≤ D``, ``b_v ≤ D``, where a_u
    is the sum of x over the arcs from u, b_v over those to v, and D the bound. By the Karush–Kuhn–Tucker conditions,
    shares are optimal if all nodes have a price, −(D − a_u) if a_u < D and at least 0 if a_u = D, so that x = 1 where
    the prices of both ends add up to less than 0, and x = 0 where they add up to more.

    ``prices`` are read at nodes whose sum is D. All comparisons are exact, in whole numbers: at each node, all
    fractional shares must have the same denominator, and D times a squared denominator must stay below 2^62.
    """
    below = np.concatenate([ratios.denominators for ratios in (shares, *prices)])
    _require(bool(np.all(below >= 1)))
    if bound * int(below.max(initial=1)) ** 2 >= _LARGEST_PRODUCT:
        raise DataError("The graph is too large for an exact flow: give a smaller `max_degree`, or use the projection.")
    sums = _sums(left, shares, prices[0].numerators.size), _sums(right, shares, prices[1].numerators.size)
    held = [_prices(sum_, price, bound) for sum_, price in zip(sums, prices, strict=True)]
    one, other = held[0].at(left), held[1].at(right)
    both = one.numerators * other.denominators + other.numerators * one.denominators
    is_empty, is_full = shares.numerators == 0, shares.numerators == shares.denominators
    is_share = (shares.numerators >= 0) & (shares.numerators <= shares.denominators)
    _require(bool(np.all(is_share & ((both >= 0) | is_full) & ((both <= 0) | is_empty))))
    return sums


def _sums(ends: Ints, shares: Ratios, nodes: int) -> Ratios:
    """Add up the shares of each node."""
    denominators = np.ones(nodes, dtype=np.int64)
    np.maximum.at(denominators, ends, shares.denominators)
    factors, rest = np.divmod(denominators[ends], shares.denominators)
    _require(not rest.any())
    numerators = np.zeros(nodes, dtype=np.int64)
    np.add.at(numerators, ends, shares.numerators * factors)
    return Ratios(numerators, denominators)


def _prices(sums: Ratios, given: Ratios, bound: int) -> Ratios:
    """Return the price of each node: minus the amount that its sum lacks, or the given price if it lacks nothing."""
    missing = bound * sums.denominators - sums.numerators
    is_met = missing == 0
    is_price = (given.numerators >= 0) & (given.numerators <= bound * given.denominators)
    _require(bool(np.all(np.where(is_met, is_price, missing > 0))))
    return Ratios(np.where(is_met, given.numerators, -missing), np.where(is_met, given.denominators, sums.denominators))


def _require(holds: bool) -> None:  # noqa: FBT001 - an assertion
    if not holds:
        raise ArithmeticError("The shares could not be verified as optimal, so they must not be used.")


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
        Exact: a multiple of 1/2, or a whole number if arcs are counted. It is the number of edges if no degree exceeds
        the cap, otherwise less. It is private: :func:`edge_count_flow_distance` says how far one node moves it.

    Raises
    ------
    UsageError
        If the cap is out of range, or the graph's policy counts self-loops or duplicates.
    ArithmeticError
        If the flow cannot be verified as a maximum flow.

    Notes
    -----
    It is a maximum flow through the graph's double cover, halved: an edge {u, v} becomes two arcs, (u, v) and (v, u),
    from left copies of nodes to right copies, and both copies have the cap D. SciPy's flow is certified by a cut of the
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
    largest = _transport(left, right, np.ones(left.size, dtype=np.int64), limits, limits)
    return Fraction(int(largest.flows.sum()), 1 if graph.policy.direction.is_directed else 2)


def edge_count_flow_distance(direction: Direction, max_degree: int) -> int:
    """Return how far one extra node, with any edges, moves :func:`edge_count_flow`: D, or 2D if arcs are counted.

    Stars attain both bounds. Proof: docs/proofs/graphs-flow.md, §2.
    """
    return (2 if direction.is_directed else 1) * parse_whole_number(max_degree, name="max_degree")


def capped_arcs(graph: Graph, max_degree: int) -> tuple[Ints, Ints, int]:
    """Return the ends of the arcs of a graph, or of its double cover, and a cap that has the same effect.

    A cap above the largest degree is lowered to it: both keep all edges.
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
        From 0 to D, and never above the node's degree; the degrees themselves if none exceeds the cap. They are
        private: :func:`degree_flow_distance` says how far one node moves them.

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
    The sum of all s is twice :func:`edge_count_flow` (once if arcs are counted). Because no s_v exceeds the degree, the
    distance from the degrees is 2·(edges − that number): at most twice the number of edges that must be removed so that
    no degree exceeds D, and never more than after the projection (:func:`~anonhist.graphs.projection.project`).

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
    largest = _transport(left, right, np.ones(left.size, dtype=np.int64), limits, limits)
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


def randomized_rounding(values: Ratios, *, source: RandomSource | None = None) -> Ints:
    """Round each fraction x down or up, independently, with mean x: ``⌊x⌋ + B``, ``P(B = 1) = x − ⌊x⌋``.

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

    Consider a mechanism for lists of whole numbers whose probabilities change by a factor of at most e^γ when one
    number changes by 1. Applied to fractions rounded by :func:`randomized_rounding` it is ε-differentially private if
    neighbors' lists of fractions are at most d apart in sorted ℓ1 distance, ``(e^γ − 1)·d ≤ ε``, and its probabilities
    do not depend on the order of the list. Exact arithmetic ensures the inequality; γ is rounded down to six or seven
    significant decimal digits. Little is lost: ln(1 + ε/d) is at least (1 − ε/(2d))·ε/d. Proof:
    docs/proofs/graphs-flow.md, §5.
    """
    exact, units = parse_epsilon(epsilon), parse_whole_number(distance, name="distance")
    ratio = exact / units
    estimate = math.log1p(ratio)
    unit = Fraction(10) ** (math.floor(math.log10(estimate)) + 1 - _DIGITS)
    steps = math.floor(Fraction(estimate) / unit) + 1
    while exp_bounds(steps * unit, bits=_BITS)[0] * (1 + ratio) < 1 << _BITS:
        steps -= 1
    return steps * unit


def _floors(part: Fraction, bits: int) -> list[int]:
    return [(part.numerator << bits) // part.denominator]


def _binary_digits(rest: Ints, denominators: Ints) -> NDArray[np.uint64]:
    """Return ⌊2^64·rest/denominator⌋, for rests below their denominators."""
    below, half = denominators.astype(np.uint64), np.uint64(32)
    high, left = np.divmod(rest.astype(np.uint64) << half, below)
    return np.asarray(high << half | (left << half) // below)
