"""The exact inverse of discrete Laplace noise, three taps, and the two decoders that use it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.numeric import decreasing_fit
from anonhist.sketches.decoding.decoder import Counters, CounterSetting, Prevalences, WithoutParameters
from anonhist.sketches.decoding.wu_pagh import found_labels, round_to_profile
from anonhist.sketches.noise import NoiseDistribution

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats, Ints

# The inverse of a part of fractional shape falls like e^(−γ|k|); beyond this it is below rounding.
_FADED = 40.0
# So many values can be transformed at once.
_LONGEST = 2**24
# The noise of a hundred sketches would be magnified beyond all floats, and is useless long before.
_LARGEST = 1e250


def without_noise(observed: Counters, distribution: NoiseDistribution) -> tuple[Ints, Floats]:
    """Return unbiased estimates of how many counters have each value without noise: E f̂ = f on all whole numbers.

    For each part of shape 1, one after the other, ``f̂[t] = ((1 + p²)·g[t] − p·(g[t−1] + g[t+1]))/(1 − p)²``,
    p = e^(−γ): the inverse of the noise's z-transform (1 − p)²/((1 − pz)(1 − p/z)). Its norm is coth²(γ/2) in ℓ1, ℓ2
    and ℓ∞; norms of several parts multiply. A whole number of shares is inverted the same way, a fraction of one by
    dividing by its characteristic function with one FFT, on at most 2^24 values. The time grows with the number of
    distinct values, not with their size.

    Values are ascending: those that counters have, and those next to them; f̂ is zero everywhere else. f̂ has the sum
    of what is observed, and is negative in places.
    """
    taps = [gamma for gamma, shape in distribution.parts for _ in range(math.floor(shape))]
    rest = NoiseDistribution(tuple((gamma, shape % 1) for gamma, shape in distribution.parts if shape % 1))
    reach = len(taps) + sum(math.ceil(_FADED / float(gamma)) for gamma, _ in rest.parts)
    values, numbers = _widen(observed, reach)
    for gamma in taps:
        # f̂ = g + p/(1 − p)²·(2g[t] − g[t−1] − g[t+1]): the sum stays what it is.
        bent = 2 * numbers
        bent[1:] -= numbers[:-1]
        bent[:-1] -= numbers[1:]
        # p/(1 − p)²
        strength = math.exp(-float(gamma)) / math.expm1(-float(gamma)) ** 2
        numbers = np.clip(numbers + strength * bent, -_LARGEST, _LARGEST)
    if rest.parts and numbers.size:
        if numbers.size > _LONGEST:
            raise UsageError(
                "Shares of noise that do not add up to whole ones cannot be undone on values so far apart; add the "
                "shares of the missing parties, or leave out the method, and the default one is taken."
            )
        angles = 2 * np.pi * np.arange(numbers.size // 2 + 1) / numbers.size
        numbers = np.fft.irfft(np.fft.rfft(numbers) / rest.characteristic(angles), numbers.size)
    return values, numbers


def _widen(observed: Counters, reach: int) -> tuple[Ints, Floats]:
    """Return the values up to ``reach`` from an observed one, ascending, and how many counters have each.

    Values in a row follow each other, and rows lie side by side: a filter as wide as the reach takes nothing from one
    row into the next.
    """
    seen = observed.values
    if not seen.size:
        return seen, np.zeros(0)
    # Differences of the ends of int64 fit into uint64.
    starts = np.append(0, np.flatnonzero(np.diff(seen.view(np.uint64)) > np.uint64(2 * reach)) + 1)
    ends = np.append(starts[1:], seen.size) - 1
    lengths = seen[ends] - seen[starts] + (2 * reach + 1)
    shifts = seen[starts] - reach - (np.cumsum(lengths) - lengths)
    numbers = np.zeros(int(lengths.sum()))
    numbers[seen - np.repeat(shifts, ends - starts + 1)] = observed.numbers
    return np.arange(numbers.size) + np.repeat(shifts, lengths), numbers


def at_least_zero(values: Ints, numbers: Floats) -> tuple[Ints, Floats]:
    """Return estimates on 0, 1, …, with those below zero added to zero.

    No label has a count below zero, so estimates there are zero on average, and the sum is preserved. It also makes
    f̂[0] the remainder after φ_{1+}, which varies less than f̂[0] alone.
    """
    counts = values[values >= 0]
    kept = numbers[values.size - counts.size :]
    if not counts.size or counts[0] > 0:
        counts, kept = np.append(0, counts), np.append(0.0, kept)
    else:
        kept = kept.copy()
    kept[0] += numbers[values < 0].sum()
    return counts, kept


@dataclass(frozen=True)
class ThreeTap(WithoutParameters):
    """The exact inverse of the noise, rounded to a profile by Algorithm 3 of Wu and Pagh.

    There is no window and no failure probability: before rounding every estimate is unbiased. For hashed labels
    it reads each counter as one label.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoding.decoder import CounterSetting
    >>> from anonhist.sketches.decoding.decoder import Counters
    >>> noise = NoiseDistribution(((Fraction(20), Fraction(1)),))
    >>> found = ThreeTap().decode(Counters.of(np.array([0, 3, 0, 2**60, 0])), CounterSetting(noise, is_hashed=False))
    >>> found.counts.tolist() == [0, 3, 2**60], found.numbers.round(3).tolist()
    (True, [3.0, 1.0, 1.0])
    """

    name: ClassVar[str] = "three-tap"

    def decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the estimated number of labels with each count; see the protocol."""
        size = observed.size
        if not size:
            return Prevalences.none()
        counts, numbers = at_least_zero(*without_noise(observed, setting.noise))
        return found_labels(counts, round_to_profile(numbers / size) * size, setting)


@dataclass(frozen=True)
class Isotonic(WithoutParameters):
    """The non-increasing survival counts nearest in ℓ2 to their unbiased estimates.

    φ_{r+}, the number of labels that occur at least r times, is estimated without bias by ``Σ_x F(h̃_x − r)`` over the
    counters h̃, with F(m) = 1 for m > 0, ``F(0) = 1 + p/(1 − p)²``, ``F(−1) = −p/(1 − p)²``, else 0, p = e^(−γ): the
    running sum of the three-tap inverse, and for noise of several parts that of their inverses. φ_{0+} is the number of
    counters. A sequence that never rises is fitted for r ≥ 1, unweighted, and cut to 0..d. Where no counter has a value
    near r the estimates are equal, and stretches of equal estimates are fitted as one, whatever their length. Where
    labels are hashed into counters it reads each counter as one label.

    Source: Ghazi and others 2022, equation (1).

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoding.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.decoding.decoder import Counters
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
