"""Kinds of releases: which units each can protect, and the words for its labels, items and counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.privacy import PrivacyUnit


@dataclass(frozen=True)
class Words:
    """What labels, items and counts are called.

    Attributes
    ----------
    label, labels
        What occurs: one of them, several.
    item, items
        How a number of items is written, one and several; ``{}`` stands for the number.
    total
        What all of them are, to say a share of it.
    error
        How an ℓ1 error is written.
    count
        How many of these a label has.
    exactly, at_least
        How many labels a prevalence counts, and a k+ count; ``{}`` stands for the number.
    """

    label: str
    labels: str
    item: str
    items: str
    total: str
    error: str
    count: str
    exactly: str
    at_least: str

    def many_labels(self, number: int) -> str:
        """Write a number of labels.

        Examples
        --------
        >>> OF_LABELS.many_labels(1_000), OF_GRAPHS.many_labels(1)
        ('1,000 labels', '1 node')
        """
        return f"{number:,} {self.label if number == 1 else self.labels}"

    def many_items(self, number: int) -> str:
        """Write a number of items.

        Examples
        --------
        >>> OF_LABELS.many_items(1), OF_GRAPHS.many_items(2)
        ('1 item', 'degree sum 2')
        """
        return (self.item if number == 1 else self.items).format(f"{number:,}")


OF_LABELS = Words(
    *("label", "labels", "{} item", "{} items", "items", "{} items"),
    *("count", "labels with exactly {} items", "labels with {} items or more"),
)
OF_GRAPHS = Words(
    *("node", "nodes", "degree sum {}", "degree sum {}", "degree sum", "{}"),
    *("degree", "nodes of degree {}", "nodes of degree {} or more"),
)


@dataclass(frozen=True)
class ReleaseKind:
    """A kind of release: one value, in the room of the mechanisms that make such releases.

    Higher rooms register what is theirs under its name: :mod:`anonhist.formats.kinds` how such releases are written and
    read, :mod:`anonhist.report.kinds` how they are shown.

    Attributes
    ----------
    name
        The key of those registrations.
    words
        Whom such releases can protect, by the kinds of units, and what things are called where those are protected.

    Examples
    --------
    >>> CENTRAL.words["edge"].at_least.format(5)
    'nodes of degree 5 or more'
    """

    name: str
    words: Mapping[str, Words] = field(repr=False, hash=False)

    def protects(self, unit: PrivacyUnit) -> bool:
        """Whether such a release can protect a unit."""
        return unit.kind in self.words


# Of a profile of any data. One of degrees protects edges, or nodes whose degrees were bounded.
CENTRAL = ReleaseKind(
    "central", dict.fromkeys(("item", "user", "label"), OF_LABELS) | dict.fromkeys(("edge", "node"), OF_GRAPHS)
)
