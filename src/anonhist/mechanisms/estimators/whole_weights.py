"""Weights as whole multiples of a public step: noise is added to whole numbers, and sensitivities are exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties import LinearStatistic

# Every label is off by half a step of the grid at most; n times that must be little beside the noise.
FINEST = 2.0**34
# Tables of whole weights stay inside int64.
_LARGEST = 2.0**60
# Up to this count weights are looked at one by one, and kept: the same count always has the same whole number.
_TABLE = 2**12
# Weights beyond the table are computed when a profile has such a count; each is right to this share of the largest.
_FLOAT_ERROR = 2.0**-45


@dataclass(frozen=True, eq=False)
class WholeWeights:
    """``F = Σ_j (W(j) − W(0))·φ_j``, W(j) whole with ``W(j)·grid ≈ w(min(j, n))``: linear in every profile there is.

    Everything here follows from the weights w and the number n, which are public, never from a profile.

    Attributes
    ----------
    statistic
        The weights w.
    items
        n, ≥ 1: public, or released before. Counts beyond it weigh as much as n.
    grid
        A power of two.
    table : ndarray of int64, shape (T + 1,)
        W(0..T); T = n where n is small.
    lowest, highest
        Whole numbers between which every step ``D(j) = W(j + 1) − W(j)``, 0 ≤ j < n, lies; the ends are reached if
        the table holds all steps.
    """

    statistic: LinearStatistic
    items: int
    grid: float
    table: NDArray[np.int64]
    lowest: int
    highest: int

    @classmethod
    def of(cls, statistic: LinearStatistic, items: int, *, fineness: float = FINEST) -> WholeWeights:
        """Put the weights on a grid: their steps, with 0, span from ``fineness`` to twice as many multiples of it.

        F is off by n/2 multiples at most for n labels: a share ``n/(2·fineness)`` of the sensitivity.

        Examples
        --------
        >>> from anonhist.properties import LinearStatistic
        >>> seen = WholeWeights.of(LinearStatistic(lambda counts: (counts > 0) * 1.0, head=1), 1000)
        >>> seen.grid, seen.replaced / seen.highest
        (5.820766091346741e-11, 1.0)
        """
        last = min(items, max(_TABLE, statistic.head))
        weights = np.asarray(statistic.weights(np.arange(last + 1)), dtype=np.float64)
        steps = np.diff(weights)
        ends, largest = np.zeros(0), float(np.abs(weights).max())
        if last < items:
            at = np.array([last, last + 1, items - 1, items], dtype=np.int64)
            at_ends = np.asarray(statistic.weights(at), dtype=np.float64)
            ends, largest = at_ends[1::2] - at_ends[::2], max(largest, float(np.abs(at_ends).max()))
        # Counts beyond n change nothing, which is a step, too.
        every = np.concatenate((steps, ends, np.zeros(1)))
        # Between the ends the weights bend one way, so they rise at most as fast as at one of the ends. What the ends
        # come to may itself be rounding: of large numbers of items neighbouring weights are the same float.
        steepest = float(np.abs(ends).max(initial=0.0)) + 2 * _FLOAT_ERROR * largest
        beyond = largest + (items - last) * steepest
        rounding = 4 * _FLOAT_ERROR * beyond if last < items else 0.0
        span = float(every.max() - every.min()) + 2 * rounding
        grid = 2.0 ** math.floor(math.log2(span / fineness)) if span > 0 else 1.0
        grid = max(grid, 2.0 ** math.ceil(math.log2(max(largest, 1e-300) / _LARGEST)))
        table = np.rint(weights / grid).astype(np.int64)
        whole = np.diff(table)
        lowest, highest = int(whole.min()), int(whole.max())
        if last < items:
            off = 2 + rounding / grid
            lowest = min(lowest, math.floor(float(ends.min()) / grid - off))
            highest = max(highest, math.ceil(float(ends.max()) / grid + off))
        return cls(statistic, items, grid, table, lowest, highest)

    def value(self, profile: Profile) -> int:
        """Return F, exactly, in O(t)."""
        counts = np.minimum(profile.counts, self.items)
        within = counts < self.table.size
        origin = int(self.table[0])
        whole = self.table[counts[within]].tolist()
        if not bool(within.all()):
            weights = np.asarray(self.statistic.weights(counts[~within]), dtype=np.float64)
            whole.extend(map(int, np.rint(weights / self.grid).tolist()))
        labels = [*profile.prevalences[within].tolist(), *profile.prevalences[~within].tolist()]
        return sum((weight - origin) * label for weight, label in zip(whole, labels, strict=True))

    @property
    def unseen(self) -> int:
        """``k·W(0)``, what F leaves out and everybody knows; 0 without an alphabet."""
        size = self.statistic.alphabet_size
        return 0 if size is None else size * int(self.table[0])

    @property
    def replaced(self) -> int:
        """Largest change of F when one of n items is exchanged for another.

        A label of count a rises while another falls from b + 1 to b: ``|D(a) − D(b)|`` with ``a + b ≤ n − 1``. Exact
        where the table holds all steps; beyond, the bound on sums is dropped.
        """
        if self.table.size <= self.items:
            return self.highest - self.lowest
        steps = np.diff(self.table)
        # The largest step up to n − 1 − a, for a = 0, 1, …; the other sign is the same pair the other way round.
        partners = np.maximum.accumulate(steps)[::-1]
        return int((partners - steps).max())

    @property
    def middle(self) -> int:
        """C, half-way between the largest and the smallest step, 0 among them: of counts beyond n."""
        return (min(self.lowest, 0) + max(self.highest, 0)) // 2

    @property
    def added(self) -> int:
        """Largest change of ``F − C·n'`` when an item is added or removed, n' the number of items of a profile."""
        return max(max(self.highest, 0) - self.middle, self.middle - min(self.lowest, 0))
