"""Decoders by likelihood: the smooth or the most likely counts, from counters of one label each or of several.

Empirical Bayes learns the distribution of the counts from the sketch, then takes the posterior of each counter. A
smooth distribution is wrong if many labels have one count and few have its neighbors. EM steps from it lead to the
numbers under which the observations are most likely, including both spikes and noise. The number of steps is learned:
the counters are divided at random into two halves, and each is predicted from steps on the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.numeric.fits import LARGEST_LOG, Curvature, SmoothFit, rates_at, smooth_fit
from anonhist.sketches.decoder import (
    STRAY,
    Counters,
    CounterSetting,
    Decoder,
    Prevalences,
    SmoothDecoder,
    Window,
    between_cells,
    even_logs,
    of_all_buckets,
    rough_logs,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.numeric.arrays import Floats, Ints
    from anonhist.sketches.noise import NoiseDistribution

# Nats by which the likelihood may stay below its maximum, too few to distinguish distributions.
_GAP = 0.01
_STEPS, _SMALL_STEPS = 200, 20


@dataclass(frozen=True)
class MaximumLikelihood(Decoder):
    """The distribution of counts that makes the observed values most likely: a mixture with the noise as its kernel.

    With G_k counters of value k and κ the distribution of the noise, it maximizes ``Σ_k G_k·ln Σ_r f_r·κ(k − r)`` over
    all f ≥ 0 with sum 1, which is a concave function. Each step solves its quadratic model under f ≥ 0 and is halved
    until it gains; small EM steps come between. It stops when the distance from the maximum, which is at most ``d·ln
    max_r Σ_k (G_k/d)·κ(k − r)/m_k``, is below 0.01.

    f is not smoothed: if many counts are about equally likely, the result has a few peaks instead. It is best if the
    truth has few distinct counts; otherwise :class:`EmpiricalBayes` has a lower error. Far out, where counters are
    sparse, counts are grouped into cells, within which f is constant.

    Source: Wang 2007, the step; Lindsay 1983, the bound.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.decoder import Counters
    >>> noise = NoiseDistribution.of([(Fraction(1), Fraction(1))])
    >>> seen = np.rint(1e6 * noise.pmf(6)).astype(np.int64)  # all counts are 2
    >>> found = MaximumLikelihood().decode(Counters(np.arange(-4, 9), seen), CounterSetting(noise, is_hashed=False))
    >>> (found.numbers[:5] / 1e6).round(2).tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0]
    """

    name: ClassVar[str] = "maximum-likelihood"

    def _decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        window = Window.of(observed, setting.noise)
        widths = np.diff(window.counts)
        kernel = between_cells(setting.noise.pmf(window.reach), -window.reach, window.values, window.counts) / widths
        # Values this unlikely, such as outliers, are not more likely under any other distribution.
        kernel = np.maximum(kernel, 1e-300)
        met = window.cell_numbers > 0
        weights = _most_likely(window.cell_numbers[met], kernel[met] + STRAY)
        return Prevalences(
            np.concatenate((np.arange(window.last), window.beyond_values)),
            np.concatenate((np.repeat(weights / widths, widths), window.beyond_numbers)),
        )


def _most_likely(seen: Floats, kernel: Floats) -> Floats:
    """Return weights w ≥ 0 with the sum of ``seen`` that maximize ``Σ seen·ln(kernel·w)``."""
    from scipy.optimize import nnls

    total = float(seen.sum())
    if not total:
        return np.zeros(kernel.shape[1])
    weights = np.full(kernel.shape[1], total / kernel.shape[1])
    for _ in range(_STEPS):
        for _ in range(_SMALL_STEPS):
            weights = weights * (kernel.T @ (seen / (kernel @ weights)))
        means = kernel @ weights
        relative = kernel / means[:, np.newaxis]
        gradient = relative.T @ seen
        if total * np.log(max(float(gradient.max()), 1.0)) <= _GAP:
            break
        roots = np.sqrt(seen)
        # If all means are doubled the quadratic model would be best; the last row keeps the sum.
        rows = np.vstack((relative * roots[:, np.newaxis], np.ones(kernel.shape[1]) / total**0.5))
        target, _ = nnls(rows, np.append(2 * roots, total**0.5), maxiter=10 * kernel.shape[1])
        if not target.sum():
            break
        target *= total / target.sum()
        weights = _along(seen, kernel, weights, target)
    return weights


def _along(seen: Floats, kernel: Floats, weights: Floats, target: Floats) -> Floats:
    """Return the first of successively shorter steps toward the target that gains a third of the slope's prediction."""
    before, after = kernel @ weights, kernel @ target
    slope = float(seen @ (after / before)) - float(seen.sum())
    length = 1.0
    while length > 1e-9:
        gain = float(seen @ np.log((1 - length) + length * after / before))
        if gain >= length * slope / 3:
            break
        length /= 2
    return (1 - length) * weights + length * target


