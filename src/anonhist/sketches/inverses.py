"""Decoders by inversion: of the noise, by three taps or as Wu and Pagh (2024) published it, and of shared buckets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.numeric import decreasing_fit
from anonhist.numeric.arrays import Floats, Ints
from anonhist.numeric.fits import project_to_simplex
from anonhist.privacy import EpsilonLike, parse_epsilon
from anonhist.sketches.decoder import Counters, CounterSetting, Decoder, Prevalences, Window, of_all_buckets
from anonhist.sketches.noise import NoiseDistribution


def round_to_profile(shares: ArrayLike) -> Floats:
    """Return a valid profile close to shares that sum to one but may be negative or above one.

    Shares are clipped to [0, 1]; then ``f_t ← max(f_t − θ, 0)`` makes the sum 1; after the first step it is at least 1.
    The last step is the Euclidean projection onto the simplex. Zeros stay unchanged. It takes O(k log k).

    Relative to every valid profile the error does not grow in ℓ1 (the last step adds at most what the first step
    removes) or in ℓ2 (both steps are projections onto convex sets that contain all valid profiles), and at most doubles
    in ℓ∞ (θ is at most the error) (Wu and Pagh 2024, algorithm 3, lemmas 4.4 and 4.9).
    """
    values = np.asarray(shares, dtype=np.float64)
    if values.ndim != 1 or not bool(np.isfinite(values).all()) or not (values > 0).any():
        raise UsageError("Rounding to a profile needs a one-dimensional list of finite numbers that sum to one.")
    found = np.clip(values, 0.0, 1.0)
    # Zeros stay zero, even if rounding has made the sum slightly too small.
    positive = found > 0
    found[positive] = project_to_simplex(found[positive])
    return found


def found_labels(counts: Ints, numbers: Floats, setting: CounterSetting) -> Prevalences:
    """Return the counts that some labels have, including 0 only if each counter belongs to one label."""
    kept = numbers > 0
    if setting.is_hashed:
        kept &= counts > 0
    return Prevalences(counts[kept], numbers[kept])


# A window of this many values takes half a gigabyte and a few seconds.
LONGEST_WINDOW = 2**24
NORMS = ("1", "2", "inf")
# Among directions equally good up to rounding, the first is used: it is the same on every machine.
_TIE = 1e-9
# Lengths 2^i times one of these are fast to transform.
_ODD_FACTORS = (1, 3, 5, 9, 15, 25, 27, 45)


def _norm(given: str | float) -> str:
    if (norm := str(given)) not in NORMS:
        raise UsageError(f"`norm` must be one of {', '.join(NORMS)}, not {norm!r:.80}.")
    return norm


def _probability(given: EpsilonLike) -> Fraction:
    if (probability := parse_epsilon(given, name="beta")) >= 1:
        raise UsageError("`beta` must be less than 1, such as 0.01.")
    return probability


@frozen
class WuPagh(Decoder):
    """Algorithms 2 and 3 of Wu and Pagh: undo truncated noise on a window, correct the sum, round to a profile.

    The profile is sought on 0..n with n the largest value of a counter, or 0: the counters are already private, so this
    costs nothing. The window −B..n + B holds all counters with probability 1 − β; if a counter lies below it
    nevertheless, it is extended. Time and memory grow with n.

    The published method does not model collisions: for hashed labels it reads each counter as one label, so labels that
    share one count as a single label with their joint count.

    Source: Wu and Pagh 2024.

    Parameters
    ----------
    norm
        q of ``min ‖A·f − g‖_q``: ``"1"``, ``"2"`` or ``"inf"``; the numbers 1 and 2 and ``math.inf`` are accepted, too.
    beta
        β: probability that noise leaves the window, in (0, 1).

    Raises
    ------
    UsageError
        If the norm is unknown, or the probability is not in (0, 1).

    Examples
    --------
    >>> from anonhist.sketches.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.decoder import Counters
    >>> noise = NoiseDistribution(((Fraction(20), Fraction(1)),))
    >>> found = WuPagh().decode(Counters.of(np.array([0, 3, 0, 3, 0])), CounterSetting(noise, is_hashed=False))
    >>> found.counts.tolist(), found.numbers.round(3).tolist()
    ([0, 3], [3.0, 2.0])
    """

    name: ClassVar[str] = "wu-pagh"
    norm: Converted[str | float, str] = converted(_norm, default="2")
    beta: Converted[EpsilonLike, Fraction] = converted(_probability, default=Fraction(1, 100))

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """The norm, and the probability of failure."""
        return {"norm": self.norm, "beta": str(self.beta)}

    def _decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        size = observed.size
        largest = max(int(observed.values[-1]), 0)
        reaches = reaches_of(setting.noise, size=size, beta=float(self.beta))
        below = max(sum(reaches), -int(observed.values[0]))
        length = fast_length(below + largest + sum(reaches) + 1)
        if length > LONGEST_WINDOW:
            raise UsageError(
                "The published decoder cannot hold a window as long as the values of these counters; leave out the "
                "method, and the default one is taken, which can."
            )
        noise = Circulant.of(setting.noise, reaches, length)
        seen = observed.dense(-below, length - below - 1) / size
        profile = slice(below, below + largest + 1)
        inside = np.zeros(length)
        inside[profile] = 1
        shares = round_to_profile(best_on_hyperplane(noise, seen, inside, self.norm)[profile])
        return found_labels(np.arange(shares.size), shares * size, setting)


def best_on_hyperplane(noise: Circulant, seen: Floats, inside: Floats, norm: str) -> Floats:
    """Return ``argmin_f ‖A·f − g‖_q`` under ``s·f = 1``, where s is 1 at the values 0..n that a count can have, else 0.

    ``f = f₀ + (1 − s·f₀)·u/(s·u)`` with ``f₀ = A⁻¹·g``, ``u = A⁻¹·v`` and v the unit vector of the norm q along which
    s·f changes most, ``c = A⁻¹·s``: sign(c_j)·e_j with the largest |c_j| for q = 1, c/‖c‖₂ for q = 2, sign(c) for q = ∞
    (Wu and Pagh 2024, algorithm 2 and lemma 4.3). This takes three divisions by A: O(m log m). With s = 1 everywhere
    nothing would ever be corrected, because the columns of A sum to one. f may be negative, or nonzero outside 0..n.
    """
    plain = noise.solve(seen)
    costs = noise.solve(inside)
    if norm == "1":
        sizes = np.abs(costs)
        best = int(np.argmax(sizes >= (1 - _TIE) * sizes.max()))
        unit = np.zeros(costs.size)
        unit[best] = np.sign(costs[best])
    elif norm == "2":
        unit = costs / np.linalg.norm(costs)
    else:
        unit = np.sign(costs)
    direction = noise.solve(unit)
    return np.asarray(plain + (1 - inside @ plain) * (direction / (inside @ direction)))


def truncated_reach(gamma: Fraction, *, size: int, beta: float) -> int:
    """Return B: noise of rate γ stays within −B..B on all ``size`` counters with probability at least 1 − β.

    B is the smallest number ≥ 0 with ``2d·p^(B+1)/(1 + p) ≤ β``, p = e^(−γ), d counters. All eigenvalues are above zero
    from the smallest B with ``p^(B+1) < (1 − p)/2`` on; if β is so large that B would come close to that, B is the
    smallest number with ``p^(B+1) ≤ (1 − p)/4``, so that no eigenvalue comes close to zero.
    """
    rate = float(gamma)
    whole = NoiseDistribution(((gamma, gamma / gamma),))
    safe = math.ceil(math.log(4 / -math.expm1(-rate)) / rate) - 1
    return max(whole.reach(beta / size), safe, 0)


def truncated_eigenvalues(gamma: Fraction, reach: int, length: int) -> Floats:
    """Return eigenvalues λ_0..λ_{⌊m/2⌋} of the m × m circulant matrix of truncated noise; λ_{m−j} = λ_j.

    ``λ_j = (1 − p² − 2p^(B+1)·(cos((B+1)ω_j) − p·cos(Bω_j))) / (C·(1 − 2p·cos ω_j + p²))``, ω_j = 2πj/m, p = e^(−γ),
    C = Σ_{|k| ≤ B} p^|k|: the sum of Wu and Pagh 2024, lemma 4.6, in closed form. The noise is in −B..B, modulo m.
    """
    rate = float(gamma)
    p, rest, beyond = math.exp(-rate), -math.expm1(-rate), math.exp(-rate * (reach + 1))
    places = np.arange(length // 2 + 1)

    def cosines(multiple: int) -> Floats:
        # The angle is reduced in whole numbers, where nothing is lost.
        return np.asarray(np.cos(2 * np.pi * (multiple % length * places % length) / length))

    above = rest * (1 + p) - 2 * beyond * (cosines(reach + 1) - p * cosines(reach))
    # (1 − p)·C, and (1 − 2p·cos ω + p²)/(1 − p), both without differences of close numbers.
    scale = rest - 2 * p * math.expm1(-rate * reach)
    return np.asarray(above / (scale * (rest + 4 * p * np.sin(np.pi * places / length) ** 2 / rest)))


def fast_length(least: int) -> int:
    """Return a length, at least ``least`` and less than a quarter above it, that is fast to transform."""
    return min(odd << max(0, -(-least // odd) - 1).bit_length() for odd in _ODD_FACTORS)


@dataclass(frozen=True, eq=False)
class Circulant:
    """A symmetric circulant matrix A, ``A[i, j] = P(i − j mod m)`` with the distribution P of noise: E g = A·f.

    Any length m ≥ n + 2B + 1 works: f is zero outside 0..n, so nothing wraps around, and an extension of the window
    above n + B is neither reached by noise nor changes its distribution. So m is chosen to be fast to transform. The
    eigenvalues are λ_0..λ_{⌊m/2⌋}, real; λ_{m−j} = λ_j.
    """

    length: int
    eigenvalues: Floats

    @classmethod
    def of(cls, distribution: NoiseDistribution, reaches: list[int], length: int) -> Self:
        """Return the matrix of the noise of a sketch: eigenvalues of independent parts multiply.

        A part of shape 1 is truncated to its own −B..B; it has an inverse from the smallest B with ``p^(B+1) < (1 −
        p)/2`` on, and the product has one if all parts have. A part of another shape is not truncated but wrapped
        around the window: its eigenvalues are its characteristic function at ω_j, all above zero.
        """
        found = np.ones(length // 2 + 1)
        for (gamma, shape), reach in zip(distribution.parts, reaches, strict=True):
            if shape == 1:
                found *= truncated_eigenvalues(gamma, reach, length)
            else:
                found *= NoiseDistribution(((gamma, shape),)).characteristic(2 * np.pi * np.arange(found.size) / length)
        return cls(length, found)

    def multiply(self, vector: Floats) -> Floats:
        """Return A·x, shape (m,)."""
        return np.fft.irfft(np.fft.rfft(vector) * self.eigenvalues, self.length)

    def solve(self, vector: Floats) -> Floats:
        """Return A^(−1)·x, or refuse an eigenvalue that is not above zero: the noise was truncated too closely."""
        if not float(self.eigenvalues.min()) > 0:
            raise UsageError(
                "Noise that is truncated so closely cannot be inverted; choose a smaller failure probability."
            )
        return np.fft.irfft(np.fft.rfft(vector) / self.eigenvalues, self.length)


def reaches_of(distribution: NoiseDistribution, *, size: int, beta: float) -> list[int]:
    """Return B of each of k parts, at β/k each: all stay within their B on all counters with probability ≥ 1 − β."""
    share = beta / max(1, len(distribution.parts))
    return [
        truncated_reach(gamma, size=size, beta=share)
        if shape == 1
        else NoiseDistribution(((gamma, shape),)).reach(share / size)
        for gamma, shape in distribution.parts
    ]


# The inverse of a part of fractional shape falls like e^(−γ|k|); beyond this, it is below rounding.
_FADED = 40.0
# This many values can be transformed at once.
_LONGEST = 2**24
# The noise of a hundred sketches would exceed all floats when magnified, and is useless long before.
_LARGEST = 1e250


def without_noise(observed: Counters, distribution: NoiseDistribution) -> tuple[Ints, Floats]:
    """Return unbiased estimates of how many counters have each value without noise: E f̂ = f on all whole numbers.

    For each part of shape 1, one after the other, ``f̂[t] = ((1 + p²)·g[t] − p·(g[t−1] + g[t+1]))/(1 − p)²``,
    p = e^(−γ): the inverse of the noise's z-transform (1 − p)²/((1 − pz)(1 − p/z)). Its norm is coth²(γ/2) in ℓ1, ℓ2
    and ℓ∞; norms of several parts multiply. A whole number of shares is inverted the same way, a fraction of one by
    dividing by its characteristic function with one FFT, on at most 2^24 values. The time grows with the number of
    distinct values, not with their size.

    Values are ascending: those of counters, and those next to them; f̂ is zero everywhere else. f̂ has the sum of the
    observed numbers, and is negative in places.
    """
    taps = [gamma for gamma, shape in distribution.parts for _ in range(math.floor(shape))]
    rest = NoiseDistribution(tuple((gamma, shape % 1) for gamma, shape in distribution.parts if shape % 1))
    reach = len(taps) + sum(math.ceil(_FADED / float(gamma)) for gamma, _ in rest.parts)
    values, numbers = _widen(observed, reach)
    for gamma in taps:
        # f̂ = g + p/(1 − p)²·(2g[t] − g[t−1] − g[t+1]): the sum stays the same.
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
    """Return the values up to ``reach`` from an observed one, ascending, and the number of counters with each.

    Values in a row are consecutive, and rows lie side by side: a filter as wide as the reach carries nothing from one
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
class ThreeTap(Decoder):
    """The exact inverse of the noise, rounded to a profile by Algorithm 3 of Wu and Pagh.

    There is no window and no failure probability: before rounding, every estimate is unbiased. For hashed labels it
    reads each counter as one label.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoder import CounterSetting
    >>> from anonhist.sketches.decoder import Counters
    >>> noise = NoiseDistribution(((Fraction(20), Fraction(1)),))
    >>> found = ThreeTap().decode(Counters.of(np.array([0, 3, 0, 2**60, 0])), CounterSetting(noise, is_hashed=False))
    >>> found.counts.tolist() == [0, 3, 2**60], found.numbers.round(3).tolist()
    (True, [3.0, 1.0, 1.0])
    """

    name: ClassVar[str] = "three-tap"

    def _decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        size = observed.size
        counts, numbers = at_least_zero(*without_noise(observed, setting.noise))
        return found_labels(counts, round_to_profile(numbers / size) * size, setting)


