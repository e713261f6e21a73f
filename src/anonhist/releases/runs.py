"""Errors of a mechanism's runs on a released profile, and on flatter data that may also have led to it.

Runs on a release show the error for data of its shape. But noise splits one count into several, and a fit smooths what
was not smooth: data with few distinct counts have another error, smaller if noise is small, larger if a fit spreads
them out. So the mechanism is also run on the release with neighboring counts joined, as many as some distance allows.
Data are as likely as the release itself to have led to it if they are no farther from it than runs on them are from
them. That errors of other data lie in between is not proved, but measured: docs/benchmarks/intervals.md.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.numeric.pulse import tell_share
from anonhist.profiles import Profile, sorted_l1
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.properties.estimate import Estimate, widening_factor
from anonhist.releases.evidence import NORMAL_95, TellsMisfit
from anonhist.releases.made import LEAST_RUNS, Mechanism, runs_of


@dataclass(frozen=True)
class RunErrors:
    """The errors of runs on a profile.

    ``roots`` are root mean square errors of φ_r and φ_{r+} at the levels, shape (2, v); ``zeros`` and ``items`` those
    of φ_0 and of n. ``distances`` are sorted ℓ1 distances, one per run, to which the misfit of the release added
    ``added``.
    """

    roots: NDArray[np.float64]
    distances: NDArray[np.float64]
    zeros: float
    items: float
    added: float


def errors_of_runs(
    profile: Profile,
    zeros: int | None,
    drawn: Iterable[Run],
    levels: NDArray[np.int64],
    *,
    misfit: float | None,
    progress: Callable[[float], None] | None,
) -> RunErrors:
    """Return the errors of runs on a profile at some counts, the levels.

    ``misfit`` is the distance of the release's noisy values from its profile, if runs report theirs.
    """
    truth = _table(profile, levels)
    squares = np.zeros(truth.shape)
    distances: list[float] = []
    misfits: list[float] = []
    square = items = 0.0
    for run in drawn:
        distances.append(float(sorted_l1(profile, run.profile)))
        squares += (_table(run.profile, levels) - truth).astype(np.float64) ** 2
        square += float((run.zeros or 0) - (zeros or 0)) ** 2
        items += float(run.profile.n - profile.n) ** 2
        if run.misfit is not None:
            misfits.append(run.misfit)
        if progress is not None:
            progress(len(distances) / (len(distances) + 1))
    if progress is not None:
        progress(1.0)
    runs = len(distances)
    # If the noisy values are farther from their fit than in runs on it, the data have another shape, and the error of
    # the fit is larger by the difference.
    more = max(0.0, misfit - float(np.mean(misfits))) if misfit is not None and misfits else 0.0
    mean = float(np.mean(distances))
    factor = 1 + more / mean if mean else 1.0
    return RunErrors(
        factor * np.sqrt(squares / runs),
        np.array(distances) + more,
        factor * (square / runs) ** 0.5,
        factor * (items / runs) ** 0.5,
        more,
    )


def _table(profile: Profile, levels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return φ_r and φ_{r+} at the levels, shape (2, v)."""
    return np.stack((prevalences_at(profile, levels), profile.cumulative_prevalence(levels)))


