"""The error of a release, from running its mechanism again on the released profile: post-processing.

When noise dominates, the released profile is larger than the data, and runs on it understate the errors of single
numbers. So the mechanism is also run on the empty profile, and the larger error is used. For the whole profile, runs on
the empty profile overstate the error, so a compromise of both is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError
from anonhist.frozen import Converted, converted, frozen
from anonhist.numeric.arrays import read_only
from anonhist.privacy import parse_simulations
from anonhist.profiles import Profile
from anonhist.profiles.counts import MAX_ITEMS, fixed_numbers
from anonhist.properties.estimate import Estimate, Holds, Statement, widening_factor
from anonhist.releases.evidence import (
    NORMAL_95,
    Evidence,
    KPlusBand,
    PrevalenceBand,
    TellsMisfit,
    runs_shares,
    whole_interval,
)
from anonhist.releases.made import AddsUp, Mechanism, Released, runs_fall_short, simulation_work, simulations_of
from anonhist.releases.runs import (
    BY_BOTH,
    METHOD,
    Run,
    around_posterior,
    by_factors,
    by_posterior,
    compromise,
    draw_runs,
    ends_on_flattened,
    errors_of_runs,
    expected_distance,
    levels_of,
    nothing_like,
    part_of,
    prevalences_at,
)

Ends = tuple[NDArray[np.float64], NDArray[np.float64]]

# The progress after the runs on the released profile, and after those on no data; runs on flattened data come last.
_ON_RELEASE, _ON_NOTHING = 0.5, 0.8
BAND_METHOD = "interval from the noisy values that the release was read from"
_NOT_SIMULATED = "no error was simulated (0 simulations)"
_NO_ITEMS_INTERVAL = "none was kept for the number of items"
_AS_RELEASED = "as released"


def _fixed_floats(values: ArrayLike) -> NDArray[np.float64]:
    return read_only(np.array(values, dtype=np.float64))


@frozen
class ReleaseError:
    """Expected errors of a released profile.

    With R the released profile and R*_b, b = 1..``simulations``, independent runs of the same mechanism on R, the
    standard error of a statistic f is ``sqrt(mean_b (f(R*_b) − f(R))²)``, which includes the bias of the mechanism. If
    the same error on the empty profile, that of noise alone, is larger, it is used instead.

    Errors are stored at the *levels*: 1, and r and r + 1 for each released count r. Between two levels the released φ_r
    and φ_{r+} do not change, and the larger error of the two levels is used. The φ_{r+} of a run lies between its
    values at the two levels, so its error is at most the larger of theirs; for φ_r, noise moves labels to counts near a
    released one rather than far from all. Above the last level, the error of the last level is used.

    Attributes
    ----------
    sorted_l1
        Expected sorted ℓ1 distance in items: the mean by the posterior of the noisy values, if
        :attr:`~anonhist.releases.Evidence.expected_distance` has one; its interval is :attr:`expected_range`, and its
        standard error that of a normal interval as wide. Where its weight w is below one, the value is w times that
        mean plus 1 − w times that of runs, the mean over the runs on R. If the mean over the runs on the empty profile
        is larger, noise dominates, and that of runs is the latter, but at most 1.1 times the first; it is always at
        least ⅝ of the second, and multiplied by the share that releases err of runs
        (:attr:`~anonhist.releases.Evidence.runs_shares`). Its ``standard_error`` is that of the mean. None if nothing
        was simulated.
    simulations
        Number of runs on each profile, from 2 to 1,000; 0 if no error was simulated. Then there are no levels, and only
        noisy values give intervals. Intervals from fewer runs are wider, by Student's t distribution.
    levels : ndarray of int64, shape (v,)
        Counts at which errors are stored, ascending, ≥ 1.
    prevalence_errors, k_plus_errors : ndarray of float64, shape (v,)
        Standard errors of φ_r and φ_{r+} at the levels, in labels, ≥ 0.
    zeros_error
        Standard error of φ_0, the number of labels of count zero, if it is released; ≥ 0.
    band
        Intervals for φ_{k+} from the noisy values, if the mechanism keeps them: they replace those from standard
        errors.
    prevalence_band
        Intervals for φ_r from the noisy values, which replace those from standard errors.
    zeros_interval
        An interval for φ_0 from the noisy values, if it is released and smoothed.
    items_interval
        A 95% interval for n, the number of items: from the noisy values, or from the error of the runs. None if
        neither gives one.
    simulated_range
        The range of the sorted ℓ1 distance: see :attr:`expected_range`. None if nothing was simulated.
    runs_fall_short
        Why runs give no intervals: their errors are smaller than that of the release. Empty if they are not. It depends
        on the mechanism: see :func:`~anonhist.releases.made.runs_fall_short`.
    around
        The profile around which intervals were made, if the released one was moved to agree with others: they are then
        stretched to hold its numbers. None if it is the released one.
    released
        The release that these errors describe. Its numbers carry its guarantee; those of another profile carry none.

    Raises
    ------
    DataError
        If the table has another shape, or an error is negative or not finite.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> l1 = Estimate(3.0, 0.5, (2.0, 4.0), METHOD)
    >>> error = ReleaseError(l1, 32, np.array([1, 3]), np.array([2.0, 4.0]), np.array([1.0, 0.0]))
    >>> print(error.prevalence(Profile.from_counts([3] * 10), 3))
    10 ± 4 (95% interval 1 to 19)
    """

    sorted_l1: Estimate | None
    simulations: int
    levels: Converted[ArrayLike, NDArray[np.int64]] = converted(partial(fixed_numbers, name="level"))
    prevalence_errors: Converted[ArrayLike, NDArray[np.float64]] = converted(_fixed_floats)
    k_plus_errors: Converted[ArrayLike, NDArray[np.float64]] = converted(_fixed_floats)
    zeros_error: float | None = None
    band: KPlusBand | None = None
    prevalence_band: PrevalenceBand | None = None
    zeros_interval: tuple[int, int] | None = None
    items_interval: tuple[int, int] | None = None
    simulated_range: tuple[float, float] | None = None
    runs_fall_short: str = ""
    around: Profile | None = None
    released: Released | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        levels, errors = self.levels, (self.prevalence_errors, self.k_plus_errors)
        if any(table.shape != levels.shape for table in errors):
            raise DataError("The error table of a release must have one row per level.")
        if (self.sorted_l1 is None) != (not self.simulations) or bool(levels.size) != bool(self.simulations):
            raise DataError("The error table of a release needs at least one level, or none if nothing was simulated.")
        if bool(np.any(levels < 1)) or not bool(np.all(levels[1:] > levels[:-1])):
            raise DataError("The levels of an error table must be ascending counts, each at least 1.")
        if not all(bool(np.all(np.isfinite(table)) and np.all(table >= 0)) for table in errors):
            raise DataError("Standard errors must be finite and not negative.")
        if self.zeros_error is not None and not 0 <= self.zeros_error < np.inf:
            raise DataError("Standard errors must be finite and not negative.")
        for of, ends in (("labels of count zero", self.zeros_interval), ("the number of items", self.items_interval)):
            if ends is not None and not 0 <= ends[0] <= ends[1]:
                raise DataError(f"An interval for {of} must not be negative, and its ends must ascend.")
        if self.simulated_range is not None and (
            self.sorted_l1 is None
            or not 0 <= self.simulated_range[0] <= self.sorted_l1.value <= self.simulated_range[1] < np.inf
        ):
            raise DataError("The range of the sorted ℓ1 error must hold the error, and must not be negative.")

    def __repr__(self) -> str:
        expected = "not simulated" if self.sorted_l1 is None else f"sorted_l1={self.sorted_l1}"
        return f"ReleaseError({expected}, simulations={self.simulations})"

    @classmethod
    def without_runs(cls, evidence: Evidence | None = None) -> ReleaseError:
        """Return the errors without simulation: intervals from noisy values if those were kept, otherwise none."""
        nowhere, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
        return _with_bands(cls(None, 0, nowhere, nothing, nothing), evidence)

    def of(self, released: Released) -> ReleaseError:
        """Return these as the errors of a release: they follow from it, so they carry its guarantee."""
        if self.released == released:
            return self
        expected = self.sorted_l1 and replace(self.sorted_l1, guarantee=released.guarantee)
        return replace(self, sorted_l1=expected, released=released)

    def stretched(self, around: Profile, moved: Profile) -> ReleaseError:
        """Return the errors of a profile that was moved from ``around``, whose errors these are."""
        if not self.simulations:
            return replace(self, around=around)
        levels = np.union1d(self.levels, levels_of(moved))
        prevalences, k_plus = (self._at(each, levels) for each in (self.prevalence_errors, self.k_plus_errors))
        return replace(self, around=around, levels=levels, prevalence_errors=prevalences, k_plus_errors=k_plus)

    @property
    def expected_range(self) -> tuple[float, float] | None:
        """Range in which the mean sorted ℓ1 distance is expected, in items, for data of any shape.

        Details inside a group of noisy sums, or smaller than the noise, never enter a release. So data of several
        shapes may have led to it, and their mean errors differ. The range is meant to contain all of these errors.

        Its upper end is an estimated bound for data of any shape, if noisy values give one
        (:mod:`~anonhist.mechanisms.frobenius.mechanism`). Otherwise it is 1.6 times :attr:`sorted_l1`, or, if larger,
        the error of runs on flatter data that may have led to the release (:mod:`~anonhist.releases.runs`). It begins
        at 0.8 times :attr:`sorted_l1` (0.5 times if runs fall short), or lower if runs on the release, or on flatter
        data, err less. The uncertainty of means of few runs widens it. The range of a sum of groups ends at the sum of
        the groups' upper ends (:class:`~anonhist.releases.grouped.SumOfReleases`). Measured in
        docs/benchmarks/intervals.md; only the triangle inequalities behind bounds and sums are proved. The value is
        None if nothing was simulated.
        """
        if self.sorted_l1 is None:
            return None
        if self.simulated_range is not None:
            return self.simulated_range
        return by_factors(self.sorted_l1, self.sorted_l1.value, is_sure=self.has_k_plus_intervals)

    @property
    def has_prevalence_intervals(self) -> bool:
        """Whether there are intervals for φ_r, from runs or from noisy values."""
        return not self.why_unknown or self.prevalence_band is not None

    @property
    def has_k_plus_intervals(self) -> bool:
        """Whether there are intervals for φ_{k+}."""
        return not self.why_unknown or self.band is not None

    @property
    def why_unknown(self) -> str:
        """Why runs give no intervals: there are no runs, or they fall short; empty if they give intervals."""
        return self.runs_fall_short if self.simulations else _NOT_SIMULATED

    def prevalence(self, profile: Profile, count: int) -> Estimate:
        """Return φ_r of the released profile with its 95% interval."""
        ends = self.prevalence_interval(profile, np.array([count]))
        known = self.prevalence_errors, self.prevalence_band
        return self._promised(self._estimate(profile.prevalence(count), count, ends, *known), profile)

    def k_plus(self, profile: Profile, k: int) -> Estimate:
        """Return φ_{k+} of the released profile with its 95% interval."""
        ends = self.k_plus_interval(profile, np.array([k]))
        return self._promised(self._estimate(profile.k_plus(k), k, ends, self.k_plus_errors, self.band), profile)

    def k_plus_interval(self, profile: Profile, k: NDArray[np.int64]) -> Ends:
        """Return the ends of 95% intervals for φ_{k+}, k ≥ 1; 0 and infinity if nothing is known.

        They contain the released value, and the band if there is one.
        """
        values = self._middle(profile).cumulative_prevalence(k)
        if self.band is None:
            found = self._interval(values, self.k_plus_errors, k)
        else:
            found = _widen_to_hold(values, *self.band.at(k))
        return found if self.around is None else _widen_to_hold(profile.cumulative_prevalence(k), *found)

    def prevalence_interval(self, profile: Profile, r: NDArray[np.int64]) -> Ends:
        """Return the ends of 95% intervals for φ_r, r ≥ 1, shape (m,)."""
        values = prevalences_at(self._middle(profile), r)
        if self.prevalence_band is None:
            found = self._interval(values, self.prevalence_errors, r)
        else:
            found = _widen_to_hold(values, *self.prevalence_band.at(r))
        return found if self.around is None else _widen_to_hold(prevalences_at(profile, r), *found)

    def of_zeros(self, zeros: int) -> Estimate:
        """Return φ_0 as released, with its 95% interval."""
        return self._promised(self._zeros(zeros), zeros)

    def _zeros(self, zeros: int) -> Estimate:
        if self.zeros_interval is not None:
            return _smoothed_estimate(
                zeros, (float(min(self.zeros_interval[0], zeros)), float(max(self.zeros_interval[1], zeros)))
            )
        if self.why_unknown:
            return _unknown(zeros, self.why_unknown)
        if self.zeros_error is None:
            raise DataError("This error table has no error for labels of count zero.")
        low, high = whole_interval(zeros, widening_factor(self.simulations) * self.zeros_error)
        return Estimate(float(zeros), self.zeros_error, (float(low), float(high)), METHOD)

    def num_items(self, profile: Profile) -> Estimate:
        """Return n of the released profile with its 95% interval.

        Each label has an item, so the upper end is not below that of the number of labels, even if the noise of n is so
        far below zero that an interval of n alone would be 0 to 0.
        """
        return self._promised(self._items(profile), profile)

    def _items(self, profile: Profile) -> Estimate:
        if self.items_interval is None:
            return _unknown(profile.n, _NO_ITEMS_INTERVAL if self.has_k_plus_intervals else self.why_unknown)
        known = profile.n, self._middle(profile).n
        ends = _outwards(min(self.items_interval[0], *known), max(self.items_interval[1], *known))
        if self.has_k_plus_intervals:
            ends = ends[0], max(ends[1], self.k_plus(profile, 1).interval[1])
        method = METHOD if self.band is None else BAND_METHOD
        return Estimate(float(profile.n), (ends[1] - ends[0]) / (2 * NORMAL_95), ends, method)

    def _estimate(
        self, value: int, level: int, found: Ends, errors: NDArray[np.float64], band: KPlusBand | PrevalenceBand | None
    ) -> Estimate:
        if self.why_unknown and band is None:
            return _unknown(value, self.why_unknown)
        ends = float(found[0][0]), float(found[1][0])
        if self.prevalence_band is not None:
            return _smoothed_estimate(value, ends)
        if self.why_unknown:
            told = Statement(Holds.BOTH, self.why_unknown)
            return Estimate(float(value), math.nan, ends, BAND_METHOD, statement=told)
        return Estimate(float(value), float(self._at(errors, level)), ends, METHOD if band is None else BAND_METHOD)

    def _promised(self, found: Estimate, number: Profile | int) -> Estimate:
        return found if self.released is None else replace(found, guarantee=self.released.guarantee_of(number))

    def _middle(self, profile: Profile) -> Profile:
        # An empty profile is false.
        return profile if self.around is None else self.around

    def _interval(self, values: NDArray[np.int64], errors: NDArray[np.float64], level: NDArray[np.int64]) -> Ends:
        if self.why_unknown:
            return np.zeros(values.shape), np.full(values.shape, np.inf)
        return whole_interval(values, widening_factor(self.simulations) * self._at(errors, level))

    def _at(self, errors: NDArray[np.float64], level: int | NDArray[np.int64]) -> NDArray[np.float64]:
        inside = np.clip(level, self.levels[0], self.levels[-1])
        above = np.searchsorted(self.levels, inside, side="left")
        below = np.searchsorted(self.levels, inside, side="right") - 1
        return np.asarray(np.maximum(errors[below], errors[above]))


def simulate_error(
    profile: Profile,
    mechanism: Mechanism,
    *,
    zeros: int | None = None,
    evidence: Evidence | None = None,
    simulations: int | None,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None = None,
    drawn: Iterable[Run] | None = None,
    of_nothing: Iterable[Run] | None = None,
) -> ReleaseError:
    """Run a mechanism again on its own release, which is public and so costs no privacy, and measure the errors.

    A Durfee size above 2¹⁵ may limit the number of runs, but never below 32; 0 simulates nothing, and None leaves the
    number to :func:`~anonhist.releases.made.simulations_of`. ``rng`` is simulation randomness: nothing secret depends
    on it. ``drawn`` and ``of_nothing`` are runs drawn earlier, with their misfits, on the release and on the empty
    profile (:func:`~anonhist.releases.runs.nothing_like`). Intervals come from runs only if the mechanism states that
    they hold.
    """
    asked = None if simulations is None else parse_simulations(simulations)
    runs = simulations_of(profile, asked, work=simulation_work(mechanism, profile))
    if not runs:
        return ReleaseError.without_runs(evidence)
    levels = levels_of(profile)
    misfit = evidence.misfit if evidence is not None and isinstance(mechanism, TellsMisfit) else None
    # Runs drawn now report their progress; others only need to be measured.
    first, rest, last = (part_of(progress, *ends) for ends in pairwise((0.0, _ON_RELEASE, _ON_NOTHING, 1.0)))
    if drawn is None:
        drawn = draw_runs(mechanism, profile, zeros, size=runs, rng=rng, with_misfit=misfit is not None, progress=first)
        first = None
    found = [errors_of_runs(profile, zeros, drawn, levels, misfit=misfit, progress=first)]
    if profile.n:
        nothing, silent = nothing_like(profile, zeros)
        if of_nothing is None:
            of_nothing = draw_runs(mechanism, nothing, silent, size=runs, rng=rng, progress=rest)
            rest = None
        found.append(errors_of_runs(nothing, silent, of_nothing, levels, misfit=None, progress=rest))
    roots = np.max([each.roots for each in found], axis=0)
    zeros_error = None if zeros is None else max(each.zeros for each in found)
    means = [float(np.mean(each.distances)) for each in found]
    # Identical runs do not make the mean exact: another run may differ by an item.
    spread = max(1 / runs, *(float(np.std(each.distances, ddof=1)) / runs**0.5 for each in found))
    least_share, share = runs_shares(mechanism, evidence)
    mean, spread, method = _with_posterior(share * compromise(*means), share * spread, evidence)
    expected = expected_distance(mean, spread, runs, method=method)
    error = ReleaseError(
        expected, runs, levels, roots[0], roots[1], zeros_error, runs_fall_short=runs_fall_short(mechanism)
    )
    error = _with_items(_with_bands(error, evidence), profile, max(each.items for each in found))
    least = min(least_share * compromise(means[0] - found[0].added, *means[1:]), mean)
    told = by_factors(expected, least, is_sure=error.has_k_plus_intervals)
    bound = None if evidence is None else evidence.distance_bound
    by_noise = evidence.expected_distance if evidence is not None and evidence.needs_no_runs else None
    if bound is not None and by_noise is not None:
        told = around_posterior(by_noise, expected, bound)
        expected = by_posterior(by_noise, told)
        error = replace(error, sorted_l1=expected)
    elif bound is not None:
        told = told[0], max(expected.interval[1], bound)
    elif isinstance(mechanism, AddsUp):
        told = mechanism.range_of_sum(expected, told[0])
    else:
        off, own = found[-1].distances, rng.spawn(2)[1]
        flat = ends_on_flattened(profile, zeros, mechanism, expected, on_nothing=off, runs=runs, rng=own, progress=last)
        told = min(told[0], flat[0]), max(told[1], flat[1])
    if last is not None:
        last(1.0)
    error = replace(error, simulated_range=told)
    if evidence is None or evidence.prevalences is None:
        return error
    return _not_below_bands(error, profile, zeros, is_smooth=evidence.misfit is None)


def _with_posterior(mean: float, spread: float, evidence: Evidence | None) -> tuple[float, float, str]:
    """Return a mean of runs, its standard error and its method, or those of the mixture with the posterior's mean."""
    if evidence is None or evidence.expected_distance is None or not 0 < evidence.posterior_weight < 1:
        return mean, spread, METHOD
    weight = evidence.posterior_weight
    return (1 - weight) * mean + weight * evidence.expected_distance, (1 - weight) * spread, BY_BOTH


