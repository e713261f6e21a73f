"""Falling factorials of any real order, ``x^(q) = Γ(x+1)/Γ(x−q+1)``, accurate for counts of any size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# From here on, Stirling's series with the terms below is exact to the last digit.
_LARGE = 16
# B_2m/(2m(2m−1)), the coefficients of 1/x, 1/x³, 1/x⁵, …
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def log_rise(x: NDArray[np.float64], shift: float) -> NDArray[np.float64]:
    """Return ``ln(Γ(x+s)/Γ(x))/s``, which is ψ(x) for s = 0.

    By Stirling's series, written so that nothing cancels for large x or small s; for x below 16, by recurrence.

    Parameters
    ----------
    x
        > 0, with x + s > 0.
    shift
        s.

    Examples
    --------
    >>> np.exp(2 * log_rise(np.array([3.0]), 2.0)).round(9).tolist()  # 3·4
    [12.0]
    """
    steps = np.maximum(np.ceil(_LARGE + max(-shift, 0.0) - x), 0.0)
    total = _log_rise_of_large(x + steps, shift)
    small = np.flatnonzero(steps)
    if small.size:
        step, most = np.arange(steps.max()), steps[small, np.newaxis]
        each = at_zero(np.log1p, shift, 1 / (x[small, np.newaxis] + step))
        total[small] -= np.where(step < most, each, 0.0).sum(axis=1)
    return total


def _log_rise_of_large(x: NDArray[np.float64], shift: float) -> NDArray[np.float64]:
    inverse = 1 / x
    growth = at_zero(np.log1p, shift, inverse)
    total = (x - 0.5) * growth + np.log(x + shift) - 1.0
    power, square = inverse, inverse**2
    for index, coefficient in enumerate(_STIRLING):
        total += coefficient * power * at_zero(np.expm1, shift, -(2 * index + 1) * growth)
        power = power * square
    return total


def at_zero(function: np.ufunc, shift: float, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``f(s·x)/s`` for a function with f(0) = 0 and f'(0) = 1; its limit x if s is 0.

    Examples
    --------
    >>> at_zero(np.expm1, 0.0, np.array([2.0])).tolist()
    [2.0]
    """
    return np.asarray(function(shift * x) / shift) if shift else x


def falling_share(counts: NDArray[np.int64], n: int, order: float) -> NDArray[np.float64]:
    """Return ``x^(q)/n^(q) = Π_{y=x+1}^n (y−q)/y`` for counts x ≥ 0, also beyond n.

    For whole orders it is 0 for x < q, otherwise the probability that q items drawn without replacement are all among
    x. For other orders it may be negative for x < q.

    Parameters
    ----------
    order
        q, from 0 to n.

    Examples
    --------
    >>> falling_share(np.array([0, 1, 2, 4]), 5, 2.0).round(12).tolist()
    [0.0, 0.0, 0.1, 0.6]
    """
    if order.is_integer():
        shares = np.ones(counts.shape)
        for step in range(int(order)):
            shares *= np.maximum(counts - step, 0) / float(n - step)
        return shares
    # Below the first whole number past q factors change sign, so step down from there.
    first = math.ceil(order)
    shift = 1.0 - order
    large = np.maximum(counts, first).astype(np.float64)
    shares = large / n * np.exp(shift * (log_rise(np.array([float(n)]), shift) - log_rise(large, shift)))
    below = np.cumprod([(y - order) / y for y in range(first, 0, -1)])
    return np.where(counts < first, shares * below[np.clip(first - 1 - counts, 0, first - 1)], shares)


def least_share(n: int, order: float) -> float:
    """Return ``1/C(n, q)``, the share of a count of q: for whole orders, the least value above 0.

    Examples
    --------
    >>> round(1 / least_share(10, 3.0), 9)
    120.0
    """
    shift = 1.0 - order
    rise = float(log_rise(np.array([float(n)]), shift)[0])
    return math.exp(math.lgamma(order + 1) + shift * rise) / n
