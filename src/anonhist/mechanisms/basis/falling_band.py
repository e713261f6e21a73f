"""Bounds for a non-increasing sequence from noisy values alone, without assumptions on its shape.

Up to the mean of m noises, the mean of the m noisy numbers up to position k is at least the k-th true number, and the
mean of the m numbers from position k on is at most that number. Of windows of 1, 2, 4, … numbers, the one is used whose
bound would be best if a guess were the truth. The guess is a fit to the same noise: where numbers are equal, it picks
the window with the most extreme noise. So the error probability is divided among all w window lengths: each bound is
wrong with probability ``tail/w``, and then all hold with probability ``1 − tail``, whichever is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.basis.noise_quantile import noise_quantile, sum_quantiles
from anonhist.numeric.arrays import widen_to_falling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Numbers = NDArray[np.float64]

_LONGEST = 2**12
_TAIL = 0.025
# So many positions at a time stay in the cache of the processor.
_TOGETHER = 2**14
# Sums of whole numbers below this are exact in floats.
_SURE = 2.0**53


def falling_bounds(noisy: _Numbers, guess: _Numbers, rate: float, *, tail: float) -> tuple[_Numbers, _Numbers]:
    """Return lower and upper bounds of a non-increasing sequence from its noisy values.

    Parameters
    ----------
    noisy : ndarray of float64, shape (k,)
        The whole numbers, each with independent noise ``P(j) ∝ e^(−γ|j|)``.
    guess : ndarray of float64, shape (k,)
        A non-increasing guess of them, which may come from the noisy ones. It only decides which windows are used.
    rate
        γ > 0.
    tail
        Largest probability that a bound is wrong, whatever the guess, in (0, 1/2).

    Returns
    -------
    low, high : ndarray of float64, shape (k,)
        Non-increasing whole numbers, ``low ≤ high``; wider where floats round sums of 2⁵³ or more.

    Examples
    --------
    >>> numbers = np.array([9.0, 8.0, 2.0, 1.0])
    >>> low, high = falling_bounds(numbers, numbers, 2.0, tail=0.0125)
    >>> low.tolist(), high.tolist()
    ([7.0, 6.0, -0.0, -1.0], [11.0, 10.0, 4.0, 3.0])
    """
    size = noisy.size
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    before, hoped = np.append(0.0, np.cumsum(noisy)), np.append(0.0, np.cumsum(guess))
    largest = float(np.abs(before).max())
    slack = 1e-6 if largest < _SURE else size * largest * 2.0**-52
    lengths = min(size, _LONGEST).bit_length()
    windows = [
        (1 << power, noise_quantile(rate, 1 << power, tail / lengths) / (1 << power)) for power in range(lengths)
    ]
    for start in range(0, size, _TOGETHER):
        stop = min(start + _TOGETHER, size)
        best_low, best_high = np.full(stop - start, -np.inf), np.full(stop - start, np.inf)
        for count, reach in windows:
            # Windows that end at these positions bound them from above, those that begin there from below.
            first, last = max(start, count - 1), min(stop, size - count + 1)
            if first < stop:
                seen, meant = (_means(sums, first - count + 1, stop - count + 1, count) for sums in (before, hoped))
                _take(meant + reach, seen + reach + slack, best_high[first - start :], high[first:stop], np.less)
            if start < last:
                seen, meant = (_means(sums, start, last, count) for sums in (before, hoped))
                _take(meant - reach, seen - reach - slack, best_low[: last - start], low[start:last], np.greater)
    return widen_to_falling(np.ceil(low), np.floor(high))


def _means(sums: _Numbers, first: int, last: int, count: int) -> _Numbers:
    """Return the means of so many numbers from each of these positions on, by running sums."""
    return (sums[first + count : last + count] - sums[first:last]) / count


def _take(hope: _Numbers, bound: _Numbers, best: _Numbers, kept: _Numbers, is_better: np.ufunc) -> None:
    """Keep, in place, the bounds whose window is expected to be better than the best so far."""
    better = is_better(hope, best)
    np.copyto(best, hope, where=better)
    np.copyto(kept, bound, where=better)


def reaches(rate: float, most: int, *, each: int = 1) -> _Numbers:
    """Return the 97.5 % quantiles of sums of 1, 2, …, ``most`` times ``each`` noises: tails of at most 2.5 %.

    Examples
    --------
    >>> reaches(1.0, 3).tolist()
    [3.0, 4.0, 5.0]
    """
    return sum_quantiles(rate, each * np.arange(1, most + 1), _TAIL)
