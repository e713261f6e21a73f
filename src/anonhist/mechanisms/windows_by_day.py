"""Four mechanisms for cumulative windows: daily counts, increments, blocks of increments (tree), and anchors.

All have pure ``epsilon``-differential privacy. Noise is exact and added to whole numbers, so floating point costs
nothing. Proof: docs/proofs/cumulative-windows.md.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, SupportsIndex

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import Converted, completed, converted, frozen
from anonhist.mechanisms.noise import Noise, add_noise
from anonhist.mechanisms.window_mechanism import (
    WindowMechanism,
    far_of_reached,
    moved,
    noisy_reached,
    terms_of_reached,
    variance_at,
)
from anonhist.numeric.arrays import Floats, Ints, read_only
from anonhist.privacy import EpsilonLike, parse_epsilon, parse_whole_number, short_decimal


@frozen
class DailyMechanism(WindowMechanism):
    """Release the k+ counts of each of T days separately, with ε/T each: best for few days, or many thresholds.

    * Labels: noise of rate ε/T on the number of labels between each threshold and the next, where a label counts in one
      of these on each day; k+ counts are their sums.
    * Items and users: noise of rate ε/(mT) on the k+ counts themselves; an item changes one on each day.

    If units are replaced, the rates are half of these.
    """

    name: ClassVar[str] = "daily"

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """The rate of all noise."""
        return (self.epsilon / (self.days * far_of_reached(self.unit) * self.relation.distance),)

    def _run(self, increments: Ints, noise: Noise) -> Floats:
        return noisy_reached(np.cumsum(increments, axis=1), self.unit, self.rates[0], noise)

    def _sums(self) -> Iterable[tuple[Fraction, Floats, Floats]]:
        terms = np.array(terms_of_reached(self.unit, self.thresholds), dtype=np.float64)[:, np.newaxis]
        return [(self.rates[0], terms, terms)]


@frozen
class IncrementsMechanism(WindowMechanism):
    """Add noise to the number of labels that reach each threshold on each day, and add up: the error grows like √T.

    ``x̃[k, t] = x[k, t] + G``, independent G with ``P(G = j) ∝ exp(−ε|j|/Δ)``. A label that is added or removed changes
    one increment for each threshold, Δ = |K|; an item 2|K|, m items 2m|K|, and with T ≤ |K| days 2T − 1 for each item.
    If units are replaced, these numbers double.
    """

    name: ClassVar[str] = "increments"

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """The rate of all noise."""
        far = moved(self.unit, thresholds=self.thresholds, intervals=self.days)
        return (self.epsilon / (far * self.relation.distance),)

    def _run(self, increments: Ints, noise: Noise) -> Floats:
        noisy = add_noise(increments, noise(self.rates[0], increments.size).reshape(increments.shape))
        return np.cumsum(noisy.astype(np.float64), axis=1)

    def _sums(self) -> Iterable[tuple[Fraction, Floats, Floats]]:
        # There are as many noisy increments as days so far.
        terms = np.arange(1.0, self.days + 1)
        return [(self.rates[0], terms, terms)]


def _share(given: EpsilonLike) -> Fraction:
    share = parse_epsilon(given, name="share")
    if share >= 1:
        raise UsageError(f"`share` must be a share of epsilon below 1, not {short_decimal(share)}.")
    return share


@frozen
class TwoLevelMechanism(WindowMechanism):
    """A mechanism that spends a share of ε on blocks of days, and the rest on the increments of days.

    A block has ``width`` days, the last one possibly fewer; 0 < ``share`` < 1.
    """

    _: KW_ONLY
    width: Converted[SupportsIndex, int] = completed(
        lambda self, given: parse_whole_number(given, name="width", most=self.days)
    )
    share: Converted[EpsilonLike, Fraction] = converted(_share)

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters as text and whole numbers, enough to rebuild the mechanism."""
        return {**super().parameters, "share": short_decimal(self.share)}

    @classmethod
    def _own(cls, parameters: dict[str, object]) -> dict[str, Any]:
        own = super()._own(parameters)
        if not isinstance(own["share"], str):
            raise UsageError("the share must be text.")
        return own

    @property
    def blocks(self) -> int:
        """The number of blocks."""
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
        """The ℓ1 distance by which adding or removing a unit moves the numbers of blocks."""

    @property
    def _terms(self) -> tuple[int, ...]:
        """The number of noises in a block's number, for each threshold."""
        return (1,) * self.thresholds

    @abstractmethod
    def _levels(self, of_block: float, of_day: float) -> Levels:
        """Return the estimator of one running sum, from the variances of both kinds of noise."""

    @abstractmethod
    def _measure(self, increments: Ints, noise: Noise) -> Floats:
        """Return the noisy numbers of blocks, shape (thresholds, blocks)."""

    @cached_property
    def _known(self) -> dict[int, Levels]:
        """The estimators for blocks' numbers with each number of terms."""
        of_block, of_day = map(variance_at, self.rates)
        return {terms: self._levels(terms * of_block, of_day) for terms in set(self._terms)}

    @property
    def worst(self) -> float:
        """The largest of the standard errors: that of the noisiest numbers of blocks."""
        of_block, of_day = map(variance_at, self.rates)
        return math.sqrt(float(self._levels(max(self._terms) * of_block, of_day).variances.max()))

    def _run(self, increments: Ints, noise: Noise) -> Floats:
        blocks = self._measure(increments, noise)
        drawn = noise(self.rates[1], increments.size).reshape(increments.shape)
        noisy = add_noise(increments, drawn).astype(np.float64)
        # Levels use one kind of block number: the other has infinite variance.
        estimates = (
            self._known[terms].estimate(days, row, row)
            for terms, days, row in zip(self._terms, noisy, blocks, strict=True)
        )
        return np.stack(list(estimates))

    def _sums(self) -> Iterable[tuple[Fraction, Floats, Floats]]:
        # The estimate from one number alone is its weight.
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


