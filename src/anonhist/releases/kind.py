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
        The singular and plural of what occurs.
    item, items
        How one item and several items are written; ``{}`` stands for the number.
    total
        The name of all items, for shares of them.
    error
        How an ℓ1 error is written.
    count
        The name of the number of items of a label.
    exactly, at_least
        What a prevalence and a k+ count; ``{}`` stands for the count.
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
    """A kind of release: one value, defined beside the mechanisms that make such releases.

    Other rooms register functions under its name: :mod:`anonhist.formats.kinds` how such releases are written and read,
    :mod:`anonhist.report.kinds` how they are shown.

    Attributes
    ----------
    name
        The key of those registrations.
    words
        The words for labels and items, by the kinds of units that such releases can protect.

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


# For a profile of any data; one of degrees protects edges, or nodes with bounded degrees.
CENTRAL = ReleaseKind(
    "central", dict.fromkeys(("item", "user", "label"), OF_LABELS) | dict.fromkeys(("edge", "node"), OF_GRAPHS)
)
