"""A value for each of several groups; their profiles, the levels of their grouping columns, and totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from anonhist.catalogue import Levels
from anonhist.errors import UsageError
from anonhist.frozen import optional
from anonhist.numeric.arrays import sum_equal
from anonhist.profiles.chosen_bound import ChosenBound
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.profiles.profile import BoundedUnits, Profile
from anonhist.profiles.where import where_text

if TYPE_CHECKING:
    from fractions import Fraction

    from anonhist.accounting import Receipt
    from anonhist.privacy import NeighboringRelation, PrivacyUnit

# A name for each grouping column; None for a missing value.
Group = tuple[str | None, ...]
Value = TypeVar("Value")


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


class ByGroup(Generic[Value]):
    """A value for each of several groups, used like a mapping: ``found["spring", "DE"]``, a name for each column.

    With a single grouping column, the name alone suffices: ``found["DE"]``. It is not a ``Mapping``, because data frame
    libraries would read one as named columns.
    """

    by: tuple[str, ...]
    _values: Mapping[Group, Value]
    # Everything that can be asked for: the groups, and totals if any.
    _known: Mapping[Group, Value]
    # The other arguments of the constructor, and those in which equal values may differ.
    _others: ClassVar[tuple[str, ...]] = ()
    _not_compared: ClassVar[tuple[str, ...]] = ()
    # What the values of all groups have in common, and the error message if they do not.
    _shared: ClassVar[tuple[str, ...]] = ()
    _must_share: ClassVar[str] = ""
    _must_have: ClassVar[str] = "There is no group: name at least one."

    def __init__(self, by: tuple[str, ...], values: Mapping[Group, Value]) -> None:
        """Check and freeze the groups."""
        if not values:
            raise UsageError(self._must_have)
        # Everything together is the one group without columns.
        if any(not isinstance(group, tuple) or len(group) != len(by) for group in values):
            raise UsageError(f"Each group must have one name for each grouping column: {', '.join(by)}.")
        first, *others = ([getattr(each, name) for name in self._shared] for each in values.values())
        if any(other != first for other in others):
            raise UsageError(self._must_share)
        found = MappingProxyType(dict(values))
        vars(self).update(by=tuple(by), _values=found, _known=found)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse, because it is an immutable value."""
        raise AttributeError(f"A {type(self).__name__} is immutable; make a new one instead of setting {name}.")

    def __getitem__(self, group: Group | str | None) -> Value:
        """Return the value of a group; with a single grouping column, the name alone suffices."""
        key = group if isinstance(group, tuple) else (group,)
        if key not in self._known:
            raise KeyError(f"There is no group {key!r:.80}.")
        return self._known[key]

    def __iter__(self) -> Iterator[Group]:
        """Iterate over the groups, in the order in which they were given."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of groups, which is public."""
        return len(self._values)

    def __contains__(self, group: object) -> bool:
        """Return whether a group can be asked for; a single name suffices."""
        return (group if isinstance(group, tuple) else (group,)) in self._known

    def __eq__(self, other: object) -> bool:
        """Compare the grouping columns, everything that can be asked for, and the other arguments that must agree."""
        if type(self) is not type(other):
            return NotImplemented
        names = ("by", "_known", *(name for name in self._others if name not in self._not_compared))
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __hash__(self) -> int:
        """Hash what equal values share."""
        return hash((self.by, frozenset(self._values)))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle through the constructor, as profiles are."""
        return self._again, (dict(self._values),)

    @property
    def _again(self) -> Callable[[Mapping[Group, Value]], Self]:
        """The constructor, with all arguments except the values."""
        make: Any = type(self)
        return partial(make, self.by, **{name: getattr(self, name) for name in self._others})

    def keys(self) -> KeysView[Group]:
        """Return the groups."""
        return self._values.keys()

    def values(self) -> ValuesView[Value]:
        """Return the value of each group."""
        return self._values.values()

    def items(self) -> ItemsView[Group, Value]:
        """Return pairs of a group and its value."""
        return self._values.items()

    def get(self, group: Group | str | None, default: Value | None = None) -> Value | None:
        """Return the value of a group; ``default`` if there is none."""
        return self[group] if self.__contains__(group) else default

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, in order."""
        return tuple(self)

    @property
    def first(self) -> Value:
        """The value of the first group, which has all that groups share."""
        return next(iter(self.values()))

    @property
    def _size(self) -> str:
        return f"{len(self):,} groups by {', '.join(self.by)}"

    def __repr__(self) -> str:
        """Describe the public parts."""
        return f"{type(self).__name__}({self._size})"


