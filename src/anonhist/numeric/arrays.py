"""Arrays: read-only arrays, differences, bounds of falling sequences, and logarithms that agree on all machines.

NumPy's own logarithms and exponentials may round the last digit differently at different positions of an array:
processors handle several numbers at a time and the rest one by one, and libraries differ. The functions here use only
operations that IEEE 754 rounds in one way (plus, minus, times, divided by, powers of two), each on all numbers in turn,
so the result for a number depends on that number alone. Errors are at most 3·2⁻⁵³ of the result; formulas as in fdlibm
(Sun, 1993).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


Array = TypeVar("Array", bound=np.ndarray[Any, Any])


def read_only(array: Array) -> Array:
    """Make an array that a cache or several threads share read-only, and return it."""
    array.setflags(write=False)
    return array


def rises(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the difference between each value and the one before it: a faster ``np.diff(values, prepend=0)``."""
    found = values.copy()
    found[1:] -= values[:-1]
    return found


def sum_equal(values: NDArray[np.int64], numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct values, ascending, and the sum of the numbers of each."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    if not ordered.size:
        return ordered, numbers[order]
    first = np.flatnonzero(np.append(np.True_, ordered[1:] != ordered[:-1]))
    return ordered[first], np.add.reduceat(numbers[order], first)


def widen_to_falling(lows: NDArray[Any], highs: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Widen bounds of non-increasing sequences (rows) until they are non-increasing themselves.

    An upper bound also holds for all later values, and a lower bound for all earlier ones. Taking the narrowest bound
    instead would be wrong too often.
    """
    highs = np.maximum.accumulate(highs[..., ::-1], axis=-1)[..., ::-1]
    return np.minimum(np.minimum.accumulate(lows, axis=-1), highs), highs


# ln 2 in two parts, the first with so few digits that its whole multiples are exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Coefficients of 2·artanh(s)/s − 2 as a polynomial in s², s² < 0.03, and of (e^r − 1 − r)/r² in r, |r| < 0.35: further
# terms are below the last digit.
_ARTANH = [2 / (2 * term + 1) for term in range(1, 13)]
_EXPONENTIAL = [1 / math.factorial(term) for term in range(2, 17)]
# The exponential of anything smaller is 0.
_LEAST = -800.0


def log(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln x for each x > 0."""
    mantissa, exponent = _split(x)
    return _of_parts(mantissa - 1.0, exponent, 0.0)


def log1p(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln(1 + x) for each x > −1, accurate however close x is to 0."""
    whole = 1.0 + x
    mantissa, exponent = _split(whole)
    # The rounding error of 1 + x; if the exponent is zero, x itself is used instead.
    lost = np.where(x < 1.0, x - (whole - 1.0), 1.0 - (whole - x)) / whole
    near = exponent == 0
    return _of_parts(np.where(near, x, mantissa - 1.0), exponent, np.where(near, 0.0, lost))


def exp(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e^x for each x up to 709, including minus infinity."""
    rest, exponent = _reduce(x)
    return np.asarray(np.ldexp(1.0 + rest, exponent))


def expm1(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e^x − 1 for each x up to 709, including minus infinity, accurate however close x is to 0."""
    rest, exponent = _reduce(x)
    return np.asarray(np.ldexp(rest, exponent) + (np.ldexp(1.0, exponent) - 1.0))


def _split(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return m from 0.7 to 1.42 and k with ``x = m·2^k``, exactly."""
    mantissa, exponent = np.frexp(x)
    is_small = mantissa < math.sqrt(0.5)
    return np.where(is_small, 2.0 * mantissa, mantissa), exponent.astype(np.int64) - is_small


def _of_parts(
    f: NDArray[np.float64], exponent: NDArray[np.int64], lost: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Return ``ln(1 + f) + k·ln 2 + lost``: with s = f/(2 + f), ``ln(1 + f) = 2·artanh(s) = f − s·f + …``."""
    s, half = f / (2.0 + f), 0.5 * f * f
    square = s * s
    more = s * (half + square * _polynomial(_ARTANH, square))
    return np.asarray(exponent * _LN2_HIGH - ((half - (more + (exponent * _LN2_LOW + lost))) - f))


def _reduce(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return ``e^r − 1`` and k with ``x = r + k·ln 2``, |r| at most half of ln 2."""
    x = np.maximum(x, _LEAST)
    exponent = np.rint(x / math.log(2))
    high, low = x - exponent * _LN2_HIGH, exponent * _LN2_LOW
    r = high - low
    rest = r + r * r * _polynomial(_EXPONENTIAL, r)
    return rest + ((high - r) - low) * (1.0 + rest), exponent.astype(np.int32)


def _polynomial(coefficients: Sequence[float], x: NDArray[np.float64]) -> NDArray[np.float64]:
    total = np.full(x.shape, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total *= x
        total += coefficient
    return total
