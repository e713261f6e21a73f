"""The graph, and its degrees alone. Both are private data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import frozen
from anonhist.numeric.arrays import Ints, read_only
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.releases.made import OF_GRAPHS, ReleaseKind


class Direction(Enum):
    """Which degrees are counted.

    ``UNDIRECTED``: the number of edges at a node; (u, v) and (v, u) are the same edge. ``IN``: the number of arcs (u,
    v) that lead to v. ``OUT``: the number that lead away from u.

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
        """Whether (u, v) and (v, u) are two arcs rather than one edge."""
        return self is not Direction.UNDIRECTED


def check_direction(direction: Direction) -> Direction:
    """Refuse everything except a direction."""
    if not isinstance(direction, Direction):
        raise UsageError(f"`direction` must be one of Direction.UNDIRECTED, IN and OUT, not {direction!r:.80}.")
    return direction


@dataclass(frozen=True)
class EdgePolicy:
    """What counts as an edge. Public: ``str(policy)`` is the sentence shown to users.

    Attributes
    ----------
    direction
        Which degrees are counted.
    self_loops
        ``"drop"``: edges from a node to itself are left out. ``"count"``: each adds 2 to an undirected degree, one for
        each end, and 1 to an in- or out-degree.
    duplicates
        ``"merge"``: equal edges are one. ``"count"``: each row of the data is a separate edge. Without directions,
        (u, v) and (v, u) are equal.

    Raises
    ------
    UsageError
        If a field has another value.

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
        """How far one edge moves the list of degrees in ℓ1: 2 if both ends count it, 1 for in- or out-degrees."""
        return 1 if self.direction.is_directed else 2

    def __str__(self) -> str:
        directions = "no direction" if not self.direction.is_directed else "a direction"
        counted = f", and {self.direction.value}-degrees are counted" if self.direction.is_directed else ""
        loops = "are left out" if self.self_loops == "drop" else "count"
        if self.self_loops == "count" and not self.direction.is_directed:
            loops = "count twice at their node"
        equal = "once" if self.duplicates == "merge" else "each"
        return f"Edges have {directions}{counted}; self-loops {loops}; equal edges count {equal}."


# The default policy.
SIMPLE = EdgePolicy()


def check_policy(policy: object) -> None:
    """Refuse everything except a policy."""
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
    """The edges that a policy counts, ascending by (source, target), and the numbers of rows left out. Private.

    ``sources ≤ targets`` if edges have no direction.
    """

    sources: Ints
    targets: Ints
    self_loops: int
    duplicates: int


def normalize(sources: Ints, targets: Ints, *, num_nodes: int, policy: EdgePolicy) -> NormalizedEdges:
    """Return the edges that a policy counts, given indices of nodes below ``num_nodes`` ≤ 2^31."""
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
    """Return a number below 2^62 for each edge, in order of (source, target), or of (lesser, greater) if undirected."""
    first = sources if is_directed else np.minimum(sources, targets)
    keys = first * num_nodes
    keys += targets if is_directed else np.maximum(sources, targets)
    return keys


def edge_ends(keys: Ints, *, num_nodes: int) -> tuple[Ints, Ints]:
    """Return the sources and targets from which :func:`edge_keys` were made."""
    sources = keys // max(num_nodes, 1)
    return sources, keys - sources * num_nodes


# Two indices below this make one number below 2^62, by which edges are sorted.
MAX_NODES = 2**31
# The first eight bytes of a name's hash under this key identify a node. Public, and never changed.
IDENTITY_KEY = b"anonhist edges 1"


@frozen(init=False)
class Graph:
    """Edges between nodes: private data, made by :func:`read_edges` or :func:`as_graph`.

    Attributes
    ----------
    sources, targets : ndarray of int64, shape (num_edges,)
        The nodes that each edge joins, as indices from 0 to num_nodes − 1; ``sources ≤ targets`` if edges have no
        direction. The edges are stored in ascending order of (source, target). Read-only.
    identities : ndarray of uint64, shape (num_nodes,)
        The first eight bytes of :func:`~anonhist.numeric.hashing` of each node's name as text, under a fixed public
        key. Read-only. The arrays are not copied and must not be changed afterwards.
    policy : EdgePolicy
        What counts as an edge. It has been applied.
    nodes_listed : bool
        Whether nodes without edges are included, because a list of nodes was read. Otherwise the nodes are those with
        edges, and their number depends on the edges.

    Raises
    ------
    DataError
        If the arrays are of other types or shapes, an index is out of range, there are more than 2^31 nodes, or there
        are edges that the policy leaves out.
    UsageError
        If the policy is not an EdgePolicy.

    Notes
    -----
    Privacy depends on this: **indices are ranks of the nodes' names** in the order of their code points. When a node is
    added or removed, the others keep their identities and their order.

    Examples
    --------
    >>> from anonhist.numeric.hashing import keyed_hash
    >>> names = keyed_hash(["ann", "bob", "cy"], key=IDENTITY_KEY)[:, 0]
    >>> graph = Graph(np.array([1, 0]), np.array([2, 1]), names, EdgePolicy())
    >>> graph
    Graph(3 nodes, 2 edges)
    >>> graph.sources.tolist(), graph.targets.tolist(), graph.degrees().tolist()
    ([0, 1], [1, 2], [1, 2, 1])
    """

    sources: Ints
    targets: Ints
    identities: NDArray[np.uint64]
    policy: EdgePolicy
    nodes_listed: bool

    def __init__(
        self,
        sources: Ints,
        targets: Ints,
        identities: NDArray[np.uint64],
        policy: EdgePolicy,
        nodes_listed: bool = False,  # noqa: FBT001, FBT002  # a fact about the source
    ) -> None:
        check_policy(policy)
        _check_array(identities, np.dtype(np.uint64), "The identities of nodes")
        for ends in (sources, targets):
            _check_array(ends, np.dtype(np.int64), "The ends of edges")
        sources, targets = _sorted_edges(sources, targets, identities.size)
        _check_policy(sources, targets, policy)
        fixed = (read_only(array.view()) for array in (sources, targets, identities))
        vars(self).update(zip(("sources", "targets", "identities"), fixed, strict=True))
        vars(self).update(policy=policy, nodes_listed=nodes_listed)

    @property
    def num_nodes(self) -> int:
        """Number of nodes; private, and if nodes are not listed it depends on the edges."""
        return int(self.identities.size)

    @property
    def num_edges(self) -> int:
        """Number of edges; private."""
        return int(self.sources.size)

    def degrees(self) -> Ints:
        """Return the degree of every node; in- or out-degrees if the policy counts those.

        Returns
        -------
        ndarray of int64, shape (num_nodes,)
        """
        degrees = np.zeros(self.num_nodes, dtype=np.int64)
        if self.policy.direction is not Direction.IN:
            degrees += np.bincount(self.sources, minlength=self.num_nodes)
        if self.policy.direction is not Direction.OUT:
            degrees += np.bincount(self.targets, minlength=self.num_nodes)
        return degrees

    def degree_profile(self) -> Degrees:
        """Return the number of nodes of each degree, which is all that edge privacy needs."""
        unit = PrivacyUnit.edge(degrees=self.policy.degrees_per_edge)
        num_nodes = self.num_nodes if self.nodes_listed else None
        return Degrees(Profile.from_counts(self.degrees(), unit=unit), self.policy, num_nodes)

    def __repr__(self) -> str:
        return f"Graph({self.num_nodes:,} nodes, {self.num_edges:,} edges)"


@frozen
class Degrees:
    """Number of nodes of each degree: private data, all that edge privacy needs; made by :func:`read_degrees`.

    Attributes
    ----------
    profile : Profile
        The profile of the degrees ≥ 1: the labels are the nodes, the items add up to the degree sum. Its unit is one
        edge.
    policy : EdgePolicy
        What counted as an edge.
    num_nodes : int or None
        Number of nodes, including those of degree 0, if a list of nodes was read.

    Raises
    ------
    DataError
        If ``num_nodes`` is below the number of nodes of degree ≥ 1.
    UsageError
        If the profile's unit is not the edge of that policy, or the policy is not an EdgePolicy.

    Examples
    --------
    >>> unit = PrivacyUnit.edge(degrees=2)
    >>> degrees = Degrees(Profile.from_counts([1, 2, 1], unit=unit), EdgePolicy(), num_nodes=5)
    >>> degrees.num_zeros
    2
    """

    profile: Profile
    policy: EdgePolicy
    num_nodes: int | None = None

    def __post_init__(self) -> None:
        check_policy(self.policy)
        if self.profile.unit != PrivacyUnit.edge(degrees=self.policy.degrees_per_edge):
            message = f"The unit of this policy's profile is PrivacyUnit.edge(degrees={self.policy.degrees_per_edge})."
            raise UsageError(message)
        if self.num_nodes is not None and self.num_nodes < self.profile.num_labels:
            raise DataError("The number of nodes is below the number of nodes with edges: list all nodes, each once.")

    @property
    def num_zeros(self) -> int | None:
        """Number of nodes of degree 0, if a list of nodes was read; private."""
        return None if self.num_nodes is None else self.num_nodes - self.profile.num_labels


def _check_array(array: object, dtype: np.dtype[np.generic], what: str) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
        raise DataError(f"{what} must be a one-dimensional array of {dtype.name}.")


def _sorted_edges(sources: Ints, targets: Ints, num_nodes: int) -> tuple[Ints, Ints]:
    """Return edges in ascending order; refuse ends that are not nodes."""
    if num_nodes > MAX_NODES:
        raise DataError("A graph can have at most 2^31 nodes.")
    if sources.size != targets.size:
        raise DataError("Each edge needs a source and a target.")
    if not sources.size:
        return sources, targets
    if min(sources.min(), targets.min()) < 0 or max(sources.max(), targets.max()) >= num_nodes:
        raise DataError("The ends of edges must be node indices, from 0 to the number of nodes minus 1.")
    keys = edge_keys(sources, targets, num_nodes=num_nodes, is_directed=True)
    if bool(np.all(keys[1:] >= keys[:-1])):
        return sources, targets
    keys.sort()
    return edge_ends(keys, num_nodes=num_nodes)


def _check_policy(sources: Ints, targets: Ints, policy: EdgePolicy) -> None:
    """Refuse sorted edges that the policy leaves out."""
    if not policy.direction.is_directed and bool(np.any(sources > targets)):
        raise DataError("An undirected edge must have its source before its target: sources <= targets.")
    if policy.self_loops == "drop" and bool(np.any(sources == targets)):
        raise DataError("The policy leaves self-loops out, but the edges contain some.")
    if policy.duplicates == "merge" and bool(np.any((sources[1:] == sources[:-1]) & (targets[1:] == targets[:-1]))):
        raise DataError("The policy merges equal edges, but the edges contain some.")


DEGREES = ReleaseKind("degrees", {"edge": OF_GRAPHS, "node": OF_GRAPHS})


@runtime_checkable
class DegreeMechanism(Protocol):
    """A mechanism that releases the degrees of a graph."""

    @property
    def policy(self) -> EdgePolicy:
        """What counts as an edge."""

    @property
    def nodes_reach(self) -> int | None:
        """The largest error of the released number of nodes, in 95% of releases: 0 if it is public.

        It is None if the number has no separate noise: it is then the sum of the numbers of nodes with and without an
        edge.
        """


def text_of(parameters: Mapping[str, object], name: str) -> str:
    """Return a parameter that is text, or refuse it."""
    value = parameters[name]
    if not isinstance(value, str):
        raise UsageError(f"{name} must be text.")
    return value