def prevalences_at(profile: Profile, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return φ_r at some counts."""
    at = np.searchsorted(profile.counts, counts)
    is_count = np.append(profile.counts, 0)[at] == counts
    return np.asarray(np.where(is_count, np.append(profile.prevalences, 0)[at], 0), dtype=np.int64)


def levels_of(profile: Profile) -> NDArray[np.int64]:
    """Return the counts at which errors are stored: 1, and r and r + 1 for each released count r."""
    # The largest possible count has no successor.
    after = profile.counts[profile.counts < MAX_ITEMS] + 1
    levels = np.sort(np.concatenate((np.ones(1, dtype=np.int64), profile.counts, after)))
    return np.asarray(levels[np.diff(levels, prepend=0) > 0])  # np.unique would load all of numpy.ma.


# A mechanism prepares once per batch: batches are large enough to share that, and small enough for large profiles.
_BATCH, _LARGE_BATCH, _LARGE = 32, 8, 2**12
# The share of time for drawing runs; the rest is for measuring them.
_DRAWING = 0.7


class Run(NamedTuple):
    """One run: the profile it released, its φ_0 if that is released, and its misfit, if the mechanism reports it.

    The misfit is the distance of its noisy values from its profile.
    """

    profile: Profile
    zeros: int | None
    misfit: float | None


def draw_runs(
    mechanism: Mechanism,
    profile: Profile,
    zeros: int | None,
    *,
    size: int,
    rng: np.random.Generator,
    with_misfit: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Run]:
    """Yield ``size`` independent runs on public data, with their misfits if asked for and if the mechanism can.

    ``rng`` is simulation randomness; nothing secret depends on it.
    """
    batch = _BATCH if profile.durfee_size < _LARGE else _LARGE_BATCH
    done = 0
    while done < size:
        count = min(batch, size - done)
        drawn_share = (done + _DRAWING * count) / size
        with tell_share(progress, done / size, drawn_share):
            if with_misfit and isinstance(mechanism, TellsMisfit):
                told = mechanism.simulate_with_misfit(profile, size=count, rng=rng)
                # If zeros are released, the set of labels is public: labels not in a run have count zero.
                labels = None if zeros is None else zeros + profile.num_labels
                drawn = [Run(run, None if labels is None else labels - run.num_labels, far) for run, far in told]
            else:
                drawn = [Run(*found, None) for found in runs_of(mechanism, profile, zeros, size=count, rng=rng)]
        done += count
        for left, run in zip(range(count - 1, -1, -1), drawn, strict=True):
            yield run
            if progress is not None:
                progress((done - (1 - _DRAWING) * left) / size)


def nothing_like(profile: Profile, zeros: int | None) -> tuple[Profile, int | None]:
    """Return an empty profile, and its number of zeros: all labels, if their set is known."""
    return Profile([], [], unit=profile.unit), None if zeros is None else zeros + profile.num_labels


def generator_of(mechanism: Mechanism, profile: Profile, zeros: int | None) -> np.random.Generator:
    """Return a generator seeded with the release, so that simulations of a release are reproducible.

    This is post-processing of public values: privacy does not depend on it.
    """
    told = hashlib.sha256(repr((mechanism.name, sorted(mechanism.parameters.items()), zeros)).encode())
    for array in (profile.counts, profile.prevalences):
        told.update(array.astype("<i8").tobytes())
    return np.random.default_rng(int.from_bytes(told.digest()[:16]))


def part_of(progress: Callable[[float], None] | None, first: float, last: float) -> Callable[[float], None] | None:
    """Return a progress callback for a part of the work, from the share ``first`` to the share ``last``."""
    return None if progress is None else lambda share: progress(first + (last - first) * share)


# On all shapes of bench/intervals.py, mean errors were within these factors of the runs' error.
_LESS, _MORE = 1.25, 1.6
# When noise dominates, they were between 0.9 and 1.75 times the error of runs on the release, and at least half that of
# runs on no data. So the range, which begins at 0.8 times the value, begins at 0.88 of the former or half the latter.
_ABOVE_RELEASE, _OF_NOTHING = 1.1, 0.5 * _LESS
# If runs are not trusted to give intervals, errors of small data were smaller by up to this factor.
_FAR_LESS = 2.0
METHOD = "normal interval from re-simulating the mechanism on the released profile and on no data"


def expected_distance(mean: float, spread: float, runs: int, *, method: str = METHOD) -> Estimate:
    """Return a mean over at least two runs with the interval from its standard error."""
    half = NORMAL_95 * widening_factor(runs - 1) * spread
    return Estimate(mean, spread, (max(0.0, mean - half), mean + half), method)


BY_POSTERIOR = "posterior mean, given the noisy values that the release was read from"
BY_BOTH = "mean of re-simulated runs and of the posterior, given the noisy values that the release was read from"


def by_posterior(mean: float, ends: tuple[float, float]) -> Estimate:
    """Return a mean by the posterior, with its range for an interval."""
    return Estimate(mean, (ends[1] - ends[0]) / (2 * NORMAL_95), ends, BY_POSTERIOR)


# On smooth data, runs err at least so much of the mean by the posterior.
_OF_MEAN = 0.95
_LEAST_SHARE = 0.35


def around_posterior(mean: float, runs: Estimate, bound: float) -> tuple[float, float]:
    """Return the range around a mean by the posterior, up to a bound for all shapes.

    If runs on the release err much less, its steps are more regular than the posterior supposes, such as those of a
    staircase: the error may then be far smaller. An item is left for errors that noise hardly makes.
    """
    share = min(1.0, runs.interval[0] / (_OF_MEAN * mean)) if mean else 1.0
    return max(0.0, mean / _LESS * max(share**3, _LEAST_SHARE) - 1), max(mean, bound)


def by_factors(expected: Estimate, least: float, *, is_sure: bool) -> tuple[float, float]:
    """Return the range given by factors that held on the shapes of bench/intervals.py.

    ``least`` is the expected distance without the misfit's addition, which may be due to chance; ``is_sure`` says
    whether the release has intervals for φ_{k+}.
    """
    low, high = expected.interval
    few = expected.value - low  # The uncertainty of a mean of so few runs.
    return max(0.0, least - few) / (_LESS if is_sure else _FAR_LESS), max(expected.value * _MORE, high)


def compromise(on_release: float, on_nothing: float = 0.0) -> float:
    """Return the expected distance of the whole profile, from the means of both kinds of runs."""
    return max(on_release, min(on_nothing, _ABOVE_RELEASE * on_release), _OF_NOTHING * on_nothing)


# Prices of joins grow by this factor, so that many joins are made at once.
_DEARER = 1.5
# If a release has few runs because they are slow, flattened data have half as many.
_RUNS, _FEW_RUNS = 8, 4


def flattened(profile: Profile, distance: float) -> Profile:
    """Return a profile with fewer counts, joined to neighboring ones, within this sorted ℓ1 distance.

    The cheapest joins come first: the count with fewer labels joins the one beside it. A price is the number of these
    labels times the difference of the counts. Zero is a count, too, with more labels than any other, because noise
    creates labels.
    """
    counts, labels = np.append(0, profile.counts), np.append(profile.num_labels, profile.prevalences)
    left, price = float(distance), 0.0
    while counts.size > 1:
        prices = np.diff(counts).astype(np.float64) * np.minimum(labels[:-1], labels[1:])
        cheapest = float(prices.min())
        if cheapest > left:
            break
        price = max(price, cheapest)
        joined = _joins(prices, price)
        if not joined.size:
            price *= _DEARER
            continue
        joined = np.sort(joined[np.cumsum(prices[joined]) <= left])
        left -= float(prices[joined].sum())
        counts[joined] = np.where(labels[joined] >= labels[joined + 1], counts[joined], counts[joined + 1])
        labels[joined] += labels[joined + 1]
        labels[0] = profile.num_labels
        counts, labels = np.delete(counts, joined + 1), np.delete(labels, joined + 1)
    return Profile(counts[1:], labels[1:], unit=profile.unit)


def _joins(prices: NDArray[np.float64], most: float) -> NDArray[np.int64]:
    """Return the joins up to a price that are cheaper than their neighbors, the cheapest first."""
    around = np.concatenate(([np.inf], prices, [np.inf]))
    chosen = np.flatnonzero((prices <= around[:-2]) & (prices < around[2:]) & (prices <= most))
    return np.asarray(chosen[np.argsort(prices[chosen], kind="stable")])


def ends_on_flattened(
    profile: Profile,
    zeros: int | None,
    mechanism: Mechanism,
    expected: Estimate,
    *,
    on_nothing: NDArray[np.float64],
    runs: int,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None = None,
) -> tuple[float, float]:
    """Return the least and the largest mean error of runs on flattened data, with 95% intervals of these means.

    The data are once, twice, four, … times as far from the release as its expected error. The sequence ends when runs
    show that the data would not have led to the release, because the runs' distances are shorter: the first such data
    do not count for the least error. Empty data are flatter than all others, and count if they may have led to the
    release; ``on_nothing`` holds the errors of at least two runs on them. There are eight runs on each of the flattened
    data, or four if there were at most eight on the release.
    """
    low, high = math.inf, 0.0
    mean, off = _mean_error(on_nothing)
    if profile.n <= mean + off * on_nothing.size**0.5:
        low, high = max(0.0, mean - off), mean + off
    size = _RUNS if runs > LEAST_RUNS else _FEW_RUNS
    distance, flat, done = max(1.0, expected.value), profile, 0
    while len(flat) > 1:
        before, flat = flat, flattened(profile, distance)
        distance *= 2
        if flat == before:
            continue
        try:
            part = part_of(progress, 1 - 2.0**-done, 1 - 2.0 ** -(done + 1))
            silent = None if zeros is None else zeros + profile.num_labels - flat.num_labels
            drawn = draw_runs(mechanism, flat, silent, size=size, rng=rng, progress=part)
            errors = np.array([sorted_l1(flat, run.profile) for run in drawn], dtype=np.float64)
        except (DataError, UsageError):
            # A public number rules out such data.
            break
        done += 1
        mean, off = _mean_error(errors)
        high = max(high, mean + off)
        if sorted_l1(profile, flat) > mean + off * size**0.5:
            break
        low = min(low, max(0.0, mean - off))
    return low, high


def _mean_error(errors: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean of some runs, and half of a 95% interval of it: a single run is off by √size times as much."""
    # Identical runs do not make the mean exact: another run may differ by an item.
    spread = max(1 / errors.size, float(errors.std(ddof=1)) / errors.size**0.5)
    return float(errors.mean()), NORMAL_95 * widening_factor(errors.size - 1) * spread
