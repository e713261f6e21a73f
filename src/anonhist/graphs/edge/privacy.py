"""Edge privacy: what is promised, and the way from it to a release."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex

from anonhist.catalogue.mechanisms import MECHANISMS, PUBLIC_NUMBERS
from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen, optional
from anonhist.graphs.edge.edge_mechanism import MOST_NODES, EdgeMechanism
from anonhist.graphs.graph import Degrees, Graph
from anonhist.mechanisms import MECHANISM_NAMES, choose
from anonhist.mechanisms.basis.setting import check_relation
from anonhist.mechanisms.names import check_name, named_mechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit, parse_epsilon, parse_whole_number

if TYPE_CHECKING:
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
        How many nodes there are, isolated ones included, if everybody knows that. It makes releases a little better,
        and adds the number of nodes of degree 0. By default nothing is said of nodes without an edge, and how many have
        one is as private as the edges.
    relation
        Neighbours differ by an edge that is added or removed, or replaced by another.

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

    def check(self, policy: EdgePolicy, *, nodes_listed: bool, epsilon: EpsilonLike, mechanism: object) -> None:
        """Refuse what no graph of this policy could be released with, before one is read.

        Raises
        ------
        UsageError
            As :func:`release_degrees` would, whatever the edges are.
        """
        del nodes_listed
        self._central(policy, epsilon, mechanism)

    def release(
        self, graph: object, *, epsilon: EpsilonLike, mechanism: object, source: RandomSource | None = None
    ) -> Release:
        """Release the degrees; see :func:`release_degrees`."""
        if not isinstance(graph, Graph | Degrees):
            message = f"A Graph or its Degrees are needed, as read_edges makes them, not a {type(graph).__name__}."
            raise UsageError(message)
        central, reason = self._central(graph.policy, epsilon, mechanism)
        return EdgeMechanism(central, graph.policy, self.public_nodes).release(graph, source=source, reason=reason)

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
                f"`mechanism={mechanism!r}` needs to know how many nodes there are (`public_nodes`), and that no "
                "self-loops or equal edges count; choose another mechanism."
            )
            raise UsageError(message)
        largest = max(1, self.public_nodes - 1)
        numbers = {
            "public_labels": self.public_nodes,
            "public_cap": largest,
            "public_items": self.public_nodes * largest,
        }
        return {needed: numbers[needed]}
