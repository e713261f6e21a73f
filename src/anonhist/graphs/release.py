"""From a graph to its released degrees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from anonhist.accounting import Ledger
from anonhist.accounting.recording import Price, account_of
from anonhist.catalogue import MechanismName
from anonhist.errors import DataError, UsageError, kind_of
from anonhist.graphs.edge_privacy import EdgePrivacy, PreparedEdges
from anonhist.graphs.graph import IDENTITY_KEY, MAX_NODES, SIMPLE, Degrees, EdgePolicy, Graph, check_policy, normalize
from anonhist.graphs.node_privacy import BoundedDegrees, MethodName, NodePrivacy, PreparedNodes
from anonhist.numeric.arrays import Ints
from anonhist.numeric.hashing import keyed_hash
from anonhist.numeric.value_name import LARGEST_NAMED, NOT_WHOLE, value_name
from anonhist.privacy import EpsilonLike, parse_simulations
from anonhist.randomness import RandomSource
from anonhist.releases import Release
from anonhist.releases.content import charged

_NO_EDGES = (
    "This source is neither an array of shape (edges, 2), a list of pairs, a sparse matrix nor a networkx graph."
)
_MISSING = "An id is missing: leave out edges without both ends."


class NetworkxGraph(Protocol):
    """The interface of a networkx graph, which need not be installed."""

    @property
    def edges(self) -> Any:
        """Its edges, and a function that returns them without their keys."""

    @property
    def nodes(self) -> Any:
        """Its nodes."""

    def is_directed(self) -> bool:
        """Return whether its edges have directions."""


def as_graph(source: Any, /, *, policy: EdgePolicy = SIMPLE, nodes: Iterable[Any] | None = None) -> Graph:
    """Make a graph of edges in memory.

    Parameters
    ----------
    source
        *Pairs*: an array of shape (edges, 2) of numbers or texts, or an iterable of pairs of anything hashable. *A
        sparse matrix or array* of SciPy, square: each nonzero entry is one edge, from its row to its column; without
        directions, give either triangle or both. Row numbers are the nodes' names. For node privacy, a removed node
        must leave its row and column empty: if later nodes were renumbered, they would become other nodes, and the
        guarantee would not hold. *A graph of networkx*: Graph, DiGraph or one of the multigraphs.
    policy
        What counts as an edge.
    nodes
        All nodes, with or without edges; by default, only the nodes with edges. For node privacy, whether a node is
        listed must not depend on other nodes, so the list must not be made from the edges: a listed node stays even if
        all its neighbors are removed. The nodes of a networkx graph are such a list only if they were added explicitly:
        then give ``nodes=graph.nodes``. For a matrix with n rows, ``nodes=range(n)`` lists all. A node named twice
        counts once.

    Returns
    -------
    Graph
        A private graph.

    Raises
    ------
    DataError
        If an edge lacks an end or ends in a node that is not listed, an id is a fraction or a float of 2^53 or more,
        different ids have the same name (1 and "1") or equal ids have different names (1 and True), or a matrix is not
        square. The message contains no id.
    UsageError
        If the source is something else, in- or out-degrees are requested of an undirected networkx graph, or equal
        edges of a matrix should count separately: it has only one entry for each pair of nodes.

    Notes
    -----
    Nodes are named by the text ``str()`` of their ids, whole numbers in floating point as whole numbers (7.0 is 7), and
    have indices in the order of their names. The number of rows of a matrix and the nodes of a networkx graph are
    ignored.

    Examples
    --------
    >>> graph = as_graph([("ann", "bob"), ("bob", "ann"), ("cy", "bob")], nodes=["ann", "bob", "cy", "dan"])
    >>> graph, graph.degrees().tolist()
    (Graph(4 nodes, 2 edges), [1, 2, 1, 0])
    """
    check_policy(policy)
    # The nodes of a networkx graph are a set, and also a mapping to their attributes.
    if isinstance(nodes, str | bytes) or (isinstance(nodes, Mapping) and not isinstance(nodes, AbstractSet)):
        raise UsageError("`nodes` must list the names of all nodes, such as ['ann', 'bob'] or range(10).")
    ends: NDArray[Any] | list[Any]
    if is_networkx(source):
        ends = _networkx_ends(source, policy)
    elif hasattr(source, "tocsr") and hasattr(source, "shape"):
        ends = _matrix_ends(source, policy)
    else:
        ends = _array_ends(source) if isinstance(source, np.ndarray) else _listed_ends(source)
    return _from_names(_name_ids(ends), policy, nodes)


def is_networkx(source: object) -> bool:
    """Return whether an object has the interface of a networkx graph."""
    return all(callable(getattr(source, name, None)) for name in ("edges", "nodes", "is_directed"))


def _networkx_ends(source: Any, policy: EdgePolicy) -> list[Any]:
    if policy.direction.is_directed and not source.is_directed():
        raise UsageError(
            "This networkx graph is undirected, so it has no in- or out-degrees: give a DiGraph, "
            "or a policy with Direction.UNDIRECTED."
        )
    # networkx's own view of edges is a mapping, whose keys are the edges.
    return _listed_ends(list(source.edges()))


def _from_names(ends: _Named, policy: EdgePolicy, nodes: Iterable[Any] | None) -> Graph:
    """Make a graph from the names of ends: all sources, then all targets."""
    listed = ends.names if nodes is None else _name_ids(nodes if isinstance(nodes, np.ndarray) else list(nodes)).names
    if len(listed) > MAX_NODES:
        raise DataError("A graph can have at most 2^31 nodes.")
    # Python sorts texts by code points.
    names = sorted(listed)
    ranks = dict(zip(names, range(len(names)), strict=True))
    try:
        renamed = np.array([ranks[name] for name in ends.names], dtype=np.int64)
    except KeyError:
        raise DataError("A node of an edge is not listed: list all nodes, or leave the list out.") from None
    sources, targets = np.split(renamed[ends.codes], 2)
    edges = normalize(sources, targets, num_nodes=len(names), policy=policy)
    identities = keyed_hash(names, key=IDENTITY_KEY)[:, 0].copy()
    return Graph(edges.sources, edges.targets, identities, policy, nodes is not None)


def _listed_ends(pairs: Any) -> list[Any]:
    """Return the sources, then the targets, of an iterable of pairs."""
    if isinstance(pairs, str | bytes | Mapping) or not isinstance(pairs, Iterable):
        raise UsageError(_NO_EDGES)
    rows = list(pairs)
    # A text of two letters, or a set, would be read as a pair.
    if not all(isinstance(row, Sequence | np.ndarray) and not isinstance(row, str | bytes) for row in rows):
        raise UsageError(_NO_EDGES)
    if any(len(row) != 2 for row in rows):
        raise DataError("Each edge must be a pair: a source and a target.")
    return [*(row[0] for row in rows), *(row[1] for row in rows)]


def _array_ends(pairs: NDArray[Any]) -> NDArray[Any]:
    if pairs.dtype.names:
        raise UsageError("This array has fields: pass its edges as a table, as in pandas.DataFrame(array).")
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise UsageError("An array of edges must have the shape (edges, 2); give a matrix as a SciPy sparse array.")
    return pairs.T.reshape(-1)


def _matrix_ends(matrix: Any, policy: EdgePolicy) -> NDArray[Any]:
    if policy.duplicates == "count":
        raise UsageError(
            "A matrix has one entry per pair of nodes, so equal edges cannot be counted separately: merge them."
        )
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError("A matrix of edges must be square, with a row and a column for each node.")
    entries = matrix.tocsr(copy=True)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    entries = entries.tocoo()
    return np.concatenate((entries.row, entries.col), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Named:
    """Distinct names, in any order, and the index of each id's name."""

    names: list[str]
    codes: Ints


