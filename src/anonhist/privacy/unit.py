"""Whom the promise protects, and between which data sets it holds."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from enum import Enum

from anonhist.errors import UsageError


class NeighboringRelation(Enum):
    """Which two data sets may not be told apart.

    ``ADD_OR_REMOVE``: one unit is added or removed. ``SUBSTITUTE``: one unit is exchanged for another; such data sets
    are two add-or-remove steps apart, so the same promise costs twice the noise.
    """

    ADD_OR_REMOVE = "add-or-remove"
    SUBSTITUTE = "substitute"

    @property
    def steps(self) -> int:
        """How many add-or-remove steps lie between two neighbours: 1 or 2."""
        return 1 if self is NeighboringRelation.ADD_OR_REMOVE else 2


@dataclass(frozen=True)
class PrivacyUnit:
    """Whom the promise protects.

    Make one with :meth:`item`, :meth:`user` or :meth:`label`.

    Attributes
    ----------
    kind
        ``"item"``, ``"user"`` or ``"label"``.
    bound
        ``m`` of :meth:`user`, ``c`` of :meth:`label`, 1 for :meth:`item`.

    Examples
    --------
    >>> print(PrivacyUnit.user(max_items=5))
    one user with at most 5 items
    """

    kind: str
    bound: int

    def __post_init__(self) -> None:
        if self.kind not in ("item", "user", "label"):
            message = f"A privacy unit is an item, a user or a label, not {self.kind!r}."
            raise UsageError(message)
        object.__setattr__(self, "bound", _positive(self.bound, self.kind))
        if self.kind == "item" and self.bound != 1:
            raise UsageError("The item unit protects exactly one item; use PrivacyUnit.user(max_items=m) for more.")

    @classmethod
    def item(cls) -> PrivacyUnit:
        """One item (one event): neighbours differ in one cell of the Young diagram."""
        return cls("item", 1)

    @classmethod
    def user(cls, *, max_items: int) -> PrivacyUnit:
        """One user with at most ``max_items`` items: neighbours differ in at most that many cells."""
        return cls("user", max_items)

    @classmethod
    def label(cls, *, max_count: int) -> PrivacyUnit:
        """One label, where the label itself is the person; counts are capped at ``max_count`` ("c or more")."""
        return cls("label", max_count)

    @property
    def max_distance(self) -> int:
        """Largest sorted ℓ1 distance between add-or-remove neighbours: 1, m, or c."""
        return self.bound

    def protects(self, other: PrivacyUnit) -> bool:
        """Whether a promise for this unit covers whoever ``other`` names.

        An item is covered by every unit, a user with at most m items by users with at least m. Users and labels
        are different people, so neither covers the other. A label covers each single item that carries it, but
        moving one item changes a label's count: that is a label removed and another added, two steps.
        """
        if other.kind == "item":
            return True
        return self.kind == other.kind and self.bound >= other.bound

    def __str__(self) -> str:
        if self.kind == "item":
            return "one item"
        if self.kind == "user":
            return f"one user with at most {self.bound:,} item{'s' if self.bound > 1 else ''}"
        return f"one label with all its items, counts of {self.bound:,} or more taken together"


def _positive(value: object, kind: str) -> int:
    name = {"user": "max_items", "label": "max_count"}.get(kind, "bound")
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # the check is what this function is for
    except TypeError:
        number = 0
    if isinstance(value, bool) or not 1 <= number < 2**62:
        message = f"{name} must be a whole number of at least 1, not {value!r}."
        raise UsageError(message)
    return number
