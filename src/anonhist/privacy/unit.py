"""Privacy units and neighboring relations: whom a guarantee protects, and what bounds on units leave out."""

from __future__ import annotations

import re
from dataclasses import field, replace
from enum import Enum
from typing import SupportsIndex

from anonhist.errors import UsageError, parameter
from anonhist.frozen import Checked, Converted, completed, converted, frozen, named
from anonhist.privacy.parameters import parse_whole_number

# The name of each kind's bound.
_BOUNDS = {"item": "bound", "user": "max_items", "label": "max_count", "edge": "degrees", "node": "max_distance"}
_LARGEST_BOUND = 2**62
#: A bound on a user's items that no data exceed: the guarantee is for users with any number of items.
ANY_NUMBER = _LARGEST_BOUND
_SEVERAL = "the promise is for one {unit}, and for k {units} of one {owner} ε is k times as large."


class NeighboringRelation(Enum):
    """Which data sets are neighbors.

    ``ADD_OR_REMOVE``: one unit is added or removed. ``SUBSTITUTE``: one unit is replaced by another, so that both data
    sets have the same number of units. They are at distance two, so the same guarantee needs twice the noise. A row
    that was left out when the data were read, such as one without a label, is not a unit: replacing it by one that
    counts adds a unit. Mechanisms with noise for distance two protect against that, too; private estimators for
    items, which use the exact number of items, do not.

    Examples
    --------
    >>> NeighboringRelation.SUBSTITUTE.distance
    2
    """

    ADD_OR_REMOVE = "add-or-remove"
    SUBSTITUTE = "substitute"

    @property
    def distance(self) -> int:
        """Distance of two neighbors in units added or removed: 1 or 2."""
        return 1 if self is NeighboringRelation.ADD_OR_REMOVE else 2


def parse_kind(given: str) -> str:
    """Return the kind of a unit, or refuse an unknown one."""
    if not isinstance(given, str) or given not in _BOUNDS:
        raise UsageError(f"A privacy unit is an item, a user or a label, an edge or a node, not {given!r:.80}.")
    return given


