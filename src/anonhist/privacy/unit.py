"""Whom the promise protects, and between which data sets it holds."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import SupportsIndex

from anonhist.errors import UsageError
from anonhist.frozen import Checked, Converted, completed, converted, frozen
from anonhist.privacy.whole import parse_whole_number

# What the bound of each kind is called.
_BOUNDS = {"item": "bound", "user": "max_items", "label": "max_count", "edge": "degrees", "node": "max_distance"}
_LARGEST_BOUND = 2**62
_SEVERAL = "the promise is for one {unit}, and for k {unit}s of one {owner} ε is k times as large."


class NeighboringRelation(Enum):
    """Which two data sets may not be told apart.

    ``ADD_OR_REMOVE``: one unit is added or removed. ``SUBSTITUTE``: one unit is replaced by another; such data sets
    are two add-or-remove steps apart, so the same promise costs twice the noise. The number of units is the same in
    both. A row that was left out when the data were read, such as one without a label, is not a unit: replacing it
    by one that counts adds a unit. Mechanisms whose noise covers two steps protect that too; private estimators of
    items, which take the number of items as it is, do not.

    Examples
    --------
    >>> NeighboringRelation.SUBSTITUTE.distance
    2
    """

    ADD_OR_REMOVE = "add-or-remove"
    SUBSTITUTE = "substitute"

    @property
    def distance(self) -> int:
        """How many add-or-remove steps lie between two neighbours: 1 or 2."""
        return 1 if self is NeighboringRelation.ADD_OR_REMOVE else 2


def _kind(given: str) -> str:
    if not isinstance(given, str) or given not in _BOUNDS:
        message = f"A privacy unit is an item, a user or a label, an edge or a node, not {given!r:.80}."
        raise UsageError(message)
    return given


@frozen
class PrivacyUnit:
    """Whom the promise protects.

    Make one with :meth:`item`, :meth:`user` or :meth:`label`; of graphs, with :meth:`edge` or :meth:`node`. What
    follows from its kind, a unit says itself (:attr:`max_items`, :attr:`max_count`, …): ``kind`` is for files.

    Attributes
    ----------
    kind
        ``"item"``, ``"user"``, ``"label"``, ``"edge"`` or ``"node"``.
    bound
        ``m`` of :meth:`user`, ``c`` of :meth:`label`, how many degrees an :meth:`edge` changes, the distance that a
        :meth:`node` can make, 1 for :meth:`item`; from 1 to 2^62.
    sketches
        k, where sketches were merged and a :meth:`user` may have ``bound`` items in each of k of them; else 1.

    Raises
    ------
    UsageError
        If the kind is another, or the bound not a whole number in that range.

    Examples
    --------
    >>> print(PrivacyUnit.user(max_items=5))
    one user with at most 5 items
    """

    kind: Checked[str] = converted(_kind)
    bound: Converted[SupportsIndex, int] = completed(
        lambda self, given: parse_whole_number(given, name=_BOUNDS[self.kind])
    )
    sketches: Converted[SupportsIndex, int] = converted(partial(parse_whole_number, name="sketches"), default=1)

    def __post_init__(self) -> None:
        if self.sketches > 1 and self.kind != "user":
            raise UsageError("Only users can have items in several sketches.")
        if self.kind == "item" and self.bound != 1:
            raise UsageError("The item unit protects exactly one item; use PrivacyUnit.user(max_items=m) for more.")
        if self.kind == "edge" and self.bound > 2:
            raise UsageError("An edge has two ends: it changes one degree (of directed graphs, in or out) or two.")

    @classmethod
    def item(cls) -> PrivacyUnit:
        """Protect one item (one event): neighbours differ in one cell of the Young diagram."""
        return cls("item", 1)

    @classmethod
    def user(cls, *, max_items: SupportsIndex, sketches: SupportsIndex = 1) -> PrivacyUnit:
        """Protect one user with at most ``max_items`` items: neighbours differ in at most that many cells.

        Of merged sketches, whose guarantees say so: with at most ``max_items`` items in each of so many ``sketches``.
        """
        return cls("user", max_items, sketches)

    @classmethod
    def label(cls, *, max_count: SupportsIndex) -> PrivacyUnit:
        """Protect one label, where the label itself is the person; counts are capped at ``max_count`` ("c or more")."""
        return cls("label", max_count)

    @classmethod
    def edge(cls, *, degrees: SupportsIndex = 2) -> PrivacyUnit:
        """Protect one edge of a graph, which changes two degrees by one, or one (in- or out-degrees alone)."""
        return cls("edge", degrees)

    @classmethod
    def node(cls, *, max_distance: SupportsIndex) -> PrivacyUnit:
        """Protect one node of a graph with all its edges.

        However many those are, what is read off the graph changes by at most ``max_distance``: degrees must have been
        bounded before, by :func:`anonhist.release_degrees`, for a profile of plain degrees has no such bound.
        """
        return cls("node", max_distance)

    @property
    def max_items(self) -> int | None:
        """How many items a :meth:`user` has at most, in each sketch; None where no users are protected."""
        return self.bound if self.kind == "user" else None

    @property
    def max_count(self) -> int | None:
        """The count at which those of a :meth:`label` are capped; None where counts are not."""
        return self.bound if self.kind == "label" else None

    @property
    def degrees(self) -> int | None:
        """How many degrees an :meth:`edge` changes; None where no edges are protected."""
        return self.bound if self.kind == "edge" else None

    @property
    def needs_bounded_degrees(self) -> bool:
        """Whether edges must be left out first, until no node has too many: a :meth:`node` needs that."""
        return self.kind == "node"

    @property
    def not_covered(self) -> str:
        """What a promise for this unit does not cover, as a sentence."""
        items = f"More than {self.bound:,} item{'s' if self.bound > 1 else ''} of one user"
        each = "" if self.sketches == 1 else f" in one of the {self.sketches:,} sketches"
        return {
            "item": f"Anyone with several items: {_SEVERAL.format(unit='item', owner='person')}",
            "user": f"{items}{each}: the data must have been limited to that before anything was counted.",
            "label": f"How often a label occurs beyond {self.bound:,} times: such counts were taken together.",
            "edge": f"That somebody has many edges: {_SEVERAL.format(unit='edge', owner='node')} Which nodes there are "
            "is not protected either.",
            "node": f"Anyone with several nodes: {_SEVERAL.format(unit='node', owner='person')}",
        }[self.kind]

    @property
    def people(self) -> str | None:
        """What the protected units are called where the same ones are in the data of next week; else None."""
        return {"user": "users", "label": "labels", "node": "nodes"}.get(self.kind)

    @property
    def max_distance(self) -> int:
        """Largest sorted ℓ1 distance between add-or-remove neighbours: 1, m·k, c, or that of an edge or a node."""
        return self.bound * self.sketches

    @property
    def total_unit(self) -> PrivacyUnit:
        """The same unit with all its items in one place: a user with m items in each of k sketches has m·k.

        Examples
        --------
        >>> print(PrivacyUnit.user(max_items=5, sketches=3).total_unit)
        one user with at most 15 items
        """
        # More than can be counted is no bound.
        return PrivacyUnit(self.kind, min(self.max_distance, _LARGEST_BOUND))

    def protects(self, other: PrivacyUnit) -> bool:
        """Whether a release for this unit may be made of data that were read for ``other``.

        Items are what data are read for where nothing is said of users or labels, so any unit may be asked of them;
        the promise made is the one for the unit asked. (To a single item, a promise for users is at least as good. A
        promise for labels is half as good: one item more takes a label of count r away and adds one of count r + 1,
        two steps.) A user with at most m items is covered by users with at least m. A label is covered whatever the
        cap, which only says which counts are taken together. Users and labels are different people: neither covers
        the other. An edge is covered by edges that change as many degrees. Nodes cover nothing but nodes that change
        no more, not even items: only degrees that were bounded for it bear such a promise.

        Examples
        --------
        >>> PrivacyUnit.user(max_items=5).protects(PrivacyUnit.user(max_items=3))
        True
        """
        if other.kind == "item":
            return self.kind != "node"
        return self.kind == other.kind and (self.kind == "label" or self.max_distance >= other.max_distance)

    def __str__(self) -> str:
        if self.kind == "item":
            return "one item"
        if self.kind == "user":
            items = f"one user with at most {self.bound:,} item{'s' if self.bound > 1 else ''}"
            return items if self.sketches == 1 else f"{items} in each of {self.sketches:,} sketches"
        if self.kind == "edge":
            return "one edge"
        if self.kind == "node":
            return "one node with all its edges"
        return f"one label with all its items (counts of {self.bound:,} or more are taken together)"
