"""How far off a release is, found by running its mechanism again on what it released: post-processing, free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.profiles import Profile, sorted_l1
from anonhist.releases.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.releases.release import Mechanism

_NORMAL_95 = 1.959963984540054
METHOD = "normal interval from re-simulating the mechanism on the released profile"


@dataclass(frozen=True, eq=False)
class ReleaseError:
    """Expected errors of a released profile.

    With R the released profile and R*_b, b = 1..``simulations``, independent runs of the same mechanism on R, the
    standard error of a statistic f is ``sqrt(mean_b (f(R*_b) − f(R))²)``: bias of the mechanism included.

    Attributes
    ----------
    sorted_l1
        Expected sorted ℓ1 distance: mean over the simulations; its ``standard_error`` is that of the mean.
    simulations
        Number of runs, ≥ 2.
    levels : ndarray of int64, shape (v,)
        Counts at which errors are kept, ascending: each released count r, and r + 1. In between, nothing changes in
        the release, and the row of the largest level ≤ r answers for r.
    prevalence_errors, k_plus_errors : ndarray of float64, shape (v,)
        Standard errors of φ_r and φ_{r+} at the levels, ≥ 0.
    """

    sorted_l1: Estimate
    simulations: int
    levels: NDArray[np.int64]
    prevalence_errors: NDArray[np.float64]
    k_plus_errors: NDArray[np.float64]

    def __post_init__(self) -> None:
        shapes = {self.levels.shape, self.prevalence_errors.shape, self.k_plus_errors.shape}
        if len(shapes) != 1 or self.levels.ndim != 1:
            raise DataError("The error table of a release must have one row per level.")
        if self.levels.size and (self.levels[0] < 1 or not bool(np.all(np.diff(self.levels) > 0))):
            raise DataError("The levels of an error table must be ascending counts, each at least 1.")
        for errors in (self.prevalence_errors, self.k_plus_errors):
            if not bool(np.all(np.isfinite(errors)) and np.all(errors >= 0)):
                raise DataError("Standard errors must be finite and not negative.")
        for array in (self.levels, self.prevalence_errors, self.k_plus_errors):
            array.setflags(write=False)

    def prevalence(self, profile: Profile, count: int) -> Estimate:
        """Return φ_r of the released profile with its 95 % interval."""
        return _estimate(profile.prevalence(count), self._at(self.prevalence_errors, count))

    def k_plus(self, profile: Profile, k: int) -> Estimate:
        """Return φ_{k+} of the released profile with its 95 % interval."""
        return _estimate(profile.k_plus(k), self._at(self.k_plus_errors, k))

    def _at(self, errors: NDArray[np.float64], level: int) -> float:
        at = int(np.searchsorted(self.levels, level, side="right")) - 1
        return float(errors[max(at, 0)]) if errors.size else 0.0


def simulate_error(
    profile: Profile,
    mechanism: Mechanism,
    *,
    simulations: int,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None = None,
) -> ReleaseError:
    """Run ``mechanism`` again on its own release and measure how far the results fall.

    Parameters
    ----------
    profile
        The released profile: public, so this costs no privacy.
    simulations
        Number of runs, ≥ 2.
    rng
        Simulation randomness; nothing secret depends on it.
    progress
        Called with the share done, in (0, 1], after each batch.
    """
    if isinstance(simulations, bool) or simulations < 2:
        message = f"simulations must be a whole number of at least 2, not {simulations!r}."
        raise UsageError(message)
    levels = np.unique(np.concatenate((profile.counts, profile.counts + 1, np.ones(1, dtype=np.int64))))
    levels = levels[levels > 0]  # counts of 2^63 − 1 have no next one
    truth = profile.cumulative_prevalence(levels)
    truth_next = profile.cumulative_prevalence(levels + 1) if levels.size else truth
    squares = np.zeros((2, levels.size))
    distances: list[int] = []
    batch = 16
    while len(distances) < simulations:
        size = min(batch, simulations - len(distances))
        for simulated in mechanism.simulate(profile, size=size, rng=rng):
            distances.append(sorted_l1(profile, simulated))
            here = simulated.cumulative_prevalence(levels)
            above = simulated.cumulative_prevalence(levels + 1)
            squares[0] += ((here - above) - (truth - truth_next)).astype(np.float64) ** 2
            squares[1] += (here - truth).astype(np.float64) ** 2
        if progress is not None:
            progress(len(distances) / simulations)
    roots = np.sqrt(squares / simulations)
    mean = float(np.mean(distances))
    spread = float(np.std(distances, ddof=1)) / simulations**0.5
    half = _NORMAL_95 * spread
    expected = Estimate(mean, spread, (max(0.0, mean - half), mean + half), METHOD)
    return ReleaseError(expected, simulations, levels, roots[0], roots[1])


def _estimate(value: int, error: float) -> Estimate:
    half = _NORMAL_95 * error
    return Estimate(float(value), error, (max(0.0, value - half), value + half), METHOD)
