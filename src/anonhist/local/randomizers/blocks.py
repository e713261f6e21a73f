"""Surveys whose values come in blocks: one estimator for Hadamard response and hybrid projective geometry."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anonhist.frozen import frozen
from anonhist.local.decoding.channel import Channel
from anonhist.local.designs.block_design import BlockDesign
from anonhist.local.designs.block_estimator import BlockEstimator
from anonhist.local.surveys.closed import ClosedSurvey
from anonhist.local.surveys.estimate import Raw
from anonhist.local.surveys.forgery import ForgedWeight, forged_weight
from anonhist.local.surveys.tally import Tally
from anonhist.numeric import ExponentialQuotient

if TYPE_CHECKING:
    from anonhist.randomness import RandomSource


@frozen(kw_only=True)
class BlockSurvey(ClosedSurvey):
    """A survey whose report is a cell, more likely in the block of the value than in others.

    A report supports some values of its block. It carries no information about the values of another block, so its
    distribution depends on whether two values are in one block: the survey is not pure.
    """

    @property
    @abstractmethod
    def block_design(self) -> BlockDesign:
        """The blocks."""

    @cached_property
    def estimator(self) -> BlockEstimator:
        """The estimator and its variance."""
        return BlockEstimator(self.block_design, self.size, self.epsilon)

    @property
    def cells(self) -> int:
        """One cell per report."""
        return self.block_design.cells

    def matrix(self) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value), shape (k, cells)."""
        return self.block_design.matrix(self.size, self.odds)

    def variance(self, frequency: float = 0.0, neighbours: float | None = None) -> float:
        """Return n times the variance of the raw estimate of a value with this frequency.

        Parameters
        ----------
        frequency
            The share of people with the value.
        neighbours
            The share of people with other values of its block; by default its average if all values but this one are
            equally frequent.
        """
        return float(self.estimator.variance(frequency, neighbours))

    @property
    def forged_weight(self) -> ForgedWeight:
        """The effect of one forged report: it adds α(1 − ρ) + γ, −αρ + γ or γ; see :class:`BlockEstimator`."""
        room, estimator = self.block_design.design.items, self.estimator
        inside, outside = (
            estimator.factor * (1 - estimator.ratio) + estimator.offset,
            -estimator.factor * estimator.ratio + estimator.offset,
        )
        # All blocks are full except possibly the last.
        fills = {min(room, self.size), self.size % room or room}
        worst = [
            forged_weight(
                items,
                self.block_design.support_bounds(items),
                inside=inside,
                outside=outside,
                beyond=estimator.offset,
                elsewhere=self.size - items,
            )
            for items in sorted(fills)
        ]
        if self.size <= room * (self.block_design.blocks - 1):
            worst.append(
                ForgedWeight(abs(estimator.offset), self.size * abs(estimator.offset))
            )  # a block without values
        return ForgedWeight(max(each.each for each in worst), max(each.total for each in worst))

    def raw_of(self, tally: Tally, codes: NDArray[np.int64] | None) -> Raw:
        """Return the unbiased estimates, before any decoder, of all values or of these."""
        from scipy.special import betainc

        values = np.arange(self.size) if codes is None else codes
        supports = self.block_design.counts(tally, values)
        beside = self.block_design.block_counts(tally, values)
        raw = self.estimator.raw(supports, beside, tally.users)
        share = np.clip(raw, 0, 1)
        neighbours = np.clip(self.estimator.block_share(beside, tally.users) - share, 0, 1 - share)
        errors = np.sqrt(self.estimator.variance(share, neighbours) / tally.users)
        # Given how many reports are in the block, those that support a value nobody has are at most binomial.
        tails = betainc(np.maximum(supports, 1), beside - supports + 1.0, self.estimator.null_probability)
        return Raw(
            raw, errors, np.where(supports == 0, 1.0, tails), self.estimator.limits(supports, beside, tally.users)
        )

    def channel_of(self, tally: Tally, codes: NDArray[np.int64] | None) -> tuple[Channel, NDArray[np.int64]]:
        """Return the distribution of the cells and the count of each; see :class:`ClosedSurvey`."""
        return self.block_design.channel(tally, codes, size=self.size, odds=self.odds)

    def _draw(self, codes: NDArray[np.int64], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        return {"report": self.block_design.draw(codes, self.odds, source=source)}
