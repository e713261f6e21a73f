"""What the noisy values of a release show besides the profile fitted to them: post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.profiles import Profile
from anonhist.profiles.counts import fixed_numbers


@frozen
class _Band:
    """Intervals for numbers of labels in steps of counts."""

    ends: Converted[ArrayLike, NDArray[np.int64]] = converted(partial(fixed_numbers, name="ends"))
    lows: Converted[ArrayLike, NDArray[np.int64]] = converted(partial(fixed_numbers, name="lows"))
    highs: Converted[ArrayLike, NDArray[np.int64]] = converted(partial(fixed_numbers, name="highs"))

    def __post_init__(self) -> None:
        """Check the arrays."""
        ends, lows, highs = self.ends, self.lows, self.highs
        if not ends.shape == lows.shape == highs.shape or (ends[1:] <= ends[:-1]).any():
            raise DataError("A band must have as many lows and highs as ends, and the ends must ascend.")
        if (ends < 1).any() or (lows < 0).any() or (lows > highs).any():
            raise DataError("Each step of a band must be an interval of whole numbers from 0 on.")

    def at(self, counts: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ends of the intervals at these counts ≥ 1, each with their shape."""
        step = np.searchsorted(self.ends, np.asarray(counts))
        return np.append(self.lows, 0)[step], np.append(self.highs, 0)[step]

    def up_to(self, most: int) -> Self:
        """Return the band, given that no count is above ``most`` ≥ 1.

        Examples
        --------
        >>> KPlusBand([2, 9], [3, 0], [5, 2]).up_to(4).ends.tolist()
        [2, 4]
        """
        steps = int(np.searchsorted(self.ends, most)) + 1
        return replace(self, ends=np.minimum(self.ends[:steps], most), lows=self.lows[:steps], highs=self.highs[:steps])

    def of_no_more(self, labels: int) -> Self:
        """Return the band, given an upper bound on the number of labels.

        Examples
        --------
        >>> band = KPlusBand([2, 9], [3, 0], [5, 2]).of_no_more(4)
        >>> band.lows.tolist(), band.highs.tolist()
        ([3, 0], [4, 2])
        """
        return replace(self, lows=np.minimum(self.lows, labels), highs=np.minimum(self.highs, labels))


@frozen
class KPlusBand(_Band):
    """For every k, an interval that contains the true φ_{k+} with 95 % confidence, for any data.

    Attributes
    ----------
    ends : ndarray of int64, shape (s,)
        Where the steps of the band end, ascending counts ≥ 1: step i is for ``ends_{i−1} < k ≤ ends_i``, ends_0 = 0.
        Beyond the last end no label occurs.
    lows, highs : ndarray of int64, shape (s,)
        ``0 ≤ lows_i ≤ highs_i``, in labels; both are non-increasing.

    Raises
    ------
    DataError
        If the arrays do not describe such steps.

    Examples
    --------
    >>> band = KPlusBand([2, 9], [3, 0], [5, 2])
    >>> [ends.tolist() for ends in band.at([1, 2, 3, 10])]
    [[3, 3, 0, 0], [5, 5, 2, 0]]
    """

    def __post_init__(self) -> None:
        """Check also that nothing increases."""
        super().__post_init__()
        if any((side[1:] > side[:-1]).any() for side in (self.lows, self.highs)):
            raise DataError("The bounds of a band of φ_{k+} must be descending.")


@frozen
class PrevalenceBand(_Band):
    """For every r, an interval that contains the true φ_r with 95 % confidence, for any data.

    Attributes
    ----------
    ends : ndarray of int64, shape (s,)
        Where the steps of the band end, ascending counts ≥ 1: step i is for ``ends_{i−1} < r ≤ ends_i``, ends_0 = 0.
        Beyond the last end no label occurs.
    lows, highs : ndarray of int64, shape (s,)
        ``0 ≤ lows_i ≤ highs_i``, in labels.

    Raises
    ------
    DataError
        If the arrays do not describe such steps.

    Examples
    --------
    >>> band = PrevalenceBand([2, 9], [3, 0], [5, 8])
    >>> [ends.tolist() for ends in band.at([1, 2, 3, 10])]
    [[3, 3, 0, 0], [5, 5, 8, 0]]
    """


@frozen
class Evidence:
    """What a mechanism keeps of its noisy values when it discards them.

    Attributes
    ----------
    band
        Intervals for the true φ_{k+}.
    misfit
        Sorted ℓ1 distance, in items, between the released profile and the noisy values, changed only as far as needed
        to form a profile: ≥ 0. If it is larger than in runs of the mechanism on the released profile, the data do not
        have the assumed shape, and the error of the release is larger than that of the runs. None if the mechanism does
        not report it.
    prevalences
        Intervals for the true φ_r. Errors of single counts from runs are wrong if the data are less smooth than the
        release. None if runs are enough.
    zeros
        Both ends of an interval for φ_0, if that is released and smoothed.
    items
        Both ends of an interval for n, the number of items. None if runs are enough.
    distance_bound
        An estimated upper bound of the mean sorted ℓ1 distance, in items, for data of any shape: ≥ 0. None if the
        mechanism does not report it.
    """

    band: KPlusBand
    misfit: float | None = None
    prevalences: PrevalenceBand | None = None
    zeros: tuple[int, int] | None = None
    items: tuple[int, int] | None = None
    distance_bound: float | None = None


@runtime_checkable
class TellsMisfit(Protocol):
    """A mechanism whose releases come with :class:`Evidence`."""

    def simulate_with_misfit(
        self, profile: Profile, *, size: int, rng: np.random.Generator
    ) -> Sequence[tuple[Profile, float]]:
        """Return ``size`` independent runs on a public profile, each with its misfit."""


def runs_with_misfit(
    mechanism: object, profile: Profile, *, size: int, rng: np.random.Generator
) -> Sequence[tuple[Profile, float]]:
    """Return runs of a wrapped mechanism on a public profile, each with its misfit, if it reports one.

    Raises
    ------
    UsageError
        If it does not.

    Examples
    --------
    >>> from anonhist.mechanisms import FrobeniusMechanism
    >>> from anonhist.profiles import Profile
    >>> mechanism, rng = FrobeniusMechanism(1), np.random.default_rng(1)
    >>> len(runs_with_misfit(mechanism, Profile.from_counts([5, 3]), size=4, rng=rng))
    4
    """
    if not isinstance(mechanism, TellsMisfit):
        name = getattr(mechanism, "name", mechanism)
        raise UsageError(f"The mechanism {name} does not report how far its noisy values are from its fit.")
    return mechanism.simulate_with_misfit(profile, size=size, rng=rng)
