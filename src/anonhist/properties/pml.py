"""Approximate profile maximum likelihood: the distribution under which the profile is most likely.

The probability of a profile under p is a sum over all assignments of its counts to the labels of p. The approximation
(Pavlichin and others 2017) keeps the assignments within blocks of equally likely labels. A block has consecutive
counts: its T labels with N items have probability ``N/(nT)`` each, for the reward ``ln T! + N·ln(N/(nT))``. Unseen
labels belong to the block of the smallest counts. A dynamic program finds the best blocks.

Properties of this distribution, as estimates, are not smooth in the prevalences, because labels jump between blocks. So
their errors do not follow from derivatives, and samples are drawn instead, block by block rather than label by label.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.numeric.arrays import Floats, Ints
from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.estimate import percent
from anonhist.properties.estimator import Point
from anonhist.properties.sampling import LARGEST, REACH, draw_numbers, merged_profile, poisson_pmf, spread_off_items


@dataclass(frozen=True, eq=False)
class PmlDistribution:
    """Blocks of equally likely labels, and possibly mass spread over infinitely many labels.

    Each label of a block has one of the ``probabilities`` > 0, and the numbers of ``labels`` include unseen ones. The
    block with unseen labels comes first; the others ascend. ``continuous_mass`` is the probability of labels that never
    occur twice, the "continuous part" (Orlitsky and others 2004). It is most likely if labels were seen once and none
    of about the same probability twice. It has ``continuous_seen`` items in the sample, each with its own label: 0 or
    at least 2.
    """

    probabilities: Floats
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


def property_of(distribution: PmlDistribution, summand: Callable[[Floats], Floats]) -> float:
    """Return the symmetric property ``Σ_x f(p_x)``; the continuous part counts as finitely many labels."""
    whole = distribution.discrete()
    return float(np.array(whole.labels, dtype=np.float64) @ summand(whole.probabilities))


_TABLE = np.array([0.0] + [math.lgamma(x + 1) - x * math.log(x) + x for x in range(1, 16)])


def factorial_rest(numbers: Floats) -> Floats:
    """Return ``ρ(x) = ln x! − x·ln x + x``, about ``ln(2πx)/2``, for whole x ≥ 0."""
    x = np.maximum(numbers, float(_TABLE.size))
    inverse = 1.0 / x
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    large = 0.5 * np.log(2 * math.pi * x) + series
    return np.where(numbers < _TABLE.size, _TABLE[np.minimum(numbers, _TABLE.size - 1).astype(np.int64)], large)


def log_ways(first: Floats, second: Floats) -> Floats:
    """Return ``(a + b)·ln(a + b) − a·ln a − b·ln b``, the main part of ``ln((a + b)!/(a!·b!))``, for a ≥ 0, b ≥ 1."""
    a = np.maximum(first, 0.5)  # The value at 0 is set below.
    return np.where(first > 0, a * np.log1p(second / a) + second * np.log1p(a / second), 0.0)


def maximize_unseen(labels: Ints, items: Ints) -> Floats:
    """Return the u ≥ 0 that maximizes ``L(u) = ln((u + T)!/u!) − N·ln(u + T)``, for T ≥ 1 and N ≥ T.

    This is the log-likelihood of u if N draws from u + T equally likely labels show T of them. Its steps
    ``D(u) = L(u + 1) − L(u)`` change sign once, from positive to negative, at the latest at ``u + 1 ≥ T²/(2(N − T))``,
    so bisection finds the maximum. With ``y = 1/(u + T + 1)`` and ``h(z) = −ln(1 − z) − z``,
    ``D(u) = h(T·y) − T·h(y) + (N − T)·ln(1 − y)``: in this form nothing cancels for large T. Results are whole numbers,
    as exact as floats; infinite if there are at least two labels and each was seen once; 0 for one label.
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


def _step(u: Floats, seen: Floats, repeats: Floats) -> Floats:
    y = 1.0 / (u + seen + 1.0)
    # 1 − seen·y is computed directly: for many labels, the difference would round to 0.
    return _beyond_first(seen * y, (u + 1.0) * y) - seen * _beyond_first(y, 1.0 - y) + repeats * np.log1p(-y)


def _beyond_first(z: Floats, rest: Floats) -> Floats:
    """Return ``−ln(1 − z) − z = Σ_{m≥2} z^m/m``, rest = 1 − z."""
    series = np.zeros_like(z)
    small = np.minimum(z, 0.1)
    for power in range(17, 1, -1):
        series = small * (series + 1.0 / power)
    return np.where(z <= 0.1, small * series, -np.log(rest) - z)


