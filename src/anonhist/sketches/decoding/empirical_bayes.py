"""Empirical Bayes: learn the distribution of the counts from the sketch, then take the posterior of each counter.

A smooth distribution is wrong if many labels have one count and few the neighboring ones. Steps of expectation and
maximization from it lead to the numbers under which what is seen is most likely, spikes and noise alike. How many to
take is learned: the counters are divided by chance into two halves, and each is predicted from steps on the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from anonhist.numeric.fits import LARGEST_LOG, Curvature, rates_at, smooth_fit
from anonhist.sketches.decoding.decoder import Counters, CounterSetting, Prevalences, WithoutParameters
from anonhist.sketches.decoding.window import STRAY, Window, between_cells, even_logs, rough_logs

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats, Ints

# Nats by which the likelihood may stay below its maximum, too few to distinguish distributions.
_GAP = 0.01
_STEPS, _SMALL_STEPS = 200, 20


@dataclass(frozen=True)
class MaximumLikelihood(WithoutParameters):
    """The distribution of counts under which the values seen are most likely: a mixture whose kernel is the noise.

    With G_k counters of value k and κ the distribution of the noise, ``Σ_k G_k·ln Σ_r f_r·κ(k − r)`` is maximized over
    all f ≥ 0 with sum 1. It is concave. Each step solves its quadratic model under f ≥ 0 and is halved until it gains;
    small steps, of expectation and maximization, come between. It ends where what is missing to the maximum, which is
    at most ``d·ln max_r Σ_k (G_k/d)·κ(k − r)/m_k``, is below 0.01.

    f is not smoothed: if many counts are about equally likely, the result has a few peaks instead. It is best if the
    truth has few distinct counts; otherwise
    :class:`~anonhist.sketches.decoding.empirical_bayes.EmpiricalBayes` has a lower error. Far out, where counters are
    sparse, counts are grouped into cells, within which f is constant.

    Source: Wang 2007, the step; Lindsay 1983, the bound.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoding.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.decoding.decoder import Counters
    >>> noise = NoiseDistribution.of([(Fraction(1), Fraction(1))])
    >>> seen = np.rint(1e6 * noise.pmf(6)).astype(np.int64)  # all counts are 2
    >>> found = MaximumLikelihood().decode(Counters(np.arange(-4, 9), seen), CounterSetting(noise, is_hashed=False))
    >>> (found.numbers[:5] / 1e6).round(2).tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0]
    """

    name: ClassVar[str] = "maximum-likelihood"

    def decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the most likely numbers of counters with each count, 0 included.

        Raises
        ------
        UsageError
            If the noise spreads over more than 2^15 counts.
        """
        if not observed.size:
            return Prevalences.none()
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
        # Where all means are doubled the quadratic model would be best; the last row keeps the sum.
        rows = np.vstack((relative * roots[:, np.newaxis], np.ones(kernel.shape[1]) / total**0.5))
        target, _ = nnls(rows, np.append(2 * roots, total**0.5), maxiter=10 * kernel.shape[1])
        if not target.sum():
            break
        target *= total / target.sum()
        weights = _along(seen, kernel, weights, target)
    return weights


def _along(seen: Floats, kernel: Floats, weights: Floats, target: Floats) -> Floats:
    """Return the first of ever shorter steps toward the target that gains a third of what its slope promises."""
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
# The halves are the same whenever a sketch is read.
_SEED = 7


class Reading(Protocol):
    """The map from numbers of labels to expected counters, and back."""

    def means(self, rates: Floats) -> Floats:
        """Return how many counters of each value are expected, > 0, in proportion."""

    def expected_labels(self, rates: Floats, seen: Floats) -> Floats:
        """Return the expected number of labels with each count, given how many counters of each value are seen."""


def sharpen(reading: Reading, rates: Floats, seen: Ints) -> Floats:
    """Return the expected numbers of labels after one step from these smooth rates, or as many as help."""
    found = rates
    for _ in range(max(1, _helpful_steps(reading, rates, seen))):
        found = reading.expected_labels(found, seen.astype(np.float64))
    return found