def _name_ids(ids: NDArray[Any] | list[Any]) -> _Named:
    """Name ids; refuse them if one id has two names or two ids share a name."""
    if isinstance(ids, np.ndarray) and ids.dtype.kind == "f":
        ids = _whole(ids)
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iuU":
        if ids.ndim != 1:
            raise UsageError("`nodes` must be a one-dimensional list of names.")
        distinct, codes = np.unique(ids, return_inverse=True)
        return _Named(list(map(str, distinct.tolist())), codes)
    if isinstance(ids, np.ndarray) and ids.dtype.kind not in "OT":
        raise UsageError("An array of ids must hold numbers or strings: ids of other types have no unique text.")
    listed = ids.tolist() if isinstance(ids, np.ndarray) else ids
    named = [value_name(each, only_whole=True) for each in listed]
    texts = [name for name in named if name is not None]
    if len(texts) < len(named):
        raise DataError(_MISSING)
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    try:
        num_ids, num_pairs = len(set(listed)), len(set(zip(listed, texts, strict=True)))
    except Exception:  # noqa: BLE001  # whatever the ids raise when they are compared; it may quote them
        raise DataError("The ids of nodes must be hashable, such as numbers or strings.") from None
    if not num_ids == num_pairs == len(places):
        raise DataError(
            "Ids of nodes are compared as text. Some different ids have the same text, such as 1 and '1', or equal ids "
            "have different texts, such as 1 and True: write all ids as text."
        )
    codes = np.fromiter(map(places.__getitem__, texts), dtype=np.int64, count=len(texts))
    return _Named(list(places), codes)


def _whole(ids: NDArray[Any]) -> Ints:
    """Return an array of whole floats as integers, or refuse it."""
    if np.isnan(ids).any():
        raise DataError(_MISSING)
    if not np.all((np.abs(ids) < LARGEST_NAMED) & (ids == np.rint(ids))):
        raise DataError(NOT_WHOLE)
    return ids.astype(np.int64)


