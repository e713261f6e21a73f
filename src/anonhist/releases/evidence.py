"""What a release's noisy values show beyond the profile fitted to them: post-processing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, frozen, named
from anonhist.privacy import Guarantee
from anonhist.profiles import Profile
from anonhist.profiles.counts import fixed_numbers
from anonhist.properties.estimate import Estimate, Holds


@frozen
class _Band:
    """Intervals for numbers of labels, constant on steps of counts."""

    ends: Converted[ArrayLike, NDArray[np.int64]] = named(fixed_numbers)
    lows: Converted[ArrayLike, NDArray[np.int64]] = named(fixed_numbers)
    highs: Converted[ArrayLike, NDArray[np.int64]] = named(fixed_numbers)

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
        """Return the band, given that no count exceeds ``most`` ≥ 1."""
        steps = int(np.searchsorted(self.ends, most)) + 1
        return replace(self, ends=np.minimum(self.ends[:steps], most), lows=self.lows[:steps], highs=self.highs[:steps])

    def of_no_more(self, labels: int) -> Self:
        """Return the band, given an upper bound on the number of labels."""
        return replace(self, lows=np.minimum(self.lows, labels), highs=np.minimum(self.highs, labels))


@frozen
class KPlusBand(_Band):
    """For every k, an interval that contains the true φ_{k+} with 95% confidence, for any data.

    Step i of the band is for ``ends_{i−1} < k ≤ ends_i``, ends_0 = 0; beyond the last end no label occurs. Its ends are
    ``0 ≤ lows_i ≤ highs_i``, in labels; both are non-increasing.
    """

    def __post_init__(self) -> None:
        """Check also that neither end increases."""
        super().__post_init__()
        if any((side[1:] > side[:-1]).any() for side in (self.lows, self.highs)):
            raise DataError("The bounds of a band of φ_{k+} must be descending.")


@frozen
class PrevalenceBand(_Band):
    """For every r, an interval that contains the true φ_r with 95% confidence, for any data.

    Step i of the band is for ``ends_{i−1} < r ≤ ends_i``, ends_0 = 0; beyond the last end no label occurs. Its ends are
    ``0 ≤ lows_i ≤ highs_i``, in labels.
    """


@frozen
class Evidence:
    """What a mechanism keeps of its discarded noisy values: intervals for the true φ_{k+}, φ_r, φ_0 and n.

    Intervals other than the band of φ_{k+} are None if runs suffice: errors of single counts from runs are wrong if the
    data are less smooth than the release; φ_0 has one if it is released and smoothed.

    ``misfit`` is the sorted ℓ1 distance, in items, between the released profile and the noisy values, changed only as
    far as needed to form a profile: ≥ 0. If it is larger than in runs of the mechanism on the released profile, the
    data do not have the assumed shape, and the error of the release is larger than that of the runs. ``distance_bound``
    ≥ 0 is an estimated upper bound of the mean sorted ℓ1 distance, in items, for data of any shape.
    ``expected_distance`` is this mean by the posterior of the noisy values. All three are None if the mechanism does
    not report them. The last counts with ``posterior_weight``, from 0 to 1; the rest is the mean of runs times the
    second of ``runs_shares``, which is not one if runs take another fit; the first gives the least mean that is likely.
    """

    band: KPlusBand
    misfit: float | None = None
    prevalences: PrevalenceBand | None = None
    zeros: tuple[int, int] | None = None
    items: tuple[int, int] | None = None
    distance_bound: float | None = None
    expected_distance: float | None = None
    posterior_weight: float = 1.0
    runs_shares: tuple[float, float] = (1.0, 1.0)

    @property
    def needs_no_runs(self) -> bool:
        """Whether the mean is that by the posterior alone."""
        return self.expected_distance is not None and self.posterior_weight == 1


@runtime_checkable
class TellsMisfit(Protocol):
    """A mechanism whose releases come with :class:`Evidence`."""

    def simulate_with_misfit(
        self, profile: Profile, *, size: int, rng: np.random.Generator
    ) -> Sequence[tuple[Profile, float]]:
        """Return ``size`` independent runs on a public profile, each with its misfit."""


def tells_misfit(mechanism: object) -> bool:
    """Return whether a mechanism, or the one that it wraps, reports the misfit of its runs."""
    return isinstance(getattr(mechanism, "central", mechanism), TellsMisfit)


#: Drawn profiles err more than what is fitted to them: by up to a third on staircases.
_OF_DRAWS = 0.7, 1.0


def runs_shares(mechanism: object, evidence: Evidence | None) -> tuple[float, float]:
    """Return the shares of the mean of runs that are its least likely mean, and the mean itself."""
    if evidence is not None:
        return evidence.runs_shares
    return _OF_DRAWS if getattr(getattr(mechanism, "central", mechanism), "fits_draws", False) else (1.0, 1.0)


def runs_with_misfit(
    mechanism: object, profile: Profile, *, size: int, rng: np.random.Generator
) -> Sequence[tuple[Profile, float]]:
    """Return runs of a wrapped mechanism on a public profile, each with its misfit, if it reports one."""
    if not isinstance(mechanism, TellsMisfit):
        name = getattr(mechanism, "name", mechanism)
        raise UsageError(f"The mechanism {name} does not report how far its noisy values are from its fit.")
    return mechanism.simulate_with_misfit(profile, size=size, rng=rng)


NORMAL_95 = 1.959963984540054


def whole_interval(values: ArrayLike, errors: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of 95% intervals for numbers of labels: ``value ± max(1, ⌈1.96·error⌉)``, clipped at 0.

    The truth is a whole number, so a normal interval that contains only one whole number has less than its stated
    coverage. An error that no run showed may still occur: after B runs without it, its probability is up to 3/B (95%
    confidence). Ends are whole, ``0 ≤ low ≤ value < high``; from 2⁵³ on, where floats skip whole numbers, at least the
    adjacent floats.
    """
    middle = np.asarray(values).astype(np.float64)
    half = np.maximum(1.0, np.ceil(NORMAL_95 * np.asarray(errors, dtype=np.float64)))
    low = np.minimum(middle - half, np.nextafter(middle, -np.inf))
    return np.maximum(low, 0.0), np.maximum(middle + half, np.nextafter(middle, np.inf))


