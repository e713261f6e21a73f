"""The noise of a sketch: its parts, the distribution of their sum, and shares that several parties add."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Self, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, frozen, named
from anonhist.numeric.exponential import float_rate
from anonhist.privacy import parse_whole_number
from anonhist.randomness import RandomSource
from anonhist.randomness.geometric import negative_binomial
from anonhist.randomness.source import SMALLEST_GAMMA

MOST_PARTIES = 2**31
LONGEST_SESSION = 200
# Above every epsilon, so larger rates are not needed.
LARGEST_GAMMA = 10**64
# Computing a distribution with this many values takes about 4 GB.
_WIDEST = 1 << 27
_IDENTITY = re.compile(r"[0-9a-f]{32}")


class Adversary(Enum):
    """The adversary against whom shares of noise protect the counts.

    Examples
    --------
    >>> Adversary.PARTY.value
    'party'
    """

    #: Everybody, including each of the parties, which knows its own share of the noise.
    PARTY = "party"
    #: Outsiders only. Parties see more, and the guarantee states how much more.
    OUTSIDER = "outsider"


@frozen(kw_only=True)
class NoiseShare:
    """One party's share of the noise of a sum: the difference of two negative binomial numbers of shape 1/h.

    ``h`` independent shares add up to exactly the discrete Laplace noise of one sketch, so that the sum of all parties'
    sketches has the error of one. Further shares only add noise.

    .. warning::
       A sketch with a share of the noise is **not private by itself**: nobody but its owner may see its counters. Only
       their sum may be seen, which takes a protocol of secure aggregation (not part of this library), and at least h of
       the parties whose shares are in the sum must be honest: they draw their noise, keep it secret and do not drop
       out. Choose h no larger than the number of parties that you trust to do so.

    A party that knows its own share subtracts it from the sum. So h counts honest parties *besides the adversary*, and
    h + 1 shares must be in the sum: of k parties all of which are honest but curious, h is k − 1. (Parties that
    collude are one adversary.)

    Source: Goryczka and Xiong 2017.

    Parameters
    ----------
    honest
        h, the number of parties besides the adversary that certainly add their share, at least 2. (If each adds the
        whole noise itself, omit the share and merge the sketches.)
    session
        A unique public name of the sum, the same for all parties; plain text on one line. Shares of different sessions
        do not complete each other.
    adversary
        Whom ε protects against: everybody, including parties, or only outsiders. For outsiders, h shares are enough,
        and the guarantee also states the ε toward a party that subtracts its own share: with h = 2, for ε = 0.01, 0.1
        and 1, it is 0.356, 0.606 and 1.68.

    Raises
    ------
    UsageError
        If ``honest`` is not a whole number from 2 to 2^31, the session is not such a text, or the adversary has another
        type.

    Notes
    -----
    The shares of a session are one noise, and every sketch with one of them may hold m items of a user: k of them cost
    kε, unless each user is in one of them only (``UsersIn.ONE_SKETCH``).

    Examples
    --------
    >>> from anonhist.sketches import HashedSketch
    >>> share = NoiseShare(honest=2, session="week 47")
    >>> one, two, three = (HashedSketch(buckets=8, epsilon=1, key=b"week 47", noise_share=share) for _ in range(3))
    >>> float((one + two + three).guarantee.epsilon)
    1.0
    """

    honest: Converted[SupportsIndex, int] = named(parse_whole_number, least=2, most=MOST_PARTIES)
    session: str
    adversary: Adversary = Adversary.PARTY

    def __post_init__(self) -> None:
        if not is_session(self.session):
            raise UsageError(f"`session` must be plain text on one line, of 1 to {LONGEST_SESSION} characters.")
        if not isinstance(self.adversary, Adversary):
            raise UsageError("`adversary` must be Adversary.PARTY or Adversary.OUTSIDER.")

    @property
    def participants(self) -> int:
        """The number of parties that must take part honestly: h, and one more if the adversary may be one of them."""
        return self.honest + (self.adversary is Adversary.PARTY)

    @property
    def shape(self) -> Fraction:
        """1/h."""
        return Fraction(1, self.honest)

    def draw(self, gamma: Fraction, size: int, *, source: RandomSource) -> NDArray[np.int64]:
        """Draw one party's noise for each of ``size`` counters."""
        return negative_binomial(gamma, self.honest, size, source=source) - negative_binomial(
            gamma, self.honest, size, source=source
        )


def is_session(session: object) -> bool:
    """Whether this can name a session."""
    return isinstance(session, str) and 1 <= len(session) <= LONGEST_SESSION and session.isprintable()


