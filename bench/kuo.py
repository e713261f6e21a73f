"""Hierarchical count-of-counts histograms of Kuo et al. (2018): a rival that needs public numbers.

This is a new implementation after the paper (sections 4 and 5: the method Hc with its ℓ1 fit, then top-down consistency
by matching and merging) and its authors' program (github.com/yzk5145/coco, ``consistency.py``). Each level gets an
equal share of ε.

The method assumes that the number of labels of every node and a largest count are public. Here it gets both exactly,
with a largest count for each node, which favors it.

Reference: Y.-H. Kuo, C.-C. Chiu, D. Kifer, M. Hay, A. Machanavajjhala, "Differentially private hierarchical
count-of-counts histograms", PVLDB 11(11), 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.mechanisms.noise import simulated_noise
from anonhist.privacy import parse_epsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hierarchies import Nodes


@dataclass(frozen=True)
class Sizes:
    """Estimated counts of the labels of a node, ascending, and the variance that is ascribed to each."""

    counts: NDArray[np.float64]
    variances: NDArray[np.float64]


def simulate_kuo(nodes: Nodes, epsilon: str, rng: np.random.Generator) -> Nodes:
    """Return the leaves of one simulated release; levels above them are their sums.

    Parameters
    ----------
    nodes
        All nodes of the hierarchy; the leaves are the longest.
    epsilon
        The budget for all levels together.
    rng
        Simulation randomness: the profiles are public.
    """
    depth = max(map(len, nodes))
    merged = {(): estimate(nodes[()], epsilon, depth + 1, rng)}
    for level in range(depth):
        for parent in [node for node in merged if len(node) == level]:
            below = [node for node in nodes if len(node) == level + 1 and node[:level] == parent]
            parts = [estimate(nodes[node], epsilon, depth + 1, rng) for node in below]
            merged.update(zip(below, merge(merged[parent], parts), strict=True))
    return {node: _profile(sizes) for node, sizes in merged.items() if len(node) == depth}


def estimate(profile: ah.Profile, epsilon: str, levels: int, rng: np.random.Generator) -> Sizes:
    """Return the method Hc of one node: noise on cumulative prevalences, and the monotone fit nearest in ℓ1.

    A label's variance is 4/ε² divided by the number of labels with the same estimate.
    """
    share = parse_epsilon(epsilon) / levels
    counts = np.arange(1, int(profile.counts[-1]) + 1)
    # Labels with more than each count, but the last, which none exceeds.
    above = profile.cumulative_prevalence(counts + 1)[:-1]
    noisy = above + simulated_noise(rng)(share, above.size)
    above = np.clip(decreasing_medians(noisy), 0, profile.num_labels)
    labels = -np.diff(above, prepend=profile.num_labels, append=0)
    present = labels > 0
    variances = 4 / float(share) ** 2 / labels[present]
    return Sizes(*(np.repeat(each, labels[present]) for each in (counts[present].astype(np.float64), variances)))


def merge(parent: Sizes, parts: Sequence[Sizes]) -> list[Sizes]:
    """Match the labels of a parent with those of its children, and average both by their variances.

    The smallest label of the parent is matched with the smallest of all children, and so on, which has the smallest
    total distance; among labels of one size, children take turns in proportion to how many they have.
    """
    counts = np.concatenate([part.counts for part in parts])
    variances = np.concatenate([part.variances for part in parts])
    child = np.repeat(np.arange(len(parts)), [part.counts.size for part in parts])
    order = np.lexsort((np.concatenate([_turns(part.counts) for part in parts]), counts))
    matched = np.empty(counts.size), np.empty(counts.size)
    for seen, placed in zip((parent.counts, parent.variances), matched, strict=True):
        placed[order] = seen
    precision = 1 / matched[1] + 1 / variances
    means = (matched[0] / matched[1] + counts / variances) / precision
    found = []
    for number in range(len(parts)):
        mine = np.flatnonzero(child == number)
        mine = mine[np.argsort(means[mine], kind="stable")]
        found.append(Sizes(means[mine], 1 / precision[mine]))
    return found


def decreasing_medians(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a non-increasing sequence of whole numbers nearest in ℓ1, by the heap of slopes.

    Examples
    --------
    >>> decreasing_medians(np.array([5, 1, 3, 3, 0])).tolist()
    [5, 3, 3, 3, 0]
    """
    heap: list[int] = []
    tops = []
    # From the end, so that the sequence rises.
    for value in values[::-1].tolist():
        heappush(heap, -value)
        if -heap[0] > value:
            heappop(heap)
            heappush(heap, -value)
        tops.append(-heap[0])
    return np.minimum.accumulate(np.array(tops[::-1], dtype=np.int64))


def _turns(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each label its place among those of the same count, from 0 to 1."""
    _, first, place, same = np.unique(counts, return_index=True, return_inverse=True, return_counts=True)
    return np.asarray((np.arange(counts.size) - first[place] + 0.5) / same[place])


def _profile(sizes: Sizes) -> ah.Profile:
    whole = np.rint(sizes.counts).astype(np.int64)
    return ah.Profile.from_counts(whole[whole > 0])
