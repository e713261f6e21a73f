"""What counts as an edge: the direction of degrees, and the treatment of self-loops and duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from anonhist.errors import UsageError


class Direction(Enum):
    """Which degrees are counted.

    ``UNDIRECTED``: how many edges end in a node; (u, v) and (v, u) are the same edge. ``IN``: how many arcs (u, v) lead
    to v. ``OUT``: how many lead away from u.

    Examples
    --------
    >>> Direction("in").is_directed, Direction.UNDIRECTED.is_directed
    (True, False)
    """

    UNDIRECTED = "undirected"
    IN = "in"
    OUT = "out"

    @property
    def is_directed(self) -> bool:
        """Whether (u, v) and (v, u) are two arcs, and not one edge."""
        return self is not Direction.UNDIRECTED


@dataclass(frozen=True)
class EdgePolicy:
    """What counts as an edge. Public: ``str(policy)`` is the sentence shown to users.

    Attributes
    ----------
    direction
        Which degrees are counted.
    self_loops
        ``"drop"``: edges from a node to itself are left out. ``"count"``: each adds 2 to an undirected degree, as both
        its ends do, and 1 to an in- or out-degree.
    duplicates
        ``"merge"``: equal edges are one. ``"count"``: each row of the data is an edge of its own. Without directions,
        (u, v) and (v, u) are equal.

    Raises
    ------
    UsageError
        If one of them is something else.

    Examples
    --------
    >>> print(EdgePolicy())
    Edges have no direction; self-loops are left out; equal edges count once.
    >>> print(EdgePolicy(Direction.IN, self_loops="count", duplicates="count"))
    Edges have a direction, and in-degrees are counted; self-loops count; equal edges count each.
    """

    direction: Direction = Direction.UNDIRECTED
    self_loops: Literal["drop", "count"] = "drop"
    duplicates: Literal["merge", "count"] = "merge"

    def __post_init__(self) -> None:
        if not isinstance(self.direction, Direction):
            message = f"`direction` must be one of Direction.UNDIRECTED, IN and OUT, not {self.direction!r:.80}."
            raise UsageError(message)
        if self.self_loops not in ("drop", "count"):
            message = f"`self_loops` must be 'drop' or 'count', not {self.self_loops!r:.80}."
            raise UsageError(message)
        if self.duplicates not in ("merge", "count"):
            message = f"`duplicates` must be 'merge' or 'count', not {self.duplicates!r:.80}."
            raise UsageError(message)

    @property
    def is_simple(self) -> bool:
        """Whether no edge is a self-loop and no two edges are equal."""
        return self.self_loops == "drop" and self.duplicates == "merge"

    @property
    def degrees_per_edge(self) -> int:
        """How far one edge moves the list of degrees in ℓ1: 2 if both its ends count it, 1 for in- or out-degrees."""
        return 1 if self.direction.is_directed else 2

    def __str__(self) -> str:
        directions = "no direction" if not self.direction.is_directed else "a direction"
        counted = f", and {self.direction.value}-degrees are counted" if self.direction.is_directed else ""
        loops = "are left out" if self.self_loops == "drop" else "count"
        if self.self_loops == "count" and not self.direction.is_directed:
            loops = "count twice at their node"
        equal = "once" if self.duplicates == "merge" else "each"
        return f"Edges have {directions}{counted}; self-loops {loops}; equal edges count {equal}."


# The default.
SIMPLE = EdgePolicy()
