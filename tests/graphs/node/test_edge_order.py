"""The order of edges: as documented, to the bit, and the same for the edges that two graphs have in common."""

import hashlib
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import DataError
from anonhist.graphs.graph import Direction
from anonhist.graphs.projection import ORDER_KEY, stable_order
from anonhist.numeric import hash_buffer, keyed_hash

DIRECTIONS = pytest.mark.parametrize("direction", [Direction.UNDIRECTED, Direction.IN])


def random_edges(
    rng: np.random.Generator, nodes: int, *, is_directed: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    sources, targets = np.nonzero(rng.random((nodes, nodes)) < rng.random())
    chosen = sources != targets if is_directed else sources < targets
    return sources[chosen], targets[chosen]


def slow_key(source: int, target: int, *, is_directed: bool) -> int:
    """Return the key of an edge as the docstring has it, of one edge, with big integers."""
    first, second = (source, target) if is_directed else sorted((source, target))
    word = (0x9E3779B97F4A7C15 * first + second) % 2**64
    label = word.to_bytes(8, "little")
    data, offsets = np.frombuffer(label, dtype=np.uint8), [0, 8]
    return int.from_bytes(hash_buffer(data, offsets, key=ORDER_KEY).astype("<u8").tobytes()[:4], "little")


@pytest.mark.slow
@DIRECTIONS
def test_the_order_is_the_documented_one(direction: Direction) -> None:
    rng = np.random.default_rng(7)
    for _ in range(30):
        identities = rng.integers(2**64, size=int(rng.integers(2, 9)), dtype=np.uint64)
        ids = identities.tolist()
        sources, targets = random_edges(rng, len(ids), is_directed=direction.is_directed)
        edges = list(zip(sources.tolist(), targets.tolist(), strict=True))
        keys = [slow_key(ids[one], ids[other], is_directed=direction.is_directed) for one, other in edges]
        expected = sorted(range(len(edges)), key=lambda edge: (keys[edge], edges[edge]))
        assert stable_order(sources, targets, identities, is_directed=direction.is_directed).tolist() == expected


def test_the_order_never_changes_from_one_version_to_the_next() -> None:
    names = [f"node {number}" for number in range(60)]
    identities = keyed_hash(sorted(names), key=b"anonhist edges 1")[:, 0]
    sources, targets = np.triu_indices(60, 1)
    order = stable_order(sources, targets, identities, is_directed=False)
    digest = hashlib.sha256(order.astype("<i8").tobytes()).hexdigest()
    assert digest[:16] == "3f1f595ebb1d5909"


@DIRECTIONS
@pytest.mark.parametrize("distinct", [1, 2, 2**64], ids=["all keys equal", "most keys equal", "keys differ"])
def test_common_edges_keep_their_order_when_a_node_comes(direction: Direction, distinct: int) -> None:
    rng = np.random.default_rng(7)
    for _ in range(60):
        nodes = int(rng.integers(3, 15))
        identities = rng.integers(distinct, size=nodes, dtype=np.uint64)
        sources, targets = random_edges(rng, nodes, is_directed=direction.is_directed)
        # The node goes, those who had edges to it alone too, and indices are ranks among who is left.
        leaving = int(rng.integers(nodes))
        common = np.flatnonzero((sources != leaving) & (targets != leaving))
        there, ends = np.unique([sources[common], targets[common]], return_inverse=True)
        fewer_sources, fewer_targets = ends.reshape(2, -1)
        larger = stable_order(sources, targets, identities, is_directed=direction.is_directed)
        smaller = stable_order(fewer_sources, fewer_targets, identities[there], is_directed=direction.is_directed)
        assert common[smaller].tolist() == [edge for edge in larger.tolist() if edge in set(common.tolist())]


def test_an_edge_without_direction_has_one_key_whichever_node_is_the_source() -> None:
    rng = np.random.default_rng(7)
    identities = rng.integers(2**64, size=40, dtype=np.uint64)
    sources, targets = random_edges(rng, 40, is_directed=False)
    order = stable_order(sources, targets, identities, is_directed=False)
    # The same nodes with their ranks turned round: now the other end of every edge is the source.
    turned = np.lexsort((39 - sources, 39 - targets))
    other = stable_order(39 - targets[turned], 39 - sources[turned], identities[::-1], is_directed=False)
    assert turned[other].tolist() == order.tolist()


def test_arcs_there_and_back_have_keys_of_their_own() -> None:
    identities = np.random.default_rng(7).integers(2**64, size=200, dtype=np.uint64)
    evens = np.arange(0, 200, 2)
    sources, targets = np.sort(np.append(evens, evens + 1)), np.arange(200) ^ 1
    order = stable_order(sources, targets, identities, is_directed=True)
    is_neighbour = [one ^ 1 == other for one, other in pairwise(order.tolist())]
    assert sum(is_neighbour) < 10


def test_any_edge_is_as_likely_to_come_first_as_to_come_last() -> None:
    """All edges of a hub, at one of 500 places: were it not so, some neighbours would lose edges more often."""
    rng = np.random.default_rng(7)
    size, hubs = 500, 400
    identities = rng.integers(2**64, size=hubs + size, dtype=np.uint64)
    sources, targets = np.repeat(np.arange(hubs), size), np.tile(np.arange(hubs, hubs + size), hubs)
    order = stable_order(sources, targets, identities, is_directed=False)
    places = np.empty(order.size)
    places[order] = (np.arange(order.size) + 0.5) / order.size
    # The mean of 400 numbers, uniform on [0, 1], has standard error 1/√(12 · 400). One of 500 means is 5 of them off
    # once in 3,500 times; the error of their spread is below 1/√(2 · 500) of it, and 5 of them once in 1.7 million.
    means = places.reshape(hubs, size).mean(axis=0)
    assert np.abs(means - 0.5).max() < 5 / np.sqrt(12 * hubs)
    assert abs(means.std() * np.sqrt(12 * hubs) - 1) < 5 / np.sqrt(2 * size)


def test_no_edges_have_an_order() -> None:
    nothing = np.empty(0, dtype=np.int64)
    order = stable_order(nothing, nothing, np.empty(0, dtype=np.uint64), is_directed=False)
    assert order.dtype == np.int64
    assert order.size == 0


@pytest.mark.parametrize(("sources", "targets"), [([1, 0], [2, 1]), ([0, 0], [2, 1])])
def test_edges_that_are_not_ascending_are_refused(sources: list[int], targets: list[int]) -> None:
    with pytest.raises(DataError, match="ascending order"):
        stable_order(np.array(sources), np.array(targets), np.arange(3, dtype=np.uint64), is_directed=False)


def test_too_many_edges_are_refused() -> None:
    many = np.broadcast_to(np.int64(0), (1 << 32,))
    with pytest.raises(DataError, match=r"fewer than 2\^32 edges"):
        stable_order(many, many, np.zeros(1, dtype=np.uint64), is_directed=True)
