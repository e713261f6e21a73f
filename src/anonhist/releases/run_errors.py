"""Errors of runs of a mechanism on a public profile, at several counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.profiles import Profile, sorted_l1
from anonhist.profiles.counts import MAX_ITEMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from anonhist.releases.runs import Run


@dataclass(frozen=True)
class RunErrors:
    """What runs on a profile are off by.

    Attributes
    ----------
    roots : ndarray of float64, shape (2, v)
        Root mean square errors of φ_r and φ_{r+} at the levels.
    distances : ndarray of float64, shape (b,)
        The sorted ℓ1 distance of each run.
    zeros, items
        Root mean square errors of φ_0 and of n.
    added
        What the misfit of the release added to each distance.
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
    """Return the errors of runs.

    Parameters
    ----------
    profile, zeros
        What the mechanism ran on.
    drawn
        The runs.
    levels : ndarray of int64, shape (v,)
        The counts to look at.
    misfit
        How far the noisy values of the release are from its profile, if runs tell theirs.
    progress
        Receives the share of runs that are measured.

    Examples
    --------
    >>> from anonhist.releases.runs import Run
    >>> truth, run = Profile.from_counts([5, 3]), Run(Profile.from_counts([5, 3, 1]), None, None)
    >>> found = errors_of_runs(truth, None, [run, run], np.array([1, 3]), misfit=None, progress=None)
    >>> found.roots.tolist(), found.distances.tolist(), found.items
    ([[1.0, 0.0], [1.0, 0.0]], [1.0, 1.0], 1.0)
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
    """Return φ_r at some counts.

    Examples
    --------
    >>> prevalences_at(Profile.from_counts([5, 3, 3]), np.array([3, 4, 9])).tolist()
    [2, 0, 0]
    """
    at = np.searchsorted(profile.counts, counts)
    is_count = np.append(profile.counts, 0)[at] == counts
    return np.asarray(np.where(is_count, np.append(profile.prevalences, 0)[at], 0), dtype=np.int64)


def levels_of(profile: Profile) -> NDArray[np.int64]:
    """Return the counts at which errors are stored: 1, and r and r + 1 for each released count r.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> levels_of(Profile.from_counts([5, 3])).tolist()
    [1, 3, 4, 5, 6]
    """
    # The largest possible count has no next one.
    after = profile.counts[profile.counts < MAX_ITEMS] + 1
    levels = np.sort(np.concatenate((np.ones(1, dtype=np.int64), profile.counts, after)))
    return np.asarray(levels[np.diff(levels, prepend=0) > 0])  # np.unique would load all of numpy.ma
