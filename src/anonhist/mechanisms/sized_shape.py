"""Public profiles of a given number of items and of labels, to plan with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.profiles import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    _Numbers = NDArray[np.float64]

# Bisections: each halves what is left of a range.
_STEPS = 50
# Added before rounding down, because a power may be less than a whole number by a rounding.
_NUDGE = 1e-9


def power_law_profile(items: int, labels: int) -> Profile:
    """Return a profile of so many items and labels: the k-th most frequent of L labels occurs ``⌊T/k^s⌋`` times.

    It is Zipf's law, s = 1, where that leaves no label out; T follows from the number of items. For fewer items s is
    less, and the last label occurs once: T = L^s, s = 0 for as many items as labels. What rounding leaves out, the most
    frequent label has.

    Parameters
    ----------
    items
        From ``labels`` to 10¹⁵.
    labels
        L ≥ 1.

    Raises
    ------
    UsageError
        If there are fewer items than labels.

    Examples
    --------
    >>> power_law_profile(27, 10)
    Profile(n=27, num_labels=10, {1: 5, 2: 2, 3: 1, 5: 1, 10: 1})
    >>> power_law_profile(30, 30), power_law_profile(600, 3)
    (Profile(n=30, num_labels=30, {1: 30}), Profile(n=600, num_labels=3, {109: 1, 164: 1, 327: 1}))
    """
    if not 1 <= labels <= items:
        raise UsageError("A number of labels must be at least 1, and at most that of items.")
    if _total(_power_law(labels, 1.0, float(labels))) <= items:
        low = _largest(float(labels), float(items), lambda top: _power_law(labels, 1.0, top), items)
        found = _power_law(labels, 1.0, low)
    else:
        low = _largest(0.0, 1.0, lambda exponent: _power_law(labels, exponent, labels**exponent), items)
        found = _power_law(labels, low, labels**low)
    prevalences: dict[int, int] = {}
    for count, number in zip(*(side.astype(np.int64).tolist() for side in found), strict=True):
        prevalences[count] = prevalences.get(count, 0) + number
    top = max(prevalences)
    left = items - sum(count * number for count, number in prevalences.items())
    prevalences[top] -= 1
    prevalences[top + left] = prevalences.get(top + left, 0) + 1
    return Profile.from_prevalences({count: number for count, number in prevalences.items() if number})


def _largest(low: float, high: float, shape: Callable[[float], tuple[_Numbers, _Numbers]], items: int) -> float:
    """Return about the largest number in a range whose shape has at most so many items."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _total(shape(middle)) <= items else (low, middle)
    return low


def _total(shape: tuple[_Numbers, _Numbers]) -> float:
    return float(np.dot(*shape))


def _power_law(labels: int, exponent: float, top: float) -> tuple[_Numbers, _Numbers]:
    """Return counts and how many labels have each: of the first labels one by one, then count by count.

    A count may come twice.
    """
    if not exponent:
        return np.ones(1), np.full(1, float(labels))
    # Counts differ before about this place, and are smaller than its number behind it.
    place = min(labels, math.ceil(top ** (1 / (exponent + 1))))
    first = np.floor(top / np.arange(1, place + 1) ** exponent + _NUDGE)
    counts = np.arange(1, first[-1] + 1) if place < labels else np.zeros(0)
    reaching = np.minimum(labels, np.floor((top / counts) ** (1 / exponent) + _NUDGE))
    reaching[:1] = labels  # whatever rounding says
    behind = np.maximum(reaching - place, 0)
    prevalences = behind - np.append(behind[1:], 0)[: behind.size]
    kept = prevalences > 0
    return np.concatenate((counts[kept], first)), np.concatenate((prevalences[kept], np.ones(place)))
