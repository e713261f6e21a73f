"""Empirical Bayes: learn the distribution of the counts from the sketch, then take the posterior of each counter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.numeric.smooth_fit import LARGEST_LOG, Curvature, rates_at, smooth_fit
from anonhist.sketches.decoding.decoder import Counters, CounterSetting, Prevalences, WithoutParameters
from anonhist.sketches.decoding.sharpening import sharpen
from anonhist.sketches.decoding.window import STRAY, Window, between_cells, even_logs, rough_logs

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats


@dataclass(frozen=True)
class EmpiricalBayes(WithoutParameters):
    """Learn a smooth distribution of the counts by penalized maximum likelihood, then take each counter's posterior.

    With κ the distribution of the noise and φ_r rates of labels, counters of value k are Poisson with mean
    ``m_k = Σ_r φ_r·κ(k − r)``. Rates are fitted as :func:`~anonhist.numeric.smooth_fit.smooth_fit` says:
    smooth in r, unless what is seen says otherwise. They are those of a distribution the counts may have come from.
    The result is ``φ̂_r = φ_r·Σ_k G_k·κ(k − r)/m_k``, the expected number of counters with count r given the G_k
    counters of value k. For small noise these are the observed values, for large noise the smooth distribution. Where
    many labels have one count and few its neighbors, more steps of this kind lead nearer to it;
    :func:`~anonhist.sketches.decoding.sharpening.sharpen` finds out how many help.

    Rare values far out (beyond a window with nearly all counters) are taken as counts.

    Each counter is read as that of one label; where labels share counters, take
    :class:`~anonhist.sketches.decoding.decompounding.Decompounding`.

    References
    ----------
    .. [1] H. Robbins, *An empirical Bayes approach to statistics*, Berkeley Symposium 1956.
    .. [2] D. J. C. MacKay, *Bayesian interpolation*, Neural Computation 4, 1992: smoothness by evidence.

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