_SHARPENING_STEPS = (0, 1, 2, 3, 5, 8, 12, 20, 32, 50)
# Stop after this many steps in a row without improvement.
_PATIENCE = 2
# The halves are the same whenever a sketch is decoded.
_SEED = 7


def sharpen(reading: _Counters | Compound, rates: Floats, seen: Ints) -> Floats:
    """Return the expected numbers of labels after one step from these smooth rates, or after as many as help."""
    found = rates
    for _ in range(max(1, _helpful_steps(reading, rates, seen))):
        found = reading.expected_labels(found, seen.astype(np.float64))
    return found


def _helpful_steps(reading: _Counters | Compound, rates: Floats, seen: Ints) -> int:
    half = np.random.default_rng(_SEED).binomial(seen, 0.5)
    halves = [half, seen - half]
    if not all(each.any() for each in halves):
        return 1
    # As if each half were all counters.
    scaled = [each * (seen.sum() / each.sum()) for each in halves]
    current = [rates, rates]
    best, helpful, worse, done = -np.inf, 0, 0, 0
    for steps in _SHARPENING_STEPS:
        while done < steps:
            current = [reading.expected_labels(each, part) for each, part in zip(current, scaled, strict=True)]
            done += 1
        means = [reading.means(each) for each in current]
        # Steps keep the sum, but the smooth distribution may have a different one.
        told = [np.log(each / each.sum()) for each in means]
        score = float(halves[1] @ told[0] + halves[0] @ told[1])
        if score > best:
            best, helpful, worse = score, steps, 0
        else:
            worse += 1
            if worse >= _PATIENCE:
                break
    return helpful


@dataclass(frozen=True)
class EmpiricalBayes(SmoothDecoder):
    """Learn a smooth distribution of the counts by penalized maximum likelihood, then take each counter's posterior.

    With κ the distribution of the noise and φ_r rates of labels, counters of value k are Poisson with mean ``m_k = Σ_r
    φ_r·κ(k − r)``. Rates are fitted as :func:`~anonhist.numeric.fits.smooth_fit` says: smooth in r, unless the
    observations contradict that. They describe a distribution that may have produced the counts. The result is ``φ̂_r =
    φ_r·Σ_k G_k·κ(k − r)/m_k``, the expected number of counters with count r given the G_k counters of value k. For
    small noise these are the observed values, for large noise the smooth distribution. If many labels have one count
    and few have its neighbors, more steps of this kind come closer to the truth;
    :func:`~anonhist.sketches.likelihood.sharpen` determines how many help.

    Rare values far out (beyond a window with nearly all counters) are treated as counts. Each counter is read as
    belonging to one label; if labels share counters, use :class:`~anonhist.sketches.likelihood.Decompounding`.

    Source: Robbins 1956; MacKay 1992, smoothness by evidence.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.decoder import Counters
    >>> noise = NoiseDistribution.of([(Fraction(1), Fraction(1))])
    >>> seen = np.rint(1e6 * noise.pmf(6)).astype(np.int64)  # all counts are 2
    >>> found = EmpiricalBayes().decode(Counters(np.arange(-4, 9), seen), CounterSetting(noise, is_hashed=False))
    >>> (found.numbers[:5] / 1e6).round(2).tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0]
    """

    name: ClassVar[str] = "empirical-bayes"

    def _fit(self, observed: Counters, setting: CounterSetting, rates_of: Callable[[SmoothFit], Floats]) -> Prevalences:
        window = Window.of(observed, setting.noise)
        numbers = np.zeros(window.last)
        if window.num_counters:
            kernel = setting.noise.pmf(window.reach)
            widths = np.diff(window.counts)
            matrix = between_cells(kernel, -window.reach, window.values, window.counts)
            mixture = _Mixture(window.cell_numbers, matrix, widths.astype(np.float64))
            rates = rates_of(smooth_fit(mixture, even_logs(window, window.counts), rough_logs(window, window.counts)))
            numbers = sharpen(_Counters(kernel, window), np.repeat(rates, widths), window.seen)
        return Prevalences(
            np.concatenate((np.arange(window.last), window.beyond_values)),
            np.concatenate((numbers, window.beyond_numbers)),
        )


