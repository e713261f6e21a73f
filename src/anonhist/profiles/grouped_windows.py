"""Increments of several groups, read together for one release: exact, and so private."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from anonhist.errors import UsageError
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.grouped import Group
from anonhist.profiles.windows import CumulativeCounts

# Numbers of a release: groups times thresholds times days.
MOST_NUMBERS = 10_000_000


def check_numbers(groups: int, thresholds: int, days: int) -> None:
    """Refuse more numbers than a release can hold, whatever the data.

    Raises
    ------
    UsageError
        If there are.

    Examples
    --------
    >>> check_numbers(500, 10, 365)
    """
    if groups * thresholds * days > MOST_NUMBERS:
        raise UsageError(
            f"{groups:,} groups × {thresholds:,} thresholds × {days:,} days are more than {MOST_NUMBERS:,} numbers, "
            "the most that one release can hold: name fewer."
        )


class GroupedCumulativeCounts(Mapping[Group, CumulativeCounts]):
    """How many labels first reach each threshold on each day, in each group: exact, and so private.

    Parameters
    ----------
    by
        The names of the grouping columns.
    counts
        The counts of each group, all with the same thresholds, days, unit and order key. Which groups there are is
        public.

    Raises
    ------
    UsageError
        If there is no group, a group has not one name for each column, or groups differ in what they share.

    Examples
    --------
    >>> days = "2026-11-01", "2026-11-02"
    >>> spring, fall = (CumulativeCounts((1, 3), days, each) for each in ([[4, 1], [0, 2]], [[0, 0], [0, 0]]))
    >>> grouped = GroupedCumulativeCounts(("campaign",), {("spring",): spring, ("fall",): fall})
    >>> grouped["spring"].k_plus.tolist()
    [[4, 5], [0, 2]]
    """

    by: tuple[str, ...]
    _counts: Mapping[Group, CumulativeCounts]

    def __init__(self, by: tuple[str, ...], counts: Mapping[Group, CumulativeCounts]) -> None:
        """Check and freeze the groups."""
        if not counts:
            raise UsageError("There is no group: name at least one.")
        if not by or any(not isinstance(group, tuple) or len(group) != len(by) for group in counts):
            raise UsageError(f"Each group must have one name for each grouping column: {', '.join(by)}.")
        if len({(each.thresholds, each.days, each.unit, each.order_key) for each in counts.values()}) > 1:
            raise UsageError("All groups must have the same thresholds, days, unit and order key.")
        vars(self).update(by=tuple(by), _counts=MappingProxyType(dict(counts)))
        check_numbers(len(counts), *self.size_of_each)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: it is a value."""
        raise AttributeError(f"GroupedCumulativeCounts are immutable; make new ones instead of setting {name}.")

    def __getitem__(self, group: Group | str | None) -> CumulativeCounts:
        """Return the counts of a group; of a single grouping column, its name will do."""
        return self._counts[group if isinstance(group, tuple) else (group,)]

    def __iter__(self) -> Iterator[Group]:
        """Iterate over the groups, in the order in which they were given."""
        return iter(self._counts)

    def __len__(self) -> int:
        """Return the number of groups, which is public."""
        return len(self._counts)

    def __eq__(self, other: object) -> bool:
        """Compare the grouping columns and the counts of each group."""
        if not isinstance(other, GroupedCumulativeCounts):
            return NotImplemented
        return self.by == other.by and self._counts == other._counts

    __hash__ = None  # type: ignore[assignment]  # as of any mapping

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle through the constructor, as profiles are."""
        return type(self), (self.by, dict(self._counts))

    def __repr__(self) -> str:
        """Say what is public."""
        return f"GroupedCumulativeCounts({len(self):,} groups by {', '.join(self.by)})"

    @property
    def _first(self) -> CumulativeCounts:
        return next(iter(self.values()))

    @property
    def unit(self) -> PrivacyUnit:
        """The unit that a release protects at least, over all groups together."""
        return self._first.unit

    @property
    def thresholds(self) -> tuple[int, ...]:
        """The thresholds of all groups."""
        return self._first.thresholds

    @property
    def size_of_each(self) -> tuple[int, int]:
        """How many thresholds and days there are."""
        return len(self._first.thresholds), len(self._first.days)
