"""Whole weights of counts: noise is added to whole numbers, and sensitivities are exact."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from operator import mul

import numpy as np

from anonhist.numeric.arrays import Floats, Ints
from anonhist.profiles import Profile
from anonhist.properties.estimator import LinearStatistic
from anonhist.properties.sampling import Assemblage, SampleDistribution

# Every label is off by at most half a step of the grid; n times this must be small compared to the noise.
FINEST = 2.0**34
# Whole weights and their differences fit in int64.
_LARGEST = 2.0**60
# Products of whole numbers below this fit in int64.
_HALF = 2**31
# Weights are computed at counts with this many binary digits, followed by zeros: at all counts up to 2,048, and beyond
# that at counts that differ by a share of at most 2⁻¹⁰. In between, x·ln x has an error of 2⁻²³ of x.
DIGITS = 11


@dataclass(frozen=True, eq=False)
class WholeWeights:
    """``F = Σ_j (W(j) − W(0))·φ_j`` with whole weights W, ``W(j)·grid ≈ w(min(j, n))``: linear in every profile.

    W is computed from w at the *knots*, once. Between two of them, K and K', it is defined by whole numbers alone:
    ``W(j) = W(K) + ⌊(j − K)·(W(K') − W(K))/(K' − K)⌋``. So W(j) depends on j, n and w, never on the profile or its
    other counts, and every step of W is known exactly, however the weights at the knots were rounded.

    The knots are counts from 0 to n: all up to 2,048 and to the head of the statistic, then 1,024 from each power of
    two to the next, and the kinks of the statistic. Counts beyond n have the weight of n. ``grid`` is a power of two;
    ``lowest`` and ``highest`` are the least and the largest step ``D(j) = W(j + 1) − W(j)``, 0 ≤ j < n;
    ``alphabet_size`` is k, if ``w(0)`` is not 0.
    """

    items: int
    grid: float
    knots: Ints
    at_knots: Ints
    lowest: int
    highest: int
    alphabet_size: int | None = None

    @classmethod
    def of(
        cls, statistic: LinearStatistic, items: int, *, fineness: float = FINEST, digits: int = DIGITS
    ) -> WholeWeights:
        """Put the weights on a grid: their steps, with 0, span between ``fineness`` and twice as many multiples of it.

        For n labels, F is off by at most n/2 multiples: a share ``n/(2·fineness)`` of the sensitivity. The grid is
        coarser if the largest weight would exceed 2⁶⁰ multiples. Fewer binary ``digits`` of the knots are faster, and
        accurate enough to predict sensitivities.
        """
        knots = _knots(statistic, items, digits)
        weights = np.asarray(statistic.weights(knots), dtype=np.float64)
        # Beyond n, the step is zero.
        lengths = np.diff(knots)
        slopes = np.append(np.diff(weights) / lengths, 0.0)
        span, largest = float(slopes.max() - slopes.min()), float(np.abs(weights).max())
        grid = 2.0 ** math.floor(math.log2(span / fineness)) if span > 0 else 1.0
        grid = max(grid, 2.0 ** math.ceil(math.log2(max(largest, 1e-300) / _LARGEST)))
        at_knots = np.rint(weights / grid).astype(np.int64)
        rises = np.diff(at_knots)
        # If a rise is not a multiple of the length, steps are the whole numbers below and above the quotient.
        lowest, highest = np.floor_divide(rises, lengths), -np.floor_divide(-rises, lengths)
        return cls(items, grid, knots, at_knots, int(lowest.min()), int(highest.max()), statistic.alphabet_size)

    def value(self, profile: Profile) -> int:
        """Return F, exactly, in O(t·log n)."""
        counts = np.minimum(profile.counts, self.items)
        # No interval begins at the last knot.
        left = np.searchsorted(self.knots[:-1], counts, side="right") - 1
        start, offsets = self.at_knots[left], counts - self.knots[left]
        lengths = self.knots[left + 1] - self.knots[left]
        steps, rest = np.divmod(self.at_knots[left + 1] - start, lengths)
        # Python's integers are used if products may exceed 64 bits, a condition on n alone.
        kind = np.int64 if int(np.diff(self.knots).max()) < _HALF else object
        more = offsets.astype(kind) * rest.astype(kind) // lengths
        weights = start - self.at_knots[0] + offsets * steps + more
        return sum(map(mul, weights.tolist(), profile.prevalences.tolist()))

    @property
    def unseen_weight(self) -> int:
        """``k·W(0)``, the public term that F leaves out; 0 without an alphabet."""
        return 0 if self.alphabet_size is None else self.alphabet_size * int(self.at_knots[0])

    @property
    def sensitivity_to_replacing(self) -> int:
        """Largest change of F when one of n items is replaced by another.

        The count of one label rises from a to a + 1, that of another falls from b + 1 to b: ``|D(a) − D(b)|`` with ``a
        + b ≤ n − 1``. The result is exact if every count is a knot; otherwise it is an upper bound without this
        condition.
        """
        if self.knots.size <= self.items:
            return self.highest - self.lowest
        steps = np.diff(self.at_knots)
        # The largest step up to n − 1 − a, for a = 0, 1, …; the other sign is the same pair exchanged.
        return int((np.maximum.accumulate(steps)[::-1] - steps).max())

    @property
    def middle(self) -> int:
        """C, half-way between the largest and the smallest step, including 0, the step of counts beyond n."""
        return (min(self.lowest, 0) + max(self.highest, 0)) // 2

    @property
    def sensitivity_to_adding(self) -> int:
        """Largest change of ``F − C·n'`` when an item is added or removed, n' the number of items of a profile."""
        return max(max(self.highest, 0) - self.middle, self.middle - min(self.lowest, 0))


def _knots(statistic: LinearStatistic, items: int, digits: int) -> Ints:
    """Return the counts at which weights are computed: a function of public numbers."""
    every = np.arange(min(items, max(2**digits, statistic.head)) + 1)
    shifts = np.arange(1, max(items.bit_length() - digits, 0) + 1)
    spread = np.left_shift(np.arange(2 ** (digits - 1), 2**digits), shifts[:, None]).ravel()
    others = np.array([items, *(min(kink, items) for kink in statistic.kinks)], dtype=np.int64)
    found = np.sort(np.concatenate((every, spread, others)))
    return np.asarray(found[(found <= items) & np.append(True, np.diff(found) > 0)])


_POINTS = 400
# Labels with mean counts below this share of the mean are negligible.
_SMALLEST = 1e-4
# Larger mean counts would overflow 64 bits.
_LARGEST_SHAPE = 2.0**62


def largest_bias(
    statistic: LinearStatistic,
    truth: Callable[[Floats], Floats],
    items: int,
    *,
    alphabet_size: int | None,
    least: float = 0.0,
) -> tuple[float, float]:
    """Return how far the mean of a statistic may lie below and above the truth, for any distribution.

    With counts N_x ~ Poisson(λ_x) the bias is ``Σ_x b(λ_x)``, ``b(λ) = E w(N) − truth(λ)``, where Σ_x λ_x = n and
    ``truth`` is the contribution of one label. Over k labels, its extremes are k times those of the convex hull of b at
    n/k; over any number of labels, n times those of ``b(λ)/λ``. Both are computed from 400 values of λ, to about one
    percent. ``least`` is the smallest mean count of a label, other than 0. Weights follow from public numbers.
    """
    mean = items / (alphabet_size or items)
    start = min(max(least, _SMALLEST * min(mean, 1.0)), _LARGEST_SHAPE / 2)
    means = np.append(0.0, np.geomspace(start, min(max(items, 2 * start), _LARGEST_SHAPE), _POINTS))
    if alphabet_size is None:
        means = means[1:]
    # A sample of one item, so that the mean counts serve as probabilities unchanged.
    distribution = SampleDistribution(Assemblage(means, np.ones(means.shape)), 1)
    off = distribution.expectations(statistic.weights) - truth(means)
    if alphabet_size is None:
        ratios = items * off / means
        return max(-float(ratios.min()), 0.0), max(float(ratios.max()), 0.0)
    return max(alphabet_size * _top(means, -off, mean), 0.0), max(alphabet_size * _top(means, off, mean), 0.0)


def _top(x: Floats, y: Floats, at: float) -> float:
    """Return the upper convex hull of points at ``at``, which is clipped to the range of x."""
    at = min(max(at, float(x[0])), float(x[-1]))
    below, above = x <= at, x >= at
    left, right = x[below][:, None], x[above][None, :]
    share = np.where(right > left, (at - left) / np.where(right > left, right - left, 1.0), 0.0)
    return float(((1 - share) * y[below][:, None] + share * y[above][None, :]).max())


def surprise(items: int) -> Callable[[Floats], Floats]:
    """Return ``−p·ln p`` as a function of mean counts λ = n·p."""

    def of(means: Floats) -> Floats:
        shares = means / items
        return np.asarray(-shares * np.log(np.where(shares > 0, shares, 1.0)))

    return of


def new_labels(times: float) -> Callable[[Floats], Floats]:
    """Return ``1 − e^(−λ·m/n)``, the probability that m draws find a label; for infinite m, 1 for every label."""
    return lambda means: np.asarray((means > 0) * 1.0 if math.isinf(times) else -np.expm1(-means * times))
