"""Intervals of guessing metrics from bounds of λ_β at many β: of the data behind a release, or of the distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from anonhist.numeric.arrays import Floats, Ints
from anonhist.properties.estimate import quantile
from anonhist.properties.estimator import Sample
from anonhist.properties.label_limits import label_limits
from anonhist.properties.most_frequent import covered_share, log_grid
from anonhist.properties.random_splits import RandomSplits

GuessedOf = Literal["distribution", "data"]
# Every number of guesses up to the first, and so many more, each at most a third of a percent larger, up to 10⁹.
_ALL, _MORE = 1024, 4096
# With more items the beta function overflows floats, and Wilson's score interval is as good.
_EXACT = 10**12
_RELEASE_LEVEL = 0.95
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ShareBand:
    """Bounds of the share λ_β that the β most frequent labels cover, at some numbers β ≥ 1.

    ``marks`` ascend from 1; ``low`` and ``high`` do not fall, ``0 ≤ low ≤ high ≤ 1``. Between marks the bounds follow
    from two facts about every distribution: λ_β does not fall, and it is concave, so that λ_β/β does not rise. Beyond
    the last mark, ``low`` stays the same, and the upper bound is 1.
    """

    marks: Ints
    low: Floats
    high: Floats

    @classmethod
    def of(cls, marks: Ints, low: Floats, high: Floats) -> ShareBand:
        """Take bounds that hold at each mark by itself, and loosen those that fall."""
        least = np.minimum.accumulate(np.clip(low, 0.0, 1.0)[::-1])[::-1]
        return cls(marks, least, np.maximum.accumulate(np.maximum(np.clip(high, 0.0, 1.0), least)))

    def success(self, guesses: int) -> tuple[float, float]:
        """Return bounds of λ_β."""
        if guesses >= self.marks[-1]:
            return float(self.low[-1]), float(self.high[-1]) if guesses == self.marks[-1] else 1.0
        at = int(np.searchsorted(self.marks, guesses))
        if self.marks[at] == guesses:
            return float(self.low[at]), float(self.high[at])
        risen = float(self.high[at - 1]) * guesses / float(self.marks[at - 1])
        return float(np.interp(guesses, self.marks, self.low)), min(risen, float(self.high[at]))

    def work(self, share: Fraction) -> tuple[int, float]:
        """Return bounds of ``μ_α = min{β : λ_β ≥ α}``; the upper one is infinite if the lower bound misses α.

        If both bounds of λ hold at every β by itself with probability p, so do these: a wrong bound of μ means a wrong
        one of λ at ``μ_α − 1`` or ``μ_α``.
        """
        wanted = float(share)
        return self._reached(wanted), self._surely_reached(wanted)

    def _reached(self, wanted: float) -> int:
        """Return the fewest guesses with which the upper bound reaches a share."""
        # Equal shares may differ by rounding.
        at = int(np.searchsorted(self.high, wanted * (1 - _ROUNDING)))
        if at == 0:
            return 1
        before = int(self.marks[at - 1])
        if at == self.marks.size:
            return before + 1
        highest = float(self.high[at - 1])
        risen = math.ceil(wanted / highest * before * (1 - _ROUNDING)) if highest else 0
        return min(max(risen, before + 1), int(self.marks[at]))

    def _surely_reached(self, wanted: float) -> float:
        """Return the fewest guesses with which the lower bound reaches a share, or infinity."""
        at = int(np.searchsorted(self.low, wanted))
        if at == self.marks.size:
            return math.inf
        if at == 0:
            return float(self.marks[0])
        # Concave: between two marks λ lies above the line through the lower bounds there.
        before, after = float(self.marks[at - 1]), float(self.marks[at])
        part = (wanted - float(self.low[at - 1])) / float(self.low[at] - self.low[at - 1])
        return min(math.ceil(before + part * (after - before)), after)

    def guesswork(self, share: Fraction) -> tuple[float, float]:
        """Return bounds of ``G_α = Σ_{b<μ} (1 − λ_b)``, with μ = μ_α and λ_0 = 0: it falls with every λ_b."""
        least, most = self.work(share)
        steps = np.diff(self.marks, prepend=0).astype(np.float64)
        # Up to and with each mark: inside a step, λ_b is at most the upper bound at its end, and at least the lower
        # bound at its beginning.
        below = 1.0 + np.cumsum(steps * (1 - self.high))
        before = np.append(0.0, self.low[:-1])
        above = 1.0 + np.cumsum((steps - 1) * (1 - before) + (1 - self.low))
        # In one step more, each guess adds 1 − λ.
        last = int(np.searchsorted(self.marks, least - 1, side="right"))
        low = 1.0
        if last:
            after = float(self.high[last]) if last < self.marks.size else 1.0
            low = float(below[last - 1]) + (least - 1 - float(self.marks[last - 1])) * (1 - after)
        if math.isinf(most):
            return low, math.inf
        last = int(np.searchsorted(self.marks, most - 1, side="right"))
        if not last:
            return low, max(low, 1.0)
        high = float(above[last - 1]) + (most - 1 - float(self.marks[last - 1])) * (1 - float(self.low[last - 1]))
        return low, max(low, high)

    def success_bits(self, guesses: int) -> tuple[float, float]:
        """Return bounds of ``lg(β/λ_β)``."""
        low, high = self.success(guesses)
        return math.log2(guesses / high) if high else math.inf, math.log2(guesses / low) if low else math.inf

    def work_bits(self, share: Fraction) -> tuple[float, float]:
        """Return bounds of ``lg(μ/λ_μ)``, μ = μ_α: β/λ_β does not fall, and ``λ_μ ≥ α``."""
        least, most = self.work(share)
        high = max(self.success(least)[1], float(share))
        low = max(math.log2(least / high), 0.0)
        if math.isinf(most):
            return low, math.inf
        return low, max(low, math.log2(most / max(self.success(int(most))[0], float(share))))

    def guesswork_bits(self, share: Fraction) -> tuple[float, float]:
        """Return bounds of ``lg(2G/λ_μ − 1) − lg(2 − λ_μ)``, μ = μ_α, which grows with G and falls with λ_μ.

        ``α ≤ λ_μ < α·μ/(μ − 1)``, because the last label has no more items than the mean of those before it.
        """
        (least, most), (low, high) = self.work(share), self.guesswork(share)
        wanted = float(share)
        largest = 1.0 if math.isinf(most) else max(self.success(int(most))[1], wanted)
        if least > 1:
            largest = min(largest, wanted * least / (least - 1))
        first = _guesswork_bits(low, largest)
        return first, math.inf if math.isinf(high) else max(first, _guesswork_bits(high, wanted))


def _guesswork_bits(guesses: float, share: float) -> float:
    return math.log2(max((2 * guesses / share - 1) / (2 - share), 1.0))


def marks_of(labels: int, *more: int) -> Ints:
    """Return numbers of guesses to bound λ at: all up to 1,024, then evenly spaced logarithms up to ``labels``."""
    largest = max(labels, 1)
    dense = range(1, min(largest, _ALL) + 1)
    return np.array(sorted({*dense, *log_grid(largest, points=_MORE), *(mark for mark in more if mark <= largest)}))


BandOf = Callable[[Sample, Ints], tuple[Floats, Floats]]


def data_bounds(sample: Sample, marks: Ints) -> tuple[Floats, Floats]:
    """Return bounds of λ_β of the data behind a release, at its level or a higher one; of a profile, λ_β itself."""
    share = covered_share(sample.profile, marks)
    if sample.release is None:
        return share, share
    low, high = sample.release.covered_share(marks)
    # The intervals of a release are for one level; a higher one needs wider ones.
    wider = max(sample.z / quantile(_RELEASE_LEVEL), 1.0)
    return share - wider * np.maximum(share - low, 0.0), share + wider * np.maximum(high - share, 0.0)


# Few guesses need many items to try them on, many guesses many items to rank by.
_TRIED = (1 / 2, 1 / 8)
# Of the probability that an upper bound is wrong, the part of the one that counts items; the other counts labels.
_BY_ITEMS = 0.9999


def distribution_bounds(sample: Sample, marks: Ints) -> tuple[Floats, Floats]:
    """Return bounds of λ_β of the distribution that independent items were drawn from.

    With δ = (1 − level)/2, the upper bound is the smaller one of two. One, wrong with probability γ = 0.9999·δ at most,
    is that of Clopper and Pearson, ``I^(−1)(1 − γ; c + 1, n − c)``, where c of n items are in the β most frequent
    labels of the sample, and I is the regularized incomplete beta function: the β labels truly most frequent have no
    more items in the sample, and their number is binomial. Beyond 10¹² items it is Wilson's. The other comes from the
    number of labels (:func:`~anonhist.properties.label_limits.label_limits`), and is smaller where counts are small.
    The lower bound is the larger one of two by random splits, with ½ and ⅛ of the items
    tried, each wrong with probability δ/2 at most (:class:`~anonhist.properties.random_splits.RandomSplits`). All hold
    for every distribution. For a release, each becomes ``value ± sqrt(a² + b²)``, with a its distance from the value
    that it bounds, and b the distance from the released share to the end of its interval for the data. But noise may
    repeat labels that the data do not repeat: if the release has intervals for φ_{k+} from noisy values, the lower
    bound is that of the profile that repeats labels least among those they allow.

    Source: Clopper and Pearson 1934, closer than Corollary 4 of Blocki and Liu 2023; their Theorem 5 for the lower end.
    """
    profile, miss = sample.profile, (1 - sample.level) / 2
    share = covered_share(profile, marks)
    low, high = data_bounds(sample, marks)
    worst = None if sample.release is None else sample.release.least_repeated()
    off = share - low if worst is None else np.zeros(share.shape)
    least = np.zeros(share.shape)
    for tried in _TRIED:
        splits = RandomSplits.of(profile if worst is None else worst, tried)
        found, bound = splits.shares(marks), splits.least_shares(marks, miss=miss / len(_TRIED))
        least = np.maximum(least, found - np.hypot(found - bound, off))
    most = largest_shares(share, profile.n, miss=_BY_ITEMS * miss)
    by_labels = label_limits(sample, marks, miss=(1 - _BY_ITEMS) * miss)
    return least, np.minimum(share + np.hypot(most - share, high - share), by_labels)


def largest_shares(shares: Floats, items: int, *, miss: float) -> Floats:
    """Return the upper bounds of Clopper and Pearson, or of Wilson beyond 10¹² items, for these shares of n items."""
    from scipy.special import betaincinv

    if items > _EXACT:
        square = quantile(1 - 2 * miss) ** 2 / items
        return np.asarray((shares + square / 2 + np.sqrt(square * (shares * (1 - shares) + square / 4))) / (1 + square))
    counts = np.rint(shares * items)
    rest = np.maximum(items - counts, 1.0)
    return np.where(counts < items, betaincinv(counts + 1.0, rest, 1 - miss), 1.0)


def band_of(sample: Sample, of: GuessedOf, *more: int) -> ShareBand:
    """Return the bounds of λ_β for a sample of n ≥ 1 items, at enough numbers β, and at these."""
    labels = sample.profile.num_labels
    if of == "data" and sample.release is not None:
        labels = max(labels, int(min(sample.labels[1], 2.0**62)))
    marks = marks_of(labels, *more)
    bounds: BandOf = data_bounds if of == "data" else distribution_bounds
    return ShareBand.of(marks, *bounds(sample, marks))
