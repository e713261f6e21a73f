"""Four hierarchies of groups: real data in which each label lies in one leaf."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from bundled import DATA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# A group of any level is a prefix of the grouping columns; the root is ().
Node = tuple[str, ...]
Nodes = dict[Node, ah.Profile]

_FILES = {
    "trees by quadrat": ("trees_by_quadrat", ("all", "column of five", "quadrat")),
    "given names": ("given_names_by_sex", ("all", "sex", "initial", "two letters")),
    "surnames": ("surnames_by_letters", ("all", "initial", "two letters")),
}
_PAGES = "pages at random"
NAMES = (*_FILES, _PAGES)


def level_names(name: str) -> tuple[str, ...]:
    """Name the levels of a hierarchy, the root first."""
    return ("all", "ten leaves", "leaf") if name == _PAGES else _FILES[name][1]


def read_leaves(name: str) -> Nodes:
    """Read the profiles of the leaves of a hierarchy.

    Examples
    --------
    >>> leaves = read_leaves("trees by quadrat")
    >>> len(leaves), sum(leaf.n for leaf in leaves.values())
    (50, 21457)
    """
    return _random_leaves() if name == _PAGES else _read(_FILES[name][0])


def with_sums(leaves: Mapping[Node, ah.Profile]) -> Nodes:
    """Add the sums of the leaves at all levels above them.

    Examples
    --------
    >>> nodes = with_sums({("a", "x"): ah.Profile.from_counts([2]), ("a", "y"): ah.Profile.from_counts([2, 1])})
    >>> nodes[()]
    Profile(n=5, num_labels=3, {1: 1, 2: 2})
    """
    below = defaultdict[Node, list[ah.Profile]](list)
    for node, leaf in leaves.items():
        for length in range(len(node)):
            below[node[:length]].append(leaf)
    return {node: add_profiles(parts) for node, parts in below.items()} | dict(leaves)


def add_profiles(parts: Iterable[ah.Profile]) -> ah.Profile:
    """Return the profile of all labels together."""
    listed = list(parts)
    counts, place = np.unique(np.concatenate([part.counts for part in listed]), return_inverse=True)
    prevalences = np.zeros(counts.size, dtype=np.int64)
    np.add.at(prevalences, place, np.concatenate([part.prevalences for part in listed]))
    return ah.Profile(counts, prevalences)


def _read(file: str) -> Nodes:
    found = defaultdict[Node, list[tuple[int, int]]](list)
    with gzip.open(DATA / f"{file}.csv.gz", "rt", encoding="utf-8", newline="") as rows:
        _, *lines = csv.reader(rows)
    for *node, count, prevalence in lines:
        found[tuple(node)].append((int(count), int(prevalence)))
    return {node: ah.Profile.from_prevalences(pairs) for node, pairs in found.items()}


def _random_leaves() -> Nodes:
    """Put each page of Kosarak into one of 60 leaves, by a generator with a fixed seed."""
    with (DATA / "kosarak_clicks.csv").open(encoding="utf-8", newline="") as rows:
        clicks = np.array([int(row["count"]) for row in csv.DictReader(rows)])
    leaf = np.random.default_rng(60).integers(0, 60, clicks.size)
    return {(f"{i // 10}", f"{i}"): ah.Profile.from_counts(clicks[leaf == i]) for i in range(60)}
