"""The common base of mechanisms for cumulative windows: settings, sensitivities, intervals."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, SupportsIndex

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import Converted, frozen, named
from anonhist.mechanisms.noise import Noise, add_noise, exact_noise
from anonhist.mechanisms.setting import Setting
from anonhist.numeric import decreasing_fit
from anonhist.numeric.arrays import Floats, Ints, read_only
from anonhist.privacy import PrivacyUnit, parse_whole_number, short_decimal
from anonhist.profiles.windows import MOST_DAYS, MOST_THRESHOLDS, CumulativeCounts
from anonhist.randomness import RandomSource
from anonhist.randomness.geometric import discrete_laplace_variance
from anonhist.randomness.source import SMALLEST_GAMMA
from anonhist.releases.cumulative import CumulativeRelease
from anonhist.releases.evidence import NORMAL_95
from anonhist.version import __version__

# Two alternating projections come close to the projection on both sets; a last step makes the table exactly monotone.
_ROUNDS = 20
_LARGEST = float(2**62)


def monotone_whole(estimates: Floats) -> Ints:
    """Return whole numbers near estimates of shape (thresholds, days) that are possible running sums.

    It projects in ℓ2 (Dykstra 1983) on tables that do not decrease in time and on tables that do not increase in the
    threshold, then rounds. It sees nothing except the noisy estimates.
    """
    fitted = np.clip(estimates, -_LARGEST, _LARGEST)
    in_time, in_threshold = np.zeros_like(fitted), np.zeros_like(fitted)
    for _ in range(_ROUNDS):
        before = fitted
        moved = fitted + in_time
        fitted = -decreasing_fit(-moved)
        in_time = moved - fitted
        moved = fitted + in_threshold
        fitted = decreasing_fit(moved.T).T
        in_threshold = moved - fitted
        if float(np.abs(fitted - before).max()) < 0.01:
            break
    in_order = np.minimum.accumulate(np.maximum.accumulate(fitted, axis=1), axis=0)
    return np.maximum(np.rint(in_order), 0).astype(np.int64)


# The next term of the quantile of a sum of Laplace numbers, by Cornish and Fisher: (z³ − 3z)/24 per excess kurtosis.
_PER_KURTOSIS = (NORMAL_95**3 - 3 * NORMAL_95) / 24


# Of noise that is nearly always 0: with less, precisions and squares would leave floating point.
_LEAST_VARIANCE = 2.0**-200


def variance_at(gamma: Fraction) -> float:
    """Return the variance of noise with this rate, or a larger one that can be computed with."""
    return max(discrete_laplace_variance(gamma), _LEAST_VARIANCE)


@frozen
class WindowMechanism(Setting):
    """A mechanism that adds noise to sums of increments, and estimates running sums from these.

    The numbers of thresholds and days are public. The unit is an item, a user or a label, and ε is refused if it is so
    small that noise could leave 64 bits.
    """

    name: ClassVar[str]
    # Noise is bounded by its rate below, whatever the distance.
    smallest_epsilon_per_cell: ClassVar[Fraction] = Fraction(0)

    _: KW_ONLY
    thresholds: Converted[SupportsIndex, int] = named(parse_whole_number, most=MOST_THRESHOLDS)
    days: Converted[SupportsIndex, int] = named(parse_whole_number, most=MOST_DAYS)

    def __post_init__(self) -> None:
        super().__post_init__()
        unit = self.unit
        if unit.max_items is unit.max_count is None and unit != PrivacyUnit.item():
            raise UsageError(f"Cumulative windows are released for items, users or labels, not {unit}.")
        if min(self.rates) < SMALLEST_GAMMA:
            raise UsageError(f"`epsilon` = {short_decimal(self.epsilon)} is too small for {unit} on so many days.")

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters as text and whole numbers, enough to rebuild the mechanism."""
        return {**super().parameters, **{name: getattr(self, name) for name in self.own_options()}}

    @property
    @abstractmethod
    def rates(self) -> tuple[Fraction, ...]:
        """The rates of the noise of each kind of sum."""

    @abstractmethod
    def _run(self, increments: Ints, noise: Noise) -> Floats:
        """Return noisy estimates of the running sums, of the shape of the increments."""

    @abstractmethod
    def _sums(self) -> Iterable[tuple[Fraction, Floats, Floats]]:
        """Return, for each rate, the sums of the squares and of the fourth powers of the weights of its noise.

        They are weights in the estimates, of shape (thresholds, days) or a shape that broadcasts to it.
        """

    @cached_property
    def _spread(self) -> tuple[Floats, Floats]:
        """Variance of the noise of each estimate, and its excess kurtosis, which is 3 for Laplace noise."""
        variance, fourth = np.zeros((2, self.thresholds, self.days))
        for gamma, squares, powers in self._sums():
            of_one = variance_at(gamma)
            variance += squares * of_one
            fourth += powers * 3 * of_one**2
        return read_only(variance), read_only(fourth / np.maximum(variance, np.finfo(float).tiny) ** 2)

    @property
    def excess_kurtosis(self) -> Floats:
        """Shape (thresholds, days): how much heavier than normal the tails of each estimate are, from 0 to 3."""
        return self._spread[1]

    @property
    def standard_errors(self) -> Floats:
        """Shape (thresholds, days): the exact standard deviation of each estimate, before it is made monotone."""
        return np.sqrt(self._spread[0])

    @property
    def worst(self) -> float:
        """The largest of the standard errors."""
        return float(self.standard_errors.max())

    def release(
        self, counts: CumulativeCounts, *, source: RandomSource | None = None, reason: str | None = None
    ) -> CumulativeRelease:
        """Spend the budget once, on all days together."""
        self.check_counts(counts)
        estimates = self._run(counts.increments, exact_noise(source))
        half = np.maximum(1.0, self.standard_errors * (NORMAL_95 + _PER_KURTOSIS * self.excess_kurtosis))
        values = monotone_whole(estimates)
        # An estimate that is not a whole number gets the next whole numbers outside; the value stays inside.
        lows = np.minimum(np.maximum(np.floor(estimates - half), 0), values)
        highs = np.maximum(np.ceil(estimates + half), values)
        return CumulativeRelease(
            thresholds=counts.thresholds,
            days=counts.days,
            values=values,
            lows=lows.astype(np.int64),
            highs=highs.astype(np.int64),
            mechanism=self,
            reason=reason or f"The {self.name} mechanism was requested.",
            library_version=__version__,
            order_key=counts.order_key,
            where=counts.where,
        )

    def check_counts(self, counts: CumulativeCounts) -> None:
        """Refuse data that were read to protect more, or have other numbers of thresholds or days."""
        if counts.increments.shape != (self.thresholds, self.days):
            raise UsageError("The mechanism is for another number of thresholds or days.")
        if not self.unit.protects(counts.unit):
            raise UsageError(f"The data were read for {counts.unit}: protect at least that.")


