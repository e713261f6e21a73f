"""What the noisy values of a release say besides the profile that was fitted to them: post-processing, free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from anonhist.errors import DataError
from anonhist.profiles.whole import whole_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True, eq=False)
class KPlusBand:
    """For every k, an interval that holds the true φ_{k+} with 95 % confidence, whatever the data are.

    Attributes
    ----------
    ends : ndarray of int64, shape (s,)
        Where the steps of the band end, ascending counts ≥ 1: step i is for ``ends_{i−1} < k ≤ ends_i``, ends_0 = 0.
        Beyond the last end no label occurs.
    lows, highs : ndarray of int64, shape (s,)
        ``0 ≤ lows_i ≤ highs_i``, in labels; neither ever increases.

    Raises
    ------
    DataError
        If the steps are not of this kind.

    Examples
    --------
    >>> band = KPlusBand([2, 9], [3, 0], [5, 2])
    >>> [ends.tolist() for ends in band.at([1, 2, 3, 10])]
    [[3, 3, 0, 0], [5, 5, 2, 0]]
    """

    ends: NDArray[np.int64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]

    def __post_init__(self) -> None:
        ends, lows, highs = (
            whole_numbers(values, name=name)
            for name, values in (("end", self.ends), ("low", self.lows), ("high", self.highs))
        )
        rises = any(bool(np.any(side[1:] > side[:-1])) for side in (-ends, lows, highs))
        if not ends.shape == lows.shape == highs.shape or rises or bool(np.any(ends[1:] == ends[:-1])):
            raise DataError("The steps of a band must be of one number, the ends ascending, the others descending.")
        if bool(np.any(ends < 1) | np.any(lows < 0) | np.any(lows > highs)):
            raise DataError("The steps of a band must be intervals of whole numbers that are not negative.")
        for name, array in (("ends", ends), ("lows", lows), ("highs", highs)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def at(self, k: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ends of the intervals at these k ≥ 1, each of the shape of k."""
        step = np.searchsorted(self.ends, np.asarray(k))
        return np.append(self.lows, 0)[step], np.append(self.highs, 0)[step]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a mechanism keeps of its noisy values when it throws them away.

    Attributes
    ----------
    band
        Where the true φ_{k+} are.
    misfit
        Sorted ℓ1 distance in items of the released profile from the noisy values, fitted no more than that they form a
        profile: ≥ 0. Where it is larger than on runs of the mechanism on the released profile, the data are not of the
        kind that the release took them for, and it errs more than those runs.
    """

    band: KPlusBand
    misfit: float


@runtime_checkable
class TellsMisfit(Protocol):
    """A mechanism whose releases come with :class:`Evidence`."""

    def simulate_with_misfit(
        self, profile: Profile, *, size: int, rng: np.random.Generator
    ) -> Sequence[tuple[Profile, float]]:
        """Return ``size`` independent runs on a public profile, each with its misfit."""
