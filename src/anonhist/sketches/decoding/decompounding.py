"""Decompounding: labels that share buckets are separated by the distribution of their sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.numeric.fits import LARGEST_LOG, Curvature, rates_at, smooth_fit
from anonhist.sketches.decoding.decoder import Counters, CounterSetting, Prevalences, WithoutParameters
from anonhist.sketches.decoding.empirical_bayes import sharpen
from anonhist.sketches.decoding.window import STRAY, Window, between_cells, even_logs, rough_logs

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats
    from anonhist.sketches.noise import NoiseDistribution

# Shorter transforms are hardly faster.
_SHORTEST = 1024


@dataclass(frozen=True)
class Decompounding(WithoutParameters):
    """Learn a smooth distribution of the counts from shared buckets, then take the posterior of each bucket.

    A label is in each of the B buckets with probability 1/B, so a bucket holds about Poisson(λ_r) labels of count r,
    ``λ_r = φ_r/B``, and the characteristic function of its value is ``ĝ(t) = κ̂(t)·exp(Σ_r λ_r·(e^{itr} − 1))``, κ̂
    that of the noise. The rates are fitted by penalized maximum likelihood, as
    :func:`~anonhist.numeric.fits.smooth_fit` says: smooth in r, unless the buckets say otherwise. What
    is returned is the expected number of labels given the buckets, ``φ̂_r = φ_r·Σ_k (G_k/B)·g_{k−r}/g_k``, where G_k
    buckets have the value k, after one step of this kind or as many as
    :func:`~anonhist.sketches.decoding.empirical_bayes.sharpen` finds to help.

    Their sum estimates the number of different labels. No bucket need be empty: loads m/B of up to about 3 labels a
    bucket cost little accuracy. Values far out that few buckets have (beyond a window which holds nearly all) are
    taken as counts; if T of B buckets are out there, they are taken for ``−B·ln(1 − T/B)`` labels, and what else is in
    them for as many labels a bucket as in the others.

    Where each counter is that of one label, take
    :class:`~anonhist.sketches.decoding.empirical_bayes.EmpiricalBayes`.

    Source: Buchmann and Grübel 2003.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoding.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.decoding.decoder import Counters
    >>> noise = NoiseDistribution.of([(Fraction(1), Fraction(1))])
    >>> rng = np.random.default_rng(1)
    >>> buckets = rng.poisson(0.5, 20_000) + noise.simulate(20_000, rng=rng)  # of 10,000 labels that occur once
    >>> found = Decompounding().decode(Counters.of(buckets), CounterSetting(noise, is_hashed=True))
    >>> bool(abs(found.numbers.sum() - 10_000) < 600)
    True
    """

    name: ClassVar[str] = "decompounding"

    def decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the expected number of labels with each count from 1 on.

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
        if not observed.size or int(observed.values[-1]) < 1:
            return Prevalences.none()
        window = Window.of(observed, setting.noise)
        numbers = np.zeros(window.last)
        if window.num_counters:
            compound = Compound(window, setting.noise)
            fit = smooth_fit(compound, *compound.starts)
            rates = compound.spread_out(fit.rates if rng is None else fit.draw(rng))
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
        self._edges = window.counts[1:]  # count 0 fills no bucket
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
        """Logarithms of rates to begin with: as many labels in each cell, and as if each bucket held one label."""
        return even_logs(self._window, self._edges), rough_logs(self._window, self._edges)

    def spread_out(self, rates: Floats) -> Floats:
        """Return φ_r for each r from 0 to the end of the window, of the rates of the cells."""
        return np.concatenate((np.zeros(self._edges[0]), np.repeat(rates, self._widths)))

    def value(self, logs: Floats) -> float:
        """Return the log-likelihood; −inf where a rate is beyond all bounds."""
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
        """Return g_k for each value k of the window: how likely a bucket has it."""
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
        # Both begin at the lowest value, so lags count from zero; the kernel begins there too.
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
        # No characteristic function is greater than one; rounding of large loads must not make it so.
        np.minimum(exponents.real, 0.0, out=exponents.real)
        found = np.fft.irfft(self._noise * np.exp(exponents), self._size)[: self._window.last - self._window.low]
        return np.asarray(np.maximum(found, 0.0) + STRAY)


def _quick_length(least: int) -> int:
    """Return an even length, a little above ``least``, of which transforms are quick: its factors are 2, 3 and 5."""
    unit = 1 << max(1, (least - 1).bit_length() - 4)
    return unit * next(factor for factor in (8, 9, 10, 12, 15, 16) if unit * factor >= least)


def of_all_buckets(window: Window, numbers: Floats) -> Prevalences:
    """Return the labels of all buckets, given those in the buckets of the window, of counts from 1 to its end.

    Labels fall into buckets independently: those with counts within the window are in buckets beyond it as often as in
    others, but invisible there. T of B buckets beyond the window hold ``−B·ln(1 − T/B)`` labels of such counts on
    average. Those that share one are mostly the smaller ones, so the missing labels are assigned the least value seen
    there, which nearly preserves the number of items, too.
    """
    held, beyond = window.num_counters, int(window.beyond_numbers.sum())
    buckets = held + beyond
    far = window.beyond_numbers.astype(np.float64)
    if beyond:
        # Where all are beyond, as if half a bucket were not; but one label at least in each.
        share = min(beyond / buckets, 1 - 0.5 / buckets)
        far[0] += max(0.0, beyond * (-math.log1p(-share) / share - 1))
    return Prevalences(
        np.concatenate((np.arange(1, window.last), window.beyond_values)),
        np.concatenate((numbers * (buckets / max(held, 1)), far)),
    )


@dataclass(frozen=True)
class FourierDecompounding(WithoutParameters):
    """Separate labels that share buckets by the logarithm of the transform of the values: fast, and not smooth.

    A bucket holds Poisson(λ_r) labels of count r, so ``ĝ(t) = κ̂(t)·exp(Σ_r λ_r·(e^{itr} − 1))`` for the characteristic
    functions of its value and of the noise. With the empirical ĝ, ``ln(ĝ/κ̂)``, its phase followed continuously from
    t = 0, has the coefficients λ_r: one transform forth and one back. What comes out below zero is set to zero.

    It needs many buckets: errors of ĝ are about B^(−1/2), and divided by ``κ̂·e^{−2λ}`` where that is small. It starts
    from the same window as :class:`~anonhist.sketches.decoding.decompounding.Decompounding`, which has a lower error.

    Source: van Es and others 2007.

    Examples
    --------
    >>> FourierDecompounding().name
    'fourier'
    """

    name: ClassVar[str] = "fourier"

    def decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the estimated number of labels with each count from 1 on.

        Raises
        ------
        UsageError
            If the noise spreads over more than 2^15 counts.
        """
        if not observed.size or int(observed.values[-1]) < 1:
            return Prevalences.none()
        window = Window.of(observed, setting.noise)
        numbers = _numbers(window, setting.noise) if window.num_counters else np.zeros(window.last - 1)
        return of_all_buckets(window, numbers)


def _numbers(window: Window, distribution: NoiseDistribution) -> Floats:
    """Return the number of labels with each count from 1 to the end of the window, at least 0."""
    size = 1 << int(2 * window.last - window.low).bit_length()
    angles = 2 * np.pi * np.arange(size // 2 + 1) / size
    seen = np.fft.rfft(window.seen / window.num_counters, size) * np.exp(-1j * window.low * angles)
    ratio = seen / distribution.characteristic(angles)
    logs = np.log(np.maximum(np.abs(ratio), np.finfo(np.float64).tiny)) + 1j * np.unwrap(np.angle(ratio))
    loads = np.fft.irfft(logs, size)[1 : window.last]
    return np.asarray(np.maximum(window.num_counters * loads, 0.0))
