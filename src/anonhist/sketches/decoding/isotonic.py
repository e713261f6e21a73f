"""The isotonic decoder: the number of labels that occur at least r times is non-increasing in r."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.numeric import decreasing_fit
from anonhist.sketches.decoding.decoder import WithoutParameters
from anonhist.sketches.decoding.rounding import found_labels
from anonhist.sketches.decoding.three_tap import at_least_zero, without_noise
from anonhist.sketches.prevalences import Prevalences

if TYPE_CHECKING:
    from anonhist.sketches.counters import Counters
    from anonhist.sketches.decoding.decoder import CounterSetting


@dataclass(frozen=True)
class Isotonic(WithoutParameters):
    """The non-increasing survival counts nearest in ℓ2 to their unbiased estimates.

    φ_{r+}, the number of labels that occur at least r times, is estimated without bias by ``Σ_x F(h̃_x − r)`` over the
    counters h̃, with F(m) = 1 for m > 0, ``F(0) = 1 + p/(1 − p)²``, ``F(−1) = −p/(1 − p)²``, else 0, p = e^(−γ): the
    running sum of the three-tap inverse, and for noise of several parts that of their inverses. φ_{0+} is the number of
    counters. A sequence that never rises is fitted for r ≥ 1, unweighted, and cut to 0..d. Where no counter has a value
    near r the estimates are equal, and such stretches of any length are fitted as one. Where labels are hashed into
    counters it reads each counter as one label.

    References
    ----------
    .. [1] B. Ghazi, P. Kamath, R. Kumar, P. Manurangsi, *Anonymized Histograms in Intermediate Privacy Models*,
       NeurIPS 2022, equation (1).

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoding.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.counters import Counters
    >>> noise = NoiseDistribution(((Fraction(20), Fraction(1)),))
    >>> found = Isotonic().decode(Counters.of(np.array([0, 3, 0, 2**60, 0])), CounterSetting(noise, is_hashed=False))
    >>> kept = found.numbers > 0.001
    >>> found.counts[kept].tolist() == [0, 3, 2**60], found.numbers[kept].round(3).tolist()
    (True, [3.0, 1.0, 1.0])
    """

    name: ClassVar[str] = "isotonic"

    def decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the estimated number of labels with each count; see the protocol."""
        size = observed.size
        if not size:
            return Prevalences.none()
        counts, numbers = at_least_zero(*without_noise(observed, setting.noise))
        # Of the counts r between two of the list, φ_{r+} is that of the next one: its weight is how many there are.
        reaching = np.cumsum(numbers[:0:-1])[::-1]
        fit = np.clip(decreasing_fit(reaching, weights=np.diff(counts)), 0.0, size)
        return found_labels(counts, -np.diff(fit, prepend=size, append=0.0), setting)