# This many rows of the table of blocks are filled together.
_ROWS = 64
# With more distinct counts than this, counts whose roots fall into one step are one class. A step is a tenth of the
# standard deviation of the root of a Poisson count, which is 1/2.
_SINGLE = 4096
_STEP = 0.05
# This prevents rounding from deciding whether labels of a known alphabet have probability 0.
_TIE = 1e-9


def approximate_pml(profile: Profile, *, alphabet_size: int | None = None) -> PmlDistribution:
    """Return the approximate profile maximum likelihood distribution of a profile with at least one item.

    With a known alphabet of k labels there are ``max(k − S_obs, 0)`` unseen ones, in the block of the smallest counts
    or, if that is more likely, of probability 0. Without it, their number is optimized too, block by block; if it would
    be infinite, the block becomes the continuous part.

    The result is the best partition into consecutive blocks, in at most O(t²) time. A block is considered only if its
    smallest and largest counts r < s are so close that splitting it might lower the reward. Splitting off the labels of
    count s from T labels of mean count μ loses at most ``1 + ln T`` and gains ``s·ln(s/μ) − s + μ ≥ 2(√s − √μ)²`` per
    label; splitting off count r gains at least ``(√μ − √r)²``. So ``√s − √r ≤ (1 + √½)·√(1 + ln T)``, which leaves
    O(t^1.5·√ln T) blocks if all counts up to t occur. With more than 4,096 distinct counts, counts above 100 with
    square roots in the same step of 0.05 are not separated, which costs at most about 0.001 of reward per label.

    One label has probability 1; n ≥ 2 singletons are a continuous part alone. With a known alphabet, n ≥ 1 singletons
    give k labels of probability 1/k.
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
    """Classes of counts that stay together, ascending: their least counts, and the labels and items before each."""

    counts: Ints
    labels: Ints
    items: Ints

    @classmethod
    def of(cls, profile: Profile) -> _Classes:
        steps = np.floor(np.sqrt(profile.counts) / _STEP) if len(profile) > _SINGLE else profile.counts
        firsts = np.flatnonzero(np.diff(steps, prepend=0))
        labels = np.add.reduceat(profile.prevalences, firsts)
        items = np.add.reduceat(profile.counts * profile.prevalences, firsts)
        return cls(profile.counts[firsts], np.append(0, np.cumsum(labels)), np.append(0, np.cumsum(items)))

    def merge(self, start: int, width: int, rows: int = 1) -> Floats:
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

    def widths(self) -> Ints:
        """Return, for each class, the largest number of classes in a block that starts there."""
        roots = np.sqrt(self.counts)
        ends = np.full(roots.size, roots.size)
        for _ in range(2):  # With fewer labels within reach, the reach is shorter.
            reach = (1 + math.sqrt(0.5)) * np.sqrt(1 + np.log(self.labels[ends] - self.labels[:-1]))
            ends = np.searchsorted(roots, roots + reach + 1e-9 * roots, side="right")
        return np.asarray(ends - np.arange(roots.size))


def _best_blocks(classes: _Classes) -> tuple[Floats, Ints]:
    """Return, for each class, the best reward of it and all later classes, and the end of its block in that case."""
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


def _unseen_gain(unseen: Floats, labels: Ints, items: Ints) -> Floats:
    """Return the reward that u unseen labels add to a block: ``ln((u + T)!/(u!·T!)) − N·ln(1 + u/T)``."""
    seen, repeats = labels.astype(np.float64), (items - labels).astype(np.float64)
    u = np.where(np.isinf(unseen), 0.0, unseen)
    once = np.maximum(u, 0.5)
    bulk = np.where(u > 0, once * np.log1p(seen / once), 0.0) - repeats * np.log1p(u / seen)
    rests = factorial_rest(u + seen) - factorial_rest(u) - factorial_rest(seen)
    return np.where(np.isinf(unseen), seen - factorial_rest(seen), bulk + rests)


def _distribution(
    classes: _Classes, start: int, ends: Ints, blocks: tuple[tuple[int, int, int], ...]
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


_RUNS = 20
# This is not privacy noise: it is a constant, so that the same data give the same error.
_SEED = 20170714


def bootstrap_error(distribution: PmlDistribution, n: int, value_of: Callable[[Profile], float]) -> float:
    """Return the standard error of ``value_of`` over samples of n ≥ 1 items from a distribution.

    20 runs draw the count of each label from its Poisson distribution; a continuous part is replaced by finitely many
    labels, and of more than 2⁶² items 2⁶² are drawn. To fix n, the values are regressed on the number of items drawn:
    the error is the standard deviation of the residuals (18 degrees of freedom, so its own relative error is about a
    sixth). The result is deterministic.
    """
    generator = np.random.default_rng(_SEED)
    whole = distribution.discrete()
    runs = [draw_profile(whole, min(n, LARGEST), generator) for _ in range(_RUNS)]
    values = np.array([value_of(run) for run in runs])
    return float(spread_off_items(values, np.array([float(run.n) for run in runs])))


def draw_profile(distribution: PmlDistribution, n: int, generator: np.random.Generator) -> Profile:
    """Return a profile of Poisson counts, of about n ≥ 1 items and at least one; only blocks are drawn."""
    while True:
        blocks = [
            _block(probability * n, labels, generator)
            for probability, labels in zip(distribution.probabilities.tolist(), distribution.labels, strict=True)
        ]
        counts, prevalences = (np.concatenate(column) for column in zip(*blocks, strict=True))
        drawn = merged_profile(counts, prevalences)
        if drawn.n:
            return drawn


def _block(mean: float, labels: int, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Return counts, and how many of the labels have each, if all are Poisson with one mean."""
    low = max(math.floor(mean - REACH * math.sqrt(mean)), 0)
    high = math.ceil(mean + REACH * math.sqrt(mean)) + 20
    if labels <= high - low:
        counts = generator.poisson(mean, size=labels)
        return counts, np.ones(labels, dtype=np.int64)
    counts = np.arange(low, high)
    return counts, draw_numbers(poisson_pmf(mean, counts), labels, generator)


