"""Flatter data that a release may as well come from, and what runs of the mechanism on them err.

Runs on a release show the error for data of its shape. But noise makes several counts of one, and a fit makes smooth
what was not: data with few different counts have another error, smaller where noise is small, larger where a fit takes
them for spread out. So the mechanism is also run on the release with neighbouring counts joined, as many as some
distance allows. Data are as likely as the release itself to have led to it if they are no farther from it than runs on
them are from them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.profiles import Profile, sorted_l1
from anonhist.properties.levels import widening_factor
from anonhist.releases.protocols import LEAST_RUNS, runs_of
from anonhist.releases.whole_interval import NORMAL_95

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.properties.estimate import Estimate
    from anonhist.releases.protocols import Mechanism

# Prices of joins grow by this factor, so that many are made at once.
_DEARER = 1.5
# How far flattened data are from the release, in expected errors of it.
_NEAR, _FAR = (1.0, 2.0), (1.0, 2.0, 4.0)
# Where few runs are made of a release, since they are slow, half as many are made of flattened data.
_RUNS, _FEW_RUNS = 8, 4


def flattened(profile: Profile, distance: float) -> Profile:
    """Return a profile with fewer counts, joined to neighbouring ones, at this sorted ℓ1 distance or less.

    The cheapest joins come first: labels of a count move to the next one if more labels have that. Prices are products
    of both numbers, labels and steps between counts.

    Examples
    --------
    >>> flattened(Profile.from_counts([99, 100, 100, 100, 101, 101, 20, 3]), 3)
    Profile(n=623, num_labels=8, {3: 1, 20: 1, 100: 6})
    """
    counts, labels = profile.counts.copy(), profile.prevalences.copy()
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
        counts, labels = np.delete(counts, joined + 1), np.delete(labels, joined + 1)
    return Profile(counts, labels, unit=profile.unit)


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
    runs: int,
    rng: np.random.Generator,
    farthest: bool,
    progress: Callable[[float], None] | None = None,
) -> tuple[float, float]:
    """Return the least and the largest mean error of runs on flattened data, with 95 % intervals of these means.

    Parameters
    ----------
    profile, zeros
        What was released.
    mechanism
        What released it.
    expected
        The expected error by runs on the release: flattened data are so far from it.
    runs
        Number of runs on the release. There are eight on each of the flattened data, or four if it is at most eight.
    rng
        Simulation randomness.
    farthest
        Whether to go up to data four times as far, not two. It ends earlier where runs on the data show that they would
        not have led to this release, since their distances are shorter; then they do not count for the least error.
    progress
        Called with the share done, in (0, 1].
    """
    low, high = math.inf, 0.0
    size = _RUNS if runs > LEAST_RUNS else _FEW_RUNS
    # Half of a 95 % interval, in standard deviations of so few runs.
    wide = NORMAL_95 * widening_factor(size - 1)
    distances = _FAR if farthest else _NEAR
    for done, times in enumerate(distances, start=1):
        try:
            flat = flattened(profile, max(1.0, times * expected.value))
            if flat == profile:
                continue
            drawn = runs_of(mechanism, flat, zeros, size=size, rng=rng)
        except (DataError, UsageError):
            # A public number forbids such data.
            break
        errors = np.array([sorted_l1(flat, run) for run, _ in drawn], dtype=np.float64)
        mean, reach = float(errors.mean()), wide * float(errors.std(ddof=1))
        high = max(high, mean + reach / size**0.5)
        if progress is not None:
            progress(done / len(distances))
        if sorted_l1(profile, flat) > mean + reach:
            break
        low = min(low, max(0.0, mean - reach / size**0.5))
    if progress is not None:
        progress(1.0)
    return low, high