@dataclass(frozen=True)
class Levels:
    """The numbers known about one running sum S_1, …, S_T: noisy increments of days, and numbers of blocks of them.

    Each block of ``width`` days (the last may have fewer) has its increment, or the running sum at its end, or both.
    ``of_day``, ``of_block`` and ``of_end`` are the variances of their independent noises, > 0, and infinite if there is
    no such number.

    The estimate is by weighted least squares: among all unbiased linear estimates, it has the least variance on each
    day. Between two ends of blocks, noisy increments are a random walk: given both ends, running sums are the walk bent
    to meet them. At the ends themselves there is one number for each block's increment, the mean of its own noisy one
    and of the sum of its days', weighted by precision, and one for each running sum: a tridiagonal system.
    """

    days: int
    width: int
    of_day: float
    of_block: float = math.inf
    of_end: float = math.inf

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return -(-self.days // self.width)

    @cached_property
    def _sizes(self) -> Ints:
        return read_only(np.diff(np.minimum(np.arange(1, self.blocks + 1) * self.width, self.days), prepend=0))

    @cached_property
    def _block(self) -> Ints:
        """The block of each day."""
        return read_only(np.arange(self.days) // self.width)

    @cached_property
    def _part(self) -> Floats:
        """The share of its block that has passed at the end of each day."""
        return read_only((np.arange(self.days) % self.width + 1) / self._sizes[self._block])

    @cached_property
    def _precision(self) -> Floats:
        """The precision of each block's increment, from its own number and from its days' increments."""
        return read_only(1 / self.of_block + 1 / (self.of_day * self._sizes))

    @cached_property
    def _covariance(self) -> Floats:
        """The covariance of the estimates at the ends of blocks; the first is the start, which is known to be 0."""
        precision = self._precision
        along = precision + np.append(precision[1:], 0.0) + 1 / self.of_end
        system = np.diag(along) - np.diag(precision[1:], 1) - np.diag(precision[1:], -1)
        return read_only(np.pad(np.linalg.inv(system), ((1, 0), (1, 0))))

    @cached_property
    def variances(self) -> Floats:
        """Shape (days,): the variance of the estimate of each running sum, in time linear in the days."""
        precision, of_end = self._precision.tolist(), 1 / self.of_end
        # The information about each end from the left, including its own number, and from the right; the start is
        # known.
        left, right = [math.inf], [0.0]
        for along in precision:
            left.append(_in_series(along, left[-1]) + of_end)
        for along in precision[:0:-1]:
            right.append(_in_series(along, right[-1] + of_end))
        ends = 1 / (np.array(left) + np.array([0.0, *right[::-1]]))
        both = ends[1:] * np.array([along / (along + known) for along, known in zip(precision, left, strict=False)])
        first, part = self._block, self._part
        bent = (1 - part) ** 2 * ends[first] + 2 * part * (1 - part) * both[first] + part**2 * ends[first + 1]
        return read_only(np.asarray(bent + part * (1 - part) * self._sizes[first] * self.of_day))

    def estimate(self, increments: Floats, blocks: Floats, ends: Floats) -> Floats:
        """Return estimates of the running sums, from noisy increments of days, shape (…, days), and numbers of blocks.

        ``blocks`` and ``ends`` are noisy increments of blocks, and noisy running sums at their ends, shape (…, blocks);
        without them, any finite numbers.
        """
        starts = np.arange(0, self.days, self.width)
        in_block = np.add.reduceat(increments, starts, axis=-1)
        known = blocks / self.of_block + in_block / (self.of_day * self._sizes)
        pulled = known - np.concatenate([known[..., 1:], np.zeros_like(known[..., :1])], axis=-1) + ends / self.of_end
        at_ends = pulled @ self._covariance[1:]
        running = np.cumsum(increments, axis=-1)
        before = np.concatenate([np.zeros_like(running[..., :1]), running[..., starts[1:] - 1]], axis=-1)
        # The difference between each block's number and the sum of its days.
        off = np.diff(at_ends, axis=-1) - in_block
        begun = at_ends[..., :-1] - before
        return np.asarray(running + begun[..., self._block] + self._part * off[..., self._block])


def _in_series(along: float, known: float) -> float:
    """Return the precision of known information, seen through an increment of precision ``along``."""
    return along if math.isinf(known) else along * known / (along + known)


@frozen
class TreeMechanism(TwoLevelMechanism):
    """Add noise to the increments of days and, separately, of blocks of days; estimate running sums by least squares.

    Source: Dwork and others 2010; Honaker 2015.
    """

    name: ClassVar[str] = "tree"

    @property
    def _far_of_blocks(self) -> int:
        return moved(self.unit, thresholds=self.thresholds, intervals=self.blocks)

    def _levels(self, of_block: float, of_day: float) -> Levels:
        return Levels(self.days, self.width, of_day, of_block=of_block)

    def _measure(self, increments: Ints, noise: Noise) -> Floats:
        blocks = np.add.reduceat(increments, np.arange(0, self.days, self.width), axis=1)
        return add_noise(blocks, noise(self.rates[0], blocks.size).reshape(blocks.shape)).astype(np.float64)


@frozen
class AnchorsMechanism(TwoLevelMechanism):
    """Release the k+ counts of a few days separately, with noisy increments between them, by least squares.

    Many thresholds make increments expensive, and the counts of one day cheap: an added label changes |K| increments,
    but on any one day it is between two thresholds, which is one number. So a few days, whose k+ counts do not depend
    on other days, anchor the sums of increments. They are ``width`` days apart, always include the last day, and
    together have a share of ε.
    """

    name: ClassVar[str] = "anchors"

    @property
    def _far_of_blocks(self) -> int:
        return self.blocks * far_of_reached(self.unit)

    @property
    def _terms(self) -> tuple[int, ...]:
        return terms_of_reached(self.unit, self.thresholds)

    def _levels(self, of_block: float, of_day: float) -> Levels:
        return Levels(self.days, self.width, of_day, of_end=of_block)

    def _measure(self, increments: Ints, noise: Noise) -> Floats:
        ends = np.minimum(np.arange(1, self.blocks + 1) * self.width, self.days) - 1
        return noisy_reached(np.cumsum(increments, axis=1)[:, ends], self.unit, self.rates[0], noise)