@dataclass(frozen=True, order=True)
class NoiseComponent:
    """One part of the noise of a sketch, drawn when a sketch was created.

    ``identity``, 32 hexadecimal digits, is drawn together with the noise: sketches with a common identity share noise.
    ``gamma`` is the exact rate γ > 0 of the discrete Laplace distribution it belongs to: one step of one counter costs
    γ. ``shape`` is 1 for the whole of such noise. A share 1/h of it is the difference of two negative binomial numbers
    of that shape: h independent shares add up to the whole, only those of one ``session``, which is a public name.
    ``participants`` is the number of parties that must take part honestly: 1/shape or, if the adversary may be one of
    them, one more. For the whole, the session is empty and ``participants`` is 1.
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
        """The adversary against whom the shares jointly protect."""
        return Adversary.OUTSIDER if self.participants == self.shape.denominator else Adversary.PARTY


@frozen
class NoiseDistribution:
    """The distribution of the noise on one counter: a sum of independent parts (γ, s), sorted; empty without noise.

    A part of rate γ and shape s has the characteristic function ``((1 − p)²/(1 − 2p·cos t + p²))^s``, p = e^(−γ): for
    s = 1 the discrete Laplace distribution. The characteristic functions of a sum multiply.
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
        for gamma, shape in self._rates:
            # 1 − 2p·cos t + p² = (1 − p)² + 4p·sin²(t/2), without a difference of close numbers.
            p, rest = math.exp(-gamma), -math.expm1(-gamma)
            found *= (1 + 4 * p * half_sines / rest**2) ** -shape
        return found

    @property
    def _rates(self) -> list[tuple[float, float]]:
        """The parts in floats."""
        return [(float_rate(gamma), float(shape)) for gamma, shape in self.parts]

    @cached_property
    def variance(self) -> float:
        """Variance of the noise on one counter: ``Σ s·2p/(1 − p)²``."""
        return sum(shape * 2 * math.exp(-gamma) / math.expm1(-gamma) ** 2 for gamma, shape in self._rates)

    def reach(self, probability: float) -> int:
        """Return K with ``P(|noise| > K) ≤ probability``, nearly the least one.

        For one part of shape 1 the tail is ``2·p^(K + 1)/(1 + p)`` and K is the least; otherwise K is Chernoff's bound.
        """
        if not 0 < probability < 1:
            raise UsageError("The probability of noise beyond its reach must be between 0 and 1.")
        if not self.parts:
            return 0
        if len(self.parts) == 1 and self.parts[0][1] == 1:
            ((gamma, _),) = self._rates
            return max(0, math.ceil(math.log(2 / (probability * (1 + math.exp(-gamma)))) / gamma) - 1)
        best, slowest = math.inf, min(gamma for gamma, _ in self._rates)
        for share in np.linspace(0.02, 0.98, 49).tolist():
            at = share * slowest
            # ln E e^(at·noise)
            log_moment = sum(
                shape * (2 * _log_rest(gamma) - _log_rest(gamma - at) - _log_rest(gamma + at))
                for gamma, shape in self._rates
            )
            best = min(best, (log_moment + math.log(2 / probability)) / at)
        return math.ceil(best)

    def pmf(self, reach: int) -> NDArray[np.float64]:
        """Return the probabilities of −reach to reach, to about 10^−15 each; refuse merged noise beyond memory."""
        if not self.parts:
            return np.asarray(np.eye(1, 2 * reach + 1, reach)[0])
        if len(self.parts) == 1 and self.parts[0][1] == 1:
            gamma = float_rate(self.parts[0][0])
            return np.asarray(math.tanh(gamma / 2) * np.exp(-gamma * np.abs(np.arange(-reach, reach + 1))))
        # Wide enough that wrap-around is below rounding errors.
        size = 1 << max(4, 2 * max(reach, self.reach(1e-17)) + 1).bit_length()
        if size > _WIDEST:
            raise UsageError("This noise is too wide to compute its distribution; take a larger epsilon.")
        around = np.fft.irfft(self.characteristic(2 * np.pi * np.arange(size // 2 + 1) / size), size)
        return np.asarray(np.maximum(np.roll(around, reach)[: 2 * reach + 1], 0.0))

    def simulate(self, size: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return simulated noise, for public data only: int64, shape (size,)."""
        noise = np.zeros(size, dtype=np.int64)
        for gamma, shape in self._rates:
            for sign in (1, -1):
                noise += sign * rng.negative_binomial(shape, -math.expm1(-gamma), size)
        return noise


def _log_rest(gamma: float) -> float:
    """Return ln(1 − e^(−γ))."""
    return math.log(-math.expm1(-gamma))
