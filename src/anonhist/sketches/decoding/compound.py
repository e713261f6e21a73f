"""Sums of labels that share a bucket: the distribution of a bucket's value, and the labels expected given it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric.smooth_fit import LARGEST_LOG, Curvature, rates_at
from anonhist.sketches.decoding.cells import between_cells
from anonhist.sketches.decoding.window import STRAY, even_logs, rough_logs
from anonhist.sketches.prevalences import Prevalences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.sketches.decoding.window import Window
    from anonhist.sketches.noise import NoiseDistribution

# Shorter transforms are hardly faster.
_SHORTEST = 1024


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
    def starts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Logarithms of rates to begin with: as many labels in each cell, and as if each bucket held one label."""
        return even_logs(self._window, self._edges), rough_logs(self._window, self._edges)

    def spread_out(self, rates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return φ_r for each r from 0 to the end of the window, of the rates of the cells."""
        return np.concatenate((np.zeros(self._edges[0]), np.repeat(rates, self._widths)))

    def value(self, logs: NDArray[np.float64]) -> float:
        """Return the log-likelihood; −inf where a rate is beyond all bounds."""
        if float(logs.max()) > LARGEST_LOG:
            return -np.inf
        means = self._window.gather(self._distribution_at(logs))
        return float(self._seen @ np.log(self._buckets * means[self._met]))

    def curvature(self, logs: NDArray[np.float64]) -> Curvature:
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

    def means(self, rates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return g_k for each value k of the window: how likely a bucket has it."""
        distribution = self._distribution(rates)
        return np.asarray(np.maximum(distribution, 1e-14 * float(distribution.max())))

    def expected_labels(self, rates: NDArray[np.float64], seen: NDArray[np.float64]) -> NDArray[np.float64]:
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

    def _distribution_at(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the distribution for logarithms of rates; the last one is cached."""
        if self._latest[0] is not logs:
            self._latest = (logs, self._distribution(self.spread_out(rates_at(logs))))
        return self._latest[1]

    def _distribution(self, rates: NDArray[np.float64]) -> NDArray[np.float64]:
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


def of_all_buckets(window: Window, numbers: NDArray[np.float64]) -> Prevalences:
    """Return the labels of all buckets, given those in the buckets of the window.

    Labels fall into buckets independently: those with counts within the window are in buckets beyond it as often as in
    others, but invisible there. T of B buckets beyond the window hold ``−B·ln(1 − T/B)`` labels of such counts on
    average. Those that share one are mostly the smaller ones, so the missing labels are assigned the
    least value seen there, which nearly preserves the number of items, too.

    Parameters
    ----------
    window
        What was fitted, and what lies beyond.
    numbers
        Labels in the buckets of the window with each count from 1 to its end, shape (last − 1,).
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