def _with_bands(error: ReleaseError, evidence: Evidence | None) -> ReleaseError:
    """Return errors with the intervals that follow from noisy values, if these were kept."""
    if evidence is None:
        return error
    return replace(
        error,
        band=evidence.band,
        prevalence_band=evidence.prevalences,
        zeros_interval=evidence.zeros,
        items_interval=evidence.items,
    )


def _with_items(error: ReleaseError, profile: Profile, off: float) -> ReleaseError:
    """Return errors with an interval for n from the error of its runs, if noisy values gave none but runs may."""
    if error.items_interval is not None or not error.has_k_plus_intervals:
        return error
    low, high = whole_interval(profile.n, widening_factor(error.simulations) * off)
    return replace(error, items_interval=(int(low), min(int(high), MAX_ITEMS)))


def _not_below_bands(error: ReleaseError, profile: Profile, zeros: int | None, *, is_smooth: bool) -> ReleaseError:
    """Raise standard errors to those of normal intervals as wide as the bands, since runs on a release err less.

    Errors of φ_{k+} stay unchanged if the misfit has already corrected them.
    """
    bands = [
        (high - low) / (2 * NORMAL_95)
        for low, high in (
            error.prevalence_interval(profile, error.levels),
            error.k_plus_interval(profile, error.levels),
        )
    ]
    of_zeros = error.zeros_error
    if zeros is not None and of_zeros is not None and error.zeros_interval is not None:
        low, high = error.of_zeros(zeros).interval
        of_zeros = max(of_zeros, (high - low) / (2 * NORMAL_95))
    return replace(
        error,
        prevalence_errors=np.maximum(error.prevalence_errors, bands[0]),
        k_plus_errors=np.maximum(error.k_plus_errors, bands[1]) if is_smooth else error.k_plus_errors,
        zeros_error=of_zeros,
    )


def _outwards(low: int, high: int) -> tuple[float, float]:
    """Return floats that hold these ends: from 2⁵³ on, floats skip whole numbers."""
    below, above = float(low), float(high)
    return (
        math.nextafter(below, -math.inf) if int(below) > low else below,
        math.nextafter(above, math.inf) if int(above) < high else above,
    )


def _widen_to_hold(values: NDArray[np.int64], low: NDArray[Any], high: NDArray[Any]) -> Ends:
    """Widen intervals to contain the released values."""
    return np.minimum(low, values).astype(np.float64), np.maximum(high, values).astype(np.float64)


def _unknown(value: int, reason: str) -> Estimate:
    """Return a released number with no known error."""
    return Estimate(float(value), math.nan, (0.0, math.inf), _AS_RELEASED, statement=Statement(Holds.NONE, reason))


def _smoothed_estimate(value: int, ends: tuple[float, float]) -> Estimate:
    """Return a number of a smoothed release, with the interval of the band, because runs understate its error.

    Its standard error is that of a normal interval of the same width.
    """
    return Estimate(float(value), (ends[1] - ends[0]) / (2 * NORMAL_95), ends, BAND_METHOD)
