"""Rows of a diagram, released as noisy sums of groups: long groups where rows differ by less than the noise.

An isolated row is best released alone, but if adjacent rows differ little, one noisy sum of m rows is more informative
than m noisy rows: the noise of their mean is divided by m. With a gap g between neighbors and noise of scale 1/ε, the
error of a row is smallest for m about ``(gε)^{−2/3}`` times a constant.

Positions are processed in stages, each a quarter as long as all before it, and the gap is computed from the noisy sums
of the two stages before: released values, so no budget is spent on choosing. Each row is in exactly one group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.basis.noise import add_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STAGE = 1.25
# Good on all data tried; the error hardly changes around them.
_LENGTH, _LESS, _CAUTION, _NEAR = 5.0, 1.0, 0.5, 1.0
# From this ε/Δ on, rows are released alone: noise is often zero then, and a sum would hide that.
ALONE_FROM = 0.9
# Before a sum is weighed, impossible diagrams may outweigh the truth by the number of ways to choose the rows of its
# group; longer groups would exceed the range of floats.
_LONGEST = 64


@dataclass(frozen=True)
class NoisyRows:
    """Arms (or legs) of several runs, as the noisy sums of their groups.

    Attributes
    ----------
    sums : ndarray of int64, shape (r, K)
        The noisy sum of the group that each position belongs to.
    begins : ndarray of bool, shape (r, K)
        Whether a group begins there.

    Examples
    --------
    >>> rows = NoisyRows.alone(np.array([[5, 2, 0]]))
    >>> rows.begins.tolist()
    [[True, True, True]]
    """

    sums: NDArray[np.int64]
    begins: NDArray[np.bool_]

    @classmethod
    def alone(cls, noisy: NDArray[np.int64]) -> NoisyRows:
        """Make each row a group of its own."""
        return cls(noisy, np.ones(noisy.shape, dtype=np.bool_))

    def of(self, runs: NDArray[np.bool_]) -> NoisyRows:
        """Keep these runs only."""
        return NoisyRows(self.sums[runs], self.begins[runs])

    def at(self, run: int) -> NoisyRows:
        """Keep one run only."""
        return NoisyRows(self.sums[run : run + 1], self.begins[run : run + 1])

    def append(self, other: NoisyRows) -> NoisyRows:
        """Put the groups of further positions behind these."""
        return NoisyRows(np.hstack((self.sums, other.sums)), np.hstack((self.begins, other.begins)))

    def beside(self, other: NoisyRows) -> NoisyRows:
        """Put further runs below these."""
        return NoisyRows(np.concatenate((self.sums, other.sums)), np.concatenate((self.begins, other.begins)))


def noisy_rows(
    lengths: NDArray[np.int64], noise: NDArray[np.int64], sizes: NDArray[np.int64], *, epsilon: float
) -> NoisyRows:
    """Release the first K lengths, zero beyond their end, group by group.

    Parameters
    ----------
    lengths : ndarray of int64, shape (r, D) or (1, D)
        The private arms or legs of each run, descending; or of one profile, for all runs.
    noise : ndarray of int64, shape (r, K)
        Independent noises for r runs. Groups use them in order within a stage; the rest is discarded.
    sizes : ndarray of int64, shape (r,)
        Released Durfee sizes, near which rows may end abruptly.
    epsilon
        Rate of the noise, ε/Δ: a public number.
    """
    runs, positions = noise.shape
    padded = np.zeros((len(lengths), positions), dtype=np.int64)
    padded[:, : lengths.shape[1]] = lengths[:, :positions]
    if epsilon >= ALONE_FROM:
        return NoisyRows.alone(add_noise(np.broadcast_to(padded, noise.shape), noise))
    sums, begins = np.empty(noise.shape, dtype=np.int64), np.empty(noise.shape, dtype=np.bool_)
    stages: list[_Stage] = []
    first = 0
    while first < positions:
        last = min(positions, max(first + 1, math.ceil(_STAGE * first)))
        most = max(1, min(last - first, first // 2, _LONGEST))
        each = _group_sizes(stages[-2:], sizes, epsilon, most=most)
        group = np.arange(last - first) // each[:, None]
        whole = np.zeros(group.shape, dtype=np.int64)
        np.add.at(whole, (np.arange(runs)[:, None], group), padded[:, first:last])
        seen = add_noise(whole, noise[:, first:last])
        stages.append(_Stage.of(seen, group, first))
        sums[:, first:last] = np.take_along_axis(seen, group, axis=1)
        begins[:, first:last] = np.diff(group, axis=1, prepend=-1) > 0
        first = last
    return NoisyRows(sums, begins)


@dataclass(frozen=True)
class _Stage:
    """Summary of a stage's noisy sums: mean row y = arm + k, its variance in units of one noise's, and the middle."""

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    middle: float

    @classmethod
    def of(cls, seen: NDArray[np.int64], group: NDArray[np.int64], first: int) -> _Stage:
        count = group.shape[1]
        groups = group[:, -1] + 1
        inside = np.arange(seen.shape[1]) < groups[:, None]
        middle = first + (count + 1) / 2
        mean = (seen.astype(np.float64) * inside).sum(axis=1) / count + middle
        return cls(mean, groups / count**2, middle)


def _group_sizes(stages: list[_Stage], sizes: NDArray[np.int64], epsilon: float, *, most: int) -> NDArray[np.int64]:
    """Return the length of the groups of the next stage in each run."""
    if most == 1 or len(stages) < 2:
        return np.ones(sizes.size, dtype=np.int64)
    nearer, later = stages
    apart = later.middle - nearer.middle
    # Gaps mostly shrink from stage to stage. But rows must fall to the Durfee size by the time it is reached.
    past = np.maximum(nearer.mean - later.mean, 0) / apart
    ahead = (later.mean - sizes) / np.maximum(sizes - later.middle, _NEAR / epsilon)
    # If noise dominates the gap, the gap is assumed to be as large as the noise allows.
    doubt = np.sqrt(2 * (nearer.variance + later.variance)) / (epsilon * apart)
    gap = np.maximum(past, ahead) + _CAUTION * doubt
    return np.asarray(np.clip(_LENGTH * (epsilon * gap) ** (-2 / 3) - _LESS, 1, most), dtype=np.int64)