def _helpful_steps(reading: Reading, rates: Floats, seen: Ints) -> int:
    half = np.random.default_rng(_SEED).binomial(seen, 0.5)
    halves = [half, seen - half]
    if not all(each.any() for each in halves):
        return 1
    # As if each half were all.
    scaled = [each * (seen.sum() / each.sum()) for each in halves]
    current = [rates, rates]
    best, helpful, worse, done = -np.inf, 0, 0, 0
    for steps in _SHARPENING_STEPS:
        while done < steps:
            current = [reading.expected_labels(each, part) for each, part in zip(current, scaled, strict=True)]
            done += 1
        means = [reading.means(each) for each in current]
        # Steps keep the sum, but the smooth distribution may have another.
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
class EmpiricalBayes(WithoutParameters):
    """Learn a smooth distribution of the counts by penalized maximum likelihood, then take each counter's posterior.

    With κ the distribution of the noise and φ_r rates of labels, counters of value k are Poisson with mean
    ``m_k = Σ_r φ_r·κ(k − r)``. Rates are fitted as :func:`~anonhist.numeric.fits.smooth_fit` says:
    smooth in r, unless what is seen says otherwise. They are those of a distribution the counts may have come from.
    The result is ``φ̂_r = φ_r·Σ_k G_k·κ(k − r)/m_k``, the expected number of counters with count r given the G_k
    counters of value k. For small noise these are the observed values, for large noise the smooth distribution. Where
    many labels have one count and few its neighbors, more steps of this kind lead nearer to it;
    :func:`~anonhist.sketches.decoding.empirical_bayes.sharpen` finds out how many help.

    Rare values far out (beyond a window with nearly all counters) are taken as counts.

    Each counter is read as that of one label; where labels share counters, take
    :class:`~anonhist.sketches.decoding.decompounding.Decompounding`.

    Source: Robbins 1956; MacKay 1992, smoothness by evidence.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoding.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.decoding.decoder import Counters
    >>> noise = NoiseDistribution.of([(Fraction(1), Fraction(1))])
    >>> seen = np.rint(1e6 * noise.pmf(6)).astype(np.int64)  # all counts are 2
    >>> found = EmpiricalBayes().decode(Counters(np.arange(-4, 9), seen), CounterSetting(noise, is_hashed=False))
    >>> (found.numbers[:5] / 1e6).round(2).tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0]
    """

    name: ClassVar[str] = "empirical-bayes"

    def decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the expected number of counters with each count, 0 included; as many in all as there are counters.

        Raises
        ------
        UsageError
            If the noise spreads over more than 2^15 counts.
        """
        return self._read(observed, setting, None)

    def redecode(self, observed: Counters, setting: CounterSetting, *, rng: np.random.Generator) -> Prevalences:
        """Read a simulated sketch, with rates that could be the true ones instead of those that are fitted."""
        return self._read(observed, setting, rng)

    def _read(self, observed: Counters, setting: CounterSetting, rng: np.random.Generator | None) -> Prevalences:
        if not observed.size:
            return Prevalences.none()
        window = Window.of(observed, setting.noise)
        numbers = np.zeros(window.last)
        if window.num_counters:
            kernel = setting.noise.pmf(window.reach)
            widths = np.diff(window.counts)
            matrix = between_cells(kernel, -window.reach, window.values, window.counts)
            mixture = _Mixture(window.cell_numbers, matrix, widths.astype(np.float64))
            fit = smooth_fit(mixture, even_logs(window, window.counts), rough_logs(window, window.counts))
            rates = fit.rates if rng is None else fit.draw(rng)
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
    """Counters of single labels, each value for itself: mixtures whose kernel is the noise, by transforms."""

    def __init__(self, kernel: Floats, window: Window) -> None:
        self._window = window
        self._size = 1 << (window.last - window.low + 2 * window.reach).bit_length()
        self._noise = np.fft.rfft(kernel, self._size)

    def means(self, rates: Floats) -> Floats:
        """Return ``m_k = Σ_r φ_r·κ(k − r)`` for each value k of the window."""
        window = self._window
        # Place i holds value i − reach.
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
