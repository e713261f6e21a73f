"""Sources of a chain's decisions: exact for a release, fast for a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

from anonhist.randomness import categorical, categorical_rows, geometric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.randomness import RandomSource


class Choices(Protocol):
    """The draws of a chain."""

    def rows(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Pick a column of each row with probability proportional to its weight; shape (r, k) to (r,)."""

    def geometric(self, c: float, level: int) -> int:
        """Return k ≥ 0 with probability ``(1 − p)p^k``, ``p = e^{−c·level}``."""


@dataclass(frozen=True)
class ExactChoices:
    """Decisions from privacy randomness, exact for the weights as dyadic numbers."""

    source: RandomSource

    def rows(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Pick exactly: see :func:`anonhist.randomness.categorical_rows`."""
        if weights.shape[0] == 1:
            return np.array([categorical(weights[0], source=self.source)])
        return categorical_rows(weights, source=self.source)

    def geometric(self, c: float, level: int) -> int:
        """Draw exactly: see :func:`anonhist.randomness.geometric`."""
        return int(geometric(Fraction(c) * level, 1, source=self.source)[0])


@dataclass(frozen=True)
class SimulatedChoices:
    """Decisions from a NumPy generator: for re-simulating on public profiles only."""

    rng: np.random.Generator

    def rows(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Pick by comparing a uniform number with cumulative sums."""
        sums = np.cumsum(weights, axis=1)
        thresholds = self.rng.random((weights.shape[0], 1)) * sums[:, -1:]
        return np.asarray(np.minimum((sums <= thresholds).sum(axis=1), weights.shape[1] - 1), dtype=np.int64)

    def geometric(self, c: float, level: int) -> int:
        """Draw by inverting an exponential variable."""
        return int(self.rng.exponential() / (c * level))
