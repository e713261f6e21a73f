"""Distribute supplies to neighbors so that the remaining room is as even as possible, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.numeric.arrays import Bools, Ints

# SciPy's flows are 32-bit numbers.
MAX_CAPACITY = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Transport:
    """A maximum flow through a bipartite network, and the sides of its minimum cuts, as pairs (lefts, rights).

    ``source_side`` holds the nodes that a left node with remaining supply reaches, along arcs that are not full and
    against arcs that are not empty: the same for every maximum flow. From ``sink_side``, a right node with unmet demand
    is reached in the same way.
    """

    flows: Ints
    source_side: tuple[Bools, Bools]
    sink_side: tuple[Bools, Bools]


def largest_transport(left: Ints, right: Ints, capacities: Ints, supplies: Ints, demands: Ints) -> Transport:
    """Return a maximum flow from left to right, certified by a cut in 64-bit whole numbers.

    It maximizes ``Σ f_a`` over ``0 ≤ f_a ≤ capacities[a]``, at most ``supplies[u]`` through all arcs from u together,
    and at most ``demands[v]`` through all arcs to v. No two arcs may be the same, and all limits must be below 2^31.
    """
    if max(int(limits.max(initial=0)) for limits in (capacities, supplies, demands)) > MAX_CAPACITY:
        raise DataError("The graph is too large for an exact flow: give a smaller `max_degree`, or use the projection.")
    lefts, rights = supplies.size, demands.size
    source, sink = lefts + rights, lefts + rights + 1
    begins = np.concatenate([left, np.full(lefts, source), lefts + np.arange(rights)])
    ends = np.concatenate([lefts + right, np.arange(lefts), np.full(rights, sink)])
    limits = np.concatenate([capacities, supplies, demands])
    flows = _largest_flow(begins, ends, limits, size=sink + 1)

    more, less = flows < limits, flows > 0
    here, there = np.concatenate([begins[more], ends[less]]), np.concatenate([ends[more], begins[less]])
    from_source, to_sink = _reachable(here, there, source, size=sink + 1), _reachable(there, here, sink, size=sink + 1)
    _certify(begins, ends, limits, flows, is_before_cut=from_source)
    return Transport(
        flows[: left.size],
        source_side=(from_source[:lefts], from_source[lefts:source]),
        sink_side=(to_sink[:lefts], to_sink[lefts:source]),
    )


def _largest_flow(begins: Ints, ends: Ints, limits: Ints, *, size: int) -> Ints:
    """Return a flow from the second-to-last node to the last."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    places = begins.astype(np.int32), ends.astype(np.int32)
    network = csr_array((limits.astype(np.int32), places), shape=(size, size))
    found = maximum_flow(network, size - 2, size - 1).flow.tocoo()
    keys = begins * size + ends
    order = np.argsort(keys)
    is_along = found.data > 0
    along = found.row[is_along] * np.int64(size) + found.col[is_along]
    flows = np.zeros(limits.size, dtype=np.int64)
    flows[order[keys.searchsorted(along, sorter=order)]] = found.data[is_along]
    return flows


def _reachable(begins: Ints, ends: Ints, start: int, *, size: int) -> Bools:
    """Say which nodes can be reached from one, along arcs."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    arcs = csr_array((np.ones(begins.size, dtype=np.int8), (begins, ends)), shape=(size, size))
    reached = np.zeros(size, dtype=np.bool_)
    reached[breadth_first_order(arcs, start, return_predecessors=False)] = True
    return reached


def _certify(begins: Ints, ends: Ints, limits: Ints, flows: Ints, *, is_before_cut: Bools) -> None:
    """Refuse flows that break a limit, or carry less than the capacity of the cut."""
    arrived = np.zeros(is_before_cut.size, dtype=np.int64)
    np.add.at(arrived, ends, flows)
    np.subtract.at(arrived, begins, flows)
    is_allowed = bool(np.all((flows >= 0) & (flows <= limits))) and not arrived[:-2].any()
    passing = int(limits[is_before_cut[begins] & ~is_before_cut[ends]].sum())
    is_cut = bool(is_before_cut[-2]) and not is_before_cut[-1]
    if not (is_allowed and is_cut and arrived[-1] == passing):
        raise ArithmeticError("The flow could not be verified as a maximum flow, so it must not be used.")


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

    numerators: NDArray[np.int64]
    denominators: NDArray[np.int64]

    @classmethod
    def of_whole(cls, numbers: NDArray[np.int64]) -> Ratios:
        """Return whole numbers as fractions; the numbers are copied."""
        return cls(np.array(numbers, dtype=np.int64), np.ones(len(numbers), dtype=np.int64))

    def put(self, places: NDArray[np.int64] | NDArray[np.bool_], values: Ratios) -> None:
        """Overwrite the fractions at some places."""
        self.numerators[places] = values.numerators
        self.denominators[places] = values.denominators

    def at(self, places: NDArray[np.int64] | NDArray[np.bool_]) -> Ratios:
        """Return the fractions at some places."""
        return Ratios(self.numerators[places], self.denominators[places])

    def fractions(self) -> list[Fraction]:
        """Return them one by one, for short lists."""
        pairs = zip(self.numerators.tolist(), self.denominators.tolist(), strict=True)
        return [Fraction(above, below) for above, below in pairs]

    def floats(self) -> NDArray[np.float64]:
        """Return the nearest floats, shape (k,), where both parts are below 2^53."""
        quotients: NDArray[np.float64] = self.numerators / self.denominators
        return quotients


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
        tried = largest_transport(begins, ends, scale[begins], supplies[lefts] * scale, np.maximum(above, 0))
        # Nodes with less room than t from the start get nothing, and stay below t.
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
    """Add the shares of each node up."""
    denominators = np.ones(nodes, dtype=np.int64)
    np.maximum.at(denominators, ends, shares.denominators)
    factors, rest = np.divmod(denominators[ends], shares.denominators)
    _require(not rest.any())
    numerators = np.zeros(nodes, dtype=np.int64)
    np.add.at(numerators, ends, shares.numerators * factors)
    return Ratios(numerators, denominators)


def _prices(sums: Ratios, given: Ratios, bound: int) -> Ratios:
    """Return the price of each node: minus what its sum lacks, or the given price if it lacks nothing."""
    missing = bound * sums.denominators - sums.numerators
    is_met = missing == 0
    is_price = (given.numerators >= 0) & (given.numerators <= bound * given.denominators)
    _require(bool(np.all(np.where(is_met, is_price, missing > 0))))
    return Ratios(np.where(is_met, given.numerators, -missing), np.where(is_met, given.denominators, sums.denominators))


def _require(holds: bool) -> None:  # noqa: FBT001 - an assertion
    if not holds:
        raise ArithmeticError("The shares could not be verified as optimal, so they must not be used.")
