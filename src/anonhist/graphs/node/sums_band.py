"""Confidence intervals for the true φ_{k+} and φ_r, for all degrees, from noisy sums alone.

A smooth fit to noisy sums has an error of its own, which no simulation on the fit shows. The sums themselves are the
true ones plus noise of a known distribution, and φ_{1+} ≥ φ_{2+} ≥ …, so
:func:`~anonhist.mechanisms.basis.falling_band.falling_bounds` bounds them. Each of the two bounds is wrong in at most
2.5 % of releases. An interval of φ_r needs those of two sums, each wrong in 1.25 %.

All of this is about bounded degrees: no release shows what was left out by the bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.basis.noise_quantile import noise_quantile
from anonhist.releases import Evidence, KPlusBand, PrevalenceBand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Numbers = NDArray[np.float64]

TAIL, SINGLE_TAIL = 0.025, 0.0125
# More nodes than this cannot be counted.
_MOST = 2.0**62


def single_bounds(noisy: _Numbers, rate: float, low: _Numbers, high: _Numbers) -> tuple[_Numbers, _Numbers]:
    """Return bounds of φ_r = φ_{r+} − φ_{(r+1)+}, r = 1..θ: by two noisy sums, or by the bounds of both.

    The narrower of both, a choice nearly independent of where the interval lies.

    Parameters
    ----------
    noisy
        Numbers of which consecutive differences are φ_r with two noises, r = 1..θ − 1: shape (θ,).
    rate
        γ of the noise.
    low, high
        Bounds of φ_{k+}, k = 1..θ, each wrong in ``SINGLE_TAIL`` at most.

    Examples
    --------
    >>> low, high = single_bounds(np.array([9.0, 2.0]), 2.0, np.array([8.0, 1.0]), np.array([11.0, 4.0]))
    >>> low.tolist(), high.tolist()
    ([5.0, 1.0], [9.0, 4.0])
    """
    least = np.maximum(np.maximum(low, 0) - np.maximum(np.append(high[1:], 0), 0), 0)
    most = np.maximum(high, 0) - np.maximum(np.append(low[1:], 0), 0)
    reach = noise_quantile(rate, 2, 2 * SINGLE_TAIL)
    seen = np.append(noisy[:-1] - noisy[1:], 0.0)
    is_direct = 2 * reach < most - least
    is_direct[-1] = False
    return np.where(is_direct, seen - reach, least), np.where(is_direct, seen + reach, most)


def evidence_of(
    reaching: tuple[_Numbers, _Numbers],
    singles: tuple[_Numbers, _Numbers],
    *,
    zeros: tuple[float, float] | None = None,
) -> Evidence:
    """Return what a release keeps of bounds: no node has more than θ edges.

    Parameters
    ----------
    reaching
        Lower and upper bounds of φ_{k+}, k = 1..θ, never increasing.
    singles
        Those of φ_r, r = 1..θ.
    zeros
        Both of the number of nodes without an edge, where that is released.

    Examples
    --------
    >>> bounds = np.array([4.0, 4.0, -2.0]), np.array([6.0, 6.0, 1.0])
    >>> [ends.tolist() for ends in evidence_of(bounds, bounds).band.at([1, 2, 3, 4])]
    [[4, 4, 0, 0], [6, 6, 1, 0]]
    """
    none = None if zeros is None else (int(np.clip(zeros[0], 0, _MOST)), int(np.clip(zeros[1], 0, _MOST)))
    return Evidence(KPlusBand(*_steps(*reaching)), prevalences=PrevalenceBand(*_steps(*singles)), zeros=none)


def _steps(low: _Numbers, high: _Numbers) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return intervals at 1, 2, … as whole numbers, equal neighbors as one."""
    lows, highs = (np.clip(side, 0, _MOST).astype(np.int64) for side in (low, high))
    kept = np.ones(low.size, dtype=np.bool_)
    kept[:-1] = (np.diff(lows) != 0) | (np.diff(highs) != 0)
    return np.arange(1, low.size + 1)[kept], lows[kept], highs[kept]