class _Mixture:
    """Poisson numbers of counters in cells of values, with means ``A·exp(u)``."""

    def __init__(self, seen: Floats, matrix: Floats, widths: Floats) -> None:
        met = seen > 0
        self._seen, self._matrix, self._widths = seen[met], matrix[met], widths
        self._stray = STRAY * float(seen.sum())

    def value(self, logs: Floats) -> float:
        if float(logs.max()) > LARGEST_LOG:
            return -np.inf
        rates = rates_at(logs)
        return float(self._seen @ np.log(self._means(rates)) - self._widths @ rates)

    def curvature(self, logs: Floats) -> Curvature:
        rates = rates_at(logs)
        means = self._means(rates)
        gradient = rates * (self._matrix.T @ (self._seen / means) - self._widths)
        slopes = self._matrix * rates * (np.sqrt(self._seen) / means)[:, np.newaxis]
        value = float(self._seen @ np.log(means) - self._widths @ rates)
        return Curvature(value, gradient, slopes.T @ slopes)

    def _means(self, rates: Floats) -> Floats:
        return np.asarray(self._matrix @ rates + self._stray)


class _Counters:
    """Counters of single labels, with each value separate: mixtures with the noise as their kernel, by transforms."""

    def __init__(self, kernel: Floats, window: Window) -> None:
        self._window = window
        self._size = 1 << (window.last - window.low + 2 * window.reach).bit_length()
        self._noise = np.fft.rfft(kernel, self._size)

    def means(self, rates: Floats) -> Floats:
        """Return ``m_k = Σ_r φ_r·κ(k − r)`` for each value k of the window."""
        window = self._window
        # Position i holds value i − reach.
        around = np.fft.irfft(np.fft.rfft(rates, self._size) * self._noise, self._size)
        found = np.roll(around, -window.reach - window.low)[: window.last - window.low]
        return np.asarray(np.maximum(found, 1e-14 * float(found.max()) + np.finfo(np.float64).tiny))

    def expected_labels(self, rates: Floats, seen: Floats) -> Floats:
        """Return ``φ_r·Σ_k G_k·κ(k − r)/m_k`` for each count r of the window; their sum is that of the G_k."""
        window = self._window
        ratios = np.fft.rfft(seen / self.means(rates), self._size)
        back = np.fft.irfft(ratios * np.conj(self._noise), self._size)
        places = (np.arange(window.last) - window.low - window.reach) % self._size
        numbers = np.maximum(rates * back[places], 0.0)
        total = float(numbers.sum())
        return np.asarray(numbers * (float(seen.sum()) / total) if total else numbers)


# Shorter transforms are hardly faster.
_SHORTEST = 1024


@dataclass(frozen=True)
class Decompounding(SmoothDecoder):
    """Learn a smooth distribution of the counts from shared buckets, then take the posterior of each bucket.

    A label is in each of the B buckets with probability 1/B, so a bucket holds about Poisson(λ_r) labels of count r,
    ``λ_r = φ_r/B``, and the characteristic function of its value is ``ĝ(t) = κ̂(t)·exp(Σ_r λ_r·(e^{itr} − 1))``, κ̂
    that of the noise. The rates are fitted by penalized maximum likelihood, as
    :func:`~anonhist.numeric.fits.smooth_fit` says: smooth in r, unless the buckets contradict that. The result is the
    expected number of labels given the buckets, ``φ̂_r = φ_r·Σ_k (G_k/B)·g_{k−r}/g_k``, where G_k buckets have the
    value k, after one step of this kind or as many as :func:`~anonhist.sketches.likelihood.sharpen` finds to help.

    Their sum estimates the number of distinct labels. No bucket need be empty: loads m/B of up to about 3 labels per
    bucket cost little accuracy. Rare values far out (beyond a window with nearly all buckets) are treated as counts; if
    T of B buckets are there, they count as ``−B·ln(1 − T/B)`` labels, and the rest of their content as the same number
    of labels per bucket as in the others.

    If each counter belongs to one label, use
    :class:`~anonhist.sketches.likelihood.EmpiricalBayes`.

    Source: Buchmann and Grübel 2003.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.decoder import Counters
    >>> noise = NoiseDistribution.of([(Fraction(1), Fraction(1))])
    >>> rng = np.random.default_rng(1)
    >>> buckets = rng.poisson(0.5, 20_000) + noise.simulate(20_000, rng=rng)  # of 10,000 labels that occur once
    >>> found = Decompounding().decode(Counters.of(buckets), CounterSetting(noise, is_hashed=True))
    >>> bool(abs(found.numbers.sum() - 10_000) < 600)
    True
    """

    name: ClassVar[str] = "decompounding"

    def _fit(self, observed: Counters, setting: CounterSetting, rates_of: Callable[[SmoothFit], Floats]) -> Prevalences:
        if int(observed.values[-1]) < 1:
            return Prevalences.none()
        window = Window.of(observed, setting.noise)
        numbers = np.zeros(window.last)
        if window.num_counters:
            compound = Compound(window, setting.noise)
            rates = compound.spread_out(rates_of(smooth_fit(compound, *compound.starts)))
            numbers = sharpen(compound, rates, window.seen)
        return of_all_buckets(window, numbers[1:])


