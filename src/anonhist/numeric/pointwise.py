"""Logarithms and exponentials of arrays, one number at a time: what one comes to does not depend on the others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def log(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln x for each x > 0.

    NumPy's own logarithm may round the last digit of a number differently at different places of an array, because the
    processor takes most of them several at a time and the rest one by one. Where weights of private counts are
    computed a number must come to the same everywhere.

    Examples
    --------
    >>> log(np.array([1.0, 4.0])).tolist() == [0.0, math.log(4)]
    True
    """
    return _each(math.log, x)


def log1p(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln(1 + x) for each x > −1."""
    return _each(math.log1p, x)


def exp(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e^x for each x up to 709, minus infinity among them."""
    return _each(math.exp, x)


def expm1(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e^x − 1 for each x up to 709, minus infinity among them."""
    return _each(math.expm1, x)


def _each(function: Callable[[float], float], x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)
