"""Algorithm 4: an inner product of two parties' bits from an updatable private sketch, on which Theorem 1.2 rests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from anonhist.sketches.inverses import best_on_hyperplane, round_to_profile
from anonhist_papers.wu_pagh.bounds import ROUNDING, window
from anonhist_papers.wu_pagh.settings import BETA, setting_of

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats, Ints
    from anonhist.sketches.inverses import Circulant

# A label has at most one item from Alice and one from Bob.
_BOTH = 2
_NORM = "inf"


@dataclass(frozen=True)
class InnerProduct:
    """Alice and Bob learn ``⟨x, y⟩`` of their bits: labels that both have are those with count two.

    Alice sends the sketch of x, Bob adds y to it, decodes the profile, and publishes ``d·f̂[2]`` with Laplace noise.
    The sketch protects x. The noise of Bob protects y: it is calibrated to how far f̂[2] can move if one bit of y does
    (Lemma G.1). A simulation on public bits: its noise is NumPy's.

    Attributes
    ----------
    size
        d, the number of bits of each.
    epsilon
        ε, toward either of them.

    Examples
    --------
    >>> rng = np.random.default_rng()
    >>> x, y = np.array([0, 1] * 500), np.array([0, 0, 1, 1] * 250)
    >>> protocol = InnerProduct(1000, 20.0)
    >>> round(protocol.bob_publishes(protocol.bob_reads(protocol.alice(x, rng=rng), y), rng=rng), -1)
    250.0
    """

    size: int
    epsilon: float

    def alice(self, bits: Ints, *, rng: np.random.Generator) -> Ints:
        """Return her message: the sketch of x, a counter for each bit."""
        return bits + setting_of(self.epsilon).noise.simulate(self.size, rng=rng)

    def bob_reads(self, message: Ints, bits: Ints) -> float:
        """Update the sketch by y, and return its f̂[2].

        By Algorithms 2 and 3 on the window −B..2 + B; counters beyond are moved to its ends.
        """
        reach, noise = self._window
        places = np.clip(message + bits + reach, 0, noise.length - 1)
        seen = np.bincount(places, minlength=noise.length) / self.size
        shares = best_on_hyperplane(noise, seen, self._inside, _NORM)[reach : reach + _BOTH + 1]
        return float(round_to_profile(shares)[_BOTH])

    def bob_publishes(self, share: float, *, rng: np.random.Generator) -> float:
        """Return what is published: ``d·f̂[2]`` with Laplace noise."""
        return self.size * (share + float(rng.laplace(0, self.sensitivity / self.epsilon)))

    @cached_property
    def sensitivity(self) -> float:
        """How far f̂[2] moves at most if a counter moves by one (Definition 5.3 and Lemma G.1).

        Algorithm 2 is affine in g, of which two entries next to each other move by 1/d: the most that any such pair
        moves an entry of f is computed. Algorithm 3 at most doubles it.
        """
        reach, noise = self._window
        moved = np.array([best_on_hyperplane(noise, seen, self._inside, _NORM) for seen in np.eye(noise.length)])
        apart = np.abs(np.diff(moved[:, reach : reach + _BOTH + 1], axis=0))
        return ROUNDING[_NORM] * float(apart.max()) / self.size

    @cached_property
    def _window(self) -> tuple[int, Circulant]:
        return window(self.size, self.epsilon, largest=_BOTH, beta=BETA)

    @cached_property
    def _inside(self) -> Floats:
        reach, noise = self._window
        inside = np.zeros(noise.length)
        inside[reach : reach + _BOTH + 1] = 1
        return inside


def posterior_mean(message: Ints, bits: Ints, epsilon: float) -> float:
    """Return the best reading of Alice's message, for random bits and an honest Bob: the mean of ⟨x, y⟩ given it.

    A bit is one with probability 1/(1 + p) if its counter is above zero, else p/(1 + p), p = e^(−ε).

    Examples
    --------
    >>> posterior_mean(np.array([3, -1, 8]), np.array([1, 1, 0]), 40.0)
    1.0
    """
    p = math.exp(-epsilon)
    return float(np.where(message[bits > 0] > 0, 1, p).sum() / (1 + p))


def least_error(size: int, epsilon: float) -> float:
    """Return the root mean square error of ⟨x, y⟩ below which no reading of Alice's sketch comes, for random bits.

    Given its counter, each bit has the variance p/(1 + p)², and half of all bits count.

    Examples
    --------
    >>> round(least_error(200, 1.0), 3)
    4.434
    """
    p = math.exp(-epsilon)
    return math.sqrt(size / 2 * p) / (1 + p)
