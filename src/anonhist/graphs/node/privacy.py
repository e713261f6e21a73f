"""Node privacy: the guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.graphs.node.bounded_degrees import BoundedDegrees, parse_method
from anonhist.mechanisms.basis.setting import check_relation
from anonhist.privacy import NeighboringRelation

if TYPE_CHECKING:
    from anonhist.graphs.node.prepared import PreparedNodes
    from anonhist.graphs.policy import EdgePolicy
    from anonhist.privacy import EpsilonLike


@dataclass(frozen=True)
class NodePrivacy:
    """Protect every node with all its edges, however many.

    Parameters
    ----------
    relation
        Neighbors differ by a node with all its edges that is added or removed, or whose edges are replaced by
        others.

    Raises
    ------
    UsageError
        If it is no relation.

    Examples
    --------
    >>> NodePrivacy().relation.distance
    1
    """

    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE

    def __post_init__(self) -> None:
        check_relation(self.relation)

    def prepare(
        self, policy: EdgePolicy, *, nodes_listed: bool, epsilon: EpsilonLike, mechanism: object
    ) -> PreparedNodes:
        """Make the prepared release of a graph of this policy; see :func:`anonhist.graphs.release.prepare_degrees`."""
        if not isinstance(mechanism, BoundedDegrees):
            mechanism = BoundedDegrees(method=parse_method(mechanism, name="mechanism"))
        return mechanism.prepare(policy, epsilon, self.relation, nodes_listed=nodes_listed)
