"""Logarithms of factorials without their large terms: the small rest keeps its digits for huge factorials."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TABLE = np.array([0.0] + [math.lgamma(x + 1) - x * math.log(x) + x for x in range(1, 16)])


def factorial_rest(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``ρ(x) = ln x! − x·ln x + x``, about ``ln(2πx)/2``, for whole x ≥ 0.

    Examples
    --------
    >>> factorial_rest(np.array([0.0, 1.0, 1e15])).round(6).tolist()
    [0.0, 1.0, 18.188327]
    """
    x = np.maximum(numbers, float(_TABLE.size))
    inverse = 1.0 / x
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    large = 0.5 * np.log(2 * math.pi * x) + series
    return np.where(numbers < _TABLE.size, _TABLE[np.minimum(numbers, _TABLE.size - 1).astype(np.int64)], large)


def log_ways(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``(a + b)·ln(a + b) − a·ln a − b·ln b``, the main part of ``ln((a + b)!/(a!·b!))``, for a ≥ 0 and b ≥ 1.

    Examples
    --------
    >>> log_ways(np.array([0.0, 1.0, 1e15]), np.array([1.0, 1.0, 1.0])).round(6).tolist()
    [0.0, 1.386294, 35.538776]
    """
    a = np.maximum(first, 0.5)  # the value at 0 is set below
    return np.where(first > 0, a * np.log1p(second / a) + second * np.log1p(a / second), 0.0)
