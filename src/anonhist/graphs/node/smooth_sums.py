"""Sums of bins estimated from noisy ones: the degree distribution is assumed smooth when noise dominates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric.isotonic_regression import decreasing_fit
from anonhist.numeric.read_only import read_only
from anonhist.numeric.smooth_fit import LARGEST_LOG, Curvature, rates_at, smooth_fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Bins stand alone up to here; from here on a cell is wider than the one before by this share.
_ALONE, _WIDENING = 16, 0.12
# Of a cell, the sums at so many places are looked at: the means of what lies between them.
_PLACES = 4
# A Laplace distribution has an edge in the middle, at which no climb ends; it is rounded off within this share of its
# width.
_ROUNDING = 0.5
# Initial share of every bin: none starts at zero.
_SHARE = 1e-3


@dataclass(frozen=True, eq=False)
class Cells:
    """Bins merged into cells, and the cells in each sum.

    Attributes
    ----------
    sums
        How many bins of each cell are in the sum at each place, shape (bins, cells).
    widths
        How many bins a cell has, shape (cells,).
    starts
        Where each group of places begins whose mean is looked at, shape (rows,).
    """

    sums: NDArray[np.float64]
    widths: NDArray[np.float64]
    starts: NDArray[np.int64]

    def __post_init__(self) -> None:
        for array in (self.sums, self.widths, self.starts):
            read_only(array)


# A fit takes some hundred steps, with a matrix of some hundred rows and columns.
WORK_OF_FIT = 2**19


@lru_cache(maxsize=4)
def cells_from_below(bins: int) -> Cells:
    """Return cells for sums ``Σ_{j≤i} bin_j``, i = 0..bins − 1.

    Examples
    --------
    >>> cells_from_below(3).sums.tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    """
    bounds = _bounds(bins)
    widths = np.diff(bounds)
    sums = np.clip(np.arange(1, bins + 1)[:, np.newaxis] - bounds[:-1], 0, widths)
    return Cells(sums.astype(np.float64), widths.astype(np.float64), _starts(bounds))


@lru_cache(maxsize=4)
def cells_from_above(bins: int) -> Cells:
    """Return cells for sums ``Σ_{j≥i} bin_j``, i = 0..bins − 1; the last bin stands alone: caps gather nodes there.

    Examples
    --------
    >>> cells_from_above(3).sums.tolist()
    [[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]
    """
    bounds = np.append(_bounds(bins - 1), bins)
    widths = np.diff(bounds)
    sums = np.clip(bounds[1:] - np.arange(bins)[:, np.newaxis], 0, widths)
    return Cells(sums.astype(np.float64), widths.astype(np.float64), _starts(bounds))


def smooth_sums(noisy: NDArray[np.float64], rate: float, cells: Cells, *, labels: float) -> NDArray[np.float64]:
    """Return estimates of sums of bins, given noisy ones.

    Noise is two-sided geometric, ``P(j) ∝ e^(−γ|j|)``. Logarithms of the bins are fitted as
    :func:`~anonhist.numeric.smooth_fit.smooth_fit` says: smooth, unless the sums say otherwise. Post-processing; it is
    deterministic.

    Parameters
    ----------
    noisy
        Shape (bins,), finite.
    rate
        γ > 0.
    cells
        Which bins each sum is of.
    labels
        About how many labels there are in all, > 0.

    Returns
    -------
    ndarray of float64, shape (bins,)

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> bins = 1e4 * 0.9 ** np.arange(50)
    >>> noisy = bins.cumsum() + rng.laplace(scale=200, size=50)
    >>> fitted = smooth_sums(noisy, 1 / 200, cells_from_below(50), labels=1e5)
    >>> bool(np.abs(fitted - bins.cumsum()).mean() < np.abs(noisy - bins.cumsum()).mean() / 2)
    True
    """
    start = _isotonic_cells(noisy, cells)
    most = max(labels, 1.0)
    even = np.full(start.size, np.log(most / cells.widths.sum()))
    rough = np.log(np.maximum(start, 0.0) + _SHARE * (most / cells.widths.sum() + 1))
    return np.asarray(cells.sums @ smooth_fit(_NoisySums.of(noisy, rate, cells), even, rough).rates)


class _NoisySums:
    """What noisy sums say of logarithms of bins: ``−Σ_i γ_i·ρ(y_i − (J e^u)_i)``, ρ(r) ≈ |r|, its edge rounded off."""

    def __init__(self, seen: NDArray[np.float64], sums: NDArray[np.float64], rates: NDArray[np.float64]) -> None:
        self._seen, self._sums, self._rates = seen, sums, rates
        self._rounding = _ROUNDING / rates

    @classmethod
    def of(cls, noisy: NDArray[np.float64], rate: float, cells: Cells) -> _NoisySums:
        """Take means where cells are wide: w of them have a noise as wide as one of rate γ√w."""
        sizes = np.diff(cells.starts, append=noisy.size).astype(np.float64)
        seen = np.add.reduceat(noisy, cells.starts) / sizes
        return cls(seen, np.add.reduceat(cells.sums, cells.starts) / sizes[:, np.newaxis], rate * np.sqrt(sizes))

    def value(self, logs: NDArray[np.float64]) -> float:
        """Return the log-likelihood, up to a constant."""
        if logs.max(initial=0) > LARGEST_LOG:
            return -np.inf
        far = np.hypot(self._seen - self._sums @ rates_at(logs), self._rounding)
        return -float(self._rates @ (far - self._rounding))

    def curvature(self, logs: NDArray[np.float64]) -> Curvature:
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


def _isotonic_cells(noisy: NDArray[np.float64], cells: Cells) -> NDArray[np.float64]:
    """Return the approximate size of the bins of each cell, from the nearest monotone sums."""
    rises = cells.sums[-1, 0] >= cells.sums[0, 0]
    fitted = -decreasing_fit(-noisy) if rises else decreasing_fit(noisy)
    sums = np.maximum(fitted, 0.0)
    bins = np.diff(sums, prepend=0) if rises else -np.diff(sums, append=0)
    first = np.concatenate(([0], np.cumsum(cells.widths).astype(np.int64)[:-1]))
    return np.asarray(np.add.reduceat(bins, first) / cells.widths)


def _bounds(bins: int) -> NDArray[np.int64]:
    """Return where cells begin, and where the last ends."""
    bounds = [*range(min(_ALONE, bins))]
    while not bounds or bounds[-1] < bins:
        last = bounds[-1] if bounds else 0
        bounds.append(min(bins, last + max(1, int(_WIDENING * last))) if bins else 0)
    return np.array(bounds, dtype=np.int64)


def _starts(bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where groups of places begin: at most some in each cell."""
    return np.concatenate(
        [
            first + np.arange(0, last - first, -(-(last - first) // _PLACES))
            for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        ]
    )
