"""Estimates of values from the supports of a design with blocks: the estimator, its variance, its null distribution."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from anonhist.frozen import frozen
from anonhist.local.surveys.limits import BlockLimits, SupportLimits
from anonhist.numeric import SignedSums, TwoBinomials

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.designs.block_design import BlockDesign
    from anonhist.local.surveys.limits import Limits


@frozen
class BlockEstimator:
    """The estimator ``n·f_x = α·(c_x − ρ·c_B) + γ·n``: c_x reports support x, and c_B are in its block.

    With s points that support a value, m that support two, and u as in :class:`BlockDesign`, ``ρ = m/s``,
    ``α = 1/(u·(E − 1)·(s − m))`` and ``γ = −α·u·(s − ρ·b)``. One report counts α·(1 − ρ) if it supports x, −α·ρ if it
    is elsewhere in the block, and 0 in another; on average that is −γ, and 1 − γ if it was made from x.

    Attributes
    ----------
    blocks
        The blocks and their design.
    size
        How many values there are, k.
    epsilon
        ε of a report.
    """

    blocks: BlockDesign
    size: int
    epsilon: Fraction

    @cached_property
    def ratio(self) -> float:
        """ρ."""
        return float(Fraction(self.blocks.design.num_shared) / self.blocks.design.support)

    @cached_property
    def factor(self) -> float:
        """α."""
        design = self.blocks.design
        return (self._gain * design.support + self.blocks.cells) / (
            self._gain * float(design.support - design.num_shared)
        )

    @cached_property
    def offset(self) -> float:
        """γ."""
        design = self.blocks.design
        left = design.support - Fraction(design.num_shared) / design.support * design.points
        return -float(left / (design.support - design.num_shared)) / self._gain

    @cached_property
    def variances(self) -> tuple[float, float, float]:
        """Variance added by a person with the value, with another one of its block, or with one of another block."""
        own, near, far = (
            self.factor**2 * (supporting * (1 - self.ratio) ** 2 + beside * self.ratio**2)
            for supporting, beside in self._chances
        )
        return own - (1 - self.offset) ** 2, near - self.offset**2, far - self.offset**2

    @cached_property
    def average_neighbours(self) -> float:
        """The share of the other values that are in the block of a value, on average over all values."""
        room = self.blocks.design.items
        full, left = divmod(self.size, room)
        return (full * room * (room - 1) + left * (left - 1)) / (self.size * (self.size - 1))

    @cached_property
    def null_probability(self) -> float:
        """An upper bound on the probability that a report in the block of a value that nobody has supports it.

        It is s/b for people with values of other blocks, and slightly less for those with other values of this block.
        """
        if self.blocks.blocks == 1:
            _, (shared, _), _ = self._chances
            return shared
        return self.blocks.design.support / self.blocks.design.points

    def variance(
        self, frequency: float | NDArray[np.float64] = 0.0, neighbours: float | NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return n times the variance of the raw estimate of values with these shares, and their blocks' others."""
        own, near, far = self.variances
        share = np.asarray(frequency, dtype=np.float64)
        beside = self.average_neighbours * (1 - share) if neighbours is None else neighbours
        return share * own + beside * near + (1 - share - beside) * far

    @property
    def mean_variance(self) -> float:
        """Of the estimates, n times, on average over the values."""
        return float(self.variance(1 / self.size))

    def raw(self, supports: NDArray[np.int64], beside: NDArray[np.int64], users: int) -> NDArray[np.float64]:
        """Return the unbiased estimates, given c_x and c_B."""
        return self.factor * (supports - self.ratio * beside) / users + self.offset

    def limits(self, supports: NDArray[np.int64], beside: NDArray[np.int64], users: int) -> Limits:
        """Return the limits from which intervals are computed, given c_x and c_B.

        If all people without a value support it with the same probability, because there is one block or no point
        supports two values, its supports are two binomial numbers. Otherwise they are a sum of reports that support it
        and of others of its block.
        """
        design, (own, near, far) = self.blocks.design, self._chances
        if self.blocks.blocks == 1 or not design.num_shared:
            return SupportLimits(supports, TwoBinomials(users, own[0], near[0], 1 - own[0], 1 - near[0]))
        weights = Fraction(design.num_shared) / (design.support - Fraction(design.num_shared))
        up, down = weights.denominator, weights.numerator
        distribution = SignedSums(users, up, down, own=own, near=near, far=far)
        together = np.clip(self.block_share(beside, users), 0, 1)
        return BlockLimits(up * supports - down * (beside - supports), together, distribution)

    def block_share(self, beside: NDArray[np.int64], users: int) -> NDArray[np.float64]:
        """Return the unbiased estimate of the share of people with values of a block, given c_B."""
        design = self.blocks.design
        return (beside / users - design.points * self._base) / (self._gain * design.support * self._base)

    @cached_property
    def _chances(self) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float]]:
        """Probabilities that a report supports a value, and that it is elsewhere in its block.

        For people with the value, with another one of its block, and with one of another block.
        """
        design, gain, base = self.blocks.design, self._gain, self._base
        elsewhere = (design.points - design.support) * base
        shared, apart = float(design.num_shared), float(design.support - design.num_shared)
        return (
            ((gain + 1) * design.support * base, elsewhere),
            ((gain * shared + design.support) * base, gain * apart * base + elsewhere),
            (design.support * base, elsewhere),
        )

    @cached_property
    def _gain(self) -> float:
        """E − 1, accurate for small ε."""
        return math.expm1(self.epsilon)

    @cached_property
    def _base(self) -> float:
        return 1 / (self._gain * self.blocks.design.support + self.blocks.cells)
