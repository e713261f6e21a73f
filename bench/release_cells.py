"""Real releases of one data set at one ε, again and again: how often intervals hold, and how far off errors are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVELS = 10


@dataclass(frozen=True)
class Cell:
    """What many releases of one profile say.

    Attributes
    ----------
    levels : ndarray of int64, shape (l,)
        At most ten k, evenly spread on the log scale up to the largest count.
    held : ndarray of float64, shape (l,)
        Share of the releases whose interval for φ_{k+} holds the true one.
    width, shortest : ndarray of float64, shape (l,)
        Mean half width of those intervals, and the least whole one around the released number that holds the truth in
        95 % of the releases: at least 1.
    said, actual : tuple of float
        Mean expected error, and mean error with its standard error, in items.
    in_range
        Whether the mean error is in the mean range that is said, within two standard errors.
    wide
        Upper end of that range over its lower end.
    """

    levels: NDArray[np.int64]
    held: NDArray[np.float64]
    width: NDArray[np.float64]
    shortest: NDArray[np.float64]
    said: float
    actual: tuple[float, float]
    in_range: bool
    wide: float


def measured(profile: ah.Profile, epsilon: str, *, runs: int, error_runs: int, mechanism: str = "auto") -> Cell:
    """Release a profile ``runs`` times; on the first ``error_runs`` of them the expected error is asked for, too."""
    levels = np.unique(np.rint(np.geomspace(1, profile.counts[-1], LEVELS)).astype(np.int64))
    truth = profile.cumulative_prevalence(levels)
    held, widths, off, errors, said = [], [], [], [], []
    for run in range(runs):
        released = ah.release(profile, epsilon=epsilon, mechanism=mechanism)
        band = None if released.evidence is None else released.evidence.band
        values = released.profile.cumulative_prevalence(levels)
        if run < error_runs or band is None:
            said.append((released.error.sorted_l1.value, *released.error.expected_range))
            low, high = released.error.k_plus_interval(released.profile, levels)
        else:
            lows, highs = band.at(levels)
            low, high = np.minimum(lows, values), np.maximum(highs, values)
        held.append((low <= truth) & (truth <= high))
        widths.append((high - low) / 2)
        off.append(np.abs(values - truth))
        errors.append(float(ah.sorted_l1(profile, released.profile)))
    expected, least, most = np.mean(said, axis=0).tolist()
    mean, spread = float(np.mean(errors)), float(np.std(errors, ddof=1)) / runs**0.5
    return Cell(
        levels,
        np.mean(held, axis=0),
        np.mean(widths, axis=0),
        np.maximum(1, np.quantile(off, 0.95, axis=0)),
        expected,
        (mean, spread),
        bool(least - 2 * spread <= mean <= most + 2 * spread),
        most / max(least, 1e-9),
    )
