"""How many labels first reach each threshold on each day, for one group or several: exact, and so private."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import field
from itertools import pairwise
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, completed, converted, frozen, optional
from anonhist.numeric.arrays import read_only
from anonhist.privacy import PrivacyUnit, parse_order_key
from anonhist.profiles.grouped import ByGroup, Group
from anonhist.profiles.where import where_text

# A release has an interval for each threshold on each day.
MOST_THRESHOLDS, MOST_DAYS = 100, 1_100
_LARGEST = 2**53


def parse_thresholds(given: Iterable[SupportsIndex]) -> tuple[int, ...]:
    """Return the thresholds of cumulative windows: ascending whole numbers of at least 1, no others."""
    try:
        values = [None if isinstance(each, bool) else operator.index(each) for each in given]
    except TypeError:
        values = [None]
    whole = tuple(each for each in values if each is not None and 1 <= each < _LARGEST)
    if not whole or len(whole) < len(values) or list(whole) != sorted(set(whole)):
        raise UsageError("`thresholds` must be whole numbers of at least 1 in ascending order, such as 1, 2, 5.")
    if len(whole) > MOST_THRESHOLDS:
        raise UsageError(f"`thresholds` must be at most {MOST_THRESHOLDS:,} numbers.")
    return whole


def check_days(days: tuple[str, ...]) -> tuple[str, ...]:
    """Return the days of cumulative windows, or refuse everything except an ascending list of strings."""
    if not days or not all(isinstance(day, str) for day in days):
        raise UsageError("`days` lists no day: name at least one.")
    if len(days) > MOST_DAYS:
        raise UsageError(f"`days` must be at most {MOST_DAYS:,} days.")
    if any(first >= second for first, second in pairwise(days)):
        raise UsageError("`days` must be in ascending order, each listed once.")
    return days


@frozen
class CumulativeCounts:
    """How many labels first reach each threshold on each day: exact, and so private.

    Parameters
    ----------
    thresholds
        K, ascending whole numbers of at least 1. Public.
    days
        The days, ascending; the first of them is the start. Public.
    increments
        Shape (thresholds, days): the number of labels whose running count first reaches k on this day.
    unit
        The unit that a release protects at least.
    order_key
        The key of the random choice by which items of users were kept, if any.
    where
        The condition on which rows counted, as for ``read_cumulative``; None if all did.

    Raises
    ------
    UsageError
        If thresholds or days do not ascend, or the numbers have another shape.
    DataError
        If the numbers are impossible: negative, above 2⁵³ in sum, or more labels at a threshold than at a smaller one.

    Examples
    --------
    >>> counts = CumulativeCounts((1, 3), ("2026-11-01", "2026-11-02"), [[4, 1], [0, 2]])
    >>> counts.k_plus.tolist()
    [[4, 5], [0, 2]]
    """

    thresholds: Converted[Iterable[SupportsIndex], tuple[int, ...]] = converted(parse_thresholds)
    days: Converted[tuple[str, ...], tuple[str, ...]] = converted(check_days)
    increments: Converted[ArrayLike, NDArray[np.int64]] = completed(
        lambda self, given: _checked(given, len(self.thresholds), len(self.days)), shown=False
    )
    unit: PrivacyUnit = field(default_factory=PrivacyUnit.item)
    order_key: Converted[str | None, str | None] = converted(optional(parse_order_key), default=None, shown=False)
    where: Converted[str | None, str | None] = converted(optional(where_text), default=None, shown=False)

    @property
    def k_plus(self) -> NDArray[np.int64]:
        """How many labels have reached k by the end of each day: a row for each threshold, a column for each day."""
        return np.cumsum(self.increments, axis=1)


def _checked(given: ArrayLike, thresholds: int, days: int) -> NDArray[np.int64]:
    found = np.asarray(given)
    if found.shape != (thresholds, days) or found.dtype.kind not in "iu":
        raise UsageError("`increments` must be whole numbers, one for each threshold and day.")
    if (found < 0).any() or float(found.astype(np.float64).sum()) > _LARGEST:
        raise DataError("Numbers of labels must not be negative, nor above 2^53.")
    if (np.diff(np.cumsum(found, axis=1), axis=0) > 0).any():
        raise DataError("A label reaches smaller thresholds first, so these must have as many labels or more.")
    return read_only(found.astype(np.int64))


def check_cap(unit: PrivacyUnit, thresholds: tuple[int, ...]) -> None:
    """Refuse thresholds above the cap on label counts."""
    if unit.max_count is not None and thresholds[-1] > unit.max_count:
        raise UsageError(
            f"`thresholds` must not exceed `max_count`: counts of {unit.max_count:,} or more are taken together."
        )


# The number of values in a release: groups times thresholds times days.
MOST_NUMBERS = 10_000_000


def check_numbers(groups: int, thresholds: int, days: int) -> None:
    """Refuse more numbers than a release can hold, whatever the data."""
    if groups * thresholds * days > MOST_NUMBERS:
        raise UsageError(
            f"{groups:,} groups × {thresholds:,} thresholds × {days:,} days are more than {MOST_NUMBERS:,} numbers, "
            "the limit of one release: name fewer."
        )


class GroupedCumulativeCounts(ByGroup[CumulativeCounts]):
    """How many labels first reach each threshold on each day, in each group: exact, and so private.

    Parameters
    ----------
    by
        The names of the grouping columns; none for the one group ``()``, of everything together.
    counts
        The counts of each group, all with the same thresholds, days, unit, order key and condition on rows. Which
        groups there are is public.

    Raises
    ------
    UsageError
        If there is no group, a group does not have one name for each column, or the groups' counts differ in
        thresholds, days, unit, key or condition.

    Examples
    --------
    >>> days = "2026-11-01", "2026-11-02"
    >>> spring, fall = (CumulativeCounts((1, 3), days, each) for each in ([[4, 1], [0, 2]], [[0, 0], [0, 0]]))
    >>> grouped = GroupedCumulativeCounts(("campaign",), {("spring",): spring, ("fall",): fall})
    >>> grouped["spring"].k_plus.tolist()
    [[4, 5], [0, 2]]
    """

    _shared = ("thresholds", "days", "unit", "order_key", "where")
    _must_share = "All groups must have the same thresholds, days, unit, order key and condition on rows."

    def __init__(self, by: tuple[str, ...], counts: Mapping[Group, CumulativeCounts]) -> None:
        """Check and freeze the groups."""
        super().__init__(by, counts)
        check_numbers(len(counts), *self.first.increments.shape)

    @property
    def unit(self) -> PrivacyUnit:
        """The unit that a release protects at least, over all groups together."""
        return self.first.unit

    @property
    def thresholds(self) -> tuple[int, ...]:
        """The thresholds of all groups."""
        return self.first.thresholds

    @property
    def days(self) -> tuple[str, ...]:
        """The days of all groups."""
        return self.first.days


def in_one_group(counts: CumulativeCounts) -> GroupedCumulativeCounts:
    """Return counts without groups as those of the one group without columns."""
    return GroupedCumulativeCounts((), {(): counts})
