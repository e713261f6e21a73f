"""Raw estimates of labels with cohorts, and how likely ones as large are where nobody has the label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric.read_only import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.cohorts.counts import CohortCounts

# Sums over cohorts are taken on so many steps.
_STEPS = 1 << 17
# What a tail of such sums may be for rounding alone.
_ROUNDING = 1e-13
# Errors that would come out smaller, share of the variance, are rounding.
_LEAST_SHARE = 1e-9
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class LabelEstimates:
    """Raw estimates, their errors, and what those would be if nobody had the label.

    ``unexplained`` is what each cell adds to the sum that an estimate is of, what the estimates explain taken away;
    ``scores`` says how far that sum is from its mean, in standard deviations of sums over random places, and ``unit``
    is what one of these is worth in an estimate.
    """

    raw: NDArray[np.float64]
    errors: NDArray[np.float64]
    null_errors: NDArray[np.float64]
    unexplained: NDArray[np.float64]
    scores: NDArray[np.float64]
    unit: float | NDArray[np.float64]

    def p_values(self, counts: CohortCounts) -> NDArray[np.float64]:
        """Return the larger of two tails: the normal one, and that of a label whose places are drawn at random.

        The second one knows that labels nobody listed fall on some places in large numbers.
        """
        from scipy.special import ndtr

        normal = np.asarray(ndtr(-self.raw / self.null_errors))
        return np.asarray(np.maximum(normal, random_sums(self.unexplained, counts).tail(self.scores)))


def people_as_they_are(variances: NDArray[np.float64], share: NDArray[np.float64], users: int) -> NDArray[np.float64]:
    """Return standard errors without what drawing the people adds to variances, ``f(1 − f)/n``."""
    return np.sqrt(np.maximum(variances - share * (1 - share) / users, _LEAST_SHARE * variances))


def random_moments(table: NDArray[np.float64], counts: CohortCounts) -> tuple[float, float]:
    """Return mean and standard deviation of the sum of the cells of a label whose places are drawn at random."""
    hashes, means = counts.supports.hashes, table @ counts.shares
    variance = float((table**2 @ counts.shares - means**2).sum())
    return hashes * float(means.sum()), float(np.sqrt(max(hashes * variance, 0)))


@dataclass(frozen=True, eq=False)
class RandomSums:
    """The distribution of the sum of the cells of a label whose places are drawn at random.

    It is the convolution of the distributions of the C·h cells, on 2^17 steps. A value between two steps is shared
    between them so that the mean stays, which makes tails longer, if anything.

    Attributes
    ----------
    tails
        The probability of so many steps or more above the least sum.
    start
        The least sum, in standard deviations above the mean.
    step
        In standard deviations; 0 where all sums are the same.
    """

    tails: NDArray[np.float64]
    start: float
    step: float

    def tail(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how likely a sum of at least this score is, shape (m,); one step more is allowed."""
        if not self.step:
            return np.ones(scores.size)
        # Errors of next to nothing make for scores beyond all integers.
        at = np.clip((scores - self.start) / self.step, -1, self.tails.size + 1)
        places = np.floor(at).astype(np.int64) - 1
        found = self.tails[np.clip(places, 0, self.tails.size - 1)]
        return np.asarray(np.clip(np.where(places < self.tails.size, found, 0.0) + _ROUNDING, 0, 1))

    def score(self, tail: float) -> float:
        """Return a score that a sum reaches or exceeds with probability ``tail`` at most; one step more is allowed."""
        above = int(np.count_nonzero(self.tails > max(tail, _ROUNDING)))
        return self.start + (above + 1) * self.step


def random_sums(table: NDArray[np.float64], counts: CohortCounts) -> RandomSums:
    """Return the distribution of the sum of the cells of a label with random places.

    Parameters
    ----------
    table
        What each cell adds, shape (C, k).
    counts
        Whose functions are drawn.
    """
    from scipy.fft import irfft, next_fast_len, rfft

    hashes, probabilities = counts.supports.hashes, counts.shares
    lows = table.min(axis=1)
    reach = hashes * float((table.max(axis=1) - lows).sum())
    mean, deviation = random_moments(table, counts)
    if not deviation > 0:
        return RandomSums(read_only(np.ones(1)), 0.0, 0.0)
    step = reach / _STEPS
    size = next_fast_len(_STEPS + hashes * len(table) + 2, real=True)
    spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
    for row, low in zip(table, lows, strict=True):
        at = (row - low) / step
        below = np.floor(at).astype(np.int64)
        chances = np.zeros(size)
        np.add.at(chances, below, probabilities * (below + 1 - at))
        np.add.at(chances, below + 1, probabilities * (at - below))
        spectrum *= rfft(chances)
    tails = np.cumsum(np.maximum(irfft(spectrum**hashes, size), 0)[::-1])[::-1]
    return RandomSums(read_only(tails), (hashes * float(lows.sum()) - mean) / deviation, step / deviation)