@dataclass(frozen=True)
class Isotonic(Decoder):
    """The non-increasing survival counts nearest in ℓ2 to their unbiased estimates.

    φ_{r+}, the number of labels that occur at least r times, is estimated without bias by ``Σ_x F(h̃_x − r)`` over the
    counters h̃, with F(m) = 1 for m > 0, ``F(0) = 1 + p/(1 − p)²``, ``F(−1) = −p/(1 − p)²``, else 0, p = e^(−γ): the
    running sum of the three-tap inverse or, for noise of several parts, of their inverses. φ_{0+} is the number of
    counters. A non-increasing sequence is fitted for r ≥ 1, unweighted, and clipped to 0..d. If no counter has a value
    near r the estimates are equal, and stretches of equal estimates are fitted as one, whatever their length. If labels
    are hashed into counters, it reads each counter as one label.

    Source: Ghazi and others 2022, equation (1).

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.decoder import Counters
    >>> noise = NoiseDistribution(((Fraction(20), Fraction(1)),))
    >>> found = Isotonic().decode(Counters.of(np.array([0, 3, 0, 2**60, 0])), CounterSetting(noise, is_hashed=False))
    >>> kept = found.numbers > 0.001
    >>> found.counts[kept].tolist() == [0, 3, 2**60], found.numbers[kept].round(3).tolist()
    (True, [3.0, 1.0, 1.0])
    """

    name: ClassVar[str] = "isotonic"

    def _decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        size = observed.size
        counts, numbers = at_least_zero(*without_noise(observed, setting.noise))
        # For the counts r between two listed ones, φ_{r+} is that of the next one: its weight is their number.
        reaching = np.cumsum(numbers[:0:-1])[::-1]
        fit = np.clip(decreasing_fit(reaching, weights=np.diff(counts)), 0.0, size)
        return found_labels(counts, -np.diff(fit, prepend=size, append=0.0), setting)


@dataclass(frozen=True)
class FourierDecompounding(Decoder):
    """Separate labels that share buckets by the logarithm of the transform of the values: fast, and not smooth.

    A bucket holds Poisson(λ_r) labels of count r, so ``ĝ(t) = κ̂(t)·exp(Σ_r λ_r·(e^{itr} − 1))`` for the characteristic
    functions of its value and of the noise. With the empirical ĝ, ``ln(ĝ/κ̂)``, with its phase followed continuously
    from t = 0, has the coefficients λ_r: this takes one transform forth and one back. Negative results are set to zero.

    It needs many buckets: errors of ĝ are about B^(−1/2), and are divided by ``κ̂·e^{−2λ}``, which may be small. It
    starts from the same window as :class:`~anonhist.sketches.likelihood.Decompounding`, which has a lower error.

    Source: van Es and others 2007.

    Examples
    --------
    >>> FourierDecompounding().name
    'fourier'
    """

    name: ClassVar[str] = "fourier"

    def _decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        if int(observed.values[-1]) < 1:
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
    return np.asarray(np.maximum(window.num_counters * np.fft.irfft(logs, size)[1 : window.last], 0.0))
