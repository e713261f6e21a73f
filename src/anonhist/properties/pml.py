"""Approximate profile maximum likelihood: the distribution under which the profile is most likely.

The probability of a profile under p is a sum over all assignments of its counts to the labels of p. The approximation
of Pavlichin, Jiao and Weissman (2017) keeps the assignments within blocks of equally likely labels. A block has
consecutive counts: its T labels with N items have probability ``N/(nT)`` each, for the reward
``ln T! + N·ln(N/(nT))``. Unseen labels belong to the block of the smallest counts. A dynamic program finds the best
blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.privacy import parse_whole_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True, eq=False)
class PmlDistribution:
    """Blocks of equally likely labels, and possibly mass spread over infinitely many labels.

    Attributes
    ----------
    probabilities : ndarray of float64, shape (b,)
        Probability of each label of a block, > 0. The block with unseen labels comes first; the others ascend.
    labels : tuple of int
        Number of labels in each block, ≥ 1, unseen ones included.
    continuous_mass
        Probability of labels that never occur twice: the "continuous part" (Orlitsky et al. 2004). It is most likely if
        labels were seen once and none of about the same probability twice.
    continuous_seen
        Number of its items in the sample, each with its own label; 0 or at least 2.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.pml import approximate_pml
    >>> found = approximate_pml(Profile.from_counts([9, 3, 2, 1, 1]))
    >>> found.probabilities.tolist(), found.labels, found.continuous_mass
    ([0.0875, 0.5625], (5, 1), 0.0)
    """

    probabilities: NDArray[np.float64]
    labels: tuple[int, ...]
    continuous_mass: float = 0.0
    continuous_seen: int = 0

    @property
    def num_labels(self) -> int:
        """Number of labels in the blocks, without the continuous part."""
        return sum(self.labels)

    def discrete(self) -> PmlDistribution:
        """Return it with the continuous part spread evenly over ``s(s + 1)/2`` labels, s of which were seen.

        The likelihood has no maximum there: it grows with the number of labels, and comes within a factor e of its
        limit at about ``s²/2`` labels. ``s(s + 1)/2`` is the Chao1 estimate for s singletons.

        Examples
        --------
        >>> PmlDistribution(np.array([0.5]), (1,), 0.5, 3).discrete().labels
        (6, 1)
        """
        if not self.continuous_seen:
            return self
        labels = self.continuous_seen * (self.continuous_seen + 1) // 2
        return replace(
            self,
            probabilities=np.append(self.continuous_mass / labels, self.probabilities),
            labels=(labels, *self.labels),
            continuous_mass=0.0,
            continuous_seen=0,
        )


def property_of(distribution: PmlDistribution, summand: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> float:
    """Return the symmetric property ``Σ_x f(p_x)``; with the continuous part as finitely many labels.

    Parameters
    ----------
    distribution
        The distribution of the p_x; see :meth:`PmlDistribution.discrete`.
    summand
        f, of an array of probabilities > 0.

    Examples
    --------
    >>> property_of(PmlDistribution(np.array([0.125]), (8,)), lambda p: -p * np.log2(p))
    3.0
    """
    whole = distribution.discrete()
    return float(np.array(whole.labels, dtype=np.float64) @ summand(whole.probabilities))


_TABLE = np.array([0.0] + [math.lgamma(x + 1) - x * math.log(x) + x for x in range(1, 16)])


def factorial_rest(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``ρ(x) = ln x! − x·ln x + x``, about ``ln(2πx)/2``, for whole x ≥ 0.

    Examples
    --------
    >>> factorial_rest(np.array([0.0, 1.0, 1e15])).round(6).tolist()
    [0.0, 1.0, 18.188327]
    """
    x = np.maximum(numbers, float(_TABLE.size))
    inverse = 1.0 / x
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    large = 0.5 * np.log(2 * math.pi * x) + series
    return np.where(numbers < _TABLE.size, _TABLE[np.minimum(numbers, _TABLE.size - 1).astype(np.int64)], large)


