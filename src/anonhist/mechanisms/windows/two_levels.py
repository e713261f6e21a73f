"""What mechanisms share that add noise to the increments of days and to numbers of blocks of days."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import Converted, completed, converted, frozen
from anonhist.mechanisms.basis.noise import add_noise
from anonhist.mechanisms.windows.window_mechanism import WindowMechanism, moved
from anonhist.privacy import parse_epsilon, parse_whole_number, short_decimal
from anonhist.randomness.geometric import discrete_laplace_variance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from fractions import Fraction

    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.noise import Noise
    from anonhist.mechanisms.windows.levels import Levels
    from anonhist.privacy import EpsilonLike


def _share(given: EpsilonLike) -> Fraction:
    share = parse_epsilon(given, name="share")
    if share >= 1:
        raise UsageError(f"`share` must be a share of epsilon below 1, not {short_decimal(share)}.")
    return share


@frozen
class TwoLevelMechanism(WindowMechanism):
    """A mechanism that spends a share of ε on blocks of days, and the rest on the increments of days.

    Parameters
    ----------
    width
        The days of a block, from 1 to ``days``; the last block may have fewer.
    share
        The share of ε that is spent on blocks, 0 < share < 1.
    """

    _: KW_ONLY
    width: Converted[SupportsIndex, int] = completed(
        lambda self, given: parse_whole_number(given, name="width", most=self.days)
    )
    share: Converted[EpsilonLike, Fraction] = converted(_share)

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters as text and whole numbers, enough to make the mechanism again."""
        return {**super().parameters, "share": short_decimal(self.share)}

    @classmethod
    def _own(cls, parameters: dict[str, object]) -> dict[str, Any]:
        own = super()._own(parameters)
        if not isinstance(own["share"], str):
            raise UsageError("the share must be text.")
        return own

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.days // self.width)

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """The rates of the noise on blocks and on the increments of days."""
        far = moved(self.unit, thresholds=self.thresholds, intervals=self.days)
        steps = self.relation.distance
        return (
            self.epsilon * self.share / (self._far_of_blocks * steps),
            self.epsilon * (1 - self.share) / (far * steps),
        )

    @property
    @abstractmethod
    def _far_of_blocks(self) -> int:
        """How far, in ℓ1, a unit that is added or removed moves the numbers of blocks."""

    @property
    def _terms(self) -> tuple[int, ...]:
        """Of how many noises the number of a block is the sum, for each threshold."""
        return (1,) * self.thresholds

    @abstractmethod
    def _levels(self, of_block: float, of_day: float) -> Levels:
        """Return what is known of one running sum, from the variances of both kinds of noise."""

    @abstractmethod
    def _measure(self, increments: NDArray[np.int64], noise: Noise) -> NDArray[np.float64]:
        """Return the noisy numbers of blocks, shape (thresholds, blocks)."""

    @cached_property
    def _known(self) -> dict[int, Levels]:
        """What is known where the number of a block has so many terms."""
        of_block, of_day = map(discrete_laplace_variance, self.rates)
        return {terms: self._levels(terms * of_block, of_day) for terms in set(self._terms)}

    @property
    def worst(self) -> float:
        """The largest of the standard errors: that of the noisiest numbers of blocks."""
        of_block, of_day = map(discrete_laplace_variance, self.rates)
        return math.sqrt(float(self._levels(max(self._terms) * of_block, of_day).variances.max()))

    def _run(self, increments: NDArray[np.int64], noise: Noise) -> NDArray[np.float64]:
        blocks = self._measure(increments, noise)
        drawn = noise(self.rates[1], increments.size).reshape(increments.shape)
        noisy = add_noise(increments, drawn).astype(np.float64)
        # Levels use one kind of number of blocks: the other has infinite variance.
        estimates = (
            self._known[terms].estimate(days, row, row)
            for terms, days, row in zip(self._terms, noisy, blocks, strict=True)
        )
        return np.stack(list(estimates))

    def _sums(self) -> Iterable[tuple[Fraction, NDArray[np.float64], NDArray[np.float64]]]:
        # What an estimate makes of one number alone is its weight.
        no_blocks, no_days = np.zeros((self.days, self.blocks)), np.zeros((self.blocks, self.days))
        alone = np.eye(self.blocks)
        of_blocks, of_days = {}, {}
        for terms, known in self._known.items():
            of_blocks[terms] = known.estimate(no_days, alone, alone)
            of_days[terms] = known.estimate(np.eye(self.days), no_blocks, no_blocks)
        for gamma, weights, counted in ((self.rates[0], of_blocks, True), (self.rates[1], of_days, False)):
            squares, powers = (
                np.array([(terms if counted else 1) * (weights[terms] ** power).sum(axis=0) for terms in self._terms])
                for power in (2, 4)
            )
            yield gamma, squares, powers
