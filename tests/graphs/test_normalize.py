from collections import Counter

import numpy as np
import pytest

from anonhist.graphs.graph import Direction, EdgePolicy, edge_ends, edge_keys, normalize

POLICIES = [
    EdgePolicy(direction, loops, duplicates)
    for direction in (Direction.UNDIRECTED, Direction.IN)
    for loops in ("drop", "count")
    for duplicates in ("merge", "count")
]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_rows_become_what_counting_them_one_by_one_makes_of_them(policy: EdgePolicy) -> None:
    rng = np.random.default_rng(5)
    for nodes in (1, 2, 7):
        sources, targets = rng.integers(nodes, size=(2, 40))
        rows = list(zip(sources.tolist(), targets.tolist(), strict=True))
        loops = sum(u == v for u, v in rows) if policy.self_loops == "drop" else 0
        kept = [(u, v) for u, v in rows if u != v or policy.self_loops == "count"]
        if not policy.direction.is_directed:
            kept = [(min(edge), max(edge)) for edge in kept]
        times = Counter(kept)
        expected = sorted(times if policy.duplicates == "merge" else times.elements())
        made = normalize(sources, targets, num_nodes=nodes, policy=policy)
        assert list(zip(made.sources.tolist(), made.targets.tolist(), strict=True)) == expected
        assert (made.self_loops, made.duplicates) == (loops, len(kept) - len(expected))


def test_no_rows_are_no_edges() -> None:
    none = np.zeros(0, dtype=np.int64)
    for policy in POLICIES:
        made = normalize(none, none, num_nodes=0, policy=policy)
        assert (made.sources.size, made.targets.size, made.self_loops, made.duplicates) == (0, 0, 0, 0)


def test_keys_hold_the_largest_indices() -> None:
    largest = np.array([2**31 - 1])
    keys = edge_keys(largest, largest, num_nodes=2**31, is_directed=True)
    assert keys.tolist() == [2**62 - 1]
    assert [ends.tolist() for ends in edge_ends(keys, num_nodes=2**31)] == [[2**31 - 1], [2**31 - 1]]
