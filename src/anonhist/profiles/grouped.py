"""Profiles of several groups, the levels of their grouping columns, and totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

import numpy as np

from anonhist.catalogue import Levels
from anonhist.errors import UsageError
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.profiles.profile import BoundedUnits, Profile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from anonhist.accounting import Receipt
    from anonhist.privacy import NeighboringRelation, PrivacyUnit

# A name for each grouping column; None where there is no value.
Group = tuple[str | None, ...]


class Finding(Protocol):
    """A budget that was spent on finding groups."""

    @property
    def epsilon(self) -> Fraction:
        """The exact ε, > 0."""

    @property
    def delta(self) -> Fraction:
        """The exact δ, > 0."""

    @property
    def relation(self) -> NeighboringRelation:
        """Which data sets are neighbors."""


class GroupedProfile(Mapping[Group, Profile]):
    """A profile of each group: exact, and so private.

    Parameters
    ----------
    by
        The names of the grouping columns.
    profiles
        The profile of each group. Which groups there are is public.
    unit
        The unit that a release protects at least, over all groups together.
    order_key
        The key of the random choice by which items or groups were kept, if any.
    finding
        What was spent on finding the groups, if they were found in the data: ``epsilon``, ``delta`` and ``relation``.
    receipt
        Where that was charged, if a ledger keeps account of it: a release then charges its own cost alone.
    levels
        What totals count, if they are released, too.
    above
        For crossing levels, the profiles of groups of fewer columns: everything together first, then by the first
        column, and so on.
    units
        The number of groups, or of items, of each user or label before the bound, if that was counted.

    Raises
    ------
    UsageError
        If there is no group, or a group has not one name for each column.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> profiles = {("DE",): Profile.from_counts([3, 1]), ("FR",): Profile.from_counts([])}
    >>> grouped = GroupedProfile(("country",), profiles, unit=PrivacyUnit.item())
    >>> grouped["DE"].n, len(grouped)
    (4, 2)
    """

    by: tuple[str, ...]
    unit: PrivacyUnit
    order_key: str | None
    finding: Finding | None
    receipt: Receipt | None
    levels: Levels | None
    above: tuple[GroupedProfile, ...]
    units: BoundedUnits | None

    def __init__(
        self,
        by: tuple[str, ...],
        profiles: Mapping[Group, Profile],
        *,
        unit: PrivacyUnit,
        order_key: str | None = None,
        finding: Finding | None = None,
        receipt: Receipt | None = None,
        levels: Levels | None = None,
        above: tuple[GroupedProfile, ...] = (),
        units: BoundedUnits | None = None,
    ) -> None:
        """Check and freeze the groups."""
        if not profiles:
            raise UsageError("There is no group: name at least one.")
        if receipt is not None and finding is None:
            raise UsageError("A receipt is for groups that were found: listed ones cost nothing.")
        # Everything together is the one group of no columns.
        if any(not isinstance(group, tuple) or len(group) != len(by) for group in profiles):
            raise UsageError(f"Each group must have one name for each grouping column: {', '.join(by)}.")
        depths = range(len(by)) if levels is Levels.CROSSING else ()
        if [each.by for each in above] != [tuple(by[:depth]) for depth in depths]:
            raise UsageError("Crossing levels are by none of the grouping columns, by the first, and so on.")
        # Each knows whom the whole protects: a release of it alone must not promise less.
        known = {
            group: Profile(each.counts, each.prevalences, unit=unit, order_key=order_key)
            for group, each in profiles.items()
        }
        vars(self).update(
            by=tuple(by),
            unit=unit,
            order_key=order_key,
            finding=finding,
            receipt=receipt,
            levels=levels,
            above=above,
            units=units,
            _profiles=MappingProxyType(known),
        )

    _profiles: Mapping[Group, Profile]

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: it is a value."""
        raise AttributeError(f"A GroupedProfile is immutable; make a new one instead of setting {name}.")

    def __getitem__(self, group: Group | str | None) -> Profile:
        """Return the profile of a group; of a single grouping column, its name will do."""
        return self._profiles[group if isinstance(group, tuple) else (group,)]

    def __iter__(self) -> Iterator[Group]:
        """Iterate over the groups, in the order in which they were given."""
        return iter(self._profiles)

    def __len__(self) -> int:
        """Return the number of groups, which is public."""
        return len(self._profiles)

    def __eq__(self, other: object) -> bool:
        """Compare everything but the order key, the receipt and the units, which equal profiles may differ in."""
        if not isinstance(other, GroupedProfile):
            return NotImplemented
        mine = (self.by, self.unit, self.finding, self.levels, self.above, self._profiles)
        return mine == (other.by, other.unit, other.finding, other.levels, other.above, other._profiles)

    __hash__ = None  # type: ignore[assignment]  # as of any mapping

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle through the constructor, as profiles are."""
        names = ("unit", "order_key", "finding", "receipt", "levels", "above", "units")
        rebuild = partial(type(self), **{name: getattr(self, name) for name in names})
        return rebuild, (self.by, dict(self._profiles))

    def __repr__(self) -> str:
        """Say what is public."""
        return f"GroupedProfile({len(self):,} groups by {', '.join(self.by)})"


def parse_levels(given: str | Levels | None) -> Levels | None:
    """Return the levels that a name asks for; None for none."""
    if given is None or isinstance(given, Levels):
        return given
    known = {each.value: each for each in Levels}
    if not isinstance(given, str) or given not in known:
        raise UsageError(f"`levels` must be {' or '.join(map(repr, known))}, not {given!r:.80}.")
    return known[given]


def prefixes_of(groups: Iterable[Group]) -> list[Group]:
    """Return the first names of groups, from none to all but the last: everything first, each level in order."""
    known = list(groups)
    return [prefix for depth in range(len(known[0])) for prefix in dict.fromkeys(group[:depth] for group in known)]


def total_of(profiles: Iterable[Profile], *, unit: PrivacyUnit | None = None) -> Profile:
    """Return the profile with the prevalences of all profiles added up: ``φ_r = Σ_g φ_{g,r}``.

    A label of several of them counts in each: what is counted is the pair of a group and a label. If they have more
    than 2⁶³ − 1 items together, the largest counts are lowered until there are just so many: noise may add to profiles
    whose true total is less.
    """
    found = list(profiles)
    if sum(each.n for each in found) > MAX_ITEMS:
        return _clipped(found, unit)
    if not found:
        return Profile([], [], unit=unit)
    counts = np.concatenate([each.counts for each in found])
    prevalences = np.concatenate([each.prevalences for each in found])
    order = np.argsort(counts, kind="stable")
    counts, prevalences = counts[order], prevalences[order]
    begins = np.flatnonzero(np.diff(counts, prepend=0))
    return Profile(counts[begins], np.add.reduceat(prevalences, begins) if begins.size else prevalences, unit=unit)


def _clipped(profiles: Iterable[Profile], unit: PrivacyUnit | None) -> Profile:
    """Return the total with its largest counts lowered to a common one, c or c + 1, so that there are 2⁶³ − 1 items."""
    prevalences: Counter[int] = Counter()
    for each in profiles:
        prevalences.update(dict(zip(each.counts.tolist(), each.prevalences.tolist(), strict=True)))
    # From below: ``left`` items are there for the labels of counts that were not seen yet.
    left, above, kept = MAX_ITEMS, prevalences.total(), Counter[int]()
    for count in sorted(prevalences):
        number = prevalences[count]
        if left < count * above:
            break
        kept[count] = number
        left, above = left - count * number, above - number
    cap, more = divmod(left, above)
    kept.update({cap: above - more, cap + 1: more})
    return Profile.from_prevalences({count: number for count, number in kept.items() if count and number}, unit=unit)
