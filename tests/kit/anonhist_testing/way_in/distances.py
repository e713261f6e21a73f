"""How far apart two exact results are: whole numbers, computed here and not by the product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def sorted_l1_of_profiles(few: Any, more: Any) -> int:
    """Return the ℓ1 distance of all counts in descending order, with zeros for labels that only one has.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> sorted_l1_of_profiles(Profile.from_counts([3, 1]), Profile.from_counts([2, 1, 1]))
    2
    """
    first, second = _partition(few), _partition(more)
    size = max(first.size, second.size)
    padded = (np.pad(each, (0, size - each.size)) for each in (first, second))
    return int(np.abs(np.subtract(*padded)).sum())


def _partition(profile: Any) -> NDArray[np.int64]:
    """Return the counts of all labels in descending order."""
    counts = np.repeat(np.asarray(profile.counts, dtype=np.int64), np.asarray(profile.prevalences, dtype=np.int64))
    return np.sort(counts)[::-1]


def sorted_l1_of_groups(few: Mapping[Any, Any], more: Mapping[Any, Any]) -> int:
    """Return the sum over groups of the ℓ1 distances of their counts.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> one, two = Profile.from_counts([1]), Profile.from_counts([2])
    >>> sorted_l1_of_groups({"a": one, "b": two}, {"a": two, "b": one})
    2
    """
    assert set(few) == set(more), "the groups are not those that are listed"
    return sum(sorted_l1_of_profiles(few[group], more[group]) for group in few)


def capped_l1(few: Mapping[Any, Any], more: Mapping[Any, Any], cap: int) -> int:
    """Return the sum over groups of the ℓ1 distances of prevalences, with all counts from ``cap`` on as one.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> capped_l1({"a": Profile.from_counts([7, 1])}, {"a": Profile.from_counts([9, 1, 2])}, 5)
    1
    """
    assert set(few) == set(more), "the groups are not those that are listed"
    return sum(int(np.abs(_capped(few[group], cap) - _capped(more[group], cap)).sum()) for group in few)


def _capped(profile: Any, cap: int) -> NDArray[np.int64]:
    return np.bincount(np.minimum(_partition(profile), cap), minlength=cap + 1).astype(np.int64)


def increments_l1(few: Any, more: Any) -> tuple[int, int]:
    """Return the ℓ1 distance of the increments of cumulative windows, and the largest one of a day's numbers.

    For windows of groups, both are sums over all groups.

    Examples
    --------
    >>> from anonhist.profiles.windows import CumulativeCounts
    >>> days = ("2026-11-01", "2026-11-02")
    >>> increments_l1(CumulativeCounts((1,), days, [[2, 0]]), CumulativeCounts((1,), days, [[0, 2]]))
    (4, 2)
    """
    changes = _stacked(more) - _stacked(few)
    return int(np.abs(changes).sum()), int(np.abs(np.cumsum(changes, axis=-1)).sum(axis=(0, 1)).max())


def _stacked(windows: Any) -> NDArray[np.int64]:
    """Return increments of shape (groups, thresholds, days)."""
    each = list(windows.values()) if hasattr(windows, "values") else [windows]
    return np.stack([one.increments for one in each])


def changed_edges(few: Any, more: Any) -> tuple[int, int]:
    """Return how many edges, and how many nodes by name, only one of two graphs has.

    Examples
    --------
    >>> from anonhist.graphs.reading import read_edges
    >>> changed_edges(read_edges([("a", "b"), ("b", "c")]), read_edges([("b", "a"), ("b", "d"), ("d", "e")]))
    (3, 3)
    """
    (first, nodes), (second, others) = _named(few), _named(more)
    return len(first ^ second), len(nodes ^ others)


def _named(graph: Any) -> tuple[set[frozenset[int]], set[int]]:
    names = graph.identities.tolist()
    edges = {frozenset((names[u], names[v])) for u, v in zip(graph.sources, graph.targets, strict=True)}
    return edges, set(names)


def sizes_l1(few: NDArray[np.int64], more: NDArray[np.int64]) -> int:
    """Return the ℓ1 distance of sizes in descending order, with zeros for sizes that only one has.

    Examples
    --------
    >>> sizes_l1(np.array([1, 3]), np.array([3]))
    1
    """
    size = max(few.size, more.size)
    first, second = (np.pad(np.sort(each)[::-1], (0, size - each.size)) for each in (few, more))
    return int(np.abs(first - second).sum())


def counters_l1(few: NDArray[np.int64], more: NDArray[np.int64]) -> int:
    """Return the ℓ1 distance of two arrays of counters.

    Examples
    --------
    >>> counters_l1(np.array([1, 2]), np.array([2, 0]))
    3
    """
    return int(np.abs(more - few).sum())
