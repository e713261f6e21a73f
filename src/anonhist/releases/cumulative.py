"""A release of cumulative windows: how many labels have reached each threshold by the end of each day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.accounting.recording import MadeBy
from anonhist.errors import UsageError
from anonhist.frozen import Converted, completed, converted, frozen
from anonhist.numeric.arrays import read_only
from anonhist.privacy import Guarantee, is_in_groups, left_out, none_left_out
from anonhist.profiles.grouped import Group
from anonhist.profiles.windows import check_days, parse_thresholds
from anonhist.properties.estimate import Estimate
from anonhist.releases.made import OneRelease, ReleaseByGroup, in_short

METHOD = "noisy sums, 95% intervals from the distribution of the noise"


class MadeWindows(MadeBy, Protocol):
    """What a release stores of the mechanism that made it; its guarantee covers all days together."""

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Shape (thresholds, days): the standard deviation of the noise of each estimate."""


@frozen
class CumulativeRelease(OneRelease):
    """How many labels have reached each threshold by the end of each day, with 95% intervals and one guarantee.

    ``release[day, k]`` is one of these numbers, as an :class:`~anonhist.properties.estimate.Estimate`.

    Attributes
    ----------
    thresholds, days
        The thresholds k, and the days, both ascending.
    values
        Shape (thresholds, days): whole numbers ≥ 0 that do not decrease from day to day, nor increase with k.
    lows, highs
        The ends of their intervals, of the same shape. Each interval is for one number alone.
    mechanism
        The mechanism that made it.
    reason
        Why that mechanism was chosen.
    library_version
        Version of this package that made the release.
    order_key
        The key of the random choice by which items of users, or groups of users and labels, were kept, if any.
    where
        The condition on which rows counted, as for ``read_cumulative``; None if all did.
    receipt
        Where the release was charged, if a ledger was used.

    Raises
    ------
    UsageError
        If the numbers have another shape, are out of order, or lie outside their intervals.

    Examples
    --------
    >>> from anonhist.mechanisms.window_release import release_cumulative
    >>> from anonhist.profiles.windows import CumulativeCounts
    >>> release = release_cumulative(CumulativeCounts((1, 2), ("2026-11-01",), [[40], [10]]), epsilon=30)
    >>> print(release["2026-11-01", 2])
    10 ± 4.33 × 10⁻⁷ labels (95% interval 9 to 11)
    """

    known_as = "windows"
    thresholds: Converted[Iterable[SupportsIndex], tuple[int, ...]] = converted(parse_thresholds)
    days: Converted[tuple[str, ...], tuple[str, ...]] = converted(check_days)
    values: Converted[ArrayLike, NDArray[np.int64]] = completed(lambda self, given: self._numbers(given), shown=False)
    lows: Converted[ArrayLike, NDArray[np.int64]] = completed(lambda self, given: self._numbers(given), shown=False)
    highs: Converted[ArrayLike, NDArray[np.int64]] = completed(lambda self, given: self._numbers(given), shown=False)
    mechanism: MadeWindows

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mechanism.standard_errors.shape != self.values.shape:
            raise UsageError("The mechanism is for another number of thresholds or days.")
        if (np.diff(self.values, axis=1) < 0).any() or (np.diff(self.values, axis=0) > 0).any():
            raise UsageError("Running sums must not decrease from day to day, nor increase with the threshold.")
        if (self.lows > self.values).any() or (self.highs < self.values).any() or (self.lows < 0).any():
            raise UsageError("Each number must be in its interval.")

    def _numbers(self, given: ArrayLike) -> NDArray[np.int64]:
        found = np.asarray(given)
        if found.shape != (len(self.thresholds), len(self.days)) or found.dtype.kind not in "iu":
            raise UsageError("There must be a whole number for each threshold and day.")
        return read_only(found.astype(np.int64))

    @property
    def guarantee(self) -> Guarantee:
        """The joint guarantee of all days."""
        return self.mechanism.guarantee

    def __getitem__(self, place: tuple[str, int]) -> Estimate:
        """Return how many labels have reached the threshold ``k`` by the end of a day: ``release[day, k]``."""
        try:
            day, k = place
            row, column = self.thresholds.index(k), self.days.index(day)
        except (TypeError, ValueError):
            raise KeyError(f"There is no {place!r:.80}: name one of the days and one of the thresholds.") from None
        return Estimate(
            float(self.values[row, column]),
            float(self.mechanism.standard_errors[row, column]),
            (float(self.lows[row, column]), float(self.highs[row, column])),
            METHOD,
            none_left_out(self.guarantee.unit),  # Intervals cover the noise alone.
            unit="labels",
            guarantee=self.guarantee,
            where=self.where,
        )

    @property
    def left_out(self) -> str:
        """What intervals leave out, because units were bounded; empty if they were not.

        No threshold exceeds the cap on label counts, so the cap leaves nothing out.
        """
        unit = self.guarantee.unit
        return "" if unit.max_count is not None and not is_in_groups(unit) else left_out(unit)

    def __repr__(self) -> str:
        return f"CumulativeRelease({self._size}, {self.mechanism.name}, {in_short(self.guarantee)})"

    @property
    def _size(self) -> str:
        return f"{len(self.thresholds)} thresholds on {len(self.days)} days"


class GroupedCumulativeRelease(ReleaseByGroup[CumulativeRelease]):
    """The cumulative windows of several groups, with one joint guarantee.

    It is a mapping from a group, a name for each grouping column, to its release: ``release["spring", "DE"]``, or
    ``release["spring"]`` if there is one grouping column; ``release["spring"]["2026-11-14", 3]`` is one number. The
    guarantee of each of these is that of all groups and days together.

    It behaves like a mapping but is not a ``Mapping``, because data frame libraries would read one as named columns.

    Parameters
    ----------
    by
        The names of the grouping columns; none for the one group ``()``, of everything together.
    releases
        The release of each group, all made by one mechanism, independently, with the same thresholds and days.

    Raises
    ------
    UsageError
        If there is no group, a group does not have one name for each column, or the releases do not share one
        mechanism, thresholds and days.

    Notes
    -----
    The mechanism is calibrated to how far a unit moves the numbers of all groups together, so ε is not divided by the
    number of groups. Proof: docs/proofs/cumulative-windows.md.

    Examples
    --------
    >>> from anonhist.mechanisms.window_release import release_cumulative_groups
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
    _shared = ("thresholds", "days", "mechanism", "reason", "library_version", "order_key", "where", "receipt")

    def __init__(self, by: tuple[str, ...], releases: Mapping[Group, CumulativeRelease]) -> None:
        """Check and freeze the groups."""
        super().__init__(by, releases)

    @property
    def _size(self) -> str:
        return f"{super()._size}, {len(self.thresholds)} thresholds on {len(self.days)} days"

    @property
    def thresholds(self) -> tuple[int, ...]:
        """The thresholds of all groups."""
        return self.first.thresholds

    @property
    def days(self) -> tuple[str, ...]:
        """The days of all groups."""
        return self.first.days

    @property
    def guarantee(self) -> Guarantee:
        """The joint guarantee of all groups and days."""
        return self.first.guarantee


Windows = CumulativeRelease | GroupedCumulativeRelease


def in_groups(release: Windows) -> GroupedCumulativeRelease:
    """Return windows as those of groups: without groups, those of the one group without columns."""
    return release if isinstance(release, GroupedCumulativeRelease) else GroupedCumulativeRelease((), {(): release})
