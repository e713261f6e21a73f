"""Whole numbers that add up at every level of a hierarchy, near the expected numbers of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hierarchies import Node

    _Numbers = NDArray[np.float64]
    _Whole = NDArray[np.int64]


def whole_leaves(leaves: Sequence[Node], curves: _Numbers) -> _Whole:
    """Return decreasing whole curves of the leaves whose sum over all leaves is the rounded sum of the given ones.

    The root is rounded; then the whole curve of each node is divided among its children.

    Parameters
    ----------
    leaves
        The leaves, all at one depth.
    curves : ndarray of float64, shape (leaves, top)
        Expected numbers of labels with each count or more, decreasing.

    Examples
    --------
    >>> whole_leaves([("a",), ("b",), ("c",)], np.array([[1.4, 0.4], [1.4, 0.4], [0.3, 0.2]])).tolist()
    [[2, 1], [1, 0], [0, 0]]
    """
    found = {(): np.rint(curves.sum(axis=0)).astype(np.int64)}
    for depth in range(len(leaves[0])):
        inside: dict[Node, list[Node]] = {}
        for node in dict.fromkeys(leaf[: depth + 1] for leaf in leaves):
            inside.setdefault(node[:depth], []).append(node)
        for parent, children in inside.items():
            sums = np.array([curves[[leaf[: depth + 1] == child for leaf in leaves]].sum(axis=0) for child in children])
            found.update(zip(children, divide(found[parent], sums), strict=True))
    return np.array([found[leaf] for leaf in leaves])


def divide(whole: _Whole, curves: _Numbers) -> _Whole:
    """Divide a decreasing whole curve into decreasing whole curves near the given ones.

    From the largest count down, each of the labels that are new goes to the child that lacks most.
    """
    found = np.zeros(curves.shape, dtype=np.int64)
    new = whole - np.append(whole[1:], 0)
    now = np.zeros(curves.shape[0], dtype=np.int64)
    last = whole.size
    for at in np.flatnonzero(new)[::-1].tolist():
        found[:, at + 1 : last] = now[:, None]
        now = now + _share(int(new[at]), curves[:, at] - now)
        last = at + 1
    found[:, :last] = now[:, None]
    return found


def _share(labels: int, lacking: _Numbers) -> _Whole:
    given = np.floor(np.maximum(lacking, 0)).astype(np.int64)
    while (left := labels - int(given.sum())) != 0:
        rest = lacking - given
        if left > 0:
            given[np.argsort(-rest, kind="stable")[:left]] += 1
        else:
            some = np.flatnonzero(given)
            given[some[np.argsort(rest[some], kind="stable")[:-left]]] -= 1
    return given
