"""Intervals of labels with cohorts: the wider of those for noise and for collisions with unlisted labels."""

from __future__ import annotations

from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from anonhist.frozen import frozen
from anonhist.numeric.arrays import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.cohorts.counts import CohortCounts

# Number of steps for the distribution of sums over cohorts.
_STEPS = 1 << 17
# Rounding can change a tail of such sums by this much.
_ROUNDING = 1e-13
# Smaller errors, as a share of the variance, are due to rounding.
_LEAST_SHARE = 1e-9
TINY = 1e-300


@frozen
class LabelEstimates:
    """Raw estimates, their errors, and their errors if nobody had the label.

    ``unexplained`` is the contribution of each cell to the sum behind an estimate, minus the part that the estimates
    explain. ``scores`` is the distance of that sum from its mean, in standard deviations of sums over random places,
    and ``unit`` is the value of one such standard deviation in an estimate.
    """

    raw: NDArray[np.float64]
    errors: NDArray[np.float64]
    null_errors: NDArray[np.float64]
    unexplained: NDArray[np.float64]
    scores: NDArray[np.float64]
    unit: float | NDArray[np.float64]

    def p_values(self, counts: CohortCounts) -> NDArray[np.float64]:
        """Return the larger of two tails: the normal one, and that of a label whose places are drawn at random.

        The second one accounts for frequent unlisted labels at some places.
        """
        from scipy.special import ndtr

        normal = np.asarray(ndtr(-self.raw / self.null_errors))
        return np.asarray(np.maximum(normal, random_sums(self.unexplained, counts).tail(self.scores)))


def without_sampling_error(
    variances: NDArray[np.float64], share: NDArray[np.float64], users: int
) -> NDArray[np.float64]:
    """Return standard errors for the people who reported, without the variance of sampling them, ``f(1 − f)/n``."""
    return np.sqrt(np.maximum(variances - share * (1 - share) / users, _LEAST_SHARE * variances))


def random_moments(table: NDArray[np.float64], counts: CohortCounts) -> tuple[float, float]:
    """Return mean and standard deviation of the sum of the cells of a label whose places are drawn at random."""
    hashes, means = counts.supports.hashes, table @ counts.shares
    variance = float((table**2 @ counts.shares - means**2).sum())
    return hashes * float(means.sum()), float(np.sqrt(max(hashes * variance, 0)))


@frozen(eq=False)
class RandomSums:
    """The distribution of the sum of the cells of a label whose places are drawn at random.

    It is the convolution of the distributions of the C·h cells, on 2¹⁷ steps. A value between two steps is split
    between them so that the mean is preserved, which can only make tails longer. ``tails`` are the probabilities of a
    sum at least this many steps above the least one, which is ``start`` standard deviations above the mean; ``step`` is
    in standard deviations, too, and 0 if all sums are equal.
    """

    tails: NDArray[np.float64]
    start: float
    step: float

    def tail(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of a sum of at least this score, plus one step, shape (m,)."""
        if not self.step:
            return np.ones(scores.size)
        # Tiny errors give scores that overflow integers.
        at = np.clip((scores - self.start) / self.step, -1, self.tails.size + 1)
        places = np.floor(at).astype(np.int64) - 1
        found = self.tails[np.clip(places, 0, self.tails.size - 1)]
        return np.asarray(np.clip(np.where(places < self.tails.size, found, 0.0) + _ROUNDING, 0, 1))

    def score(self, tail: float) -> float:
        """Return a score that a sum reaches or exceeds with probability ``tail`` at most; one step more is allowed."""
        above = int(np.count_nonzero(self.tails > max(tail, _ROUNDING)))
        return self.start + (above + 1) * self.step


def random_sums(table: NDArray[np.float64], counts: CohortCounts) -> RandomSums:
    """Return the distribution of the sum of the cells of a label with random places, given what each contributes."""
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


@frozen
class CohortLimits:
    """The wider of two intervals around the raw estimates: the normal one, and that of places drawn at random.

    With few cohorts there are few collisions, and each may be a large share, so sums are not normal. Reports of other
    people on the places of a label have the distribution of sums over random places, as in the tests.
    """

    estimates: LabelEstimates
    counts: CohortCounts

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        least, most = self._centres
        normal = -NormalDist().inv_cdf(tail) * self.estimates.errors
        # The upper tail of the sum determines the lower end of the share.
        below, above = (np.maximum(normal, sums.score(tail) * self.estimates.unit) for sums in self._sums)
        return np.clip(np.stack((least - below, most + above), axis=1), 0, 1)

    @property
    def _centres(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """From where the lower ends are measured, and the upper ones."""
        return self.estimates.raw, self.estimates.raw

    @cached_property
    def _sums(self) -> tuple[RandomSums, RandomSums]:
        """The distribution of sums over random places, and its mirror image, for both tails."""
        table = self.estimates.unexplained
        return random_sums(table, self.counts), random_sums(-table, self.counts)


@frozen
class PlainLimits(CohortLimits):
    """As :class:`CohortLimits`, for labels that were estimated one by one.

    Their estimates subtract the expected share of collisions. Sums over random places have another mean if labels are
    few and have several bits, so ends are measured from the farther one.

    With few cohorts of few places, another label may well have all places of this one. Then nothing tells the two
    apart: this label may have nobody, or all people on its places. ``supported`` is the mean share of people who
    support these, no less than the share of the label; ``noise`` is its standard error due to randomization.
    """

    supported: NDArray[np.float64]
    noise: NDArray[np.float64]

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        counts = self.counts
        most = self.supported - NormalDist().inv_cdf(tail) * self.noise
        cohorts = 1 / float((counts.weights**2).sum())  # fewer than there are if some have most reports
        if float(counts.shares.max()) ** (cohorts * counts.supports.hashes) >= tail:
            return np.clip(np.stack((np.zeros(most.size), most), axis=1), 0, 1)
        return super().at(tail)

    @property
    def _centres(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        raw, distance = self.estimates.raw, self.estimates.scores * self.estimates.unit
        return np.minimum(raw, distance), np.maximum(raw, distance)


@frozen
class FoundLimits:
    """Limits of labels that were fitted together, and of the others, estimated one by one from the residual."""

    found: NDArray[np.bool_]
    fitted: CohortLimits
    rest: CohortLimits

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        ends = self.rest.at(tail)
        ends[self.found] = self.fitted.at(tail)
        return ends
