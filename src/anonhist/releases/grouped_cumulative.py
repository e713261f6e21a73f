"""A release of cumulative windows of several groups, under one guarantee."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from dataclasses import replace
from types import MappingProxyType
from typing import NoReturn

from anonhist.accounting import Receipt
from anonhist.errors import UsageError
from anonhist.outward import Saved, Shown, Tabular
from anonhist.privacy import Guarantee, short_decimal
from anonhist.profiles.grouped import Group
from anonhist.releases.cumulative import CumulativeRelease, MadeWindows


class GroupedCumulativeRelease(Shown, Tabular, Saved):
    """The cumulative windows of each of several groups, with one guarantee for all of them together.

    It is a mapping from a group, a name for each grouping column, to its release: ``release["spring", "DE"]``, or
    ``release["spring"]`` where there is one grouping column; ``release["spring"]["2026-11-14", 3]`` is one number. The
    guarantee of each of these is that of all groups and days together.

    It behaves like a mapping but is no ``Mapping``: data frame libraries take one for columns by name.

    Parameters
    ----------
    by
        The names of the grouping columns.
    releases
        The release of each group, all made by one mechanism, independently, with the same thresholds and days.

    Raises
    ------
    UsageError
        If there is no group, a group has not one name for each column, or releases differ in what they share.

    Notes
    -----
    The mechanism is calibrated to how far a unit moves the numbers of all groups together, so ε is not divided by the
    number of groups. Proof: docs/proofs/cumulative-windows.md.

    Examples
    --------
    >>> from anonhist.mechanisms.windows.grouped import release_cumulative_groups
    >>> from anonhist.profiles.windows import GroupedCumulativeCounts
    >>> from anonhist.profiles.windows import CumulativeCounts
    >>> counts = {(name,): CumulativeCounts((1,), ("2026-11-01",), [[size]]) for name, size in (("DE", 40), ("FR", 0))}
    >>> release = release_cumulative_groups(GroupedCumulativeCounts(("country",), counts), epsilon=30)
    >>> release["DE"].guarantee == release.guarantee
    True
    >>> release.groups, release["DE"]["2026-11-01", 1].value
    ((('DE',), ('FR',)), 40.0)
    """

    known_as = "windows of groups"
    by: tuple[str, ...]
    _releases: Mapping[Group, CumulativeRelease]

    def __init__(self, by: tuple[str, ...], releases: Mapping[Group, CumulativeRelease]) -> None:
        """Check and freeze the groups."""
        if not releases:
            raise UsageError("A release of groups has at least one group.")
        if not by or any(not isinstance(group, tuple) or len(group) != len(by) for group in releases):
            raise UsageError(f"Each group must have one name for each grouping column: {', '.join(by)}.")
        first, *others = map(_shared, releases.values())
        if any(other != first for other in others):
            raise UsageError("The releases of all groups must be made by one mechanism, in one step.")
        vars(self).update(by=tuple(by), _releases=MappingProxyType(dict(releases)))

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: it is a value."""
        raise AttributeError(f"A GroupedCumulativeRelease is immutable; make a new one instead of setting {name}.")

    def __getitem__(self, group: Group | str | None) -> CumulativeRelease:
        """Return the release of a group; of a single grouping column, its name will do."""
        found = self._releases.get(group if isinstance(group, tuple) else (group,))
        if found is None:
            raise KeyError(f"There is no group {group!r:.80}.")
        return found

    def __iter__(self) -> Iterator[Group]:
        """Iterate over the groups, in the order of their names."""
        return iter(self._releases)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self._releases)

    def __contains__(self, group: object) -> bool:
        """Return whether there is such a group; a single name will do."""
        return (group if isinstance(group, tuple) else (group,)) in self._releases

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refuse: pandas would make a table of the names of groups, without what was released."""
        raise UsageError("A release of groups is no array: take its table with to_pandas() or to_polars().")

    def __eq__(self, other: object) -> bool:
        """Compare the grouping columns and the release of each group."""
        if not isinstance(other, GroupedCumulativeRelease):
            return NotImplemented
        return self.by == other.by and self._releases == other._releases

    def __hash__(self) -> int:
        """Hash what equal releases share."""
        return hash((self.by, self.groups, self.mechanism))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle through the constructor."""
        return type(self), (self.by, dict(self._releases))

    def keys(self) -> KeysView[Group]:
        """Return the groups."""
        return self._releases.keys()

    def values(self) -> ValuesView[CumulativeRelease]:
        """Return the release of each group."""
        return self._releases.values()

    def items(self) -> ItemsView[Group, CumulativeRelease]:
        """Return pairs of a group and its release."""
        return self._releases.items()

    def get(self, group: Group | str | None, default: CumulativeRelease | None = None) -> CumulativeRelease | None:
        """Return the release of a group; ``default`` if there is none."""
        return self[group] if self.__contains__(group) else default

    def __repr__(self) -> str:
        return (
            f"GroupedCumulativeRelease({len(self):,} groups by {', '.join(self.by)}, {len(self.thresholds)} thresholds "
            f"on {len(self.days)} days, {self.mechanism.name}, epsilon={short_decimal(self.guarantee.epsilon)}, "
            f"{self.guarantee.unit})"
        )

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, in order."""
        return tuple(self)

    @property
    def first(self) -> CumulativeRelease:
        """The release of the first group, which has all that groups share."""
        return next(iter(self.values()))

    @property
    def thresholds(self) -> tuple[int, ...]:
        """The thresholds of all groups."""
        return self.first.thresholds

    @property
    def days(self) -> tuple[str, ...]:
        """The days of all groups."""
        return self.first.days

    @property
    def receipt(self) -> Receipt | None:
        """Where the release was charged, if a ledger keeps account."""
        return self.first.receipt

    def with_receipt(self, receipt: Receipt | None) -> GroupedCumulativeRelease:
        """Return the release with its receipt, which the release of each group carries, too."""
        made = {group: replace(each, receipt=receipt) for group, each in self._releases.items()}
        return GroupedCumulativeRelease(self.by, made)

    @property
    def mechanism(self) -> MadeWindows:
        """The mechanism that released each group."""
        return self.first.mechanism

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, of all groups and days together."""
        return self.first.guarantee

    @property
    def order_key(self) -> str | None:
        """The key of the random choice by which items of users, or groups of users and labels, were kept, if any."""
        return self.first.order_key

    @property
    def left_out(self) -> str:
        """What intervals leave out, because units were bounded; empty if they were not."""
        return self.first.left_out


def _shared(release: CumulativeRelease) -> tuple[object, ...]:
    return (
        release.thresholds,
        release.days,
        release.mechanism,
        release.reason,
        release.library_version,
        release.order_key,
        release.receipt,
    )