class GroupedProfile(ByGroup[Profile]):
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
    where
        The condition on which rows counted, as for ``read_profile``; None if all did.
    finding
        What was spent on finding the groups, if they were found in the data: ``epsilon``, ``delta`` and ``relation``.
    receipt
        Where that was charged, if a ledger was used: a release then charges only its own cost. If a bound was chosen,
        where all was charged: one release completes that charge.
    levels
        What totals count, if they are released, too.
    above
        For crossing levels, the profiles of groups of fewer columns: everything together first, then by the first
        column, and so on.
    units
        The number of groups, or of items, of each user or label before the bound, if that was counted.
    choice
        How the bounds were chosen, if a share of the budget was spent on it.

    Raises
    ------
    UsageError
        If there is no group, or a group does not have one name for each column.

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
    where: str | None
    finding: Finding | None
    receipt: Receipt | None
    levels: Levels | None
    above: tuple[GroupedProfile, ...]
    units: BoundedUnits | None
    choice: ChosenBound | None
    _others = ("unit", "order_key", "where", "finding", "receipt", "levels", "above", "units", "choice")
    _not_compared = ("order_key", "where", "receipt", "units", "choice")

    def __init__(
        self,
        by: tuple[str, ...],
        profiles: Mapping[Group, Profile],
        *,
        unit: PrivacyUnit,
        order_key: str | None = None,
        where: str | None = None,
        finding: Finding | None = None,
        receipt: Receipt | None = None,
        levels: Levels | None = None,
        above: tuple[GroupedProfile, ...] = (),
        units: BoundedUnits | None = None,
        choice: ChosenBound | None = None,
    ) -> None:
        """Check and freeze the groups."""
        # Groups that are put together anew must not forget that a bound was chosen for them.
        choices = {each.choice for each in profiles.values()} - {None}
        if choices - {choice} and (choice is not None or len(choices) > 1):
            raise UsageError("The bounds of these groups were chosen in different ways: release them separately.")
        choice = next(iter(choices), choice)
        # Each profile records whom the whole protects: releasing it alone must not promise less.
        known = {
            group: Profile(each.counts, each.prevalences, unit=unit, order_key=order_key, where=where, choice=choice)
            for group, each in profiles.items()
        }
        super().__init__(by, known)
        if receipt is not None and finding is None and choice is None:
            raise UsageError("A receipt is for groups that were found, or a chosen bound: listed ones cost nothing.")
        depths = range(len(by)) if levels is Levels.CROSSING else ()
        if [each.by for each in above] != [tuple(by[:depth]) for depth in depths]:
            raise UsageError("Crossing levels group by none of the columns, by the first, and so on.")
        vars(self).update(
            unit=unit,
            order_key=order_key,
            where=optional(where_text)(where),
            finding=finding,
            receipt=receipt,
            levels=levels,
            above=above,
            units=units,
            choice=choice,
        )


def parse_levels(given: str | Levels | None) -> Levels | None:
    """Return the levels with this name; None for None."""
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

    A label that is in several profiles counts in each: the total counts pairs of a group and a label. If the total
    would have more than 2⁶³ − 1 items, the largest counts are lowered until it has exactly this number: noise may have
    inflated profiles whose true total is smaller.
    """
    found = list(profiles)
    if sum(each.n for each in found) > MAX_ITEMS:
        return _clipped(found, unit)
    if not found:
        return Profile([], [], unit=unit)
    counts = np.concatenate([each.counts for each in found])
    return Profile(*sum_equal(counts, np.concatenate([each.prevalences for each in found])), unit=unit)


def _clipped(profiles: Iterable[Profile], unit: PrivacyUnit | None) -> Profile:
    """Return the total with its largest counts lowered to a common one, c or c + 1, so that there are 2⁶³ − 1 items."""
    prevalences: Counter[int] = Counter()
    for each in profiles:
        prevalences.update(dict(zip(each.counts.tolist(), each.prevalences.tolist(), strict=True)))
    # From below: ``left`` items remain for the labels whose counts were not visited yet.
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
