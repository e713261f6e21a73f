"""Lists of exact fractions, as whole numbers above and below the line."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Ratios:
    """Fractions ``numerators[i] / denominators[i]``, not always in lowest terms.

    Attributes
    ----------
    numerators : ndarray of int64, shape (k,)
    denominators : ndarray of int64, shape (k,)
        At least 1.

    Examples
    --------
    >>> Ratios(np.array([3, 4]), np.array([2, 1])).fractions()
    [Fraction(3, 2), Fraction(4, 1)]
    """

    numerators: NDArray[np.int64]
    denominators: NDArray[np.int64]

    @classmethod
    def of_whole(cls, numbers: NDArray[np.int64]) -> Ratios:
        """Return whole numbers as fractions; the numbers are copied."""
        return cls(np.array(numbers, dtype=np.int64), np.ones(len(numbers), dtype=np.int64))

    def put(self, places: NDArray[np.int64] | NDArray[np.bool_], values: Ratios) -> None:
        """Overwrite the fractions at some places."""
        self.numerators[places] = values.numerators
        self.denominators[places] = values.denominators

    def at(self, places: NDArray[np.int64] | NDArray[np.bool_]) -> Ratios:
        """Return the fractions at some places."""
        return Ratios(self.numerators[places], self.denominators[places])

    def fractions(self) -> list[Fraction]:
        """Return them one by one, for short lists."""
        pairs = zip(self.numerators.tolist(), self.denominators.tolist(), strict=True)
        return [Fraction(above, below) for above, below in pairs]

    def floats(self) -> NDArray[np.float64]:
        """Return the nearest floats, shape (k,), where both parts are below 2^53."""
        quotients: NDArray[np.float64] = self.numerators / self.denominators
        return quotients