class Compound:
    """Buckets that hold Poisson numbers of labels of each count: a compound Poisson distribution, with noise.

    With λ_r = φ_r/B labels of count r in a bucket, on average, and κ̂ the characteristic function of the noise, the
    value of a bucket has the characteristic function ``ĝ(t) = κ̂(t)·exp(Σ_r λ_r·(e^{itr} − 1))``. So
    ``∂g_k/∂λ_r = g_{k−r} − g_k``: the derivatives of the likelihood are those of a mixture whose kernel is g itself.
    """

    def __init__(self, window: Window, distribution: NoiseDistribution) -> None:
        self._window = window
        self._edges = window.counts[1:]  # Count 0 fills no bucket.
        self._widths = np.diff(self._edges)
        self._buckets = float(window.seen.sum())
        gathered = window.cell_numbers
        self._met = gathered > 0
        self._seen = gathered[self._met]
        # Twice as long as the window, so that sums beyond it do not wrap around.
        self._size = _quick_length(max(_SHORTEST, 2 * (window.last + window.reach)))
        angles = 2 * np.pi * np.arange(self._size // 2 + 1) / self._size
        self._noise = distribution.characteristic(angles) * np.exp(1j * window.low * angles)
        self._latest = (np.empty(0), np.empty(0))

    @property
    def starts(self) -> tuple[Floats, Floats]:
        """Initial logarithms of rates: the same number of labels in each cell, and as if each bucket held one label."""
        return even_logs(self._window, self._edges), rough_logs(self._window, self._edges)

    def spread_out(self, rates: Floats) -> Floats:
        """Return φ_r for each r from 0 to the end of the window, from the rates of the cells."""
        return np.concatenate((np.zeros(self._edges[0]), np.repeat(rates, self._widths)))

    def value(self, logs: Floats) -> float:
        """Return the log-likelihood; −inf if a rate is beyond all bounds."""
        if float(logs.max()) > LARGEST_LOG:
            return -np.inf
        means = self._window.gather(self._distribution_at(logs))
        return float(self._seen @ np.log(self._buckets * means[self._met]))

    def curvature(self, logs: Floats) -> Curvature:
        """Return the log-likelihood with its derivatives."""
        distribution = self._distribution_at(logs)
        means = self._window.gather(distribution)[self._met]
        kernel = between_cells(distribution, self._window.low, self._window.values, self._edges)[self._met]
        kernel -= means[:, np.newaxis] * self._widths
        means *= self._buckets
        rates = rates_at(logs)
        gradient = rates * (kernel.T @ (self._seen / means))
        slopes = np.multiply(kernel, rates, out=kernel)
        slopes *= (np.sqrt(self._seen) / means)[:, np.newaxis]
        return Curvature(float(self._seen @ np.log(means)), gradient, slopes.T @ slopes)

    def means(self, rates: Floats) -> Floats:
        """Return g_k for each value k of the window: the probability that a bucket has it."""
        distribution = self._distribution(rates)
        return np.asarray(np.maximum(distribution, 1e-14 * float(distribution.max())))

    def expected_labels(self, rates: Floats, seen: Floats) -> Floats:
        """Return ``φ_r·Σ_k (G_k/B)·g_{k−r}/g_k``: the expected number of labels with each count, given the buckets."""
        distribution = self._distribution(rates)
        ratios = np.zeros(self._size)
        ratios[: distribution.size] = seen / (
            self._buckets * np.maximum(distribution, 1e-14 * float(distribution.max()))
        )
        padded = np.fft.rfft(distribution, self._size)
        # Both begin at the lowest value, so lags count from zero; the kernel begins there, too.
        back = np.fft.irfft(np.fft.rfft(ratios) * np.conj(padded), self._size)
        return np.asarray(np.maximum(rates * back[: rates.size], 0.0))

    def _distribution_at(self, logs: Floats) -> Floats:
        """Return the distribution for logarithms of rates; the last one is cached."""
        if self._latest[0] is not logs:
            self._latest = (logs, self._distribution(self.spread_out(rates_at(logs))))
        return self._latest[1]

    def _distribution(self, rates: Floats) -> Floats:
        """Return g_k for each value k of the window."""
        loads = rates / self._buckets
        exponents = np.fft.rfft(loads, self._size) - loads.sum()
        # No characteristic function is greater than one; rounding of large loads must not change that.
        np.minimum(exponents.real, 0.0, out=exponents.real)
        found = np.fft.irfft(self._noise * np.exp(exponents), self._size)[: self._window.last - self._window.low]
        return np.asarray(np.maximum(found, 0.0) + STRAY)


def _quick_length(least: int) -> int:
    """Return an even length, slightly above ``least``, that is fast to transform: its factors are 2, 3 and 5."""
    unit = 1 << max(1, (least - 1).bit_length() - 4)
    return unit * next(factor for factor in (8, 9, 10, 12, 15, 16) if unit * factor >= least)
