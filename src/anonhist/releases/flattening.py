"""Flatter data that a release may as well come from, and what runs of the mechanism on them err.

Runs on a release show the error for data of its shape. But noise makes several counts of one, and a fit makes smooth
what was not: data with few different counts have another error, smaller where noise is small, larger where a fit takes
them for spread out. So the mechanism is also run on the release with neighbouring counts joined, as many as some
distance allows. Data are as likely as the release itself to have led to it if they are no farther from it than runs on
them are from them. That other data do not err more or less than these is not proved, but measured: docs/benchmarks.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.profiles import Profile, sorted_l1
from anonhist.properties.estimate import widening_factor
from anonhist.releases.protocols import LEAST_RUNS
from anonhist.releases.runs import draw_runs, part_of
from anonhist.releases.whole_interval import NORMAL_95

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.properties.estimate import Estimate
    from anonhist.releases.protocols import Mechanism

# Prices of joins grow by this factor, so that many are made at once.
_DEARER = 1.5
# Where few runs are made of a release, since they are slow, half as many are made of flattened data.
_RUNS, _FEW_RUNS = 8, 4


def flattened(profile: Profile, distance: float) -> Profile:
    """Return a profile with fewer counts, joined to neighbouring ones, at this sorted ℓ1 distance or less.

    The cheapest joins come first: labels of a count move to the next one if more labels have that. Prices are products
    of both numbers, labels and steps between counts. Zero is a count, too, of more labels than any other: noise makes
    labels of none.

    Examples
    --------
    >>> flattened(Profile.from_counts([99, 100, 100, 100, 101, 101, 20, 3]), 3)
    Profile(n=623, num_labels=8, {3: 1, 20: 1, 100: 6})
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
        spent = np.cumsum(prices[joined])
        joined = np.sort(joined[spent <= left])
        left -= float(prices[joined].sum())
        counts[joined] = np.where(labels[joined] >= labels[joined + 1], counts[joined], counts[joined + 1])
        labels[joined] += labels[joined + 1]
        labels[0] = profile.num_labels
        counts, labels = np.delete(counts, joined + 1), np.delete(labels, joined + 1)
    return Profile(counts[1:], labels[1:], unit=profile.unit)


def _joins(prices: NDArray[np.float64], most: float) -> NDArray[np.int64]:
    """Return the joins up to a price that are cheaper than those beside them, the cheapest first."""
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
    """Return the least and the largest mean error of runs on flattened data, with 95 % intervals of these means.

    The data are once, twice, four, … times as far from the release as it is expected to err. They end where runs on
    them show that they would not have led to it, since their distances are shorter: the first such data do not count
    for the least error. No data are flatter than all others, and count if they may have led to the release.

    Parameters
    ----------
    profile, zeros
        What was released.
    mechanism
        What released it.
    expected
        The expected error by runs on the release.
    on_nothing
        Errors of at least two runs on no data.
    runs
        Number of runs on the release. There are eight on each of the flattened data, or four if it is at most eight.
    rng
        Simulation randomness.
    progress
        Called with the share done, in (0, 1).
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
            # A public number forbids such data.
            break
        done += 1
        mean, off = _mean_error(errors)
        high = max(high, mean + off)
        if sorted_l1(profile, flat) > mean + off * size**0.5:
            break
        low = min(low, max(0.0, mean - off))
    return low, high


def _mean_error(errors: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean of some runs, and half of a 95 % interval of it: a single run is off by √size times as much."""
    # Runs that all agree do not make the mean exact: another run may differ by an item.
    spread = max(1 / errors.size, float(errors.std(ddof=1)) / errors.size**0.5)
    return float(errors.mean()), NORMAL_95 * widening_factor(errors.size - 1) * spread