@frozen
class PrivacyUnit:
    """Whom a guarantee protects.

    Make one with :meth:`item`, :meth:`user` or :meth:`label`; for graphs, with :meth:`edge` or :meth:`node`. Read its
    bounds from :attr:`max_items`, :attr:`max_count`, …; ``kind`` is for files.

    Attributes
    ----------
    kind
        ``"item"``, ``"user"``, ``"label"``, ``"edge"`` or ``"node"``.
    bound
        ``m`` of :meth:`user`, ``c`` of :meth:`label`, the number of degrees that an :meth:`edge` changes, the largest
        distance due to a :meth:`node`, 1 for :meth:`item`; from 1 to 2^62.
    sketches
        k, if sketches were merged and a :meth:`user` may have ``bound`` items in each of k sketches; otherwise 1.
    groups
        g, if profiles of several groups are released together and a :meth:`user` may have ``bound`` items, or a
        :meth:`label` occur, in each of at most g of them; otherwise 1.
    in_one_group
        Whether a unit was bounded to one group; ``groups = 1`` alone does not say that. Units that differ only in it
        are equal.
    max_degree
        The largest number of a :meth:`node`'s edges that count, if it is known. Units that differ only in it are equal,
        because ``bound`` determines the guarantee.
    name
        The unit's name in sentences, such as ``"viewer"``: at most 40 letters, spaces and hyphens; if it is empty, the
        kind is the name. The name is public, and kept with a release. Units that differ only in it are equal.

    Raises
    ------
    UsageError
        If the kind is unknown, or the bound is not a whole number in that range.

    Examples
    --------
    >>> print(PrivacyUnit.user(max_items=5))
    one user with all their items (at most 5 of them count)
    """

    kind: Checked[str] = converted(parse_kind)
    bound: Converted[SupportsIndex, int] = completed(
        lambda self, given: parse_whole_number(given, name=_BOUNDS[self.kind])
    )
    sketches: Converted[SupportsIndex, int] = named(parse_whole_number, default=1)
    groups: Converted[SupportsIndex, int] = named(parse_whole_number, default=1)
    in_one_group: bool = field(default=False, repr=False, compare=False)
    max_degree: int | None = field(default=None, repr=False, compare=False)
    name: Checked[str] = completed(lambda _, given: _parse_name(given), default="", shown=False, compare=False)

    def __post_init__(self) -> None:
        if self.sketches > 1 and self.kind != "user":
            raise UsageError("Only users can have items in several sketches.")
        if self.groups > 1 and (self.kind not in ("user", "label") or self.sketches > 1):
            raise UsageError("Only users and labels can be in several groups, and not in sketches at the same time.")
        if self.kind == "item" and self.bound != 1:
            raise UsageError("The item unit protects exactly one item; use PrivacyUnit.user(max_items=m) for more.")
        if self.kind == "edge" and self.bound > 2:
            raise UsageError("An edge has two ends: it changes one degree (of directed graphs, in or out) or two.")

    @classmethod
    def item(cls, *, name: str = "") -> PrivacyUnit:
        """Protect one item (one event): neighbors differ in one cell of the Young diagram."""
        return cls("item", 1, name=name)

    @classmethod
    def user(
        cls, *, max_items: SupportsIndex, sketches: SupportsIndex = 1, groups: SupportsIndex = 1, name: str = ""
    ) -> PrivacyUnit:
        """Protect one user with at most ``max_items`` items: neighbors differ in at most ``max_items`` cells.

        With merged sketches, a user has at most ``max_items`` items in each of ``sketches`` sketches. With several
        groups, a user has at most ``max_items`` items in each of at most ``groups`` groups. No data exceed 2^62 items:
        that bound protects users with any number of them.
        """
        return cls("user", max_items, sketches, groups, name=name)

    @classmethod
    def label(cls, *, max_count: SupportsIndex, groups: SupportsIndex = 1, name: str = "") -> PrivacyUnit:
        """Protect one label, if each label is a person; counts are capped at ``max_count`` ("c or more").

        With several groups, a label occurs in at most ``groups`` of them; counts are capped in each.
        """
        return cls("label", max_count, 1, groups, name=name)

    @classmethod
    def edge(cls, *, degrees: SupportsIndex = 2) -> PrivacyUnit:
        """Protect one edge of a graph, which changes two degrees by one, or only one (of in- or out-degrees alone)."""
        return cls("edge", degrees)

    @classmethod
    def node(cls, *, max_distance: SupportsIndex, max_degree: int | None = None) -> PrivacyUnit:
        """Protect one node of a graph with all its edges.

        With any number of edges, a node changes the profile by at most ``max_distance``. Degrees must have been bounded
        first, as :func:`anonhist.release_degrees` does, because a profile of plain degrees has no such bound;
        ``max_degree`` is their bound, if it is known.
        """
        return cls("node", max_distance, max_degree=max_degree)

    @property
    def is_item(self) -> bool:
        """Whether it is an :meth:`item`, so that nothing is bounded."""
        return self.kind == "item"

    @property
    def max_items(self) -> int | None:
        """The largest number of items of a :meth:`user`, in each sketch; None if users are not protected."""
        return self.bound if self.kind == "user" else None

    @property
    def max_count(self) -> int | None:
        """The count at which counts are capped for a :meth:`label`; None if they are not."""
        return self.bound if self.kind == "label" else None

    @property
    def is_unbounded(self) -> bool:
        """Whether it is a :meth:`user` with any number of items, said as the largest bound.

        Examples
        --------
        >>> print(PrivacyUnit.user(max_items=2**62))
        one user with all their items
        """
        return self.kind == "user" and self.bound == ANY_NUMBER

    @property
    def degrees(self) -> int | None:
        """The number of degrees that an :meth:`edge` changes; None if edges are not protected."""
        return self.bound if self.kind == "edge" else None

    @property
    def needs_bounded_degrees(self) -> bool:
        """Whether edges must be left out first, until no node has too many, as for a :meth:`node`."""
        return self.kind == "node"

    @property
    def not_covered(self) -> str:
        """What a guarantee for this unit does not cover, as a sentence."""
        each = "" if self.sketches == 1 else f" in one of the {self.sketches:,} sketches"
        if self.groups > 1:
            each = f" in one group, or items in more than {self.groups:,} groups"
        several = f"Anyone with several {self.many}: " + _SEVERAL.format(
            unit=self.called, units=self.many, owner="person"
        )
        return {
            "item": several,
            "user": several
            if self.is_unbounded
            else f"More than {self._items} of one {self.called}{each}: the data must have been limited to that "
            "before anything was counted.",
            "label": several,
            "edge": f"That somebody has many edges: {_SEVERAL.format(unit='edge', units='edges', owner='node')} Which "
            "nodes there are is not protected either.",
            "node": several,
        }[self.kind]

    @property
    def called(self) -> str:
        """The name of one unit: its own name, or that of its kind."""
        return self.name or self.kind

    @property
    def many(self) -> str:
        """The name of several units.

        Examples
        --------
        >>> [PrivacyUnit.item(name=name).many for name in ("viewer", "person", "company", "bus")]
        ['viewers', 'people', 'companies', 'buses']
        """
        return _plural(self.called)

    @property
    def people(self) -> str | None:
        """The plural of units that persist in next week's data, such as users; None for other units."""
        return self.many if self.kind in ("user", "label", "node") else None

    @property
    def one(self) -> str:
        """One unit, whatever its bound, with its article: ``"an item"``, ``"a user"``."""
        return f"{'an' if self.called[0] in 'aeioAEIO' else 'a'} {self.called}"

    @property
    def part(self) -> str:
        """What a distance of one means in the data: an item or, in a graph, a degree."""
        return {"edge": "degree", "node": "degree"}.get(self.kind, "item")

    @property
    def max_distance(self) -> int:
        """Largest sorted ℓ1 distance between add-or-remove neighbors: 1, m·k, c, or that of an edge or a node.

        With g groups, g times that: the largest sum over all groups.
        """
        return self.bound * self.sketches * self.groups

    def in_at_most(self, groups: int) -> PrivacyUnit:
        """Return the same unit if there are only this many groups.

        Examples
        --------
        >>> print(PrivacyUnit.user(max_items=5, groups=7).in_at_most(1))
        one user with all their items (at most 5 of them count)
        """
        # A bound on groups leaves nothing out of a single group.
        in_one_group = self.in_one_group and groups > 1
        return replace(self, groups=min(self.groups, groups), in_one_group=in_one_group, max_degree=None)

    @property
    def total_unit(self) -> PrivacyUnit:
        """The same unit with all its items in one place: a user with m items in each of k sketches has m·k.

        Examples
        --------
        >>> print(PrivacyUnit.user(max_items=5, sketches=3).total_unit)
        one user with all their items (at most 15 of them count)
        """
        # No data can exceed a larger bound.
        bound = min(self.bound * self.sketches, _LARGEST_BOUND)
        return replace(self, bound=bound, sketches=1)

    def protects(self, other: PrivacyUnit) -> bool:
        """Whether a release for this unit may be made from data that were read for ``other``.

        Data that were read for items, the default, may be released for any unit except nodes; the guarantee is the one
        for the unit of the release. (For a single item, a guarantee for users is at least as strong. A guarantee for
        labels is half as strong: one more item removes a label of count r and adds one of count r + 1.) A user with at
        most m items is covered by users with at least m. A label is covered for any cap, which only says which counts
        are merged. Users and labels do not cover each other. An edge is covered by edges that change at least as many
        degrees. Nodes are covered only by nodes with at least the same distance, and cover nothing else, because the
        guarantee needs degrees that were bounded for it.

        Examples
        --------
        >>> PrivacyUnit.user(max_items=5).protects(PrivacyUnit.user(max_items=3))
        True
        """
        if other.kind == "item":
            return self.kind != "node"
        if self.kind == "label" and self.groups < other.groups:
            return False
        return self.kind == other.kind and (self.kind == "label" or self.max_distance >= other.max_distance)

    def __str__(self) -> str:
        each = "" if self.sketches == 1 else f" in each of {self.sketches:,} sketches"
        counts = "them counts" if self.bound == 1 else "them count"
        where = merged = ""
        if self.groups > 1:
            each, where, merged = (
                f" in each of at most {self.groups:,} groups",
                f" in at most {self.groups:,} groups",
                " in a group",
            )
        bounded = "" if self.is_unbounded else f" (at most {self.bound:,} of {counts}{each})"
        return {
            "item": f"one {self.called}",
            "user": f"one {self.called} with all their items{bounded}",
            # A label with a name of its own, such as viewer, is a person.
            "label": f"one {self.called} with all {'their' if self.name else 'its'} items{where} (counts of "
            f"{self.bound:,} or more{merged} are taken together)",
            "edge": "one edge",
            "node": "one node with all its edges",
        }[self.kind]

    @property
    def _items(self) -> str:
        return f"{self.bound:,} item{'s' if self.bound > 1 else ''}"


