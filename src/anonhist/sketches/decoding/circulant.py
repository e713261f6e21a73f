"""Truncated noise as a circulant matrix, multiplied and divided by with fast Fourier transforms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from anonhist.errors import UsageError
from anonhist.sketches.noise import NoiseDistribution

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

# Lengths 2^i times one of these are quick to transform.
_ODD_FACTORS = (1, 3, 5, 9, 15, 25, 27, 45)


def truncated_reach(gamma: Fraction, *, size: int, beta: float) -> int:
    """Return B: noise of rate γ stays within −B..B on all of ``size`` counters, with probability 1 − β at least.

    The smallest B ≥ 0 with ``2d·p^(B+1)/(1 + p) ≤ β``, p = e^(−γ). All eigenvalues
    are above zero from the smallest B with ``p^(B+1) < (1 − p)/2`` on; where β is so large that B would come near
    that, it is the smallest one with ``p^(B+1) ≤ (1 − p)/4``, so that no eigenvalue comes near zero.

    Parameters
    ----------
    gamma
        The rate γ > 0 of discrete Laplace noise.
    size
        How many counters there are, d ≥ 1.
    beta
        β in (0, 1).

    Examples
    --------
    >>> from fractions import Fraction
    >>> truncated_reach(Fraction(1), size=10_000, beta=0.05)
    12
    """
    rate = float(gamma)
    whole = NoiseDistribution(((gamma, gamma / gamma),))
    safe = math.ceil(math.log(4 / -math.expm1(-rate)) / rate) - 1
    return max(whole.reach(beta / size), safe, 0)


def truncated_eigenvalues(gamma: Fraction, reach: int, length: int) -> NDArray[np.float64]:
    """Return eigenvalues λ_0..λ_{⌊m/2⌋} of the m × m circulant matrix of truncated noise; λ_{m−j} = λ_j.

    ``λ_j = (1 − p² − 2p^(B+1)·(cos((B+1)ω_j) − p·cos(Bω_j))) / (C·(1 − 2p·cos ω_j + p²))``, ω_j = 2πj/m.

    Parameters
    ----------
    gamma
        The rate γ > 0, p = e^(−γ).
    reach
        B ≥ 0: the noise is in −B..B, modulo m.
    length
        m ≥ 1.

    References
    ----------
    .. [1] H. Wu, R. Pagh, *Profile Reconstruction from Private Sketches*, ICML 2024, lemma 4.6; the sum in closed form.

    Examples
    --------
    >>> from fractions import Fraction
    >>> truncated_eigenvalues(Fraction(1), 1, 4).round(4).tolist()
    [1.0, 0.5761, 0.1522]
    """
    rate = float(gamma)
    p, rest, beyond = math.exp(-rate), -math.expm1(-rate), math.exp(-rate * (reach + 1))
    places = np.arange(length // 2 + 1)

    def cosines(multiple: int) -> NDArray[np.float64]:
        # The angle is reduced in whole numbers, where nothing is lost.
        return np.asarray(np.cos(2 * np.pi * (multiple % length * places % length) / length))

    above = rest * (1 + p) - 2 * beyond * (cosines(reach + 1) - p * cosines(reach))
    # (1 − p)·C, and (1 − 2p·cos ω + p²)/(1 − p): both without a difference of near numbers.
    scale = rest - 2 * p * math.expm1(-rate * reach)
    return np.asarray(above / (scale * (rest + 4 * p * np.sin(np.pi * places / length) ** 2 / rest)))


def fast_length(least: int) -> int:
    """Return a length, at least ``least`` and less than a quarter above it, that is quick to transform.

    Examples
    --------
    >>> fast_length(1021)
    1024
    """
    return min(odd << max(0, -(-least // odd) - 1).bit_length() for odd in _ODD_FACTORS)


@dataclass(frozen=True, eq=False)
class Circulant:
    """A symmetric circulant matrix A, ``A[i, j] = P(i − j mod m)`` with the distribution P of noise: E g = A·f.

    Any length m ≥ n + 2B + 1 will do: f is zero outside of 0..n, so that nothing wraps around, and what is added to
    the window above n + B is neither reached by noise nor changes its distribution. So m is chosen to be quick to
    transform.

    Attributes
    ----------
    length
        m.
    eigenvalues : ndarray of float64, shape (⌊m/2⌋ + 1,)
        λ_0..λ_{⌊m/2⌋}, real; λ_{m−j} = λ_j.

    Examples
    --------
    >>> from fractions import Fraction
    >>> noise = Circulant.of(NoiseDistribution(((Fraction(1), Fraction(1)),)), [1], 4)
    >>> noise.multiply(np.array([0.0, 1.0, 0.0, 0.0]))[:3].round(4).tolist()
    [0.2119, 0.5761, 0.2119]
    """

    length: int
    eigenvalues: NDArray[np.float64]

    @classmethod
    def of(cls, distribution: NoiseDistribution, reaches: list[int], length: int) -> Self:
        """Return the matrix of the noise of a sketch: eigenvalues of independent parts multiply.

        Parameters
        ----------
        distribution
            The noise. A part of shape 1 is truncated to its own −B..B; it has an inverse from the
            smallest B with ``p^(B+1) < (1 − p)/2`` on, and the product has one where all parts have. A part of another
            shape is not truncated but wrapped around the window: its eigenvalues are its characteristic function at
            ω_j, all above zero.
        reaches
            B of each part of the distribution; those of other shapes than 1 are not used.
        length
            m.
        """
        found = np.ones(length // 2 + 1)
        for (gamma, shape), reach in zip(distribution.parts, reaches, strict=True):
            if shape == 1:
                found *= truncated_eigenvalues(gamma, reach, length)
            else:
                found *= NoiseDistribution(((gamma, shape),)).characteristic(2 * np.pi * np.arange(found.size) / length)
        return cls(length, found)

    def multiply(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return A·x, shape (m,)."""
        return np.fft.irfft(np.fft.rfft(vector) * self.eigenvalues, self.length)

    def solve(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return A^(−1)·x, shape (m,).

        Raises
        ------
        UsageError
            If an eigenvalue is not above zero: the noise was truncated too closely.
        """
        if not float(self.eigenvalues.min()) > 0:
            raise UsageError(
                "Noise that is truncated so closely cannot be inverted; choose a smaller failure probability."
            )
        return np.fft.irfft(np.fft.rfft(vector) / self.eigenvalues, self.length)


def reaches_of(distribution: NoiseDistribution, *, size: int, beta: float) -> list[int]:
    """Return B of each part, so that all parts stay within theirs on all counters with probability 1 − β at least.

    Each of k parts is given β/k.
    """
    share = beta / max(1, len(distribution.parts))
    return [
        truncated_reach(gamma, size=size, beta=share)
        if shape == 1
        else NoiseDistribution(((gamma, shape),)).reach(share / size)
        for gamma, shape in distribution.parts
    ]
