"""Node privacy: prepared releases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.graphs.graph import Graph
from anonhist.graphs.node.projection import project_each
from anonhist.mechanisms.basis.setting import without_sizes
from anonhist.privacy import short_decimal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.graphs.graph import Degrees
    from anonhist.graphs.node.choice import DegreeChoice
    from anonhist.graphs.node.node_mechanism import NodeMechanism
    from anonhist.randomness import RandomSource
    from anonhist.releases import Release


@dataclass(frozen=True)
class PreparedNodes:
    """A release with node privacy, prepared without its graph.

    Attributes
    ----------
    mechanisms
        For each θ that is possible, what releases degrees up to θ.
    choice
        How θ is chosen, None where it is given.
    nodes_listed
        Whether the graph is one that lists its nodes.
    why
        Why these mechanisms: the end of the release's reason.
    """

    mechanisms: Mapping[int, NodeMechanism]
    choice: DegreeChoice | None
    nodes_listed: bool
    why: str

    def release(self, graph: Graph | Degrees, *, source: RandomSource | None = None) -> Release:
        """Choose θ where it was not given, then release the degrees.

        Raises
        ------
        UsageError
            If this was prepared for other graphs, before any noise is drawn.
        """
        if not isinstance(graph, Graph):
            raise UsageError("Node privacy needs the edges, not only the degrees: read them with read_edges (a Graph).")
        mechanism, *_ = self.mechanisms.values()
        if (graph.policy, graph.nodes_listed) != (mechanism.policy, self.nodes_listed):
            raise UsageError("The graph was read with different settings from those the release was prepared for.")
        if self.choice is not None:
            with without_sizes():
                projected = project_each(graph, self.choice.candidates)
                kept = {bound: int(degrees.sum()) for bound, degrees in projected.items()}
            noise = {bound: each.predicted_error for bound, each in self.mechanisms.items()}
            chosen = self.choice.draw(kept, noise, mechanism.relation, source=source)
            mechanism = replace(self.mechanisms[chosen], choice=self.choice)
        return mechanism.release(graph, source=source, reason=self._reason(mechanism))

    def _reason(self, mechanism: NodeMechanism) -> str:
        edges = "1 edge" if mechanism.max_degree == 1 else f"{mechanism.max_degree:,} edges"
        picked = f", chosen privately with ε = {short_decimal(mechanism.choice.epsilon)}" if mechanism.choice else ""
        return (
            f"Each node keeps at most {edges}{picked}. Errors and intervals cover noise, not edges left out. Mechanism "
            f"{mechanism.method}, {self.why}."
        )