_KEY = re.compile("[0-9a-f]{32}")


def parse_order_key(key: object) -> str:
    """Return a key as 32 hexadecimal digits (128 bits), or refuse it."""
    written = key.lower() if isinstance(key, str) else ""
    if not _KEY.fullmatch(written):
        raise UsageError(f"The order key must be 32 hexadecimal digits, as a release has them, not {key!r:.80}.")
    return written


_NOT_COVERED = "Errors and intervals do not cover what this leaves out."


def left_out(unit: PrivacyUnit, *, levels_cross: bool = False) -> str:
    """State how units were bounded and that no interval covers what that left out; empty if nothing was bounded.

    It follows from public numbers alone, so it is the same whether or not anything was left out. ``levels_cross`` says
    whether bounds hold for each level of groups separately.
    """
    bounded = _bounded(unit, levels_cross=levels_cross)
    return f"{bounded} {_NOT_COVERED}" if bounded else ""


def none_left_out(unit: PrivacyUnit) -> str:
    """State, as a clause, what intervals assume if items or groups are bounded; empty if they are not.

    Label counts are capped, and intervals cover that.
    """
    groups = f"in more than {_many(unit.groups, 'group')}" if is_in_groups(unit) else ""
    if unit.max_items is not None and not unit.is_unbounded:
        where = f" in a group, or {groups}," if groups else ""
        return f"{unit.many} with more than {_many(unit.max_items, 'item')}{where} had none left out"
    return f"{unit.many} {groups} had none left out" if groups and unit.max_count is not None else ""


