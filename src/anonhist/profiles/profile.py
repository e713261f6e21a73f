"""The profile: how many labels occur exactly r times."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from functools import partial
from typing import Any, Self, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.accounting import Receipt
from anonhist.errors import DataError, UsageError, kind_of
from anonhist.frozen import Converted, frozen, named, optional
from anonhist.numeric.arrays import sum_equal
from anonhist.numeric.value_name import is_missing
from anonhist.privacy import PrivacyUnit, parse_order_key, parse_whole_number
from anonhist.profiles.chosen_bound import ChosenBound
from anonhist.profiles.counts import MAX_ITEMS, whole_levels, whole_numbers
from anonhist.profiles.where import where_text


class Bounded(Enum):
    """What a unit's bound counts.

    Examples
    --------
    >>> Bounded.GROUPS_OF_LABELS.unit, Bounded.GROUPS_OF_LABELS.part
    ('label', 'group')
    """

    ITEMS_OF_USERS = "items of users"
    ITEMS_OF_LABELS = "items of labels"
    GROUPS_OF_USERS = "groups of users"
    GROUPS_OF_LABELS = "groups of labels"

    @property
    def unit(self) -> str:
        """What is bounded, in the singular: the kind of the unit that a release protects."""
        return self.value.split()[2].removesuffix("s")

    @property
    def part(self) -> str:
        """What a unit can have only a limited number of, in the singular."""
        return self.value.split()[0].removesuffix("s")


@frozen(repr=False)
class BoundedUnits:
    """Users or labels of data that keep at most m items, or groups, of each; as private as the data.

    Parameters
    ----------
    bound
        m, from 1 to 2^62.
    numbers
        How many each has before bounding, as a profile: a count is a number of items or groups, ≥ 1, and its
        prevalence the number of units with it.
    of
        What is bounded.

    Raises
    ------
    UsageError
        If the bound is not a whole number in that range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> users = BoundedUnits(3, Profile.from_counts([1, 3, 4, 40]))
    >>> users.within, users.above, users.excess(30)
    (2, 2, 31)
    >>> users
    BoundedUnits(bound=3)
    """

    bound: Converted[SupportsIndex, int] = named(parse_whole_number)
    numbers: Profile
    of: Bounded = Bounded.ITEMS_OF_USERS

    @property
    def within(self) -> int:
        """How many units had at most m, and at least one."""
        return self.numbers.num_labels - self.above

    @property
    def above(self) -> int:
        """How many units had more than m."""
        return self.numbers.k_plus(self.bound + 1)

    def excess(self, cap: int) -> int:
        """Return how much is beyond m, at most ``cap`` (≥ 1) for each unit: ``Σ_u min(max(c_u − m, 0), C)``.

        It cannot overflow: it is at most the number of items before bounding, which a profile can hold.
        """
        return int(np.clip(self.numbers.counts - self.bound, 0, cap) @ self.numbers.prevalences)

    def __repr__(self) -> str:
        """Show only the bound, which is public."""
        return f"BoundedUnits(bound={self.bound})"


_ITEM = PrivacyUnit.item()
# A label that differs from all others.
_MISSING = object()
# What a profile keeps beside its numbers and its unit.
_KEPT = ("order_key", "where", "users", "choice", "receipt")


class Profile:
    """How often labels occur, without the labels: a sparse map from count to prevalence.

    The prevalence ``φ_r`` is the number of labels that occur exactly ``r`` times. A profile is the same information as
    an integer partition of n, the counts in descending order. It is immutable and takes O(t) memory, t the number of
    distinct counts: at most √(2n), for any sizes of counts and any number of labels.

    Make one with :meth:`from_counts`, :meth:`from_prevalences`, :meth:`from_labels` or :meth:`from_partition`.

    Parameters
    ----------
    counts
        Distinct counts, ascending, ≥ 1, shape (t,): whole numbers, as integers or as floats below 2^53.
    prevalences
        Number of labels with each count, ≥ 1, shape (t,).
    unit
        The unit that a release of this profile protects at least; one item by default.
    order_key
        The key of the random choice by which items of each user were kept, if any: 32 hexadecimal digits.
    where
        The condition on which rows counted, as for ``read_profile``; None if all did.
    users
        The number of items of each user before some were left out, if that was counted.
    choice
        How the number of items of each unit was chosen, if a share of the budget was spent on it: a release spends it,
        too, and states both.
    receipt
        Where both were charged, if a ledger was used when a bound was chosen: one release completes that charge.

    Attributes
    ----------
    counts : ndarray of int64, shape (t,)
        Distinct counts, ascending, ≥ 1. Read-only.
    prevalences : ndarray of int64, shape (t,)
        Number of labels with each count, ≥ 1. Read-only.
    n : int
        Number of items, ``Σ r·φ_r``, at most 2⁶³ − 1.
    num_labels : int
        Number of labels, ``Σ φ_r``.
    unit : PrivacyUnit
        The unit that a release of this profile protects, unless a larger one is asked for.
    order_key : str or None
        As given. It was drawn independently of the data, so a release may publish it. Equal profiles may differ in it.
    where : str or None
        As given, in a normal form. Equal profiles may differ in it.
    users : BoundedUnits or None
        As given; as private as the counts. Released profiles have None. Equal profiles may differ in it.
    choice : ChosenBound or None
    receipt : Receipt or None
        As given. Equal profiles may differ in them.

    Raises
    ------
    DataError
        If the numbers are not whole, not positive or not ascending, or n would pass 2⁶³ − 1.
    UsageError
        If the unit, the key, the condition or the users are of another type.

    Examples
    --------
    >>> profile = Profile.from_prevalences({3: 1, 8: 2})
    >>> profile
    Profile(n=19, num_labels=3, {3: 1, 8: 2})
    >>> profile.k_plus(4), profile.durfee_size
    (2, 3)
    """

    counts: NDArray[np.int64]
    prevalences: NDArray[np.int64]
    n: int
    num_labels: int
    unit: PrivacyUnit
    order_key: str | None
    where: str | None
    users: BoundedUnits | None
    choice: ChosenBound | None
    receipt: Receipt | None
    _cumulative: NDArray[np.int64]

    def __init__(
        self,
        counts: ArrayLike,
        prevalences: ArrayLike,
        *,
        unit: PrivacyUnit | None = None,
        order_key: str | None = None,
        where: str | None = None,
        users: BoundedUnits | None = None,
        choice: ChosenBound | None = None,
        receipt: Receipt | None = None,
    ) -> None:
        """Check and freeze the counts and their prevalences."""
        if unit is not None and not isinstance(unit, PrivacyUnit):
            raise UsageError(f"`unit` must be a PrivacyUnit, such as PrivacyUnit.user(max_items=5), not {unit!r}.")
        if users is not None and not (isinstance(users, BoundedUnits) and isinstance(users.numbers, Profile)):
            raise UsageError(
                "`users` must be BoundedUnits with a Profile of their items, as read_profile(…, count_users=True) has "
                f"them, not {kind_of(users)}."
            )
        if choice is not None and not isinstance(choice, ChosenBound):
            raise UsageError(f"`choice` must be a ChosenBound, not {kind_of(choice)}.")
        if receipt is not None and (choice is None or not isinstance(receipt, Receipt)):
            raise UsageError("A receipt is for a bound that was chosen: all other reading costs nothing.")
        count = whole_numbers(counts, name="count")
        prevalence = whole_numbers(prevalences, name="prevalence")
        if count.shape != prevalence.shape:
            raise DataError("A profile needs as many counts as prevalences.")
        if count.size and (count[0] < 1 or prevalence.min() < 1):
            raise DataError("Counts and prevalences of a profile must be at least 1; leave out what does not occur.")
        if not bool((count[1:] > count[:-1]).all()):
            raise DataError("Counts of a profile must be distinct and ascending; Profile.from_prevalences sorts them.")
        # Σ φ_r ≤ Σ r·φ_r, so the bound on n keeps every sum inside int64.
        total = _items(count, prevalence)
        cumulative = np.zeros(count.size + 1, dtype=np.int64)
        cumulative[:-1] = prevalence[::-1].cumsum()[::-1]
        for array in (count, prevalence, cumulative):
            array.setflags(write=False)
        vars(self).update(
            counts=count,
            prevalences=prevalence,
            _cumulative=cumulative,
            n=total,
            num_labels=int(cumulative[0]),
            unit=unit or _ITEM,
            order_key=optional(parse_order_key)(order_key),
            where=optional(where_text)(where),
            users=users,
            choice=choice,
            receipt=receipt,
        )

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse, because a profile is an immutable value."""
        raise AttributeError(f"A Profile is immutable; make a new one instead of setting {name}.")

    def __delattr__(self, name: str) -> None:
        """Refuse, because a profile is an immutable value."""
        raise AttributeError(f"A Profile is immutable; {name} cannot be deleted.")

    @classmethod
    def from_prevalences(
        cls, prevalences: Mapping[int, int] | Iterable[tuple[int, int]], *, unit: PrivacyUnit | None = None
    ) -> Self:
        """Make a profile from ``{count: prevalence}`` or pairs, in any order; equal counts are added up.

        Raises
        ------
        DataError
            If the numbers are not whole or below 1, or n would pass 2⁶³ − 1.

        Examples
        --------
        >>> Profile.from_prevalences([(8, 1), (3, 1), (8, 1)]).n
        19
        """
        counts, values = _columns(prevalences.items() if isinstance(prevalences, Mapping) else prevalences)
        count, prevalence = whole_numbers(counts, name="count"), whole_numbers(values, name="prevalence")
        if count.size and (count.min() < 1 or prevalence.min() < 1):
            raise DataError("Counts and prevalences must be at least 1; leave out what does not occur.")
        _items(count, prevalence)  # It refuses larger totals, so no sum of prevalences can overflow.
        return cls(*sum_equal(count, prevalence), unit=unit)

    @classmethod
    def from_counts(cls, counts: ArrayLike | Iterable[int], *, unit: PrivacyUnit | None = None) -> Self:
        """Make a profile from one count per label, in any order; zeros (labels never seen) are left out.

        Raises
        ------
        DataError
            If a count is not whole or negative, or n would pass 2⁶³ − 1.
        UsageError
            For a mapping (pass its values), and for a set, which drops equal counts.

        Examples
        --------
        >>> Profile.from_counts([8, 0, 8, 3])
        Profile(n=19, num_labels=3, {3: 1, 8: 2})
        """
        if isinstance(counts, Mapping | AbstractSet):
            raise UsageError(
                "from_counts takes a list with one count per label: give a mapping's .values(), or use "
                "from_prevalences for {count: prevalence}; a set would drop equal counts."
            )
        count = whole_numbers(counts, name="count")
        if count.size and count.min() < 0:
            raise DataError("Counts must not be negative.")
        distinct, prevalence = np.unique(count[count > 0], return_counts=True)
        return cls(distinct, prevalence, unit=unit)

    @classmethod
    def from_labels(
        cls, labels: Iterable[Hashable], *, keep_null: bool = False, unit: PrivacyUnit | None = None
    ) -> Self:
        """Make a profile from one label per item; labels are the same if they are equal in Python.

        None, NaN and the missing values of pandas are not labels: they are left out, as :func:`read_profile` does, or
        with ``keep_null`` count together as one more label.

        Raises
        ------
        DataError
            If a label is not hashable, or the labels are not a one-dimensional list.
        UsageError
            For a mapping, whose keys would each count once.

        Examples
        --------
        >>> Profile.from_labels("abracadabra")
        Profile(n=11, num_labels=5, {1: 2, 2: 2, 5: 1})
        >>> Profile.from_labels(["a", None, None]).n, Profile.from_labels(["a", None, None], keep_null=True).n
        (1, 3)
        """
        if isinstance(labels, Mapping):
            raise UsageError("from_labels takes one label per item: for {label: count}, use from_counts(x.values()).")
        if len(getattr(labels, "shape", (0,))) != 1 or not isinstance(labels, Iterable):
            raise DataError("The labels must be a one-dimensional list: from a table, give one column.")
        try:
            tally = Counter(labels)
        except TypeError:
            raise DataError("Each label must be hashable, such as text, a number or a tuple of them.") from None
        missing = [tally.pop(label) for label in [*tally] if is_missing(label)]
        if keep_null and missing:
            tally[_MISSING] = sum(missing)
        return cls.from_prevalences(Counter(tally.values()), unit=unit)

    @classmethod
    def from_partition(cls, parts: ArrayLike | Iterable[int], *, unit: PrivacyUnit | None = None) -> Self:
        """Make a profile from the counts in descending order, each at least 1; the inverse of :meth:`partition`.

        Raises
        ------
        DataError
            If the counts are not whole, below 1 or not descending, or n would pass 2⁶³ − 1.

        Examples
        --------
        >>> Profile.from_partition([8, 8, 3])
        Profile(n=19, num_labels=3, {3: 1, 8: 2})
        """
        part = whole_numbers(parts, name="count")
        if part.size and (part[-1] < 1 or not bool(np.all(part[1:] <= part[:-1]))):
            raise DataError(
                "A partition lists counts in descending order, each at least 1; from_counts takes any order."
            )
        return cls.from_counts(part, unit=unit)

    def with_unit(self, unit: PrivacyUnit) -> Self:
        """Return the same profile with another privacy unit."""
        return self._rebuilt_for(unit)(self.counts, self.prevalences)

    def partition(self) -> NDArray[np.int64]:
        """Return the counts in descending order, one per label: the long form, O(num_labels) memory.

        Returns
        -------
        ndarray of int64, shape (num_labels,)

        Examples
        --------
        >>> Profile.from_prevalences({3: 1, 8: 2}).partition().tolist()
        [8, 8, 3]
        """
        return np.repeat(self.counts[::-1], self.prevalences[::-1])

    def prevalence(self, count: int) -> int:
        """Return ``φ_r``: how many labels have exactly this count; 0 for any other whole number.

        Examples
        --------
        >>> Profile.from_prevalences({3: 1, 8: 2}).prevalence(8)
        2
        """
        level = _level(count)
        if not 1 <= level <= MAX_ITEMS:
            return 0
        at = int(np.searchsorted(self.counts, level))
        return int(self.prevalences[at]) if at < self.counts.size and self.counts[at] == level else 0

    def cumulative_prevalence(self, counts: ArrayLike) -> NDArray[np.int64]:
        """Return ``φ_{r+}``, the number of labels with count ≥ r, for each r; the conjugate partition.

        Parameters
        ----------
        counts
            Whole numbers r below 2⁶³, of any shape. For r ≤ 1 the result is the number of labels.

        Returns
        -------
        ndarray of int64, of the shape of ``counts``

        Raises
        ------
        UsageError
            If they are not whole numbers below 2^63.

        Examples
        --------
        >>> Profile.from_prevalences({3: 1, 8: 2}).cumulative_prevalence([1, 3, 4, 9]).tolist()
        [3, 3, 2, 0]
        """
        return np.asarray(self._cumulative[np.searchsorted(self.counts, whole_levels(counts), side="left")])

    def k_plus(self, k: int) -> int:
        """Return ``φ_{k+}``: how many labels occur at least ``k`` times; all of them for any whole k ≤ 1.

        Examples
        --------
        >>> Profile.from_prevalences({3: 1, 8: 2}).k_plus(4)
        2
        """
        level = max(_level(k), 1)
        return int(self.cumulative_prevalence(level)) if level <= MAX_ITEMS else 0

    @property
    def durfee_size(self) -> int:
        """Size D of the largest square in the Young diagram: D labels occur at least D times each, and D² ≤ n."""
        if not self.counts.size:
            return 0
        # cumulative[i] labels have at least counts[i] items: D is the largest minimum of the two over the steps.
        return int(np.minimum(self.counts, self._cumulative[:-1]).max())

    def __len__(self) -> int:
        """Return t, the number of distinct counts."""
        return int(self.counts.size)

    def __eq__(self, other: object) -> bool:
        """Compare counts, prevalences and unit."""
        if not isinstance(other, Profile):
            return NotImplemented
        return (
            self.unit == other.unit
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.prevalences, other.prevalences)
        )

    def __hash__(self) -> int:
        """Hash counts, prevalences and unit."""
        return hash((self.counts.tobytes(), self.prevalences.tobytes(), self.unit))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle through the constructor, so that a damaged pickle is refused like any other bad data."""
        return self._rebuilt_for(self.unit), (self.counts, self.prevalences)

    def _rebuilt_for(self, unit: PrivacyUnit) -> partial[Self]:
        own: dict[str, Any] = {name: getattr(self, name) for name in _KEPT}
        return partial(type(self), unit=unit, **own)

    def __repr__(self) -> str:
        """Show n, the number of labels and up to six prevalences."""
        pairs = [f"{r}: {phi}" for r, phi in zip(self.counts[:6].tolist(), self.prevalences[:6].tolist(), strict=True)]
        more = ", …" if len(self) > 6 else ""
        return f"Profile(n={self.n}, num_labels={self.num_labels}, {{{', '.join(pairs)}{more}}})"


def _items(counts: NDArray[np.int64], prevalences: NDArray[np.int64]) -> int:
    """Return ``Σ r·φ_r`` exactly, or refuse what int64 cannot hold."""
    # The relative error of the float sum is at most (t + 2)·2⁻⁵³: below 2⁶² the int64 sum cannot overflow.
    if float(counts.astype(np.float64) @ prevalences.astype(np.float64)) < 2.0**62:
        return int(counts @ prevalences)
    total: int = sum(map(operator.mul, counts.tolist(), prevalences.tolist()))
    if total > MAX_ITEMS:
        raise DataError(
            "This profile holds more than 2^63 − 1 items, the most that can be counted here; split the data."
        )
    return total


def _columns(pairs: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Split pairs into two lists; refuse everything that does not consist of pairs."""
    try:
        listed = list(pairs)
        counts, prevalences = zip(*listed, strict=True) if listed else ((), ())
    except (TypeError, ValueError):
        raise DataError("Prevalences must be a mapping {count: prevalence} or pairs (count, prevalence).") from None
    return [*counts], [*prevalences]


def _level(count: object) -> int:
    try:
        return operator.index(count)  # type: ignore[arg-type]  # refusing what has no __index__ is the purpose
    except TypeError:
        raise UsageError(f"A count to look up must be a whole number, not {count!r}.") from None