_ASSUMES = "labels of similar counts are equally frequent; labels not seen are as frequent as the rarest seen"


@dataclass(frozen=True)
class _PmlEstimator(ABC):
    """A property of the approximate PML distribution."""

    alphabet_size: int | None = None
    name: ClassVar[str] = "pml"
    assumes: ClassVar[str] = _ASSUMES

    @abstractmethod
    def of(self, distribution: PmlDistribution) -> float:
        """Return the property of a distribution."""

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        return plug_in(profile, self.of, alphabet_size=self.alphabet_size)

    def value(self, profile: Profile) -> float:
        """Return the value alone, in a twentieth of the time."""
        return self.of(approximate_pml(profile, alphabet_size=self.alphabet_size))


class PmlEntropy(_PmlEstimator):
    """``H = −Σ_x p_x·ln p_x`` of the approximate PML distribution p, in nats (Pavlichin and others 2017).

    For one label it is 0. For n ≥ 2 singletons, and any continuous part of p, the s singletons are replaced by s(s +
    1)/2 labels, with a warning. For singletons with a known alphabet it is ``ln k``.
    """

    def of(self, distribution: PmlDistribution) -> float:
        """Return the entropy of a distribution."""
        return property_of(distribution, lambda p: np.asarray(-p * np.log(p)))


class PmlSupportSize(_PmlEstimator):
    """Number of labels of the approximate PML distribution, unseen ones included (Pavlichin and others 2017).

    For one label it is 1. For n ≥ 2 singletons, and any continuous part with s items, the likelihood would have
    infinitely many labels; it is s(s + 1)/2 there, as in Chao1, with a warning. With a known alphabet it is k, or S_obs
    if unseen labels are more likely to have probability 0.
    """

    assumes = f"{_ASSUMES}; otherwise the value is too low"

    def of(self, distribution: PmlDistribution) -> float:
        """Return the number of labels of a distribution."""
        return float(distribution.discrete().num_labels)


@dataclass(frozen=True)
class PmlDistanceToUniformity(_PmlEstimator):
    """``Σ_x |p_x − 1/k|`` over an alphabet of k labels, p the approximate PML distribution for that alphabet: 0 to 2.

    For one label with two items or more it is ``2 − 2/k``, for at most k singletons 0. A release may have more than k
    labels; then all labels of p count, and the distance is at most 2 (Pavlichin and others 2017).
    """

    alphabet_size: int

    def of(self, distribution: PmlDistribution) -> float:
        """Return the distance of a distribution."""
        each = 1.0 / self.alphabet_size
        missing = max(self.alphabet_size - distribution.num_labels, 0) * each
        return min(missing + property_of(distribution, lambda p: np.abs(p - each)), 2.0)


def plug_in(
    profile: Profile, functional: Callable[[PmlDistribution], float], *, alphabet_size: int | None = None
) -> Point:
    """Estimate a property by its value for the approximate PML distribution of n ≥ 1 items, with a bootstrap error."""
    distribution = approximate_pml(profile, alphabet_size=alphabet_size)
    error = bootstrap_error(
        distribution, profile.n, lambda run: functional(approximate_pml(run, alphabet_size=alphabet_size))
    )
    return Point(functional(distribution), standard_error=error, warnings=_endless(distribution))


def _endless(distribution: PmlDistribution) -> tuple[str, ...]:
    if not distribution.continuous_seen:
        return ()
    share = percent(distribution.continuous_mass)
    return (
        f"{share} of the items have labels seen once, fitted as infinitely many: their number cannot be estimated.",
    )
