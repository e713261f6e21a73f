"""Edge privacy: the guarantee and its release."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex

from anonhist.catalogue.mechanisms import MECHANISMS, PUBLIC_NUMBERS
from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen, optional
from anonhist.graphs.edge.edge_mechanism import MOST_NODES, EdgeMechanism
from anonhist.mechanisms import MECHANISM_NAMES, choose
from anonhist.mechanisms.basis.setting import check_relation
from anonhist.mechanisms.names import check_name, named_mechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit, parse_epsilon, parse_whole_number

if TYPE_CHECKING:
    from anonhist.graphs.graph import Degrees, Graph
    from anonhist.graphs.policy import EdgePolicy
    from anonhist.mechanisms import CentralMechanism
    from anonhist.privacy import EpsilonLike
    from anonhist.randomness import RandomSource
    from anonhist.releases import Release


@frozen
class EdgePrivacy:
    """Protect every single edge; the nodes are not protected.

    Parameters
    ----------
    public_nodes
        Number of nodes, isolated ones included, if that is public. It makes releases a little better, and adds the
        number of nodes of degree 0. By default nodes without an edge are not released, and the number of nodes with an
        edge is as private as the edges.
    relation
        Neighbors differ by an edge that is added or removed, or replaced by another.

    Raises
    ------
    UsageError
        If one of them is impossible.

    Examples
    --------
    >>> EdgePrivacy(public_nodes=4_039).relation.distance
    1
    """

    public_nodes: Converted[SupportsIndex | None, int | None] = converted(
        optional(partial(parse_whole_number, name="public_nodes", most=MOST_NODES)), default=None
    )
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE

    def __post_init__(self) -> None:
        check_relation(self.relation)

    def prepare(
        self, policy: EdgePolicy, *, nodes_listed: bool, epsilon: EpsilonLike, mechanism: object
    ) -> PreparedEdges:
        """Make the prepared release of a graph of this policy; see :func:`anonhist.graphs.release.prepare_degrees`."""
        del nodes_listed
        central, reason = self._central(policy, epsilon, mechanism)
        return PreparedEdges(EdgeMechanism(central, policy, self.public_nodes), reason)

    def _central(
        self, policy: EdgePolicy, epsilon: EpsilonLike, mechanism: object
    ) -> tuple[CentralMechanism, str | None]:
        if not isinstance(mechanism, str):
            message = (
                f"With edge privacy, `mechanism` must be one of {', '.join(MECHANISM_NAMES)}, not {mechanism!r:.80}."
            )
            raise UsageError(message)
        check_name(mechanism)
        unit = PrivacyUnit.edge(degrees=policy.degrees_per_edge)
        if mechanism == "auto":
            return choose(epsilon=epsilon, unit=unit, relation=self.relation)
        options = self._options(policy, mechanism)
        try:
            return named_mechanism(mechanism, parse_epsilon(epsilon), unit, self.relation, options), None
        except UsageError as error:
            if error.parameters.isdisjoint(options):
                raise
            message = f"`public_nodes` is too large for `mechanism={mechanism!r}`; choose another mechanism."
            raise UsageError(message) from None

    def _options(self, policy: EdgePolicy, mechanism: str) -> dict[str, Any]:
        """Return the public number that the mechanism needs, as it follows from the number of nodes."""
        needed = next((option for option in MECHANISMS[mechanism].options if option in PUBLIC_NUMBERS), None)
        if needed is None:
            return {}
        if self.public_nodes is None or not (policy.is_simple or needed == "public_labels"):
            message = (
                f"`mechanism={mechanism!r}` needs the number of nodes (`public_nodes`), and edges without self-loops "
                "and duplicates; choose another mechanism."
            )
            raise UsageError(message)
        largest = max(1, self.public_nodes - 1)
        numbers = {
            "public_labels": self.public_nodes,
            "public_cap": largest,
            "public_items": self.public_nodes * largest,
        }
        return {needed: numbers[needed]}


@dataclass(frozen=True)
class PreparedEdges:
    """A release with edge privacy, prepared without its graph.

    Attributes
    ----------
    mechanism
        What releases the degrees.
    reason
        Why it was picked; None if it was given by name.
    """

    mechanism: EdgeMechanism
    reason: str | None

    def release(self, graph: Graph | Degrees, *, source: RandomSource | None = None) -> Release:
        """Spend the budget once on private degrees."""
        return self.mechanism.release(graph, source=source, reason=self.reason)