def moved(unit: PrivacyUnit, *, thresholds: int, intervals: int) -> int:
    """Return the ℓ1 distance by which adding or removing a unit moves the increments of so many intervals of days.

    With several groups, it is for all their increments together. A label crosses each threshold in one interval, in
    each of its groups. Removing an item delays the crossing of a threshold k only if the running count is k at the end
    of an interval: in as many as there are, and from the last to nowhere.
    """
    if unit.max_count is not None:
        return thresholds * unit.groups
    return unit.max_distance * min(2 * thresholds, 2 * intervals - 1)


def far_of_reached(unit: PrivacyUnit) -> int:
    """Return the ℓ1 distance by which adding or removing a unit moves one day's numbers that get noise.

    A label is between two thresholds, or above the last, which is one number, in each of its groups. An item changes
    the k+ count of one threshold at most.
    """
    return unit.groups if unit.max_count is not None else unit.max_distance


def terms_of_reached(unit: PrivacyUnit, thresholds: int) -> tuple[int, ...]:
    """Return the number of noises in the k+ count of each threshold: |K|, …, 1 for labels, else 1."""
    return tuple(range(thresholds, 0, -1)) if unit.max_count is not None else (1,) * thresholds


def noisy_reached(reached: Ints, unit: PrivacyUnit, gamma: Fraction, noise: Noise) -> Floats:
    """Return k+ counts of shape (thresholds, days) under noise of rate γ; for labels, sums of noisy differences."""
    drawn = noise(gamma, reached.size).reshape(reached.shape)
    if unit.max_count is None:
        return add_noise(reached, drawn).astype(np.float64)
    between = reached - np.concatenate([reached[1:], np.zeros_like(reached[:1])])
    return np.asarray(np.cumsum(add_noise(between, drawn).astype(np.float64)[::-1], axis=0)[::-1])
