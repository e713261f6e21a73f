"""Exact output distributions: run a randomized program on every sequence of decisions, the likeliest first.

Nothing is sampled, so no test is flaky: the results are probabilities of the program as it runs, including its own
floating-point weights, up to a stated mass of decisions that were not followed to their end.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from anonhist.numeric.exponential import ExponentialQuotient
    from anonhist.randomness import RandomSource

LARGEST_NUMBER_OF_RUNS = 10**6


@dataclass(frozen=True)
class OutputDistribution:
    """Probabilities of a program's outputs.

    Attributes
    ----------
    probabilities
        A lower bound of the probability of each reached output; upper bounds are larger by ``unexplored``.
    unexplored
        Probability of all sequences of decisions that were not followed to their end.
    """

    probabilities: dict[Hashable, float]
    unexplored: float


class Decisions:
    """The decisions of one run: a given beginning, then always the first alternative.

    Attributes
    ----------
    taken : list of int
        The decisions, from the beginning.
    probability : float
        Product of the probabilities of the decisions.
    untried : list of (float, tuple of int)
        Beginnings that end with another alternative than this run took, with their probabilities.
    """

    def __init__(self, beginning: Sequence[int]) -> None:
        self._beginning = tuple(beginning)
        self.taken: list[int] = []
        self.probability = 1.0
        self.untried: list[tuple[float, tuple[int, ...]]] = []

    def choose(self, probabilities: Sequence[float]) -> int:
        """Decide between alternatives whose probabilities add up to 1; alternatives of probability 0 are left out.

        Examples
        --------
        >>> Decisions([1]).choose([0.25, 0.75])
        1
        """
        depth = len(self.taken)
        if depth < len(self._beginning):
            picked = self._beginning[depth]
        else:
            possible = [index for index, chance in enumerate(probabilities) if chance > 0]
            picked = possible[0]
            self.untried.extend(
                (self.probability * probabilities[index], (*self.taken, index)) for index in possible if index != picked
            )
        self.taken.append(picked)
        self.probability *= probabilities[picked]
        return picked

    def wait(self, stop: float) -> int:
        """Decide how often an event of probability ``1 − stop`` happens before it first does not: k = 0, 1, 2, ….

        Examples
        --------
        >>> Decisions([1, 1, 0]).wait(0.5)
        2
        """
        waited = 0
        while self.choose((stop, 1 - stop)):
            waited += 1
        return waited


def output_distribution(run: Callable[[Decisions], Hashable], *, unexplored: float) -> OutputDistribution:
    """Run a program on sequences of decisions until all untried sequences together have at most a given probability.

    Parameters
    ----------
    run
        The program: it takes all its randomness from the :class:`Decisions` handed to it, and returns its output.
    unexplored
        Largest probability that can be left, above 0.

    Raises
    ------
    UsageError
        If that takes more than a million runs.

    Examples
    --------
    >>> distribution = output_distribution(lambda decisions: decisions.wait(0.5), unexplored=0.1)
    >>> distribution.probabilities
    {0: 0.5, 1: 0.25, 2: 0.125, 3: 0.0625}
    >>> distribution.unexplored
    0.0625
    """
    found: dict[Hashable, list[float]] = {}
    left = 1.0
    waiting: list[tuple[float, tuple[int, ...]]] = [(-1.0, ())]
    for number in range(LARGEST_NUMBER_OF_RUNS):
        if not waiting or left <= unexplored:
            break
        decisions = Decisions(heapq.heappop(waiting)[1])
        found.setdefault(run(decisions), []).append(decisions.probability)
        for chance, beginning in decisions.untried:
            heapq.heappush(waiting, (-chance, beginning))
        # Now and then, a new sum removes the rounding of the running difference.
        left = math.fsum(-chance for chance, _ in waiting) if number % 64 == 0 else left - decisions.probability
    else:
        raise UsageError("This program has too many outcomes to enumerate; leave more of their probability out.")
    return OutputDistribution(
        {output: math.fsum(parts) for output, parts in found.items()}, math.fsum(-chance for chance, _ in waiting)
    )


@dataclass(frozen=True)
class DecidedChoices:
    """The choices of a diagonal chain, decided one by one: see :class:`anonhist.mechanisms.noise.Choices`."""

    decisions: Decisions

    def rows(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Pick a column of each row with probability proportional to its weight."""
        picked = [self.decisions.choose((row / math.fsum(row)).tolist()) for row in weights]
        return np.array(picked, dtype=np.int64)

    def geometric(self, c: float, level: int) -> int:
        """Return k ≥ 0 with probability ``(1 − p)p^k``, ``p = e^{−c·level}``."""
        return self.decisions.wait(-math.expm1(-c * level))

    def waits(self, gamma: Fraction, size: int) -> NDArray[np.int64]:
        """Return numbers k ≥ 0 with probability ``(1 − p)p^k``, ``p = e^{−γ}``."""
        return np.array([self.geometric(float(gamma), 1) for _ in range(size)], dtype=np.int64)

    def bits(self, chance: ExponentialQuotient, size: int) -> NDArray[np.bool_]:
        """Return bits that are True with this probability."""
        return np.array([self.decisions.choose((1 - float(chance), float(chance))) == 1 for _ in range(size)])


def decided_laplace(decisions: Decisions) -> Callable[..., NDArray[np.int64]]:
    """Return a function that replaces :func:`anonhist.randomness.geometric`, with each draw decided.

    Examples
    --------
    >>> from fractions import Fraction
    >>> decided_laplace(Decisions([1, 0, 1, 0]))(Fraction(1), 1, source=None).tolist()
    [2]
    """

    def draw(gamma: Fraction, size: int, *, source: RandomSource | None) -> NDArray[np.int64]:
        del source
        rate = float(gamma)
        drawn = []
        for _ in range(size):
            # Decide whether it is not zero, its sign, and how far beyond one it is.
            if decisions.choose((-math.expm1(-rate) / (1 + math.exp(-rate)), 2 / (1 + math.exp(rate)))):
                sign = 1 - 2 * decisions.choose((0.5, 0.5))
                drawn.append(sign * (1 + decisions.wait(-math.expm1(-rate))))
            else:
                drawn.append(0)
        return np.array(drawn, dtype=np.int64)

    return draw


def largest_log_ratio(first: OutputDistribution, second: OutputDistribution, *, at_least: float) -> float:
    """Return the largest ``|ln P(o) − ln P'(o)|`` over outputs that have probability ``at_least`` under one of them.

    The probabilities are lower bounds of the true ones, off by at most ``unexplored``: if ``at_least`` is far above it,
    the result is off by about ``unexplored / at_least``.

    Examples
    --------
    >>> first, second = OutputDistribution({0: 0.5, 1: 0.5}, 0.0), OutputDistribution({0: 0.25, 1: 0.75}, 0.0)
    >>> largest_log_ratio(first, second, at_least=0.1)
    0.6931471805599453
    """
    ratios = [0.0]
    for output in {*first.probabilities, *second.probabilities}:
        pair = (first.probabilities.get(output, 0.0), second.probabilities.get(output, 0.0))
        if max(pair) >= at_least:
            ratios.append(math.log(max(pair) / min(pair)) if min(pair) > 0 else math.inf)
    return max(ratios)
