"""Running sums from noisy numbers of two levels, days and blocks of days, by weighted least squares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric.arrays import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Levels:
    """What is known of one running sum S_1, …, S_T: noisy increments of days, and numbers of blocks of them.

    Blocks are as many days as ``width`` says, the last maybe fewer. Of each there is its increment, or the running sum
    at its end, or both. All noise is independent.

    The estimate is that of weighted least squares: of all unbiased linear estimates, the one with the least variance on
    each day. Subtracting the days after t from a block, where that takes fewer terms, is another one of these.

    Attributes
    ----------
    days, width
        T, and the days of a block.
    of_day, of_block, of_end
        The variance of the noise of a day's increment, of a block's increment, and of the running sum at the end of a
        block; infinite where there is no such number, > 0.

    Notes
    -----
    Between two ends of blocks, noisy increments are a random walk: given both ends, running sums are the walk bent to
    meet them. At the ends themselves there is one number for each block's increment, the mean of its own noisy one and
    of the sum of its days', weighted by precision, and one for each running sum: a tridiagonal system.

    Examples
    --------
    >>> known = Levels(days=4, width=2, of_day=1.0, of_block=math.inf, of_end=1.0)
    >>> known.variances.round(3).tolist()
    [0.636, 0.545, 0.909, 0.727]
    """

    days: int
    width: int
    of_day: float
    of_block: float = math.inf
    of_end: float = math.inf

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.days // self.width)

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        ends = np.minimum(np.arange(1, self.blocks + 1) * self.width, self.days)
        return read_only(np.diff(ends, prepend=0))

    @cached_property
    def _block(self) -> NDArray[np.int64]:
        """In which block each day is."""
        return read_only(np.arange(self.days) // self.width)

    @cached_property
    def _part(self) -> NDArray[np.float64]:
        """How much of its block has passed at the end of each day."""
        return read_only((np.arange(self.days) % self.width + 1) / self._sizes[self._block])

    @cached_property
    def _precision(self) -> NDArray[np.float64]:
        """The precision of each block's increment, from its own number and from its days'."""
        return read_only(1 / self.of_block + 1 / (self.of_day * self._sizes))

    @cached_property
    def _covariance(self) -> NDArray[np.float64]:
        """The covariance of the estimates at the ends of blocks; first comes the start, which is known to be 0."""
        precision = self._precision
        along = precision + np.append(precision[1:], 0.0) + 1 / self.of_end
        system = np.diag(along) - np.diag(precision[1:], 1) - np.diag(precision[1:], -1)
        return read_only(np.pad(np.linalg.inv(system), ((1, 0), (1, 0))))

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        """Shape (days,): the variance of the estimate of each running sum, in time linear in the days."""
        precision, of_end = self._precision.tolist(), 1 / self.of_end
        # What is known of each end from the left, its own number included, and from the right; the start is known.
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

    def estimate(
        self, increments: NDArray[np.float64], blocks: NDArray[np.float64], ends: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return estimates of the running sums.

        Parameters
        ----------
        increments
            Noisy increments of days, shape (…, days).
        blocks, ends
            Noisy increments of blocks, and noisy running sums at their ends, shape (…, blocks); where there are none,
            anything finite.
        """
        starts = np.arange(0, self.days, self.width)
        in_block = np.add.reduceat(increments, starts, axis=-1)
        known = blocks / self.of_block + in_block / (self.of_day * self._sizes)
        pulled = known - np.concatenate([known[..., 1:], np.zeros_like(known[..., :1])], axis=-1) + ends / self.of_end
        at_ends = pulled @ self._covariance[1:]
        running = np.cumsum(increments, axis=-1)
        before = np.concatenate([np.zeros_like(running[..., :1]), running[..., starts[1:] - 1]], axis=-1)
        # How far each block is off from what its days say.
        off = np.diff(at_ends, axis=-1) - in_block
        begun = at_ends[..., :-1] - before
        return np.asarray(running + begun[..., self._block] + self._part * off[..., self._block])


def _in_series(along: float, known: float) -> float:
    """Return the precision of what is known, seen through an increment of precision ``along``."""
    return along if math.isinf(known) else along * known / (along + known)
