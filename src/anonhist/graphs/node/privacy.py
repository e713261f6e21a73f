"""Node privacy: what is promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.graphs.node.bounded_degrees import BoundedDegrees, parse_method
from anonhist.mechanisms.basis.setting import check_relation
from anonhist.privacy import NeighboringRelation

if TYPE_CHECKING:
    from anonhist.graphs.policy import EdgePolicy
    from anonhist.privacy import EpsilonLike
    from anonhist.randomness import RandomSource
    from anonhist.releases import Release


@dataclass(frozen=True)
class NodePrivacy:
    """Protect every node with all its edges, however many.

    Parameters
    ----------
    relation
        Neighbours differ by a node with all its edges that is added or removed, or whose edges are replaced by
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

    def check(self, policy: EdgePolicy, *, nodes_listed: bool, epsilon: EpsilonLike, mechanism: object) -> None:
        """Refuse what no graph of this policy could be released with, before one is read.

        Raises
        ------
        UsageError
            As :func:`release_degrees` would, whatever the edges are.
        """
        _bounding(mechanism).ready(policy, epsilon, self.relation, nodes_listed=nodes_listed)

    def release(
        self, graph: object, *, epsilon: EpsilonLike, mechanism: object, source: RandomSource | None = None
    ) -> Release:
        """Release the degrees; see :func:`release_degrees`."""
        return _bounding(mechanism).release(graph, epsilon=epsilon, relation=self.relation, source=source)


def _bounding(mechanism: object) -> BoundedDegrees:
    """Return how degrees are to be released; the name of a method stands for that method with all defaults."""
    if isinstance(mechanism, BoundedDegrees):
        return mechanism
    return BoundedDegrees(method=parse_method(mechanism, name="mechanism"))
