"""Confidence intervals for the true φ_{k+} and φ_r from the noisy counters, valid for any counts.

A decoder that assumes smooth counts has a bias that no simulation on its result shows. The counters also give unbiased
estimates without assumptions. With ĝ the empirical characteristic
function of B counters and κ̂ that of the noise, ``B·ĝ/κ̂`` is the transform of unbiased estimates of φ_r if each
counter is one label's, and ``B·ln(ĝ/κ̂)`` that of nearly unbiased ones if labels share counters
(:mod:`anonhist.sketches.likelihood`). If ĝ is mostly noise, the logarithm is replaced by its tangent at the
decoded distribution, a step that removes the decoder's bias up to its square.

Such estimates have a large variance for single counts, and a small one for sums of neighboring counts. φ_{1+} ≥ φ_{2+}
≥ …, so a mean of estimates of φ_{j+} over a window of j up to k bounds φ_{k+} from above, and one from k on bounds it
from below. The mean is a sum of one function H of each counter; its variance is ``Σ_y G_y·H(y)²``, with G_y counters of
value y, minus the contribution of labels that are not random. Among windows of several lengths, the algorithm uses the
one whose bound would be best if the decoded profile were the truth; the profile affects nothing else. For a fixed
window and normal sums of counters, each bound fails in about 1.25% of sketches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric.arrays import Bools, Floats, Ints, widen_to_falling
from anonhist.releases import KPlusBand, PrevalenceBand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.sketches.decoder import Counters, CounterSetting, Prevalences


# Normal quantiles: 1.25% beyond an end with a chosen window; 1.5% beyond others, because variances are estimated.
_CHOSEN, _ALONE = 2.2414027276049473, 2.1700903775845606
# Counts up to this are resolved; the few larger counters are bounded only by their values.
_LONGEST = 1 << 15
# The longest window, in scales of the noise.
_SCALES = 32
# Below this, rounding errors dominate a characteristic function.
_FAINT = 1e-8
# A ratio this far from one is mostly noise: its logarithm is replaced by the tangent.
_NEAR = 0.5
# A transform of counters is significant if it exceeds its noise by this factor.
_SURE = 10.0
# Rounding may move a bound past a whole number by less than this.
_TOLERANCE = 1e-3
# The probability that noise exceeds its reach.
_BEYOND = 1e-9
# The probability that noise carries a counter farther than ``carried``.
_CARRIED = 0.01
# A response within this share of the largest is treated as being on its step.
_ON_STEP = 0.1
# Steps are merged if no interval widens by more than this share.
_WIDENED = 0.05


def counter_bands(
    observed: Counters, setting: CounterSetting, decoded: Prevalences, *, labels: float
) -> tuple[KPlusBand, PrevalenceBand]:
    """Return 95% intervals for φ_{k+} and for φ_r; deterministic post-processing.

    ``decoded`` excludes labels that are not sampled; each sampled label represents ``labels`` ≥ 1. If the transforms
    are uninformative, because the noise is wide or many labels share a counter, intervals go from 0 to the most that
    the sum of all counters allows.
    """
    if not observed.size:
        nothing = np.zeros(0, dtype=np.int64)
        return KPlusBand(nothing, nothing, nothing), PrevalenceBand(nothing, nothing, nothing)
    sampling = _Sampling(labels, np.inf if setting.is_hashed else float(observed.size))
    # The largest count may exceed every counter, because noise may be below zero.
    last = int(min(max(int(observed.values[-1]), 0) + max(setting.noise.reach(_CARRIED), 1), _LONGEST))
    ends = _places(observed, setting, last)
    low, high = _by_value(observed, setting, ends, sampling)
    high = np.minimum(high, _by_sum(observed, setting, ends, sampling))
    grid = _Grid.of(observed, setting, decoded, last)
    if grid is not None:
        least, most = grid.at_least(sampling)
        low[:last], high[:last] = np.maximum(low[:last], least), np.minimum(high[:last], most)
    low, high = widen_to_falling(low, high)
    least, most = np.zeros(ends.size), high.copy()
    if grid is not None:
        least[:last], most[:last] = grid.exactly(sampling, low[: last + 1], high[: last + 1])
    return KPlusBand(*_steps(ends, low, high)), PrevalenceBand(*_steps(ends, least, np.minimum(most, high)))


def _places(observed: Counters, setting: CounterSetting, last: int) -> Ints:
    """Return all counts up to ``last``, and beyond it those after which bounds by value change."""
    far, reach = observed.values[observed.values > last - setting.noise.reach(_CARRIED)], setting.noise.reach(_BEYOND)
    beyond = np.sort(np.concatenate((far + reach, np.maximum(far - reach, last + 1))))
    return np.concatenate((np.arange(1, last + 1), beyond[np.diff(beyond, prepend=0) > 0]))


def _by_sum(observed: Counters, setting: CounterSetting, counts: Ints, sampling: _Sampling) -> Floats:
    """Return the largest number of labels with at least these counts, given the sum of all counters."""
    total = float(observed.values.astype(np.float64) @ observed.numbers)
    total = max(0.0, total + _CHOSEN * (observed.size * setting.noise.variance) ** 0.5)
    return sampling.ends(total / counts, np.zeros(counts.size))[1]


@dataclass(frozen=True)
class _Sampling:
    """The number of labels that a counted one represents, and the number counted in a listed domain, else infinity."""

    labels: float
    counted: float

    def spread(self, mean: Floats, variance: Floats) -> Floats:
        """Return the standard deviation of estimates for all labels, from estimates for the counted ones."""
        number = np.clip(mean, 1, self.counted)
        drawn = self.labels * (self.labels - 1) * number * (1 - number / self.counted)
        return np.asarray(np.sqrt(self.labels**2 * variance + drawn))

    def ends(self, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Return bounds for all labels, at most the number of labels in a listed domain."""
        half, most = _CHOSEN * self.spread(mean, variance), self.labels * self.counted
        return np.minimum(self.labels * mean - half, most), np.minimum(self.labels * mean + half, most)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Counters and decoded labels on whole numbers modulo a length that is twice the used one, and transforms.

    Counts from 1 to ``last`` are distinguished; ``beyond`` counters are larger. ``counted`` and ``unbiased`` are the
    transforms of the number of counters with each value and of the estimates of φ_r. ``ratio`` is 1 over the
    characteristic function of a counter's value without the label in question. ``noise`` is the scale of the noise, in
    counts; except in rare cases, it moves a counter by at most ``carried``.
    """

    last: int
    counted: NDArray[np.complex128]
    decoded: Floats
    ratio: NDArray[np.complex128]
    unbiased: NDArray[np.complex128]
    beyond: int
    is_hashed: bool
    noise: float
    parts: int
    carried: int

    @classmethod
    def of(cls, observed: Counters, setting: CounterSetting, decoded: Prevalences, last: int) -> _Grid | None:
        """Return None if the transforms are uninformative."""
        distribution = setting.noise
        noise = max(distribution.variance**0.5, 1.0)
        least = min(int(observed.values[0]), 0)
        size = 1 << int(2 * (last - least) + 6 * _SCALES * noise + 64).bit_length()
        if size > 64 * _LONGEST:
            return None
        seen = np.zeros(size)
        near = observed.values <= last
        seen[observed.values[near] % size] = observed.numbers[near]
        inside = decoded.counts <= last
        pilot = np.zeros(size)
        pilot[decoded.counts[inside]] = decoded.numbers[inside]
        buckets, beyond = float(seen.sum()), int(observed.numbers[~near].sum())
        if not buckets:
            return None
        if setting.is_hashed:
            pilot *= buckets / (buckets + beyond)
            pilot[0] = 0
        angles = 2 * np.pi * np.arange(size // 2 + 1) / size
        kappa = distribution.characteristic(angles)
        counted = np.fft.rfft(seen)
        emp = counted / buckets
        if not setting.is_hashed:
            if float(kappa.min()) < _FAINT:
                return None
            ratio = 1 / kappa.astype(np.complex128)
            unbiased = buckets * emp * ratio
        else:
            exponent = (np.fft.rfft(pilot) - pilot.sum()) / buckets
            distribution_of_value = kappa * np.exp(exponent)
            if float(np.abs(distribution_of_value).min()) < _FAINT:
                return None
            ratio = 1 / distribution_of_value
            off = emp * ratio - 1
            is_near = np.abs(off) < _NEAR
            # Significant observations describe sums of labels that share counters better than the decoded profile.
            is_sure = is_near & (np.abs(emp) > _SURE / buckets**0.5)
            ratio[is_sure] = 1 / emp[is_sure]
            off[is_near] = np.log1p(off[is_near])
            unbiased = np.fft.rfft(pilot) + buckets * off
        parts = sum(-(-shape.numerator // shape.denominator) for _, shape in distribution.parts)
        return cls(
            last, counted, pilot, ratio, unbiased, beyond, setting.is_hashed, noise, parts, distribution.reach(_CARRIED)
        )

    def at_least(self, sampling: _Sampling) -> tuple[Floats, Floats]:
        """Return bounds of φ_{k+} for k = 1..last."""
        size, last = self.decoded.size, self.last
        # Positions before 1, up to the widest window: all labels are there, and the counters without labels.
        estimates = np.fft.irfft(self.unbiased, size)
        best_low, best_high = np.full(last, -np.inf), np.full(last, np.inf)
        low, high = np.zeros(last), np.full(last, np.inf)
        box, boxes = 1, min(6, 1 + max(1, self.parts))
        while True:
            width = boxes * (box - 1) + 1
            if box > 1 and width > min(_SCALES * self.noise, last):
                return low, high
            starts = np.arange(1 if self.is_hashed else 2 - width, last + 1)
            weights = np.ones(1)
            for _ in range(boxes):
                weights = np.convolve(weights, np.full(box, 1 / box))
            mean, hoped = (
                self._mean_at_least(numbers, weights, starts) + self.beyond for numbers in (estimates, self.decoded)
            )
            variance = self._variance(np.cumsum(weights), starts)
            hoped_low, hoped_high = sampling.ends(hoped, variance)
            found_low, found_high = sampling.ends(mean, variance)
            # For k = 1..last: the window that ends at k, and the one that starts there.
            ending = starts + width - 1
            used = (ending >= 1) & (ending <= last)
            at = ending[used] - 1
            better = hoped_high[used] < best_high[at]
            best_high[at[better]] = hoped_high[used][better]
            high[at[better]] = found_high[used][better]
            used = starts >= 1
            at = starts[used] - 1
            better = hoped_low[used] > best_low[at]
            best_low[at[better]] = hoped_low[used][better]
            low[at[better]] = found_low[used][better]
            box *= 2

    def exactly(self, sampling: _Sampling, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return bounds of φ_r for r = 1..last: those of its own estimate, or the differences of bounds of φ_{k+}.

        The narrower interval is used; the width does not depend on the position of the interval.
        """
        counts = np.arange(1, self.last + 1)
        estimates = np.fft.irfft(self.unbiased, self.decoded.size)[counts]
        variance = self._variance(np.ones(1), counts, single=True)
        half = _ALONE * sampling.spread(estimates, variance)
        middle = sampling.labels * estimates
        after = slice(1, self.last + 1)
        least = np.maximum(low[: self.last] - _pad(high[after], self.last), 0)
        most = high[: self.last] - np.maximum(_pad(low[after], self.last), 0)
        is_direct = 2 * half < most - least
        return np.where(is_direct, middle - half, least), np.where(is_direct, middle + half, most)

    def _mean_at_least(self, numbers: Floats, weights: Floats, starts: Ints) -> Floats:
        """Return ``Σ_i w_i·φ_{(s+i)+}`` for each start s."""
        size = self.decoded.size
        # From the last position down; positions before zero are at the end.
        order = np.arange((size // 2) - 1, int(starts[0]) - 1, -1)
        sums = np.cumsum(numbers[order % size])[::-1]
        return np.convolve(sums, weights[::-1])[weights.size - 1 :][: starts.size]

    def _variance(self, ramp: Floats, starts: Ints, *, single: bool = False) -> Floats:
        """Return the variance of the estimate of ``Σ_x φ_x·a(x − s)`` for each start s.

        a is a ramp that continues with 1 after its end or, for a single count, with 0.
        """
        size = self.decoded.size
        half = size // 2
        step = np.zeros(size)
        step[half : half + ramp.size] = ramp
        if not single:
            step[half + ramp.size :] = 1
        rises = np.diff(step, prepend=0.0)
        # In an estimate at r, a counter of value y has the weight ψ(r − y), ψ the inverse transform of the ratio.
        shares = np.fft.irfft(np.fft.rfft(np.fft.ifftshift(rises)) * np.conj(self.ratio), size)
        response = np.cumsum(np.fft.fftshift(shares))
        # A counter is off by at most this, except for noise that moves it from one end of the ramp to the other.
        odd = np.abs(response - step) if single else np.minimum(np.abs(response), np.abs(response - 1))
        squares = self._correlate(self.counted, response**2, starts) - self._correlate(self.unbiased, step**2, starts)
        if self.is_hashed:
            squares -= self._correlate(self.counted, response, starts) ** 2 / float(self.counted[0].real)
        # The estimated variance includes one more counter, for windows only if some counters are between, or may have
        # been without noise. Otherwise an isolated counter would count as certain.
        more = float(odd.max()) ** 2
        near = _widen(odd > _ON_STEP * odd.max(), self.carried)
        between = self._correlate(self.counted, np.where(near, more, odd**2), starts)
        return np.maximum(squares, 0.0) + (more if single else np.clip(between, 0.0, more))

    def _correlate(self, transform: NDArray[np.complex128], response: Floats, starts: Ints) -> Floats:
        """Return ``Σ_y n_y·f(y − s)`` for each start s, f centered in the middle of its array."""
        size = self.decoded.size
        return np.fft.irfft(transform * np.conj(np.fft.rfft(np.fft.ifftshift(response))), size)[starts % size]


def _by_value(observed: Counters, setting: CounterSetting, counts: Ints, sampling: _Sampling) -> tuple[Floats, Floats]:
    """Return bounds of φ_{k+} for these k, all at once, from the few counters that are so large."""
    reach = setting.noise.reach(_BEYOND)
    above = np.append(np.cumsum(observed.numbers[::-1])[::-1], 0).astype(np.float64)
    # A label has k or more only if its counter has at least k − reach, and certainly if that has at least k + reach.
    most = above[np.searchsorted(observed.values, counts - reach)]
    sure = above[np.searchsorted(observed.values, counts + reach)]
    if setting.is_hashed:
        # Some counters hold two such labels, and others two smaller ones. If half of all counters are so large, they
        # may hold any number.
        several = np.ceil(most**2 / observed.size) + 3
        most = np.where(2 * most > observed.size, 2.0**62, most + np.where(most > 0, several, 0))
        sure *= 0
    return sampling.ends(sure, 0 * sure)[0], sampling.ends(most, 0 * most)[1]


def _widen(marked: Bools, reach: int) -> Bools:
    """Extend marks by this distance on both sides."""
    sums = np.cumsum(np.pad(marked, (reach + 1, reach)))
    return np.asarray(sums[2 * reach + 1 :] > sums[: -2 * reach - 1])


def _pad(numbers: Floats, size: int) -> Floats:
    return np.append(numbers, np.zeros(size - numbers.size))


def _steps(ends: Ints, lows: Floats, highs: Floats) -> tuple[Ints, Ints, Ints]:
    """Shrink intervals to the whole numbers in them, and merge neighbors if that hardly widens them."""
    high = np.clip(np.floor(highs + _TOLERANCE), 0, 2.0**62).astype(np.int64)
    low = np.minimum(np.clip(np.ceil(lows - _TOLERANCE), 0, 2.0**62).astype(np.int64), high)
    places = ends.tolist()
    found: list[list[int]] = []
    narrowest = 0.0
    for end, least, most in zip(places, low.tolist(), high.tolist(), strict=True):
        if found:
            _, before_low, before_high = found[-1]
            joined = (min(least, before_low), max(most, before_high))
            narrower = min(narrowest, most - least)
            if joined[1] - joined[0] <= (1 + _WIDENED) * narrower:
                found[-1] = [end, *joined]
                narrowest = narrower
                continue
        found.append([end, least, most])
        narrowest = most - least
    columns = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return columns[0], columns[1], columns[2]
