"""Distribute supplies to neighbors so that the remaining room is as even as possible, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.graphs.flow.ratios import Ratios
from anonhist.graphs.flow.transport import largest_transport

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Ints


def even_shares(left: Ints, right: Ints, supplies: Ints, rooms: Ints) -> tuple[Ratios, Ratios]:
    """Distribute all supplies and leave rooms ``t_v`` with the least sum of squares.

    Minimizes ``Σ_v t_v²``, ``t_v = rooms[v] − Σ x_a`` over the arcs a to v, where ``0 ≤ x_a ≤ 1`` and the arcs from u
    carry ``supplies[u]`` together. The caller must make sure that the supplies fit, that is, that such x exist.

    Parameters
    ----------
    left, right : ndarray of int64, shape (arcs,)
        Where each arc begins and ends; no two are the same.
    supplies : ndarray of int64, shape (lefts,)
        At least 0. Nodes without arcs are ignored.
    rooms : ndarray of int64, shape (rights,)

    Returns
    -------
    shares : Ratios, shape (arcs,)
        x of each arc. The optimal t is unique; x may not be.
    prices : Ratios, shape (lefts,)
        p of each left node: x_a = 1 if the remaining room exceeds p, and 0 if it is below p.

    Raises
    ------
    DataError
        If a supply, multiplied by the number of right nodes in its part, is 2^31 or more.
    ArithmeticError
        If the supplies do not fit, or a flow cannot be verified as a maximum flow.

    Notes
    -----
    Divide and conquer [1]_. If all rooms of a connected part could end up equal, each would be t = (Σ rooms −
    Σ supplies)/(number of right nodes). A maximum flow, with all capacities multiplied by the denominator of t, tests
    whether that is possible. If not, the cut that certifies the flow separates the right nodes with less room than t
    from the others, and the arcs across the cut are full or empty: they are removed, and the part splits. All parts
    are tried at once, in one network. Each round removes at least one arc of each part that is not even.

    References
    ----------
    .. [1] S. Fujishige, "Lexicographically optimal base of a polymatroid with respect to a weight vector", Mathematics
       of Operations Research 5 (1980).

    Examples
    --------
    >>> shares, prices = even_shares(np.array([0, 0, 0]), np.array([0, 1, 2]), np.array([2]), np.array([9, 2, 2]))
    >>> shares.fractions(), prices.fractions()
    ([Fraction(1, 1), Fraction(1, 2), Fraction(1, 2)], [Fraction(3, 2)])
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
