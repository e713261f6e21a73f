"""What the noisy values of a release show besides the profile fitted to them: post-processing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.profiles import Profile
from anonhist.profiles.counts import fixed_numbers
from anonhist.properties.estimate import Estimate, Holds

if TYPE_CHECKING:
    from anonhist.privacy import Guarantee


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


NORMAL_95 = 1.959963984540054


def whole_interval(values: ArrayLike, errors: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of 95 % intervals for numbers of labels: ``value ± max(1, ⌈1.96·error⌉)``, clipped at 0.

    The truth is a whole number, so a normal interval that contains only one has less than its stated coverage. An error
    that no run showed may still occur: after B runs without it, its probability is up to 3/B (95 % confidence).

    Parameters
    ----------
    values, errors
        Whole numbers ≥ 0 and their standard errors ≥ 0, of one shape.

    Returns
    -------
    low, high : ndarray of float64
        ``0 ≤ low ≤ value < high``, whole; from 2⁵³ on, where floats skip whole numbers, at least the adjacent floats.

    Examples
    --------
    >>> low, high = whole_interval([12, 7, 0], [2.0, 0.3, 0.0])
    >>> low.tolist(), high.tolist()
    ([8.0, 6.0, 0.0], [16.0, 8.0, 1.0])
    """
    middle = np.asarray(values).astype(np.float64)
    half = np.maximum(1.0, np.ceil(NORMAL_95 * np.asarray(errors, dtype=np.float64)))
    low = np.minimum(middle - half, np.nextafter(middle, -np.inf))
    return np.maximum(low, 0.0), np.maximum(middle + half, np.nextafter(middle, np.inf))


def released_on_its_own(items: int, guarantee: Guarantee) -> Estimate:
    """Return n with a 95 % interval, where the first step of a guarantee was spent on it: its noise has a public rate.

    Two-sided geometric noise of rate γ is farther than B from zero with a chance of ``2p^(B+1)/(1 + p)``, p = e^(−γ).

    Examples
    --------
    >>> from anonhist.mechanisms import PrivHistMechanism
    >>> low, high = released_on_its_own(2000, PrivHistMechanism(1).guarantee).interval
    >>> high - low
    300.0
    """
    sensitivity = guarantee.unit.max_distance * guarantee.relation.distance
    rate = float(guarantee.spending[0][1] / sensitivity)
    reach = max(1, math.ceil(-math.log(0.025 * (1 + math.exp(-rate))) / rate) - 1)
    ends = max(0.0, float(items - reach)), float(items + reach)
    deviation = math.sqrt(2 * math.exp(-rate)) / -math.expm1(-rate)
    return Estimate(float(items), deviation, ends, "noise of a public rate", guarantee=guarantee)


_TURNED = {Holds.AT_LEAST: Holds.AT_MOST, Holds.AT_MOST: Holds.AT_LEAST}


def never_occurring(seen: Estimate, alphabet_size: int) -> Estimate:
    """Return ``φ_0 = k − φ_{1+}``, from 0 to k, of an estimate of φ_{1+}: post-processing, with the same error.

    A release may have more than k labels, by noise; then φ_0 is 0.

    Examples
    --------
    >>> from anonhist.properties.estimate import Estimate
    >>> print(never_occurring(Estimate(95.0, 2.0, (90.0, 102.0), "re-simulated"), 100))
    5 ± 2 (95 % interval 0 to 10)
    """
    low, high = (min(max(alphabet_size - end, 0.0), float(alphabet_size)) for end in reversed(seen.interval))
    statement = replace(seen.statement, holds=_TURNED.get(seen.statement.holds, seen.statement.holds))
    return replace(seen, value=max(alphabet_size - seen.value, 0.0), interval=(low, high), statement=statement)
