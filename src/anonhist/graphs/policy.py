"""What counts as an edge: directions, self-loops and duplicates, and the edges that a policy makes of rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

import numpy as np

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Ints


class Direction(Enum):
    """Which degrees are counted.

    ``UNDIRECTED``: how many edges end in a node; (u, v) and (v, u) are the same edge. ``IN``: how many arcs (u, v) lead
    to v. ``OUT``: how many lead away from u.

    Examples
    --------
    >>> Direction("in").is_directed, Direction.UNDIRECTED.is_directed
    (True, False)
    """

    UNDIRECTED = "undirected"
    IN = "in"
    OUT = "out"

    @property
    def is_directed(self) -> bool:
        """Whether (u, v) and (v, u) are two arcs, and not one edge."""
        return self is not Direction.UNDIRECTED


def check_direction(direction: object) -> None:
    """Refuse what is not a direction."""
    if not isinstance(direction, Direction):
        raise UsageError(f"`direction` must be one of Direction.UNDIRECTED, IN and OUT, not {direction!r:.80}.")


@dataclass(frozen=True)
class EdgePolicy:
    """What counts as an edge. Public: ``str(policy)`` is the sentence shown to users.

    Attributes
    ----------
    direction
        Which degrees are counted.
    self_loops
        ``"drop"``: edges from a node to itself are left out. ``"count"``: each adds 2 to an undirected degree, as both
        its ends do, and 1 to an in- or out-degree.
    duplicates
        ``"merge"``: equal edges are one. ``"count"``: each row of the data is an edge of its own. Without directions,
        (u, v) and (v, u) are equal.

    Raises
    ------
    UsageError
        If one of them is something else.

    Examples
    --------
    >>> print(EdgePolicy())
    Edges have no direction; self-loops are left out; equal edges count once.
    >>> print(EdgePolicy(Direction.IN, self_loops="count", duplicates="count"))
    Edges have a direction, and in-degrees are counted; self-loops count; equal edges count each.
    """

    direction: Direction = Direction.UNDIRECTED
    self_loops: Literal["drop", "count"] = "drop"
    duplicates: Literal["merge", "count"] = "merge"

    def __post_init__(self) -> None:
        check_direction(self.direction)
        if self.self_loops not in ("drop", "count"):
            raise UsageError(f"`self_loops` must be 'drop' or 'count', not {self.self_loops!r:.80}.")
        if self.duplicates not in ("merge", "count"):
            raise UsageError(f"`duplicates` must be 'merge' or 'count', not {self.duplicates!r:.80}.")

    @property
    def is_simple(self) -> bool:
        """Whether no edge is a self-loop and no two edges are equal."""
        return self.self_loops == "drop" and self.duplicates == "merge"

    @property
    def degrees_per_edge(self) -> int:
        """How far one edge moves the list of degrees in ℓ1: 2 if both its ends count it, 1 for in- or out-degrees."""
        return 1 if self.direction.is_directed else 2

    def __str__(self) -> str:
        directions = "no direction" if not self.direction.is_directed else "a direction"
        counted = f", and {self.direction.value}-degrees are counted" if self.direction.is_directed else ""
        loops = "are left out" if self.self_loops == "drop" else "count"
        if self.self_loops == "count" and not self.direction.is_directed:
            loops = "count twice at their node"
        equal = "once" if self.duplicates == "merge" else "each"
        return f"Edges have {directions}{counted}; self-loops {loops}; equal edges count {equal}."


# The default.
SIMPLE = EdgePolicy()


def check_policy(policy: object) -> None:
    """Refuse what is not a policy."""
    if not isinstance(policy, EdgePolicy):
        raise UsageError(f"policy must be an EdgePolicy, such as EdgePolicy(Direction.IN), not {policy!r:.80}.")


def check_simple(policy: EdgePolicy) -> None:
    """Refuse graphs with self-loops or equal edges, whose degrees cannot be bounded."""
    if not policy.is_simple:
        raise UsageError(
            "Degrees can be bounded only if self-loops are left out and equal edges count once: read the edges with "
            "`self_loops='drop'` and `duplicates='merge'`."
        )


@dataclass(frozen=True, eq=False)
class NormalizedEdges:
    """The edges that a policy counts, and the numbers of rows left out. Private.

    Attributes
    ----------
    sources, targets : ndarray of int64, shape (edges,)
        In ascending order of (source, target); ``sources ≤ targets`` where edges have no direction.
    self_loops, duplicates
        Numbers of rows left out as self-loops and as duplicates.
    """

    sources: Ints
    targets: Ints
    self_loops: int
    duplicates: int


def normalize(sources: Ints, targets: Ints, *, num_nodes: int, policy: EdgePolicy) -> NormalizedEdges:
    """Apply a policy to edges.

    Parameters
    ----------
    sources, targets
        Indices from 0 to ``num_nodes − 1``, shape (rows,); they are left as they are.
    num_nodes
        At most 2^31.
    policy
        What counts as an edge.

    Returns
    -------
    NormalizedEdges

    Notes
    -----
    Time is that of sorting one number for each row, memory three such numbers.

    Examples
    --------
    >>> from anonhist.graphs.policy import EdgePolicy
    >>> edges = normalize(np.array([2, 0, 1, 1]), np.array([1, 1, 0, 1]), num_nodes=3, policy=EdgePolicy())
    >>> edges.sources.tolist(), edges.targets.tolist(), edges.self_loops, edges.duplicates
    ([0, 1], [1, 2], 1, 1)
    """
    keys = edge_keys(sources, targets, num_nodes=num_nodes, is_directed=policy.direction.is_directed)
    rows = keys.size
    if policy.self_loops == "drop":
        keys = keys[sources != targets]
    self_loops = rows - keys.size
    keys.sort()
    if policy.duplicates == "merge":
        keys = keys[np.append(np.True_, keys[1:] != keys[:-1])[: keys.size]]
    return NormalizedEdges(*edge_ends(keys, num_nodes=num_nodes), self_loops, rows - self_loops - keys.size)


def edge_keys(sources: Ints, targets: Ints, *, num_nodes: int, is_directed: bool) -> Ints:
    """Return a number below 2^62 for each edge, in order of (source, target); of (lesser, greater) without directions.

    Examples
    --------
    >>> edge_keys(np.array([2, 0]), np.array([1, 1]), num_nodes=3, is_directed=False).tolist()
    [5, 1]
    """
    first = sources if is_directed else np.minimum(sources, targets)
    keys = first * num_nodes
    keys += targets if is_directed else np.maximum(sources, targets)
    return keys


def edge_ends(keys: Ints, *, num_nodes: int) -> tuple[Ints, Ints]:
    """Return the sources and targets that :func:`edge_keys` were made of.

    Examples
    --------
    >>> [ends.tolist() for ends in edge_ends(np.array([1, 5]), num_nodes=3)]
    [[0, 1], [1, 2]]
    """
    sources = keys // max(num_nodes, 1)
    return sources, keys - sources * num_nodes
