"""From a graph to its degrees, released."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.graphs.edge.privacy import EdgePrivacy
from anonhist.graphs.node.privacy import NodePrivacy
from anonhist.privacy import EpsilonLike, parse_simulations

if TYPE_CHECKING:
    from anonhist.graphs.graph import Degrees, Graph
    from anonhist.graphs.node.bounded_degrees import BoundedDegrees
    from anonhist.randomness import RandomSource
    from anonhist.releases import Release


def release_degrees(
    graph: Graph | Degrees,
    *,
    privacy: EdgePrivacy | NodePrivacy,
    epsilon: EpsilonLike,
    mechanism: str | BoundedDegrees = "auto",
    simulations: int | None = None,
    source: RandomSource | None = None,
) -> Release:
    """Release how many nodes of a graph have which degree, with edge or node privacy.

    Parameters
    ----------
    graph
        The private data: a :class:`Graph`; for edge privacy its :class:`Degrees` will do.
    privacy
        What to promise: ``EdgePrivacy()`` or ``NodePrivacy()``.
    epsilon
        The whole budget, > 0, the choice of a largest degree included; a float means its shortest decimal.
    mechanism
        How to keep the promise. For edges, how noise is added to the list of degrees: ``"auto"``, ``"frobenius"``,
        ``"partition"``, ``"privhist"`` or, with ``public_nodes``, from which the numbers follow that they need,
        ``"isotonic"``, ``"cumulative"``, ``"prevalence"``, ``"bounded-partition"``, ``"relaxed-partition"``. For nodes,
        :class:`BoundedDegrees`, or its ``method`` alone: ``"auto"``, ``"cumulative"``, ``"survival"``,
        ``"histogram"``, ``"partition"``.
    simulations
        How many runs :attr:`Release.error` will rest on, 0 for none; see :attr:`Release.simulations`.
    source
        Privacy randomness; the operating system's by default.

    Returns
    -------
    Release
        Its profile says how many nodes have each degree from 1 on; ``release.zeros`` how many have none, where that is
        released; ``release.guarantee`` what was promised. Errors and intervals are those of noise: with node privacy,
        edges that were left out to bound degrees are missing besides.

    Raises
    ------
    UsageError
        If the budget is impossible, the graph is not one that this privacy is made for, or it has more nodes than are
        said to be public. Nothing is spent then.
    DataError
        If there is not enough memory.

    Examples
    --------
    >>> from anonhist.graphs.conversion import as_graph
    >>> ring = as_graph([(node, (node + 1) % 1000) for node in range(1000)])
    >>> released = release_degrees(ring, privacy=EdgePrivacy(), epsilon=4)
    >>> released.guarantee.epsilon, released.profile.prevalence(2) > 900
    (Fraction(4, 1), True)
    """
    if not isinstance(privacy, EdgePrivacy | NodePrivacy):
        message = f"privacy must be EdgePrivacy() or NodePrivacy(), not a {type(privacy).__name__}."
        raise UsageError(message)
    runs = None if simulations is None else parse_simulations(simulations)
    released = privacy.release(graph, epsilon=epsilon, mechanism=mechanism, source=source)
    return released if runs is None else replace(released, simulations=runs)
