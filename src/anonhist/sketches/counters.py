"""The input of a decoder: how many counters have each value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from anonhist.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A window of this many values is counted in place; values beyond are sorted.
_WINDOW = 1 << 20


@dataclass(frozen=True, eq=False)
class Counters:
    """The empirical profile of noisy counters: values below zero included, which a decoder needs.

    Attributes
    ----------
    values : ndarray of int64, shape (v,)
        Distinct values, ascending.
    numbers : ndarray of int64, shape (v,)
        How many counters have each, ≥ 1.

    Raises
    ------
    DataError
        If values are not ascending, or numbers not as many and at least 1 each.

    Examples
    --------
    >>> seen = Counters.of(np.array([3, -1, 3]))
    >>> seen.values.tolist(), seen.numbers.tolist(), seen.size
    ([-1, 3], [1, 2], 3)
    """

    values: NDArray[np.int64]
    numbers: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.values.shape != self.numbers.shape or not (self.values[1:] > self.values[:-1]).all():
            raise DataError("The values of counters must be ascending, each once.")
        if self.numbers.size and not self.numbers.min() > 0:
            raise DataError("Each value must occur in at least one counter.")

    @classmethod
    def of(cls, counters: NDArray[np.int64]) -> Self:
        """Count how many counters have each value: in place if values are close together, by sorting beyond.

        Parameters
        ----------
        counters
            Of any values from −2^62 to 2^62, shape (d,).
        """
        if not counters.size:
            return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        low, high = int(counters.min()), int(counters.max())
        if high - low < _WINDOW:
            return cls._of_window(counters, low)
        beyond = counters >= low + _WINDOW
        near = cls._of_window(counters[~beyond], low)
        values, numbers = np.unique(counters[beyond], return_counts=True)
        return cls(np.concatenate((near.values, values)), np.concatenate((near.numbers, numbers)))

    @classmethod
    def sum_of(cls, values: NDArray[np.int64], numbers: NDArray[np.int64]) -> Self:
        """Combine values in any order, adding up equal ones, with numbers ≥ 0.

        Examples
        --------
        >>> Counters.sum_of(np.array([3, -1, 3]), np.array([2, 1, 1])).numbers.tolist()
        [1, 3]
        """
        met = numbers > 0
        order = np.argsort(values[met], kind="stable")
        ordered = values[met][order]
        if not ordered.size:
            return cls(ordered, numbers[met])
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        return cls(ordered[first], np.add.reduceat(numbers[met][order], first))

    @classmethod
    def _of_window(cls, counters: NDArray[np.int64], low: int) -> Self:
        numbers = np.bincount(counters - low)
        places = np.flatnonzero(numbers)
        return cls(places + low, numbers[places])

    @property
    def size(self) -> int:
        """How many counters there are."""
        return int(self.numbers.sum())

    def dense(self, low: int, high: int) -> NDArray[np.int64]:
        """Return how many counters have each value from ``low`` to ``high``, shape (high − low + 1,).

        Examples
        --------
        >>> Counters.of(np.array([3, -1, 3])).dense(0, 4).tolist()
        [0, 0, 0, 2, 0]
        """
        found = np.zeros(high - low + 1, dtype=np.int64)
        inside = (self.values >= low) & (self.values <= high)
        found[self.values[inside] - low] = self.numbers[inside]
        return found