def log_ways(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``(a + b)·ln(a + b) − a·ln a − b·ln b``, the main part of ``ln((a + b)!/(a!·b!))``, for a ≥ 0 and b ≥ 1.

    Examples
    --------
    >>> log_ways(np.array([0.0, 1.0, 1e15]), np.array([1.0, 1.0, 1.0])).round(6).tolist()
    [0.0, 1.386294, 35.538776]
    """
    a = np.maximum(first, 0.5)  # the value at 0 is set below
    return np.where(first > 0, a * np.log1p(second / a) + second * np.log1p(a / second), 0.0)


def maximize_unseen(labels: NDArray[np.int64], items: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the u ≥ 0 that maximizes ``L(u) = ln((u + T)!/u!) − N·ln(u + T)``.

    This is the log-likelihood of u if N draws from u + T equally likely labels show T of them. Its steps
    ``D(u) = L(u + 1) − L(u)`` change sign once, from positive to negative, at the latest at ``u + 1 ≥ T²/(2(N − T))``,
    so bisection finds the maximum. With ``y = 1/(u + T + 1)`` and ``h(z) = −ln(1 − z) − z``,
    ``D(u) = h(T·y) − T·h(y) + (N − T)·ln(1 − y)``: in this form nothing cancels for large T.

    Parameters
    ----------
    labels, items
        T ≥ 1 and N ≥ T, shape (m,).

    Returns
    -------
    ndarray of float64, shape (m,)
        Whole numbers, as exact as floats; infinite if there are at least two labels and each was seen once; 0 for one
        label.

    Examples
    --------
    >>> maximize_unseen(np.array([4, 4, 1, 3]), np.array([5, 40, 1, 3])).tolist()
    [4.0, 0.0, 0.0, inf]
    """
    seen, repeats = labels.astype(np.float64), (items - labels).astype(np.float64)
    unseen = np.where((repeats == 0) & (seen > 1), np.inf, 0.0)
    open_ = np.flatnonzero((repeats > 0) & (seen > 1))
    seen, repeats = seen[open_], repeats[open_]
    # The answer is the first u with D(u) ≤ 0; it lies above `low` and is at most `high`.
    low, high = np.full(open_.size, -1.0), np.ceil(seen**2 / (2 * repeats))
    while open_.size:
        middle = np.floor((low + high) / 2)
        rising = _step(middle, seen, repeats) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
        unseen[open_] = high
        # Beyond 2⁵³ floats are more than 1 apart.
        middle = np.floor((low + high) / 2)
        going = (middle > low) & (middle < high)
        open_, low, high = open_[going], low[going], high[going]
        seen, repeats = seen[going], repeats[going]
    return unseen


def _step(u: NDArray[np.float64], seen: NDArray[np.float64], repeats: NDArray[np.float64]) -> NDArray[np.float64]:
    y = 1.0 / (u + seen + 1.0)
    # 1 − seen·y is computed directly: for many labels, the difference would round to 0.
    return _beyond_first(seen * y, (u + 1.0) * y) - seen * _beyond_first(y, 1.0 - y) + repeats * np.log1p(-y)


def _beyond_first(z: NDArray[np.float64], rest: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``−ln(1 − z) − z = Σ_{m≥2} z^m/m``, rest = 1 − z."""
    series = np.zeros_like(z)
    small = np.minimum(z, 0.1)
    for power in range(17, 1, -1):
        series = small * (series + 1.0 / power)
    return np.where(z <= 0.1, small * series, -np.log(rest) - z)


# Number of rows of the table of blocks that are filled together.
_ROWS = 64
# With more distinct counts than this, counts whose roots fall into one step are one class. A step is a tenth of the
# standard deviation of the root of a Poisson count, which is 1/2.
_SINGLE = 4096
_STEP = 0.05
# So that rounding does not decide whether labels of a known alphabet have probability 0.
_TIE = 1e-9


def approximate_pml(profile: Profile, *, alphabet_size: int | None = None) -> PmlDistribution:
    """Return the approximate profile maximum likelihood distribution.

    Parameters
    ----------
    profile
        At least one item.
    alphabet_size
        k, the number of labels. There are then ``max(k − S_obs, 0)`` unseen labels, in the block of the smallest counts
        or, if that is more likely, of probability 0. Without it, their number is optimized too, block by block; if it
        would be infinite, the block becomes the continuous part.

    Notes
    -----
    The result is the best partition into consecutive blocks, in at most O(t²) time. A block is considered only if its
    smallest and largest counts r < s are so close that splitting it might lower the reward. Splitting off the labels of
    count s from T labels of mean count μ loses at most ``1 + ln T`` and gains ``s·ln(s/μ) − s + μ ≥ 2(√s − √μ)²`` per
    label; splitting off count r gains at least ``(√μ − √r)²``. So ``√s − √r ≤ (1 + √½)·√(1 + ln T)``, which leaves
    O(t^1.5·√ln T) blocks if all counts up to t occur. With more than 4,096 distinct counts, counts above 100 whose
    square roots fall into the same step of 0.05 are not separated, which costs at most about 0.001 of reward per label.

    One label has probability 1; n ≥ 2 singletons are a continuous part alone. With a known alphabet, n ≥ 1 singletons
    give k labels of probability 1/k.

    Raises
    ------
    UsageError
        If the profile is empty, or ``alphabet_size`` is not a whole number ≥ 1.

    References
    ----------
    .. [1] A. Orlitsky, N. P. Santhanam, K. Viswanathan, J. Zhang, "On modeling profiles instead of values", Uncertainty
           in Artificial Intelligence (2004), 426–435.
    .. [2] D. S. Pavlichin, J. Jiao, T. Weissman, "Approximate profile maximum likelihood", arXiv:1712.07177 (2017).

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_counts([2, 1, 1, 1])
    >>> approximate_pml(profile).labels, approximate_pml(profile, alphabet_size=5).labels
    ((8,), (5,))
    """
    if not profile.n:
        raise UsageError("An empty profile is equally likely under every distribution: give a profile with items.")
    classes = _Classes.of(profile)
    gains, ends = _best_blocks(classes)
    labels, items = classes.labels[1:], classes.items[1:]
    if alphabet_size is None:
        unseen = maximize_unseen(labels, items)
    else:
        most = max(parse_whole_number(alphabet_size, name="alphabet_size") - profile.num_labels, 0)
        unseen = np.full(labels.size, float(most))
    # Unseen labels may join the first block, for any end of it, or have probability 0.
    joined = classes.merge(0, labels.size)[0] + _unseen_gain(unseen, labels, items) + gains[1:]
    last = int(joined.argmax())
    if not unseen[last] or joined[last] < gains[0] - _TIE:
        return _distribution(classes, 0, ends, ())
    end, more = last + 1, unseen[last]
    if np.isinf(more):
        found = _distribution(classes, end, ends, ())
        seen = int(classes.labels[end])
        return PmlDistribution(found.probabilities, found.labels, int(classes.items[end]) / profile.n, seen)
    return _distribution(classes, end, ends, ((0, end, most if alphabet_size is not None else int(more)),))


@dataclass(frozen=True, eq=False)
class _Classes:
    """Classes of counts that stay together, ascending: the least count of each, and the labels and items before it."""

    counts: NDArray[np.int64]
    labels: NDArray[np.int64]
    items: NDArray[np.int64]

    @classmethod
    def of(cls, profile: Profile) -> _Classes:
        steps = np.floor(np.sqrt(profile.counts) / _STEP) if len(profile) > _SINGLE else profile.counts
        firsts = np.flatnonzero(np.diff(steps, prepend=0))
        labels = np.add.reduceat(profile.prevalences, firsts)
        items = np.add.reduceat(profile.counts * profile.prevalences, firsts)
        return cls(profile.counts[firsts], np.append(0, np.cumsum(labels)), np.append(0, np.cumsum(items)))

    def merge(self, start: int, width: int, rows: int = 1) -> NDArray[np.float64]:
        """Return the rewards of the blocks of up to ``width`` classes from class start, start + 1, ...

        Terms that are equal for all partitions are left out: from ``ln T! + N·ln(N/T)``, the sum of
        ``T_c·ln T_c − T_c + N_c·ln r_c`` over the classes c of a block, r_c the least count of each. The large parts
        cancel on paper, so the rest keeps its digits for N and T beyond 10^15.
        """
        first = np.arange(start, start + rows)[:, None]
        at = np.minimum(first + np.arange(width), self.counts.size - 1)
        base = self.counts[first]
        labels, before = self.labels[at + 1] - self.labels[first], self.labels[at] - self.labels[first]
        items = self.items[at + 1] - self.items[first]
        excess = items - labels * base
        spread = np.cumsum((self.items[at + 1] - self.items[at]) * np.log1p((self.counts[at] - base) / base), axis=1)
        spread -= items * np.log1p(excess / (labels * base))
        ways = np.cumsum(log_ways(before.astype(np.float64), (labels - before).astype(np.float64)), axis=1)
        return np.asarray(ways + factorial_rest(labels.astype(np.float64)) - spread)

    def widths(self) -> NDArray[np.int64]:
        """Return, for each class, the largest number of classes in a block that starts there."""
        roots = np.sqrt(self.counts)
        ends = np.full(roots.size, roots.size)
        for _ in range(2):  # with fewer labels within reach, the reach is shorter
            reach = (1 + math.sqrt(0.5)) * np.sqrt(1 + np.log(self.labels[ends] - self.labels[:-1]))
            ends = np.searchsorted(roots, roots + reach + 1e-9 * roots, side="right")
        return np.asarray(ends - np.arange(roots.size))


def _best_blocks(classes: _Classes) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return, for each class, the best reward of it and all later classes, and where its block then ends."""
    size = classes.counts.size
    gains, ends, widths = np.zeros(size + 1), np.zeros(size, dtype=np.int64), classes.widths()
    for stop in range(size, 0, -_ROWS):
        start = max(stop - _ROWS, 0)
        table = classes.merge(start, int(widths[start:stop].max()), stop - start)
        for row in range(stop - 1, start - 1, -1):
            width = widths[row]
            values = table[row - start, :width] + gains[row + 1 : row + 1 + width]
            best = int(values.argmax())
            gains[row], ends[row] = values[best], row + 1 + best
    return gains, ends


def _unseen_gain(
    unseen: NDArray[np.float64], labels: NDArray[np.int64], items: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the reward that u unseen labels add to a block: ``ln((u + T)!/(u!·T!)) − N·ln(1 + u/T)``."""
    seen, repeats = labels.astype(np.float64), (items - labels).astype(np.float64)
    u = np.where(np.isinf(unseen), 0.0, unseen)
    once = np.maximum(u, 0.5)
    bulk = np.where(u > 0, once * np.log1p(seen / once), 0.0) - repeats * np.log1p(u / seen)
    rests = factorial_rest(u + seen) - factorial_rest(u) - factorial_rest(seen)
    return np.where(np.isinf(unseen), seen - factorial_rest(seen), bulk + rests)


def _distribution(
    classes: _Classes, start: int, ends: NDArray[np.int64], blocks: tuple[tuple[int, int, int], ...]
) -> PmlDistribution:
    """Follow the ends of the best blocks from class ``start``; blocks are (first class, end, labels not seen)."""
    while start < classes.counts.size:
        end = int(ends[start])
        blocks = (*blocks, (start, end, 0))
        start = end
    n = int(classes.items[-1])
    labels = tuple(int(classes.labels[end] - classes.labels[first]) + more for first, end, more in blocks)
    items = [int(classes.items[end] - classes.items[first]) for first, end, _ in blocks]
    shares = [item / (n * label) for item, label in zip(items, labels, strict=True)]
    return PmlDistribution(np.array(shares, dtype=np.float64), labels)
