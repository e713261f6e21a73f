"""The noise of a sketch: its parts, and the distribution of their sum."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.numeric.exponential import float_rate
from anonhist.randomness.arguments import SMALLEST_GAMMA
from anonhist.sketches.shares import MOST_PARTIES, Adversary, is_session

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

# Above every epsilon, so larger rates are not needed.
LARGEST_GAMMA = 10**64
# A distribution of so many values takes about 4 GB while it is computed.
_WIDEST = 1 << 27
_IDENTITY = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, order=True)
class NoiseComponent:
    """One part of the noise of a sketch, drawn when a sketch was created.

    Attributes
    ----------
    identity
        32 hexadecimal digits drawn together with the noise: sketches with a common identity share noise.
    gamma
        The rate γ of the discrete Laplace distribution it belongs to, exact, > 0: one step of one counter costs γ.
    shape
        1 for the whole of such noise. A share 1/h of it is the difference of two negative binomial numbers of that
        shape: h independent shares add up to the whole.
    session
        For shares: the public name of their session; only shares of one session add up. Otherwise empty.
    participants
        For shares: how many parties must take part honestly, 1/shape or, if the adversary may be one of them, one
        more. Otherwise 1.

    Raises
    ------
    DataError
        If an attribute is invalid.

    Examples
    --------
    >>> NoiseComponent("0123456789abcdef" * 2, Fraction(1, 2)).shape
    Fraction(1, 1)
    """

    identity: str
    gamma: Fraction
    shape: Fraction = Fraction(1)
    session: str = ""
    participants: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.identity, str) or not _IDENTITY.fullmatch(self.identity):
            raise DataError("The identity of a part of noise must have 32 hexadecimal digits.")
        if not isinstance(self.gamma, Fraction) or not SMALLEST_GAMMA <= self.gamma <= LARGEST_GAMMA:
            raise DataError("The rate of a part of noise must be an exact number from 2^-40 to 10^64.")
        shape = self.shape
        if not isinstance(shape, Fraction) or shape.numerator != 1 or shape.denominator > MOST_PARTIES:
            raise DataError("The shape of a part of noise must be 1, or 1/h for a number h of parties up to 2^31.")
        if not (self.session == "" if shape == 1 else is_session(self.session)):
            raise DataError("Only shares of noise have a session, which must be plain text on one line.")
        enough = (1,) if shape == 1 else (shape.denominator, shape.denominator + 1)
        if type(self.participants) is not int or self.participants not in enough:
            raise DataError("Shares 1/h of noise need h parties, or h + 1 if the adversary may be one of them.")

    @property
    def adversary(self) -> Adversary:
        """The adversary from whom the shares protect together."""
        return Adversary.OUTSIDER if self.participants == self.shape.denominator else Adversary.PARTY


@dataclass(frozen=True)
class NoiseDistribution:
    """The distribution of the noise on one counter: a sum of independent parts.

    A part of rate γ and shape s has the characteristic function ``((1 − p)²/(1 − 2p·cos t + p²))^s``, p = e^(−γ): for
    s = 1 the discrete Laplace distribution. Those of a sum multiply.

    Attributes
    ----------
    parts
        (γ, s) of every part, sorted; none for no noise at all.

    Examples
    --------
    >>> distribution = NoiseDistribution.of([(Fraction(1), Fraction(1))])
    >>> distribution.pmf(1).round(4).tolist()
    [0.17, 0.4621, 0.17]
    """

    parts: tuple[tuple[Fraction, Fraction], ...]

    def __post_init__(self) -> None:
        if any(gamma <= 0 or shape <= 0 for gamma, shape in self.parts):
            raise UsageError("Every part of a noise distribution needs a rate and a shape greater than zero.")

    @classmethod
    def of(cls, parts: Iterable[NoiseComponent | tuple[Fraction, Fraction]]) -> Self:
        """Return the distribution of components or pairs (γ, s), in any order; shapes of shares of one rate add up."""
        shapes: dict[Fraction, Fraction] = {}
        whole: list[tuple[Fraction, Fraction]] = []
        for part in parts:
            gamma, shape = (part.gamma, part.shape) if isinstance(part, NoiseComponent) else part
            if shape == 1:
                whole.append((gamma, shape))
            else:
                shapes[gamma] = shapes.get(gamma, Fraction(0)) + shape
        return cls(tuple(sorted([*whole, *shapes.items()])))

    def characteristic(self, angles: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the characteristic function at some angles, real and > 0, same shape."""
        found = np.ones(angles.shape)
        half_sines = np.sin(angles / 2) ** 2
        for gamma, shape in self.parts:
            # 1 − 2p·cos t + p² = (1 − p)² + 4p·sin²(t/2), without a difference of near numbers.
            p, rest = math.exp(-float_rate(gamma)), -math.expm1(-float_rate(gamma))
            found *= (1 + 4 * p * half_sines / rest**2) ** -float(shape)
        return found

    @cached_property
    def variance(self) -> float:
        """Variance of the noise on one counter: ``Σ s·2p/(1 − p)²``."""
        rates = [(float_rate(gamma), float(shape)) for gamma, shape in self.parts]
        return sum(shape * 2 * math.exp(-gamma) / math.expm1(-gamma) ** 2 for gamma, shape in rates)

    def reach(self, probability: float) -> int:
        """Return a K with ``P(|noise| > K) ≤ probability``, nearly the least one.

        For one part of shape 1 the tail is ``2·p^(K + 1)/(1 + p)`` and K is the least. Else by Chernoff's bound.

        Raises
        ------
        UsageError
            If the probability is not between 0 and 1.

        Examples
        --------
        >>> NoiseDistribution.of([(Fraction(1), Fraction(1))]).reach(1e-6)
        14
        """
        if not 0 < probability < 1:
            raise UsageError("The probability of noise beyond its reach must be between 0 and 1.")
        if not self.parts:
            return 0
        if len(self.parts) == 1 and self.parts[0][1] == 1:
            gamma = float_rate(self.parts[0][0])
            return max(0, math.ceil(math.log(2 / (probability * (1 + math.exp(-gamma)))) / gamma) - 1)
        slowest = min(float_rate(gamma) for gamma, _ in self.parts)
        best = math.inf
        for share in np.linspace(0.02, 0.98, 49).tolist():
            at = share * slowest
            # ln E e^(at·noise)
            log_moment = sum(
                float(shape)
                * (
                    2 * math.log(-math.expm1(-float_rate(gamma)))
                    - math.log(-math.expm1(at - float_rate(gamma)))
                    - math.log(-math.expm1(-at - float_rate(gamma)))
                )
                for gamma, shape in self.parts
            )
            best = min(best, (log_moment + math.log(2 / probability)) / at)
        return math.ceil(best)

    def pmf(self, reach: int) -> NDArray[np.float64]:
        """Return the probabilities of −reach to reach, shape (2·reach + 1,), right to about 10^−15 each.

        Raises
        ------
        UsageError
            If the noise is merged and so wide that its distribution does not fit into memory.
        """
        if not self.parts:
            return np.asarray(np.eye(1, 2 * reach + 1, reach)[0])
        if len(self.parts) == 1 and self.parts[0][1] == 1:
            gamma = float_rate(self.parts[0][0])
            return np.asarray(math.tanh(gamma / 2) * np.exp(-gamma * np.abs(np.arange(-reach, reach + 1))))
        # Wide enough that wrap-around is below rounding.
        size = 1 << max(4, 2 * max(reach, self.reach(1e-17)) + 1).bit_length()
        if size > _WIDEST:
            raise UsageError("This noise is too wide to compute its distribution; take a larger epsilon.")
        around = np.fft.irfft(self.characteristic(2 * np.pi * np.arange(size // 2 + 1) / size), size)
        return np.asarray(np.maximum(np.roll(around, reach)[: 2 * reach + 1], 0.0))

    def simulate(self, size: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return simulated noise, for public data only, int64, shape (size,)."""
        noise = np.zeros(size, dtype=np.int64)
        for gamma, shape in self.parts:
            for sign in (1, -1):
                noise += sign * rng.negative_binomial(float(shape), -math.expm1(-float_rate(gamma)), size)
        return noise
