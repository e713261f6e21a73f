"""Releases of degrees, as a kind of release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from anonhist.releases.kind import OF_GRAPHS, ReleaseKind

if TYPE_CHECKING:
    from anonhist.graphs.policy import EdgePolicy

DEGREES = ReleaseKind("degrees", {"edge": OF_GRAPHS, "node": OF_GRAPHS})


@runtime_checkable
class DegreeMechanism(Protocol):
    """A mechanism that releases the degrees of a graph."""

    @property
    def policy(self) -> EdgePolicy:
        """What counts as an edge."""

    @property
    def knows_nodes(self) -> bool:
        """Whether the number of nodes is public, and so without noise."""
