"""Whole weights of counts: noise is added to whole numbers, and sensitivities are exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import mul
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.linear import LinearStatistic

# Every label is off by half a step of the grid at most; n times that must be little beside the noise.
FINEST = 2.0**34
# Whole weights, and their differences, stay inside int64.
_LARGEST = 2.0**60
# Products of whole numbers below this stay there, too.
_HALF = 2**31
# Weights are computed at counts of so many binary digits, followed by zeros: at all up to 2,048, and further on at
# counts that differ by a share of 2^−10 at most. In between, x·ln x is off by 2^−23 of x.
DIGITS = 11


@dataclass(frozen=True, eq=False)
class WholeWeights:
    """``F = Σ_j (W(j) − W(0))·φ_j`` with whole weights W, ``W(j)·grid ≈ w(min(j, n))``: linear in every profile.

    W is computed from w at the *knots*, once. Between two of them, K and K', it is defined by whole numbers alone:
    ``W(j) = W(K) + ⌊(j − K)·(W(K') − W(K))/(K' − K)⌋``. So W(j) depends on j, n and w, never on the profile or on which
    other counts there are, and every step of W is known exactly, whatever rounding did to the weights at the knots.

    Attributes
    ----------
    items
        n, ≥ 1: public, or released before. Counts beyond it weigh as much as n.
    grid
        A power of two.
    knots : ndarray of int64
        Counts from 0 to n, rising: all up to 2,048 and to the head of the statistic, then 1,024 from each power of two
        to the next, and the kinks of the statistic.
    at_knots : ndarray of int64
        W there.
    lowest, highest
        The least and the largest step ``D(j) = W(j + 1) − W(j)``, 0 ≤ j < n.
    alphabet_size
        k, where ``w(0)`` is not 0.

    Examples
    --------
    >>> from anonhist.properties.linear import LinearStatistic
    >>> seen = WholeWeights.of(LinearStatistic(lambda counts: (counts > 0) * 1.0, head=1), 1000)
    >>> seen.grid, seen.sensitivity_to_replacing / seen.highest
    (5.820766091346741e-11, 1.0)
    """

    items: int
    grid: float
    knots: NDArray[np.int64]
    at_knots: NDArray[np.int64]
    lowest: int
    highest: int
    alphabet_size: int | None = None

    @classmethod
    def of(
        cls, statistic: LinearStatistic, items: int, *, fineness: float = FINEST, digits: int = DIGITS
    ) -> WholeWeights:
        """Put the weights on a grid: their steps, with 0, span from ``fineness`` to twice as many multiples of it.

        F is off by n/2 multiples at most for n labels: a share ``n/(2·fineness)`` of the sensitivity. The grid is
        coarser where the largest weight would be more than 2^60 multiples.

        Parameters
        ----------
        statistic
            The weights w.
        items
            n.
        fineness
            How fine the grid is, > 0.
        digits
            Binary digits of the knots: fewer are faster, and predict sensitivities well enough.
        """
        knots = _knots(statistic, items, digits)
        weights = np.asarray(statistic.weights(knots), dtype=np.float64)
        # Counts beyond n change nothing, which is a step, too.
        lengths = np.diff(knots)
        slopes = np.append(np.diff(weights) / lengths, 0.0)
        span, largest = float(slopes.max() - slopes.min()), float(np.abs(weights).max())
        grid = 2.0 ** math.floor(math.log2(span / fineness)) if span > 0 else 1.0
        grid = max(grid, 2.0 ** math.ceil(math.log2(max(largest, 1e-300) / _LARGEST)))
        at_knots = np.rint(weights / grid).astype(np.int64)
        rises = np.diff(at_knots)
        # Where a rise is no multiple of the length, steps are the whole numbers below and above their quotient.
        lowest, highest = np.floor_divide(rises, lengths), -np.floor_divide(-rises, lengths)
        return cls(items, grid, knots, at_knots, int(lowest.min()), int(highest.max()), statistic.alphabet_size)

    def value(self, profile: Profile) -> int:
        """Return F, exactly, in O(t·log n)."""
        counts = np.minimum(profile.counts, self.items)
        # The last knot ends an interval and begins none.
        left = np.searchsorted(self.knots[:-1], counts, side="right") - 1
        start, offsets = self.at_knots[left], counts - self.knots[left]
        lengths = self.knots[left + 1] - self.knots[left]
        steps, rest = np.divmod(self.at_knots[left + 1] - start, lengths)
        # Python's whole numbers where products may go beyond 64 bits, which follows from n.
        kind = np.int64 if int(np.diff(self.knots).max()) < _HALF else object
        more = offsets.astype(kind) * rest.astype(kind) // lengths
        weights = start - self.at_knots[0] + offsets * steps + more
        return sum(map(mul, weights.tolist(), profile.prevalences.tolist()))

    @property
    def unseen_weight(self) -> int:
        """``k·W(0)``, what F leaves out and everybody knows; 0 without an alphabet."""
        return 0 if self.alphabet_size is None else self.alphabet_size * int(self.at_knots[0])

    @property
    def sensitivity_to_replacing(self) -> int:
        """Largest change of F when one of n items is replaced by another.

        A label of count a rises while another falls from b + 1 to b: ``|D(a) − D(b)|`` with ``a + b ≤ n − 1``. Exact
        where every count is a knot; else the bound on sums is dropped.
        """
        if self.knots.size <= self.items:
            return self.highest - self.lowest
        steps = np.diff(self.at_knots)
        # The largest step up to n − 1 − a, for a = 0, 1, …; the other sign is the same pair the other way round.
        partners = np.maximum.accumulate(steps)[::-1]
        return int((partners - steps).max())

    @property
    def middle(self) -> int:
        """C, half-way between the largest and the smallest step, 0 among them: of counts beyond n."""
        return (min(self.lowest, 0) + max(self.highest, 0)) // 2

    @property
    def sensitivity_to_adding(self) -> int:
        """Largest change of ``F − C·n'`` when an item is added or removed, n' the number of items of a profile."""
        return max(max(self.highest, 0) - self.middle, self.middle - min(self.lowest, 0))


def _knots(statistic: LinearStatistic, items: int, digits: int) -> NDArray[np.int64]:
    """Return the counts that weights are computed at: whole numbers that follow from public ones."""
    every = np.arange(min(items, max(2**digits, statistic.head)) + 1)
    shifts = np.arange(1, max(items.bit_length() - digits, 0) + 1)
    spread = np.left_shift(np.arange(2 ** (digits - 1), 2**digits), shifts[:, None]).ravel()
    others = np.array([items, *(min(kink, items) for kink in statistic.kinks)], dtype=np.int64)
    found = np.sort(np.concatenate((every, spread, others)))
    return np.asarray(found[(found <= items) & np.append(True, np.diff(found) > 0)])
