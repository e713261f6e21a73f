"""Releases of degrees as a kind of release, and parameters of their mechanisms from files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from anonhist.errors import UsageError
from anonhist.releases.protocols import OF_GRAPHS, ReleaseKind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import Enum

    from anonhist.graphs.graph import EdgePolicy

DEGREES = ReleaseKind("degrees", {"edge": OF_GRAPHS, "node": OF_GRAPHS})
Member = TypeVar("Member", bound="Enum")


@runtime_checkable
class DegreeMechanism(Protocol):
    """A mechanism that releases the degrees of a graph."""

    @property
    def policy(self) -> EdgePolicy:
        """What counts as an edge."""

    @property
    def nodes_reach(self) -> int | None:
        """How far the released number of nodes may be off, in 95 % of releases: 0 if it is public.

        None if it has no noise of its own: it is then what the numbers of nodes with and without an edge add up to.
        """


def text_of(parameters: Mapping[str, object], name: str) -> str:
    """Return a parameter that is text.

    Raises
    ------
    UsageError
        If it is none.
    """
    value = parameters[name]
    if not isinstance(value, str):
        raise UsageError(f"{name} must be text.")
    return value


def member_of(members: type[Member], value: object, name: str) -> Member:
    """Return the member with this value.

    Raises
    ------
    UsageError
        If there is none.

    Examples
    --------
    >>> from anonhist.graphs.graph import Direction
    >>> member_of(Direction, "in", "direction")
    <Direction.IN: 'in'>
    """
    known = {member.value: member for member in members}
    if value not in known:
        raise UsageError(f"the {name} must be {' or '.join(known)}.")
    return known[value]
