"""The noun of the house: how many labels occur exactly r times."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Self

import numpy as np

from anonhist.errors import DataError
from anonhist.privacy import PrivacyUnit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MAX_ITEMS = 2**63 - 1


class Profile:
    """How often things occur, without saying which things: a sparse map from count to prevalence.

    The prevalence ``φ_r`` is the number of labels that occur exactly ``r`` times. A profile is the same information as
    an integer partition of n, the counts in descending order. It is immutable and takes O(t) memory, t the number of
    distinct counts: never more than √(2n).

    Make one with :meth:`from_counts`, :meth:`from_prevalences`, :meth:`from_labels` or :meth:`from_partition`.

    Attributes
    ----------
    counts : ndarray of int64, shape (t,)
        Distinct counts, ascending, ≥ 1. Read-only.
    prevalences : ndarray of int64, shape (t,)
        Number of labels with each count, ≥ 1. Read-only.
    n : int
        Number of items, ``Σ r·φ_r``, at most 2^63 − 1.
    num_labels : int
        Number of labels, ``Σ φ_r``.
    unit : PrivacyUnit
        Whom a release of this profile protects unless it is told to protect more.

    Examples
    --------
    >>> profile = Profile.from_prevalences({3: 1, 8: 2})
    >>> profile
    Profile(n=19, num_labels=3, {3: 1, 8: 2})
    >>> profile.k_plus(4), profile.durfee_size
    (2, 3)
    """

    __slots__ = ("_cumulative", "counts", "n", "num_labels", "prevalences", "unit")

    counts: NDArray[np.int64]
    prevalences: NDArray[np.int64]
    n: int
    num_labels: int
    unit: PrivacyUnit
    _cumulative: NDArray[np.int64]

    def __init__(self, counts: ArrayLike, prevalences: ArrayLike, *, unit: PrivacyUnit | None = None) -> None:
        """Check and freeze ascending distinct ``counts`` ≥ 1 and their ``prevalences`` ≥ 1."""
        count = whole_numbers(counts, name="count")
        prevalence = whole_numbers(prevalences, name="prevalence")
        if count.shape != prevalence.shape:
            raise DataError("A profile needs as many counts as prevalences.")
        if count.size and (count[0] < 1 or prevalence.min() < 1):
            raise DataError("Counts and prevalences of a profile must be at least 1; leave out what does not occur.")
        if not bool(np.all(count[1:] > count[:-1])):
            raise DataError("Counts of a profile must be distinct and ascending; Profile.from_prevalences sorts them.")
        # Σ φ_r ≤ Σ r·φ_r, so the one bound on n keeps every sum below inside int64.
        total = sum(map(operator.mul, count.tolist(), prevalence.tolist()))
        if total > MAX_ITEMS:
            raise DataError(
                "This profile holds more than 2^63 − 1 items, the most that can be counted here; split the data."
            )
        cumulative = np.zeros(count.size + 1, dtype=np.int64)
        cumulative[:-1] = np.cumsum(prevalence[::-1])[::-1]
        for array in (count, prevalence, cumulative):
            array.setflags(write=False)
        freeze = object.__setattr__
        freeze(self, "counts", count)
        freeze(self, "prevalences", prevalence)
        freeze(self, "_cumulative", cumulative)
        freeze(self, "n", total)
        freeze(self, "num_labels", int(cumulative[0]))
        freeze(self, "unit", unit or PrivacyUnit.item())

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: a profile is a value."""
        message = f"A Profile is immutable; make a new one instead of setting {name}."
        raise AttributeError(message)

    def __delattr__(self, name: str) -> None:
        """Refuse: a profile is a value."""
        message = f"A Profile is immutable; {name} cannot be deleted."
        raise AttributeError(message)

    @classmethod
    def from_prevalences(
        cls, prevalences: Mapping[int, int] | Iterable[tuple[int, int]], *, unit: PrivacyUnit | None = None
    ) -> Self:
        """Make a profile from ``{count: prevalence}`` or pairs, in any order; equal counts are added up.

        Examples
        --------
        >>> Profile.from_prevalences([(8, 1), (3, 1), (8, 1)]).n
        19
        """
        pairs = list(prevalences.items() if isinstance(prevalences, Mapping) else prevalences)
        count = whole_numbers([pair[0] for pair in pairs], name="count")
        prevalence = whole_numbers([pair[1] for pair in pairs], name="prevalence")
        if count.size and (count.min() < 1 or prevalence.min() < 1):
            raise DataError("Counts and prevalences must be at least 1; leave out what does not occur.")
        distinct, where = np.unique(count, return_inverse=True)
        if distinct.size == count.size:
            return cls(distinct, prevalence[np.argsort(count)], unit=unit)
        added = [0] * distinct.size
        for index, value in zip(where.tolist(), prevalence.tolist(), strict=True):
            added[index] += value
        return cls(distinct, added, unit=unit)

    @classmethod
    def from_counts(cls, counts: ArrayLike | Iterable[int], *, unit: PrivacyUnit | None = None) -> Self:
        """Make a profile from one count per label, in any order; zeros (labels never seen) are left out.

        Examples
        --------
        >>> Profile.from_counts([8, 0, 8, 3])
        Profile(n=19, num_labels=3, {3: 1, 8: 2})
        """
        listed = counts if isinstance(counts, np.ndarray) else list(counts)  # type: ignore[arg-type]  # any iterable
        count = whole_numbers(listed, name="count")
        if count.size and count.min() < 0:
            raise DataError("Counts must not be negative.")
        distinct, prevalence = np.unique(count[count > 0], return_counts=True)
        return cls(distinct, prevalence, unit=unit)

    @classmethod
    def from_labels(cls, labels: Iterable[Hashable], *, unit: PrivacyUnit | None = None) -> Self:
        """Make a profile from one label per item.

        Examples
        --------
        >>> Profile.from_labels("abracadabra")
        Profile(n=11, num_labels=5, {1: 2, 2: 2, 5: 1})
        """
        return cls.from_prevalences(Counter(Counter(labels).values()), unit=unit)

    @classmethod
    def from_partition(cls, parts: ArrayLike | Iterable[int], *, unit: PrivacyUnit | None = None) -> Self:
        """Make a profile from the counts in descending order, each at least 1; the inverse of :meth:`partition`."""
        listed = parts if isinstance(parts, np.ndarray) else list(parts)  # type: ignore[arg-type]  # any iterable
        part = whole_numbers(listed, name="count")
        if part.size and (part[-1] < 1 or not bool(np.all(part[1:] <= part[:-1]))):
            raise DataError(
                "A partition lists counts in descending order, each at least 1; from_counts takes any order."
            )
        return cls.from_counts(part, unit=unit)

    def with_unit(self, unit: PrivacyUnit) -> Self:
        """Return the same profile, carrying another privacy unit."""
        return type(self)(self.counts, self.prevalences, unit=unit)

    def partition(self) -> NDArray[np.int64]:
        """Return the counts in descending order, one per label: the long form, O(num_labels) memory."""
        return np.repeat(self.counts[::-1], self.prevalences[::-1])

    def prevalence(self, count: int) -> int:
        """Return ``φ_r``: how many labels have exactly this count."""
        at = int(np.searchsorted(self.counts, count))
        return int(self.prevalences[at]) if at < self.counts.size and self.counts[at] == count else 0

    def cumulative_prevalence(self, counts: ArrayLike) -> NDArray[np.int64]:
        """Return ``φ_{r+}``, the number of labels with count ≥ r, for each r; the conjugate partition.

        Parameters
        ----------
        counts
            Whole numbers, any shape. For r ≤ 1 the answer is the number of labels.
        """
        at = np.searchsorted(self.counts, np.asarray(counts, dtype=np.int64), side="left")
        return self._cumulative[at]

    def k_plus(self, k: int) -> int:
        """Return how many labels occur at least ``k`` times."""
        return int(self.cumulative_prevalence(min(k, MAX_ITEMS)))

    @property
    def durfee_size(self) -> int:
        """Size D of the largest square in the Young diagram: D labels occur at least D times each, and D² ≤ n."""
        if not self.counts.size:
            return 0
        # Row counts[i] reaches cumulative[i] rows: D is the largest min(row, rows) over the steps.
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
        return _rebuild, (self.counts, self.prevalences, self.unit)

    def __repr__(self) -> str:
        """Show n, the number of labels and up to six prevalences."""
        pairs = [f"{r}: {phi}" for r, phi in zip(self.counts[:6].tolist(), self.prevalences[:6].tolist(), strict=True)]
        more = ", …" if len(self) > 6 else ""
        return f"Profile(n={self.n}, num_labels={self.num_labels}, {{{', '.join(pairs)}{more}}})"