@overload
def release_degrees(
    graph: Graph | Degrees | NetworkxGraph,
    *,
    privacy: EdgePrivacy,
    epsilon: EpsilonLike,
    mechanism: MechanismName = "auto",
    simulations: int | None = None,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Release: ...


@overload
def release_degrees(
    graph: Graph | NetworkxGraph,
    *,
    privacy: NodePrivacy,
    epsilon: EpsilonLike,
    mechanism: MethodName | BoundedDegrees = "auto",
    simulations: int | None = None,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Release: ...


def release_degrees(
    graph: Graph | Degrees | NetworkxGraph,
    *,
    privacy: EdgePrivacy | NodePrivacy,
    epsilon: EpsilonLike,
    mechanism: MechanismName | MethodName | BoundedDegrees = "auto",
    simulations: int | None = None,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Release:
    """Release the number of nodes of each degree of a graph, with edge or node privacy.

    Parameters
    ----------
    graph
        The private data: a :class:`Graph`; for edge privacy its :class:`Degrees` suffice. A networkx Graph or
        MultiGraph is read as by :func:`as_graph` with its defaults: parallel edges count once, self-loops and nodes
        without an edge do not count. For a directed one, first say which degrees are counted.
    privacy
        The kind of privacy: ``EdgePrivacy()`` or ``NodePrivacy()``.
    epsilon
        The whole budget, > 0, including the choice of a largest degree; a float means its shortest decimal.
    mechanism
        The mechanism. For edges, how noise is added to the list of degrees: ``"auto"``, ``"frobenius"``,
        ``"partition"``, ``"privhist"`` or, with ``public_nodes``, which determines the public numbers that they need,
        ``"isotonic"``, ``"cumulative"``, ``"prevalence"``, ``"bounded-partition"``, ``"relaxed-partition"``. For nodes,
        :class:`BoundedDegrees`, or its ``method`` alone: ``"auto"``, ``"cumulative"``, ``"survival"``, ``"histogram"``,
        ``"partition"``.
    simulations
        Number of runs behind :attr:`Release.error`, 0 for none; see :attr:`Release.simulations`.
    source
        Privacy randomness; the operating system's by default.
    ledger, dataset, purpose, run_id
        The ledger to charge before any noise is drawn, as for :func:`release`.

    Returns
    -------
    Release
        Its profile has the number of nodes of each degree from 1 on; ``release.zeros`` is the number of nodes of degree
        0, if it is released; ``release.guarantee`` is the guarantee. Errors and intervals cover noise: with node
        privacy, they do not cover edges left out to bound degrees.

    Raises
    ------
    UsageError
        If the budget is impossible, the graph does not suit this kind of privacy, it has more nodes than
        ``public_nodes``, or it is a directed networkx graph. Nothing is spent then.
    DataError
        If there is not enough memory, or :func:`as_graph` does not accept a networkx graph.

    Examples
    --------
    >>> from anonhist.graphs.release import as_graph
    >>> ring = as_graph([(node, (node + 1) % 1000) for node in range(1000)])
    >>> released = release_degrees(ring, privacy=EdgePrivacy(), epsilon=4)
    >>> released.guarantee.epsilon, released.profile.prevalence(2) > 900
    (Fraction(4, 1), True)
    """
    if not isinstance(graph, Graph | Degrees):
        if not is_networkx(graph):
            raise UsageError(f"A Graph or Degrees are needed, such as read_edges returns, not {kind_of(graph)}.")
        if graph.is_directed():
            raise UsageError(
                "This networkx graph is directed: choose which degrees to count, as in as_graph(graph, "
                "policy=EdgePolicy(Direction.IN)), and release those of the result."
            )
        graph = as_graph(graph)
    listed = graph.nodes_listed if isinstance(graph, Graph) else graph.num_nodes is not None
    prepared = prepare_degrees(privacy, epsilon, mechanism, simulations, graph.policy, nodes_listed=listed)
    return charged(
        account_of(ledger, dataset, purpose, run_id, settings={"policy": graph.policy}),
        prepared.price,
        lambda receipt: replace(prepared.release(graph, source=source), receipt=receipt),
    )


@dataclass(frozen=True)
class PreparedDegrees:
    """A release of degrees, prepared and checked once without its graph; see :func:`prepare_degrees`."""

    way: PreparedEdges | PreparedNodes
    simulations: int | None

    def price(self) -> Price:
        """Return the cost of the release."""
        return Price.of(self.way.dearest)

    def release(self, graph: Graph | Degrees, *, source: RandomSource | None = None) -> Release:
        """Spend the budget once on a private graph; refuse as :func:`release_degrees` does, before noise is drawn."""
        released = self.way.release(graph, source=source)
        return released if self.simulations is None else replace(released, simulations=self.simulations)


def prepare_degrees(
    privacy: EdgePrivacy | NodePrivacy,
    epsilon: EpsilonLike,
    mechanism: MechanismName | MethodName | BoundedDegrees,
    simulations: int | None,
    policy: EdgePolicy,
    *,
    nodes_listed: bool,
) -> PreparedDegrees:
    """Check the options of a release of degrees before the edges are read, and make its mechanism."""
    if not isinstance(privacy, EdgePrivacy | NodePrivacy):
        raise UsageError(f"privacy must be EdgePrivacy() or NodePrivacy(), not {kind_of(privacy)}.")
    runs = None if simulations is None else parse_simulations(simulations)
    way = privacy.prepare(policy, nodes_listed=nodes_listed, epsilon=epsilon, mechanism=mechanism)
    return PreparedDegrees(way, runs)
