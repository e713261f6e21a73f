"""Noisy sums of bins: estimates that assume a smooth distribution, and confidence intervals that do not.

A smooth fit to noisy sums has an error of its own, which no simulation on the fit shows. So intervals for φ_{k+} and
φ_r come from the sums themselves: they are the true sums plus noise with a known distribution, and φ_{1+} ≥ φ_{2+} ≥ …,
so :func:`~anonhist.mechanisms.bands.falling_bounds` bounds them. Each of the two bounds is wrong in at most 2.5% of
releases. An interval of φ_r needs those of two sums, each wrong in 1.25%.

All of this is about bounded degrees: no release shows what the bound left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from anonhist.mechanisms.bands import merge_steps, whole
from anonhist.mechanisms.noise import noise_quantile
from anonhist.numeric.arrays import Floats, Ints, read_only
from anonhist.numeric.fits import LARGEST_LOG, Curvature, decreasing_fit, rates_at, smooth_fit
from anonhist.releases import Evidence, KPlusBand, PrevalenceBand

# Bins up to here have separate cells; beyond, each cell is wider than the one before by this share.
_ALONE, _WIDENING = 16, 0.12
# The sums at this many positions of a cell are used: means of the sums between them.
_PLACES = 4
# The log-density of a Laplace distribution has a kink in the middle, where no climb ends; it is smoothed within this
# share of its width.
_ROUNDING = 0.5
# Initial share of every bin, so that none starts at zero.
_SHARE = 1e-3
TAIL, SINGLE_TAIL = 0.025, 0.0125
# More nodes than this cannot be counted.
_MOST = 2.0**62


@dataclass(frozen=True, eq=False)
class Cells:
    """Bins merged into cells: how many bins of each cell are in the sum at each position, and how many bins a cell has.

    ``sums`` has shape (bins, cells). ``starts`` gives the beginnings of the groups of positions whose means are used.
    """

    sums: Floats
    widths: Floats
    starts: Ints

    def __post_init__(self) -> None:
        for array in (self.sums, self.widths, self.starts):
            read_only(array)


# A fit takes some hundred steps, with a matrix of some hundred rows and columns.
WORK_OF_FIT = 2**19


@lru_cache(maxsize=4)
def cells_from_below(bins: int) -> Cells:
    """Return cells for sums ``Σ_{j≤i} bin_j``, i = 0..bins − 1."""
    bounds = _bounds(bins)
    widths = np.diff(bounds)
    sums = np.clip(np.arange(1, bins + 1)[:, np.newaxis] - bounds[:-1], 0, widths)
    return Cells(sums.astype(np.float64), widths.astype(np.float64), _starts(bounds))


@lru_cache(maxsize=4)
def cells_from_above(bins: int) -> Cells:
    """Return cells for sums ``Σ_{j≥i} bin_j``, i = 0..bins − 1; the last bin, where caps gather nodes, is a cell."""
    bounds = np.append(_bounds(bins - 1), bins)
    widths = np.diff(bounds)
    sums = np.clip(bounds[1:] - np.arange(bins)[:, np.newaxis], 0, widths)
    return Cells(sums.astype(np.float64), widths.astype(np.float64), _starts(bounds))


def smooth_sums(noisy: Floats, rate: float, cells: Cells, *, labels: float) -> Floats:
    """Return estimates of sums of bins from noisy sums: deterministic post-processing.

    Noise is two-sided geometric, ``P(j) ∝ e^(−γ|j|)``, γ the rate. Logarithms of the bins are fitted as
    :func:`~anonhist.numeric.fits.smooth_fit` describes: smooth, unless the sums contradict it. ``labels`` is
    about the number of all labels.
    """
    start = _isotonic_cells(noisy, cells)
    most = max(labels, 1.0)
    even = np.full(start.size, np.log(most / cells.widths.sum()))
    rough = np.log(np.maximum(start, 0.0) + _SHARE * (most / cells.widths.sum() + 1))
    return np.asarray(cells.sums @ smooth_fit(_NoisySums.of(noisy, rate, cells), even, rough).rates)


class _NoisySums:
    """Log-likelihood of logarithms of bins, given noisy sums: ``−Σ_i γ_i·ρ(y_i − (J e^u)_i)``, ρ(r) a smoothed |r|."""

    def __init__(self, seen: Floats, sums: Floats, rates: Floats) -> None:
        self._seen, self._sums, self._rates = seen, sums, rates
        self._rounding = _ROUNDING / rates

    @classmethod
    def of(cls, noisy: Floats, rate: float, cells: Cells) -> _NoisySums:
        """Average where cells are wide: the noise of a mean of w sums is about as wide as noise of rate γ√w."""
        sizes = np.diff(cells.starts, append=noisy.size).astype(np.float64)
        seen = np.add.reduceat(noisy, cells.starts) / sizes
        return cls(seen, np.add.reduceat(cells.sums, cells.starts) / sizes[:, np.newaxis], rate * np.sqrt(sizes))

    def value(self, logs: Floats) -> float:
        """Return the log-likelihood, up to a constant."""
        if logs.max(initial=0) > LARGEST_LOG:
            return -np.inf
        far = np.hypot(self._seen - self._sums @ rates_at(logs), self._rounding)
        return -float(self._rates @ (far - self._rounding))

    def curvature(self, logs: Floats) -> Curvature:
        """Return it with its gradient and the curvature of the parabola that touches it from below."""
        bins = rates_at(logs)
        missing = self._seen - self._sums @ bins
        far = np.hypot(missing, self._rounding)
        steps = self._sums * bins
        weights = self._rates / far
        return Curvature(
            -float(self._rates @ (far - self._rounding)),
            np.asarray(steps.T @ (weights * missing)),
            np.asarray(steps.T @ (weights[:, np.newaxis] * steps)),
        )


def _isotonic_cells(noisy: Floats, cells: Cells) -> Floats:
    """Return the approximate size of the bins of each cell, from the nearest monotone sums."""
    rises = cells.sums[-1, 0] >= cells.sums[0, 0]
    fitted = -decreasing_fit(-noisy) if rises else decreasing_fit(noisy)
    sums = np.maximum(fitted, 0.0)
    bins = np.diff(sums, prepend=0) if rises else -np.diff(sums, append=0)
    first = np.concatenate(([0], np.cumsum(cells.widths).astype(np.int64)[:-1]))
    return np.asarray(np.add.reduceat(bins, first) / cells.widths)


def _bounds(bins: int) -> Ints:
    """Return where cells begin, and where the last one ends."""
    bounds = [*range(min(_ALONE, bins))]
    while not bounds or bounds[-1] < bins:
        last = bounds[-1] if bounds else 0
        bounds.append(min(bins, last + max(1, int(_WIDENING * last))) if bins else 0)
    return np.array(bounds, dtype=np.int64)


def _starts(bounds: Ints) -> Ints:
    """Return where groups of positions begin: at most a few in each cell."""
    return np.concatenate(
        [
            first + np.arange(0, last - first, -(-(last - first) // _PLACES))
            for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        ]
    )


def single_bounds(noisy: Floats, rate: float, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return bounds of φ_r = φ_{r+} − φ_{(r+1)+}, r = 1..θ: from two noisy sums, or from the bounds of both.

    It returns the narrower of the two; this choice is nearly independent of the location of the interval. Consecutive
    differences of ``noisy`` are φ_r plus two noises of rate γ, r = 1..θ − 1; ``low`` and ``high`` bound φ_{k+}, k =
    1..θ, each wrong in ``SINGLE_TAIL`` at most.
    """
    least = np.maximum(np.maximum(low, 0) - np.maximum(np.append(high[1:], 0), 0), 0)
    most = np.maximum(high, 0) - np.maximum(np.append(low[1:], 0), 0)
    reach = noise_quantile(rate, 2, 2 * SINGLE_TAIL)
    seen = np.append(noisy[:-1] - noisy[1:], 0.0)
    is_direct = 2 * reach < most - least
    is_direct[-1] = False
    return np.where(is_direct, seen - reach, least), np.where(is_direct, seen + reach, most)


def evidence_of(
    reaching: tuple[Floats, Floats],
    singles: tuple[Floats, Floats],
    *,
    items: tuple[int, int],
    zeros: tuple[float, float] | None = None,
) -> Evidence:
    """Return bounds of φ_{k+}, φ_r, the degree sum and φ_0 as evidence of a release: no node has more than θ edges.

    The bounds ``reaching`` must never increase.
    """
    none = None if zeros is None else (int(np.clip(zeros[0], 0, _MOST)), int(np.clip(zeros[1], 0, _MOST)))
    places = np.arange(1, reaching[0].size + 1)
    band, prevalences = (merge_steps(places, *map(whole, sides)) for sides in (reaching, singles))
    return Evidence(KPlusBand(*band), prevalences=PrevalenceBand(*prevalences), zeros=none, items=items)