def is_in_groups(unit: PrivacyUnit) -> bool:
    """Return whether the number of groups of each unit was bounded."""
    return unit.groups > 1 or unit.in_one_group


def _bounded(unit: PrivacyUnit, *, levels_cross: bool) -> str:
    if unit.needs_bounded_degrees:
        if unit.max_degree is None:
            return "Edges of nodes with too many are not counted."
        return f"At most {_many(unit.max_degree, 'edge')} of each node {_are(unit.max_degree)} counted."
    if unit.max_items is unit.max_count is None or unit.is_unbounded:
        return ""
    items = _many(unit.bound, "item")
    if is_in_groups(unit):
        there = "there" if unit.groups == 1 else "in each"
        return f"Each {unit.called} is counted in at most {_many(unit.groups, 'group')}, with at most {items} {there}."
    where = "each sketch" if unit.sketches > 1 else "each level" if levels_cross else "the whole release"
    return f"At most {items} of each {unit.called} {_are(unit.bound)} counted in {where}."


_LONGEST_NAME = 40
_NAME = re.compile(r"[^\W\d_]+([ '-][^\W\d_]+)*")
_IRREGULAR = {"person": "people", "child": "children", "man": "men", "woman": "women"}


def _parse_name(given: object) -> str:
    """Return the name of a unit, or refuse everything except a plain name."""
    if isinstance(given, str) and (not given or (len(given) <= _LONGEST_NAME and _NAME.fullmatch(given))):
        return given
    raise UsageError(
        f"{parameter('unit_name')} must be one word or a few, of at most {_LONGEST_NAME} letters, such as viewer, not "
        f"{given!r:.80}."
    )


def _plural(name: str) -> str:
    first, last = name[: -len(name.rsplit(" ", maxsplit=1)[-1])], name.rsplit(" ", maxsplit=1)[-1]
    if last in _IRREGULAR:
        return first + _IRREGULAR[last]
    if last.endswith("y") and last[-2:-1] not in tuple("aeiou"):
        return f"{first}{last[:-1]}ies"
    return f"{name}es" if last.endswith(("s", "x", "z", "ch", "sh")) else f"{name}s"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
