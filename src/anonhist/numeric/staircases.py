"""Falling step functions of counts, such as φ_{k+}: sparse, so work follows the number of steps and not of counts.

Only operations that IEEE 754 rounds in one way are used, each on all numbers in turn, so all machines agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonhist.numeric.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Staircase:
    """A function that is ``heights[i]`` for ``ends[i−1] < k ≤ ends[i]``, ends_{−1} = 0, and 0 beyond the last end."""

    ends: Ints
    heights: Floats

    def at(self, k: Ints) -> Floats:
        """Return its values at counts k ≥ 1."""
        return np.append(self.heights, 0.0)[np.searchsorted(self.ends, k)]

    def on(self, ends: Ints) -> Staircase:
        """Return the function with these ends, which must include all of its own below the last of them."""
        return Staircase(ends, self.at(ends))

    def with_value(self, k: int, value: float) -> Staircase:
        """Return the function with another value at one count."""
        ends = np.union1d(self.ends, np.array([k - 1, k])[int(k == 1) :])
        heights = self.at(ends)
        heights[np.searchsorted(ends, k)] = value
        return Staircase(ends, heights)

    def joined(self) -> Staircase:
        """Return the function without steps of no height."""
        kept = self.heights != np.append(self.heights[1:], 0.0)
        return Staircase(self.ends[kept], self.heights[kept])

    def widths(self) -> Ints:
        """Return the number of counts of each step."""
        return np.diff(self.ends, prepend=0)

    def area(self) -> int:
        """Return ``Σ_k`` of a function with whole values, below 2⁶³."""
        return int(self.widths() @ self.heights.astype(np.int64))


def above_all(curves: Sequence[Staircase]) -> Staircase:
    """Return the least function that is nowhere below any of these falling ones."""
    if not curves:
        return Staircase(np.zeros(0, dtype=np.int64), np.zeros(0))
    ends, heights = (np.concatenate(each) for each in zip(*((each.ends, each.heights) for each in curves), strict=True))
    order = np.argsort(ends, kind="stable")[::-1]
    highest = np.maximum.accumulate(heights[order])
    # Of equal ends, the last one has seen all others.
    last = np.append(ends[order][1:] != ends[order][:-1], True) if ends.size else np.zeros(0, dtype=np.bool_)
    return Staircase(ends[order][last][::-1], highest[last][::-1]).joined()


def lower_of(one: Staircase, other: Staircase) -> Staircase:
    """Return the smaller of two functions at each count."""
    ends = np.union1d(one.ends, other.ends)
    return Staircase(ends, np.minimum(one.at(ends), other.at(ends))).joined()


def within(curve: Staircase, least: Staircase, most: Staircase | None) -> Staircase:
    """Return a function moved between two bounds, ``least ≤ most``."""
    ends = np.union1d(np.union1d(curve.ends, least.ends), curve.ends if most is None else most.ends)
    heights = np.maximum(curve.at(ends), least.at(ends))
    return Staircase(ends, heights if most is None else np.minimum(heights, most.at(ends))).joined()


def falling_start(curve: Staircase) -> Staircase:
    """Return the nearest falling function in ℓ2, if only the first value of a falling one was lowered."""
    heights, widths = curve.heights.copy(), curve.widths()
    if heights.size < 2 or heights[0] >= heights[1]:
        return curve
    total, width, number = float(heights[0]) * int(widths[0]), int(widths[0]), 1
    while number < heights.size and total / width < heights[number]:
        total += float(heights[number]) * int(widths[number])
        width += int(widths[number])
        number += 1
    heights[:number] = total / width
    return Staircase(curve.ends, heights).joined()


def spliced(low: Staircase, high: Staircase, area: int) -> Staircase:
    """Return a falling function between two falling ones of whole values, with a given area between theirs.

    It is ``high`` up to some count and ``low`` beyond it, with a value between the two at one count.
    """
    ends = np.union1d(low.ends, high.ends)
    lows, highs = (each.at(ends).astype(np.int64) for each in (low, high))
    widths = np.diff(ends, prepend=0)
    gained = np.cumsum(widths * (highs - lows))
    left = area - int(widths @ lows)
    step = int(np.searchsorted(gained, left))
    if left <= 0 or step == ends.size:
        return (low if left <= 0 else high).joined()
    left -= int(gained[step - 1]) if step else 0
    whole, rest = divmod(left, int(highs[step] - lows[step]))
    first = int(ends[step] - widths[step])
    more = np.array([first + whole, first + whole + 1])[: 1 + int(rest > 0)]
    cut = np.union1d(ends, more[more > 0])
    values = np.where(cut <= first + whole, high.at(cut), low.at(cut))
    if rest:
        values[np.searchsorted(cut, first + whole + 1)] += rest
    return Staircase(cut, values).joined()
