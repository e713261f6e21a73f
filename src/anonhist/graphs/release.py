"""From a graph to its degrees, released."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

from anonhist.accounting import Ledger
from anonhist.accounting.recording import Price, account_of, recording
from anonhist.errors import UsageError, kind_of
from anonhist.graphs.conversion import NetworkxGraph, as_undirected, is_networkx
from anonhist.graphs.edge_privacy import EdgePrivacy, PreparedEdges
from anonhist.graphs.graph import Degrees, Graph
from anonhist.graphs.node_privacy import BoundedDegrees, MethodName, NodePrivacy, PreparedNodes
from anonhist.mechanisms.releasing import MechanismName
from anonhist.privacy import EpsilonLike, parse_simulations
from anonhist.randomness import RandomSource
from anonhist.releases import Release
from anonhist.releases.content import content_digest, rest_digest

if TYPE_CHECKING:
    from anonhist.graphs.graph import EdgePolicy


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
        The private data: a :class:`Graph`; for edge privacy its :class:`Degrees` will do. A networkx Graph or
        MultiGraph is taken as :func:`as_graph` does by default: parallel edges count once, self-loops and nodes without
        an edge do not. Of a directed one, say first which degrees are counted.
    privacy
        The kind of privacy: ``EdgePrivacy()`` or ``NodePrivacy()``.
    epsilon
        The whole budget, > 0, the choice of a largest degree included; a float means its shortest decimal.
    mechanism
        The mechanism. For edges, how noise is added to the list of degrees: ``"auto"``, ``"frobenius"``,
        ``"partition"``, ``"privhist"`` or, with ``public_nodes``, from which the numbers follow that they need,
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
        Its profile has the number of nodes of each degree from 1 on; ``release.zeros`` how many have none, if that is
        released; ``release.guarantee`` is the guarantee. Errors and intervals cover noise: with node privacy, they do
        not cover edges left out to bound degrees.

    Raises
    ------
    UsageError
        If the budget is impossible, the graph is not one that this privacy is made for, it has more nodes than
        ``public_nodes``, or it is a directed networkx graph. Nothing is spent then.
    DataError
        If there is not enough memory, or a networkx graph is not one that :func:`as_graph` takes.

    Examples
    --------
    >>> from anonhist.graphs.conversion import as_graph
    >>> ring = as_graph([(node, (node + 1) % 1000) for node in range(1000)])
    >>> released = release_degrees(ring, privacy=EdgePrivacy(), epsilon=4)
    >>> released.guarantee.epsilon, released.profile.prevalence(2) > 900
    (Fraction(4, 1), True)
    """
    if not isinstance(graph, Graph | Degrees):
        if not is_networkx(graph):
            raise UsageError(f"A Graph or Degrees are needed, such as read_edges returns, not {kind_of(graph)}.")
        graph = as_undirected(graph)
    prepared = prepare_degrees(
        privacy=privacy,
        policy=graph.policy,
        nodes_listed=graph.nodes_listed if isinstance(graph, Graph) else graph.num_nodes is not None,
        epsilon=epsilon,
        mechanism=mechanism,
        simulations=simulations,
    )
    own = {"policy": graph.policy}
    with recording(account_of(ledger, dataset, purpose, run_id, settings=own), prepared.price) as recorded:
        recorded.keep()
        released = replace(prepared.release(graph, source=source), receipt=recorded.receipt)
        recorded.complete(lambda: content_digest(released), lambda: rest_digest(released))
    return released


@dataclass(frozen=True)
class PreparedDegrees:
    """A release of degrees prepared without its graph, checked and made once; see :func:`prepare_degrees`.

    Attributes
    ----------
    way
        What releases the degrees.
    simulations
        As of :func:`release_degrees`.
    """

    way: PreparedEdges | PreparedNodes
    simulations: int | None

    def price(self) -> Price:
        """Return what the release will cost."""
        return Price.of(self.way.dearest)

    def release(self, graph: Graph | Degrees, *, source: RandomSource | None = None) -> Release:
        """Spend the budget once on a private graph.

        Raises
        ------
        UsageError
            As :func:`release_degrees`, before any noise is drawn.
        """
        released = self.way.release(graph, source=source)
        return released if self.simulations is None else replace(released, simulations=self.simulations)


def prepare_degrees(
    *,
    privacy: EdgePrivacy | NodePrivacy,
    policy: EdgePolicy,
    nodes_listed: bool,
    epsilon: EpsilonLike,
    mechanism: MechanismName | MethodName | BoundedDegrees,
    simulations: int | None,
) -> PreparedDegrees:
    """Check the options of a release before the edges are read, and make its mechanism.

    Parameters
    ----------
    privacy, epsilon, mechanism, simulations
        As of :func:`release_degrees`.
    policy
        What counts as an edge of the graph.
    nodes_listed
        Whether the graph will list its nodes.

    Raises
    ------
    UsageError
        As :func:`release_degrees`, for all edges.

    Examples
    --------
    >>> from anonhist.graphs.graph import EdgePolicy
    >>> asked = dict(nodes_listed=False, epsilon=1, mechanism="auto", simulations=None)
    >>> prepared = prepare_degrees(privacy=EdgePrivacy(), policy=EdgePolicy(), **asked)
    >>> prepared.way.mechanism.name
    'edge-frobenius'
    """
    if not isinstance(privacy, EdgePrivacy | NodePrivacy):
        raise UsageError(f"privacy must be EdgePrivacy() or NodePrivacy(), not {kind_of(privacy)}.")
    runs = None if simulations is None else parse_simulations(simulations)
    way = privacy.prepare(policy, nodes_listed=nodes_listed, epsilon=epsilon, mechanism=mechanism)
    return PreparedDegrees(way, runs)
