"""An order of the edges that is stable: common edges keep theirs when a node comes or goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError
from anonhist.numeric.keyed_hash import hash_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Public, and never changed: with another, the same graph has another order.
ORDER_KEY = b"anonhist edge order 1"
# 2^64 divided by the golden ratio, to the next odd number.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


def stable_order(
    sources: NDArray[np.int64], targets: NDArray[np.int64], identities: NDArray[np.uint64], *, is_directed: bool
) -> NDArray[np.int64]:
    """Return edges in the order in which they are scanned: that of a hash of their two nodes.

    The key of an edge is the first four bytes of :func:`~anonhist.numeric.hash_words` of C·a + b mod 2^64, under a
    fixed public key. Here a and b are the identities of the edge's source and target, the smaller first where edges
    have no direction, and C = 0x9E3779B97F4A7C15. Edges with equal keys are in ascending order of (source, target).

    Parameters
    ----------
    sources, targets
        Indices of nodes, shape (m,), in ascending order of (source, target), as :class:`Graph` has them; m < 2^32.
    identities
        One number for each node, shape (n,); another node has another, but for accidents.
    is_directed
        Whether (u, v) and (v, u) are two arcs. If not, sources ≤ targets.

    Returns
    -------
    ndarray of int64, shape (m,)
        A permutation: which edge comes first, which second, and so on.

    Raises
    ------
    DataError
        If the edges are not ascending, or 2^32 or more.

    Notes
    -----
    *Why the order is stable.* Which of two edges comes first is said by their keys and, where these are equal, by the
    indices of their ends. A key depends on the identities of the edge's own two nodes and on nothing else: neither on
    other edges, nor on how many nodes or edges there are. Indices are ranks of names: they change when another node
    comes or goes, but of two nodes the same comes first as before. So any two edges that two graphs have in common
    come in the same order in both. Nothing here rests on chance; that the hash mixes well only matters for how evenly
    edges are lost.

    Examples
    --------
    >>> identities = np.array([7, 8, 9], dtype=np.uint64)
    >>> sources, targets = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> stable_order(sources, targets, identities, is_directed=False).tolist()
    [0, 2, 1]

    Without the first node, the edge between the others is still what it was.

    >>> stable_order(np.array([0]), np.array([1]), identities[1:], is_directed=False).tolist()
    [0]
    """
    if sources.size >= 1 << 32:
        raise DataError("Only graphs with fewer than 2^32 edges can be projected: take a sample of the nodes.")
    rises = sources[1:] > sources[:-1]
    if not bool((rises | ((sources[1:] == sources[:-1]) & (targets[1:] >= targets[:-1]))).all()):
        raise DataError("Edges must be in ascending order of source and target.")
    # The key above, the place below: together they fill a word, and sorting words is quicker than sorting indices.
    words = hash_words(_pair_words(sources, targets, identities, is_directed=is_directed), key=ORDER_KEY)[:, 0] << _HALF
    words |= np.arange(words.size, dtype=np.uint64)
    words.sort()
    words &= np.uint64(0xFFFFFFFF)
    return words.view(np.int64)


def _pair_words(
    sources: NDArray[np.int64], targets: NDArray[np.int64], identities: NDArray[np.uint64], *, is_directed: bool
) -> NDArray[np.uint64]:
    """Return C·a + b mod 2^64: of random identities, two pairs have the same word once in 2^64 times."""
    first, second = identities[sources], identities[targets]
    if not is_directed:
        first, second = np.minimum(first, second), np.maximum(first, second)
    first *= _MULTIPLIER
    first += second
    return first
