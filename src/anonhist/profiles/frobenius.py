"""Frobenius coordinates: the arms and legs at the diagonal of a Young diagram."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError
from anonhist.frozen import Converted, converted, frozen
from anonhist.numeric.rises import rises
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.profile import Profile
from anonhist.profiles.whole import fixed_numbers


@frozen
class FrobeniusCoordinates:
    """Arms and legs of a Young diagram.

    With row lengths ``λ_k`` (counts in descending order) and column heights ``λ'_k = φ_{k+}``,
    ``arm_k = λ_k − k`` and ``leg_k = λ'_k − k`` for k = 1..D, D the Durfee size. Both are strictly decreasing and
    ≥ 0, and any two such sequences of one length are the coordinates of exactly one partition.

    With both padded by zeros beyond D, ``|D − D'| + Σ|arm_k − arm'_k| + Σ|leg_k − leg'_k|`` is the sorted ℓ1 distance
    of two profiles; adding one item therefore changes one coordinate, by one.

    Attributes
    ----------
    arms, legs : ndarray of int64, shape (D,)
        Strictly decreasing, ≥ 0. Read-only copies of the arguments.

    Raises
    ------
    DataError
        If their lengths differ, or they are not whole, not strictly decreasing, or negative.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> coordinates = FrobeniusCoordinates.of(Profile.from_partition([4, 3, 1]))
    >>> coordinates.arms.tolist(), coordinates.legs.tolist()
    ([3, 1], [2, 0])
    >>> coordinates.profile().partition().tolist()
    [4, 3, 1]
    """

    arms: Converted[ArrayLike, NDArray[np.int64]] = converted(partial(fixed_numbers, name="arm"))
    legs: Converted[ArrayLike, NDArray[np.int64]] = converted(partial(fixed_numbers, name="leg"))

    def __post_init__(self) -> None:
        if self.arms.size != self.legs.size:
            raise DataError("Frobenius coordinates need as many arms as legs.")
        for side in (self.arms, self.legs):
            if side.size and (side[-1] < 0 or not (side[1:] < side[:-1]).all()):
                raise DataError("Arms and legs must be strictly decreasing and at least 0.")

    @property
    def durfee_size(self) -> int:
        """D, the number of cells on the main diagonal."""
        return int(self.arms.size)

    @classmethod
    def of(cls, profile: Profile) -> FrobeniusCoordinates:
        """Read the coordinates off a profile in O(t + D) time and memory."""
        size = profile.durfee_size
        steps = np.arange(1, size + 1, dtype=np.int64)
        # Number of labels with at least each count, from the largest count down. Row k is the count of label k, column
        # k the number of labels with count ≥ k: both are step functions, written out up to D.
        labels = np.cumsum(profile.prevalences[::-1])
        rows = np.repeat(profile.counts[::-1], rises(np.minimum(labels, size)))
        columns = np.repeat(labels[::-1], rises(np.minimum(profile.counts, size)))
        return cls(rows - steps, columns - steps)

    def profile(self, *, unit: PrivacyUnit | None = None) -> Profile:
        """Build the profile in O(D) time and memory; its unit is an item unless another is given.

        Raises
        ------
        DataError
            If the profile would hold more than 2⁶³ − 1 items.
        """
        size = self.durfee_size
        if not size:
            return Profile([], [], unit=unit)
        steps = np.arange(1, size + 1, dtype=np.int64)
        limit = 2**63 - 1 - size
        if max(int(self.arms[0]), int(self.legs[0])) > limit:
            raise DataError("This profile holds more than 2^63 − 1 items, the most that can be counted here.")
        rows, columns = self.arms + steps, self.legs + steps
        # For counts up to D, φ_r is the drop from column r to column r + 1, the last one down to the D labels that
        # reach the square. The D rows have the larger counts.
        low = columns - np.append(columns[1:], size)
        ascending = rows[::-1]
        first = np.flatnonzero(rises(ascending))
        above = np.append(first[1:], size) - first
        counts = np.concatenate((steps, ascending[first]))
        prevalences = np.concatenate((low, above))
        if counts[size] == size:
            prevalences[size - 1] += prevalences[size]
            prevalences[size] = 0
        present = prevalences > 0
        return Profile(counts[present], prevalences[present], unit=unit)