def _rebuild(counts: NDArray[np.int64], prevalences: NDArray[np.int64], unit: PrivacyUnit) -> Profile:
    return Profile(counts, prevalences, unit=unit)


def whole_numbers(values: object, *, name: str) -> NDArray[np.int64]:
    """Return a fresh one-dimensional int64 array, or refuse what is not made of whole numbers inside int64."""
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        message = f"Each {name} must be one whole number."
        raise DataError(message) from None
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1:
        message = f"The {name}s must be a one-dimensional list."
        raise DataError(message)
    if array.dtype.kind == "u":
        fits = bool(array.max() <= MAX_ITEMS)
    elif array.dtype.kind == "f":
        # Floats hold whole numbers exactly only up to 2^53: beyond, the count that was meant is already lost.
        fits = bool(np.all(np.isfinite(array)) and np.all(np.abs(array) <= 2**53) and np.all(array == np.rint(array)))
    elif array.dtype.kind == "O":
        fits = all(
            isinstance(value, int | np.integer) and not isinstance(value, bool) and abs(int(value)) <= MAX_ITEMS
            for value in array.tolist()
        )
    else:
        fits = array.dtype.kind == "i"
    if not fits:
        message = f"Each {name} must be a whole number below 2^63; fractions, NaN, text and truth values are not."
        raise DataError(message)
    return array.astype(np.int64)
