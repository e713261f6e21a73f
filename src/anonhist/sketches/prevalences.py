"""The result of a decoder: the estimated number of labels with each count, and the nearest profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError
from anonhist.profiles import Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.privacy import PrivacyUnit


@dataclass(frozen=True, eq=False)
class Prevalences:
    """Estimated numbers of labels, which need not be whole.

    Attributes
    ----------
    counts : ndarray of int64, shape (t,)
        Distinct counts, ascending, ≥ 0. Count 0 is that of labels of a known domain that never occur.
    numbers : ndarray of float64, shape (t,)
        Estimated number of labels with each count, ≥ 0, finite.

    Raises
    ------
    DataError
        If counts or numbers are invalid.

    Examples
    --------
    >>> Prevalences(np.array([0, 1, 2]), np.array([7.2, 1.5, 1.3])).to_profile()
    Profile(n=4, num_labels=3, {1: 2, 2: 1})
    """

    counts: NDArray[np.int64]
    numbers: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.counts.shape != self.numbers.shape or not (self.counts[1:] > self.counts[:-1]).all():
            raise DataError("Estimated prevalences need distinct counts in ascending order.")
        if self.counts.size and (self.counts[0] < 0 or not 0 <= self.numbers.min() <= self.numbers.max() < np.inf):
            raise DataError("Estimated prevalences and their counts must be finite and at least 0.")

    @classmethod
    def none(cls) -> Prevalences:
        """Return the empty result."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0))

    def scale(self, factor: float) -> Prevalences:
        """Return the same shares of ``factor`` times as many labels."""
        return Prevalences(self.counts, self.numbers * factor)

    def to_profile(self, *, unit: PrivacyUnit | None = None) -> Profile:
        """Return whole numbers: each φ_{r+}, not each φ_r, is rounded, so that errors of many counts do not add up.

        Every φ_{r+} of the profile is within one half of what is estimated; count 0 is left out.

        Raises
        ------
        DataError
            If they are more than 2^63 − 1 labels or items.
        """
        positive = self.counts > 0
        counts, numbers = self.counts[positive], self.numbers[positive]
        reaching = np.floor(np.cumsum(numbers[::-1]) + 0.5)
        if reaching.size and reaching[-1] >= 2.0**63:
            raise DataError("More than 2^63 − 1 labels are estimated, which is the largest number supported.")
        whole = np.diff(reaching.astype(np.int64), prepend=0)[::-1]
        kept = whole > 0
        return Profile(counts[kept], whole[kept], unit=unit)
