"""Counts and prevalences: whole numbers, checked once on input."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError, UsageError
from anonhist.numeric.arrays import read_only

MAX_ITEMS = 2**63 - 1


def whole_numbers(values: object, *, name: str) -> NDArray[np.int64]:
    """Return a fresh one-dimensional int64 array, or refuse everything except whole numbers inside int64.

    It refuses booleans, text, fractions, NaN, infinities, masked values, numbers beyond int64, floats of 2⁵³ or
    more (where floats skip whole numbers, so the intended count may be lost), and arrays that are not one-dimensional.
    """
    if type(values) is np.ndarray and values.dtype == np.int64 and values.ndim == 1:
        return values.copy()  # This is the common case, with the same result as the steps below.
    array = _array(values, name=name)
    if array.ndim != 1:
        raise DataError(f"The {name}s must be a one-dimensional list of whole numbers.")
    if not array.size:
        return np.zeros(0, dtype=np.int64)
    mask = getattr(array, "mask", None)
    if mask is not None and bool(np.any(mask)):
        raise DataError(f"No {name} may be masked: leave out what is missing.")
    kind = array.dtype.kind
    if kind == "f":
        whole = bool(np.all(np.isfinite(array)) and np.all(array == np.rint(array)))
        if whole and not bool(np.all(np.abs(array) < 2.0 ** min(53, np.finfo(array.dtype).nmant + 1))):
            raise DataError(f"A {name} this large is not exact as a float: give whole numbers as integers.")
    else:
        whole = kind == "i" or (kind == "u" and bool(array.max() <= MAX_ITEMS))
    if not whole:
        raise _not_whole(name)
    return np.array(array, dtype=np.int64)


def fixed_numbers(values: object, *, name: str) -> NDArray[np.int64]:
    """Return :func:`whole_numbers` as a read-only array."""
    return read_only(whole_numbers(values, name=name))


def whole_levels(values: ArrayLike) -> NDArray[np.int64]:
    """Return counts to look up as int64, any shape, or refuse what int64 would change.

    A rounded level would give the answer for another level.
    """
    array = np.asarray(values)
    if not array.size:
        return array.astype(np.int64)
    if array.dtype.kind == "i" or (array.dtype.kind == "u" and bool(array.max() <= MAX_ITEMS)):
        return array.astype(np.int64, copy=False)
    raise UsageError("Counts to look up must be whole numbers below 2^63.")


def _array(values: object, *, name: str) -> NDArray[Any]:
    array = values if isinstance(values, np.ndarray) else None
    if array is None and hasattr(values, "__array__"):
        array = np.asarray(values)
    if array is not None and (array.dtype != object or array.ndim != 1):
        return array
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise DataError(f"The {name}s must be a one-dimensional list of whole numbers.")
    listed = list(values) if array is None else array.tolist()
    kinds = set(map(type, listed))
    # In Python bool is an int, and in NumPy a time span is an integer.
    if any(
        issubclass(kind, bool | np.timedelta64) or not issubclass(kind, int | float | np.integer | np.floating)
        for kind in kinds
    ):
        raise _not_whole(name)
    if len(kinds) > 1:
        # NumPy would choose one type for all: it would round [2**53 + 1, 2.0] to floats, and widen short floats.
        numbers = np.empty(len(listed), dtype=np.int64)
        for kind in kinds:
            is_such = np.array([type(value) is kind for value in listed])
            numbers[is_such] = whole_numbers([value for value in listed if type(value) is kind], name=name)
        return numbers
    is_float = any(issubclass(kind, float | np.floating) for kind in kinds)
    try:
        return np.array(listed) if is_float else np.array(listed, dtype=np.int64)
    except OverflowError:
        raise _not_whole(name) from None


def _not_whole(name: str) -> DataError:
    return DataError(f"Each {name} must be a whole number below 2^63; fractions, NaN, text and truth values are not.")
