"""The decoder of Wu and Pagh (2024), as published: truncated noise as a circulant matrix, inverted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.numeric.projections import project_to_simplex
from anonhist.privacy import EpsilonLike, parse_epsilon
from anonhist.sketches.decoding.decoder import Counters, CounterSetting, Prevalences
from anonhist.sketches.noise import NoiseDistribution

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from anonhist.numeric.arrays import Floats, Ints


def round_to_profile(shares: ArrayLike) -> Floats:
    """Return a valid profile near to shares that sum to one but may be negative or above one.

    Shares are clipped to [0, 1]; then ``f_t ← max(f_t − θ, 0)`` makes the sum 1, which it is at least after the first
    step. The last step is the Euclidean projection onto the simplex. Zeros play no part. O(k log k).

    Toward every valid profile the error does not grow in ℓ1 (what the first step takes from it is the most that the
    last one can add) nor in ℓ2 (both steps are projections onto convex sets that hold all valid profiles), and at most
    doubles in ℓ∞ (θ is at most the error) (Wu and Pagh 2024, algorithm 3, lemmas 4.4 and 4.9).
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
    """Return the counts that some labels have, including 0 only if each counter is one label's."""
    kept = numbers > 0
    if setting.is_hashed:
        kept &= counts > 0
    return Prevalences(counts[kept], numbers[kept])


# A window of this many values takes half a gigabyte and a few seconds.
LONGEST_WINDOW = 2**24
NORMS = ("1", "2", "inf")
# Of directions as good as each other up to rounding, the first is taken: on every machine the same.
_TIE = 1e-9
# Lengths 2^i times one of these are quick to transform.
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
class WuPagh:
    """Algorithms 2 and 3 of Wu and Pagh: undo truncated noise on a window, correct the sum, round to a profile.

    The profile is sought on 0..n with n the largest value of a counter, or 0: the counters are already private,
    so this costs nothing. The window −B..n + B holds all counters with probability 1 − β; if one lies below it
    nevertheless, it is made longer. Time and memory grow with n.

    The published method does not model collisions: for hashed labels it reads each counter as one label, so labels that
    share one count as a single label with their joint count.

    Source: Wu and Pagh 2024.

    Parameters
    ----------
    norm
        q of ``min ‖A·f − g‖_q``: ``"1"``, ``"2"`` or ``"inf"``; the numbers 1 and 2 and ``math.inf`` do as well.
    beta
        β: probability that noise leaves the window, in (0, 1).

    Raises
    ------
    UsageError
        If the norm is unknown, or the probability is not in (0, 1).

    Examples
    --------
    >>> from anonhist.sketches.decoding.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.decoding.decoder import Counters
    >>> noise = NoiseDistribution(((Fraction(20), Fraction(1)),))
    >>> found = WuPagh().decode(Counters.of(np.array([0, 3, 0, 3, 0])), CounterSetting(noise, is_hashed=False))
    >>> found.counts.tolist(), found.numbers.round(3).tolist()
    ([0, 3], [3.0, 2.0])
    """

    norm: Converted[str | float, str] = converted(_norm, default="2")
    beta: Converted[EpsilonLike, Fraction] = converted(_probability, default=Fraction(1, 100))

    @property
    def name(self) -> str:
        """``wu-pagh``."""
        return "wu-pagh"

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """The norm, and the probability of failure."""
        return {"norm": self.norm, "beta": str(self.beta)}

    def decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the estimated number of labels with each count; see the protocol.

        Raises
        ------
        UsageError
            If the window would hold more than 2^24 values.
        """
        size = observed.size
        if not size:
            return Prevalences.none()
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
    """Return ``argmin_f ‖A·f − g‖_q`` under ``s·f = 1``, s being 1 at the values 0..n that a count can have, else 0.

    ``f = f₀ + (1 − s·f₀)·u/(s·u)`` with ``f₀ = A⁻¹·g``, ``u = A⁻¹·v`` and v the unit vector of the norm q along which
    s·f changes most, ``c = A⁻¹·s``: sign(c_j)·e_j with the largest |c_j| for q = 1, c/‖c‖₂ for q = 2, sign(c) for q = ∞
    (Wu and Pagh 2024, algorithm 2 and lemma 4.3). Three divisions by A: O(m log m). With s = 1 everywhere nothing would
    ever be corrected: the columns of A sum to one. f may be negative, or not zero outside of 0..n.
    """
    if norm not in NORMS:
        raise UsageError(f"`norm` must be one of {', '.join(NORMS)}, not {norm!r:.80}.")
    if not inside.any():
        raise UsageError("A profile needs at least one count that labels can have.")
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
    """Return B: noise of rate γ stays within −B..B on all of ``size`` counters, with probability 1 − β at least.

    The smallest B ≥ 0 with ``2d·p^(B+1)/(1 + p) ≤ β``, p = e^(−γ), d counters. All eigenvalues are above zero from the
    smallest B with ``p^(B+1) < (1 − p)/2`` on; where β is so large that B would come near that, it is the smallest one
    with ``p^(B+1) ≤ (1 − p)/4``, so that no eigenvalue comes near zero.
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
    # (1 − p)·C, and (1 − 2p·cos ω + p²)/(1 − p): both without a difference of near numbers.
    scale = rest - 2 * p * math.expm1(-rate * reach)
    return np.asarray(above / (scale * (rest + 4 * p * np.sin(np.pi * places / length) ** 2 / rest)))


def fast_length(least: int) -> int:
    """Return a length, at least ``least`` and less than a quarter above it, that is quick to transform."""
    return min(odd << max(0, -(-least // odd) - 1).bit_length() for odd in _ODD_FACTORS)


@dataclass(frozen=True, eq=False)
class Circulant:
    """A symmetric circulant matrix A, ``A[i, j] = P(i − j mod m)`` with the distribution P of noise: E g = A·f.

    Any length m ≥ n + 2B + 1 will do: f is zero outside of 0..n, so that nothing wraps around, and what is added to the
    window above n + B is neither reached by noise nor changes its distribution. So m is chosen to be quick to
    transform. The eigenvalues are λ_0..λ_{⌊m/2⌋}, real; λ_{m−j} = λ_j.
    """

    length: int
    eigenvalues: Floats

    @classmethod
    def of(cls, distribution: NoiseDistribution, reaches: list[int], length: int) -> Self:
        """Return the matrix of the noise of a sketch: eigenvalues of independent parts multiply.

        A part of shape 1 is truncated to its own −B..B; it has an inverse from the smallest B with
        ``p^(B+1) < (1 − p)/2`` on, and the product has one where all parts have. A part of another shape is not
        truncated but wrapped around the window: its eigenvalues are its characteristic function at ω_j, all above zero.
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
    """Return B of each of k parts, at β/k each: all stay within theirs on all counters with probability ≥ 1 − β."""
    share = beta / max(1, len(distribution.parts))
    return [
        truncated_reach(gamma, size=size, beta=share)
        if shape == 1
        else NoiseDistribution(((gamma, shape),)).reach(share / size)
        for gamma, shape in distribution.parts
    ]
