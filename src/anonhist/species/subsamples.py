"""Counts in a part of a sample: hypergeometric probabilities, precise for any size of the sample."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats, Ints

# Up to this number, factorials are taken as they are; beyond, by Stirling's series.
_SMALL = 16.0
# Deviations of at most this share are summed as a series, to so many terms.
_NEAR, _TERMS = 0.1, 9
# From this count on, 1 + (r − 1)·ln(1 − 1/r) is a series.
_MANY = 1_000.0
# The difference of these logarithms of factorials is precise where samples are small, and the size need not be whole.
_FEW = 100_000
_NEVER = -1e4
_TINY = 1e-300


def log_probability(size: int, part: float, counts: Ints, found: Ints) -> Floats:
    """Return the logarithms of ``C(r, k)·C(n − r, m − k)/C(n, m)``.

    It is the probability that a species with a count of r among n draws has a count of k among m of these. With the
    four numbers x of the table (k, r − k, m − k, n − r − m + k), their expected values M for independent rows and
    columns, and the margins y (r, n − r, m, n − m), it is ``Σ_y s(y) − s(n) − Σ_x (s(x) + x·ln(x/M) − x + M)``, where
    ``s(x) = ln(x!) − x·ln(x) + x``. No term is a difference of large numbers, as logarithms of factorials would be.

    Parameters
    ----------
    size, part
        n and m, 0 ≤ m ≤ n.
    counts, found
        r and k, of the same shape; no number of the table may be negative.
    """
    r, k, rest = counts.astype(np.float64), found.astype(np.float64), size - part
    others = (size - counts).astype(np.float64)
    drawn, left = part / size, rest / size
    more = k - r * drawn
    margins = _stirling(r) + _stirling(others) + _stirling(np.array([float(part), float(rest)])).sum()
    cells = (
        _misfit(k, r * drawn, more)
        + _misfit(np.asarray(counts - found, dtype=np.float64), r * left, -more)
        + _misfit(np.asarray(part - found, dtype=np.float64), others * drawn, -more)
        + _misfit(np.asarray(rest - counts + found, dtype=np.float64), others * left, more)
    )
    logs: Floats = margins - _stirling(np.array([float(size)])) - cells
    return logs


def log_missed(size: int, part: float, counts: Ints) -> Floats:
    """Return the logarithms of ``C(n − r, m)/C(n, m)``, the probability that m of n draws miss a species of count r.

    Parameters
    ----------
    size, part
        n and m, from 0 to n; m need not be whole: factorials are gamma functions.
    counts
        r > −1, below n − m + 1.
    """
    if size <= _FEW:
        from scipy.special import gammaln

        r, n = counts.astype(np.float64), float(size)
        logs: Floats = gammaln(n - r + 1) - gammaln(n - r - part + 1) + gammaln(n - part + 1) - gammaln(n + 1)
        return logs
    logs = np.full(counts.shape, _NEVER)
    is_whole = counts <= size - part
    within = counts[is_whole]
    logs[is_whole] = log_probability(size, part, within, np.zeros_like(within))
    # Between n − m and n − m + 1, the probability is next to 0 unless few draws are left out.
    rest = size - part
    if not is_whole.all() and rest <= 1:
        logs[~is_whole] = math.log(rest / size) if rest else _NEVER
    return logs


def _stirling(x: Floats) -> Floats:
    """Return ``s(x) = ln(x!) − x·ln(x) + x``, 0 at 0."""
    from scipy.special import gammaln, xlogy

    big = np.maximum(x, _SMALL)
    inverse = 1 / big**2
    series = ((1 / 1680 * -inverse + 1 / 1260) * inverse - 1 / 360) * inverse + 1 / 12
    low = np.minimum(x, _SMALL)
    found: Floats = np.where(
        x > _SMALL, np.log(2 * math.pi * big) / 2 + series / big, gammaln(low + 1) - xlogy(low, low) + low
    )
    return found


def _misfit(x: Floats, expected: Floats, more: Floats) -> Floats:
    """Return ``s(x) + x·ln(x/M) − x + M``, with M expected and ``x − M`` precise where both are near each other."""
    from scipy.special import xlogy

    v = more / np.maximum(x + expected, _TINY)
    near = np.clip(v, -_NEAR, _NEAR)
    powers, total = np.ones_like(v), np.zeros_like(v)
    for term in range(1, _TERMS + 1):
        powers = powers * near**2
        total = total + powers / (2 * term + 1)
    series = more * v + 2 * x * near * total
    direct = xlogy(x, np.maximum(x, _TINY) / np.maximum(expected, _TINY)) - x + expected
    found: Floats = _stirling(x) + np.where(np.abs(v) < _NEAR, series, direct)
    return found


def expected_logarithms(size: int, part: int, counts: Ints) -> Floats:
    """Return ``E[K·ln(K)]`` for large means μ = r·m/n of the count K, by its central moments of order 2 to 4.

    It is ``μ·ln(μ) + V/(2μ) − M_3/(6μ²) + M_4/(12μ³)``, off by about 1/μ². With a = r/n, b = m/n, moments are
    ``V = n·a(1 − a)·b(1 − b)·n/(n − 1)``, ``M_3 = V·(1 − 2a)(1 − 2b)``, and ``M_4 = 3V²``, both to their leading order.
    """
    a, b = counts / size, part / size
    mean = counts * b
    spread = size * a * ((size - counts) / size) * b * ((size - part) / size) * (size / (size - 1))
    third, fourth = spread * (1 - 2 * a) * (1 - 2 * b), 3 * spread**2
    found: Floats = mean * np.log(mean) + spread / (2 * mean) - third / (6 * mean**2) + fourth / (12 * mean**3)
    return found


def last_rise(size: int, counts: Ints, prevalences: Ints, total: int) -> float:
    """Return ``ln D(n) − ln D(n − 1)`` at order 1, D(m) being the expected Hill number of m of n draws.

    With N the sum of all counts, it is ``ln(1 + y) − y + Σ_r f_r·r·(1 + (r − 1)·ln(1 − 1/r))/(N·(n − 1))`` with
    ``y = 1/(n − 1)``: no difference of nearly equal numbers.
    """
    r = counts.astype(np.float64)
    w = 1 / r
    series = w / 2 + w**2 / 6 + w**3 / 12 + w**4 / 20 + w**5 / 30
    low = np.minimum(r, _MANY)
    direct = 1 + (low - 1) * np.log1p(-1 / np.maximum(low, 1.5))
    each = np.where(r > _MANY, series, np.where(r > 1, direct, 1.0))
    y = 1 / (size - 1)
    rounding = math.log1p(y) - y if y > 1e-3 else y**2 * (-1 / 2 + y * (1 / 3 - y * (1 / 4 - y / 5)))
    return rounding + float((prevalences * r) @ each) / total / (size - 1)