# The step of a guarantee that is spent on n.
NUMBER_OF_ITEMS = "the number of items"


def released_on_its_own(items: int, guarantee: Guarantee) -> Estimate:
    """Return n with a 95% interval, if a step of a guarantee was spent on it: its noise has a public rate.

    Two-sided geometric noise of rate γ is farther than B from zero with a chance of ``2p^(B+1)/(1 + p)``, p = e^(−γ).
    """
    sensitivity = guarantee.unit.max_distance * guarantee.relation.distance
    # A chosen bound has a step before it.
    rate = float(dict(guarantee.spending)[NUMBER_OF_ITEMS] / sensitivity)
    reach = max(1, math.ceil(-math.log(0.025 * (1 + math.exp(-rate))) / rate) - 1)
    ends = max(0.0, float(items - reach)), float(items + reach)
    deviation = math.sqrt(2 * math.exp(-rate)) / -math.expm1(-rate)
    return Estimate(float(items), deviation, ends, "noise of a public rate", guarantee=guarantee)


_TURNED = {Holds.AT_LEAST: Holds.AT_MOST, Holds.AT_MOST: Holds.AT_LEAST}


def never_occurring(seen: Estimate, alphabet_size: int) -> Estimate:
    """Return ``φ_0 = k − φ_{1+}``, from 0 to k, from an estimate of φ_{1+}: post-processing, with the same error.

    Because of noise, a release may have more than k labels; then φ_0 is 0.
    """
    low, high = (min(max(alphabet_size - end, 0.0), float(alphabet_size)) for end in reversed(seen.interval))
    statement = replace(seen.statement, holds=_TURNED.get(seen.statement.holds, seen.statement.holds))
    return replace(seen, value=max(alphabet_size - seen.value, 0.0), interval=(low, high), statement=statement)
