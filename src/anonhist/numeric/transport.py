"""Maximum flows through bipartite networks, in whole numbers, each certified by a cut of the same capacity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonhist.errors import DataError
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
        raise DataError("The numbers are too large for an exact flow: they must be below 2^31.")
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
    """Return which nodes can be reached from a given one, along arcs."""
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
