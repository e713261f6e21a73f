"""Decompounding in one step: the logarithm of a Fourier transform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.sketches.decoding.compound import of_all_buckets
from anonhist.sketches.decoding.decoder import WithoutParameters
from anonhist.sketches.decoding.window import Window
from anonhist.sketches.prevalences import Prevalences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.sketches.counters import Counters
    from anonhist.sketches.decoding.decoder import CounterSetting
    from anonhist.sketches.noise import NoiseDistribution


@dataclass(frozen=True)
class FourierDecompounding(WithoutParameters):
    """Separate labels that share buckets by the logarithm of the transform of the values: fast, and not smooth.

    A bucket holds Poisson(λ_r) labels of count r, so ``ĝ(t) = κ̂(t)·exp(Σ_r λ_r·(e^{itr} − 1))`` for the characteristic
    functions of its value and of the noise. With the empirical ĝ, ``ln(ĝ/κ̂)``, its phase followed continuously from
    t = 0, has the coefficients λ_r: one transform forth and one back. What comes out below zero is set to zero.

    It needs many buckets: errors of ĝ are about B^(−1/2), and divided by ``κ̂·e^{−2λ}`` where that is small. It starts
    from the same window as :class:`~anonhist.sketches.decoding.decompounding.Decompounding`, which has a lower error.

    References
    ----------
    .. [1] B. van Es, S. Gugushvili, P. Spreij, *A kernel type nonparametric density estimator for decompounding*,
       Bernoulli 13, 2007.

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


def _numbers(window: Window, distribution: NoiseDistribution) -> NDArray[np.float64]:
    """Return the number of labels with each count from 1 to the end of the window, at least 0."""
    size = 1 << int(2 * window.last - window.low).bit_length()
    angles = 2 * np.pi * np.arange(size // 2 + 1) / size
    seen = np.fft.rfft(window.seen / window.num_counters, size) * np.exp(-1j * window.low * angles)
    ratio = seen / distribution.characteristic(angles)
    logs = np.log(np.maximum(np.abs(ratio), np.finfo(np.float64).tiny)) + 1j * np.unwrap(np.angle(ratio))
    loads = np.fft.irfft(logs, size)[1 : window.last]
    return np.asarray(np.maximum(window.num_counters * loads, 0.0))
