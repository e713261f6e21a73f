"""Releases of one data set at one ε, again and again: how often intervals hold, and how exact the stated errors are.

If the Frobenius mechanism is chosen, a NumPy generator draws its runs together, in place of the exact sampler, whose
noise has the same distribution: at ε = 0.01, that takes a twentieth of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.mechanisms import FrobeniusMechanism
from anonhist.mechanisms.setting import make_release
from anonhist.releases.runs import prevalences_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from anonhist.releases import Release

LEVELS = 10
# These must be told a number of items that the data do not exceed.
_FOR_AT_MOST = ("bounded-partition", "relaxed-partition")


@dataclass(frozen=True)
class Intervals:
    """How often intervals hold, at some levels.

    Attributes
    ----------
    held : ndarray of float64, shape (l,)
        Share of the releases whose interval holds the truth.
    width, shortest : ndarray of float64, shape (l,)
        Mean half width of those intervals, and the least whole one around the released number that holds the truth in
        95 % of the releases: at least 1.
    """

    held: NDArray[np.float64]
    width: NDArray[np.float64]
    shortest: NDArray[np.float64]

    @classmethod
    def of(cls, truth: NDArray[np.int64], found: list[tuple[NDArray[np.float64], ...]]) -> Intervals:
        """Make it from what was released and both ends, of each release."""
        values, low, high = (np.array(side) for side in zip(*found, strict=True))
        return cls(
            np.mean((low <= truth) & (truth <= high), axis=0),
            np.mean((high - low) / 2, axis=0),
            np.maximum(1, np.quantile(np.abs(values - truth), 0.95, axis=0)),
        )


@dataclass(frozen=True)
class Cell:
    """What many releases of one profile say.

    Attributes
    ----------
    levels : ndarray of int64, shape (l,)
        At most ten k, evenly spread on the log scale up to the largest count.
    k_plus
        How often intervals for φ_{k+} hold at these k.
    counts : ndarray of int64, shape (c,)
        At most ten r: 1, 2, 3, and counts of the data, evenly spread on the log scale of their rank.
    prevalences
        How often intervals for φ_r hold at these r.
    said, actual : tuple of float
        Mean expected error, and mean error with its standard error, in items.
    in_range
        Whether the mean error is in the mean range that is said, within two standard errors.
    wide
        Upper end of that range over its lower end.
    """

    levels: NDArray[np.int64]
    k_plus: Intervals
    counts: NDArray[np.int64]
    prevalences: Intervals
    said: float
    actual: tuple[float, float]
    in_range: bool
    wide: float


def measure_cells(profile: ah.Profile, epsilon: str, *, runs: int, error_runs: int, mechanism: str = "auto") -> Cell:
    """Release a profile ``runs`` times; on the first ``error_runs`` of them the expected error is asked for, too."""
    levels = np.unique(np.rint(np.geomspace(1, profile.counts[-1], LEVELS)).astype(np.int64))
    ranks = np.rint(np.geomspace(1, len(profile.counts), LEVELS - 3)).astype(np.int64) - 1
    counts = np.unique(np.concatenate(([1, 2, 3], profile.counts[ranks])))
    k_plus, prevalences, errors, said = [], [], [], []
    for run, released in enumerate(_releases(profile, epsilon, runs, mechanism)):
        values = released.profile.cumulative_prevalence(levels), prevalences_at(released.profile, counts)
        evidence = released.evidence
        if run < error_runs or evidence is None or evidence.prevalences is None:
            said.append((released.error.sorted_l1.value, *released.error.expected_range))
            # What runs say is looked at also where it is not given to anybody.
            error = replace(released.error, runs_fall_short="")
            ends = (
                error.k_plus_interval(released.profile, levels),
                error.prevalence_interval(released.profile, counts),
            )
        else:
            ends = evidence.band.at(levels), evidence.prevalences.at(counts)
        for found, value, (low, high) in zip((k_plus, prevalences), values, ends, strict=True):
            found.append((value, np.minimum(low, value), np.maximum(high, value)))
        errors.append(float(ah.properties.sorted_l1(profile, released.profile)))
    expected, least, most = np.mean(said, axis=0).tolist()
    mean, spread = float(np.mean(errors)), float(np.std(errors, ddof=1)) / runs**0.5
    return Cell(
        levels,
        Intervals.of(profile.cumulative_prevalence(levels), k_plus),
        counts,
        Intervals.of(prevalences_at(profile, counts), prevalences),
        expected,
        (mean, spread),
        bool(least - 2 * spread <= mean <= most + 2 * spread),
        most / max(least, 1e-9),
    )


def _releases(profile: ah.Profile, epsilon: str, runs: int, mechanism: str) -> Iterator[Release]:
    public = {"public_items": 2 * profile.n} if mechanism in _FOR_AT_MOST else {}
    first = ah.release(profile, epsilon=epsilon, mechanism=mechanism, **public)
    made_by = first.mechanism
    if not isinstance(made_by, FrobeniusMechanism):
        yield first
        for _ in range(runs - 1):
            yield ah.release(profile, epsilon=epsilon, mechanism=mechanism, **public)
        return
    rng = np.random.default_rng()
    for released, evidence in made_by.simulate_with_evidence(profile, size=runs, rng=rng):
        yield make_release(released, made_by, reason=None, evidence=evidence)
