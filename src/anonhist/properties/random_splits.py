"""Lower bounds of what an attacker breaks who knows the distribution: labels ranked by one part, tried on the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from anonhist.numeric.arrays import Floats, Ints
from anonhist.profiles import Profile
from anonhist.properties.sampling import LARGEST, REACH, draw_numbers

# Splits are independent of the data, so their seed may be fixed: the same profile always gives the same bounds.
_SEED, _SPLITS = 20120520, 16


@dataclass(frozen=True, eq=False)
class RandomSplits:
    """Random splits of a sample of n ≥ 1 items: labels are ranked by their counts in one part, and tried on the other.

    Let T_β be the β labels most frequent in the first part. The d items of the other are independent of it, so the
    number of them with labels in T_β is binomial with ``p(T_β) ≤ λ_β`` (Blocki and Liu 2023, Theorem 5). To
    split a profile, labels need no names. ``ranks`` and ``covered`` are, for each split, numbers of labels, and how
    many of the items tried these cover; ``items`` are the numbers d. Labels with equal counts in the first part share
    their items of the other equally: the mean over all orders of them.
    """

    ranks: tuple[Floats, ...]
    covered: tuple[Floats, ...]
    items: tuple[int, ...]

    @classmethod
    def of(cls, profile: Profile, tried: float, *, splits: int = _SPLITS) -> RandomSplits:
        """Split a profile at random: each item is tried with this probability, in (0, 1)."""
        rng = np.random.default_rng(_SEED)
        found = [_ranked(*_parts(profile, tried, rng)) for _ in range(splits)]
        return cls(*(tuple(column) for column in zip(*found, strict=True)))

    def shares(self, labels: Ints) -> Floats:
        """Return the mean share of the items tried that the first β labels cover, at each number β ≥ 1."""
        wanted = labels.astype(np.float64)
        each = [
            np.interp(wanted, ranks, covered) / max(items, 1)
            for ranks, covered, items in zip(self.ranks, self.covered, self.items, strict=True)
        ]
        return np.asarray(np.mean(each, axis=0))

    def least_shares(self, labels: Ints, *, miss: float) -> Floats:
        """Return lower bounds of λ_β, each wrong with a probability of at most ``miss``, for every distribution.

        With q̄ the mean share of :meth:`shares` and d the smallest number of items tried, the bound is the λ < q̄ with
        ``d·KL(q̄ ‖ λ) = ln(1/miss)``, ``KL(x ‖ y) = x·ln(x/y) + (1 − x)·ln((1 − x)/(1 − y))``: Chernoff's bound
        (Hoeffding 1963, eq. 2.1). It rests on exponential moments, which are convex, so that it holds for a mean over
        splits of the same sample too (his section 5). ``labels`` are the numbers β ≥ 1.
        """
        return chernoff_below(self.shares(labels), min(self.items), miss=miss)


def chernoff_below(shares: Floats, items: int, *, miss: float) -> Floats:
    """Return the λ ≤ q with ``d·KL(q ‖ λ) = ln(1/miss)``, at each share q of d items; 0 where there is none."""
    most = math.log(1 / miss) / max(items, 1)
    low, high = np.zeros(shares.shape), shares.copy()
    for _ in range(100):
        middle = (low + high) / 2
        is_far = _divergence(shares, middle) > most
        low, high = np.where(is_far, middle, low), np.where(is_far, high, middle)
    return low if items else np.zeros(shares.shape)


def _divergence(x: Floats, y: Floats) -> Floats:
    """Return ``KL(x ‖ y)`` of coins, y ≤ x, in nats."""
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = np.where(x > 0, x * np.log(x / y), 0.0)
        misses = np.where(x < 1, (x - 1) * np.log1p((x - y) / (1 - x)), 0.0)
    # KL = x·ln(x/y) + (1 − x)·ln((1 − x)/(1 − y)), and (1 − y)/(1 − x) = 1 + (x − y)/(1 − x).
    return np.asarray(hits + misses)


def _parts(profile: Profile, tried: float, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """Return counts in the first part, counts among the items tried, and numbers of labels with these."""
    pairs = list(zip(profile.counts.tolist(), profile.prevalences.tolist(), strict=True))
    # Labels are split one by one if there are fewer of them than likely counts, else count by count.
    alone = [pair for pair in pairs if pair[1] <= REACH * math.sqrt(pair[0])]
    own = np.repeat(
        np.array([count for count, _ in alone], dtype=np.int64), np.array([many for _, many in alone], dtype=np.int64)
    )
    seconds = [rng.binomial(own, tried)]
    firsts, numbers = [own - seconds[0]], [np.ones(own.size, dtype=np.int64)]
    for count, many in pairs:
        if many > REACH * math.sqrt(count):
            values, drawn = _parts_of(count, many, tried, rng)
            firsts.append(count - values)
            seconds.append(values)
            numbers.append(drawn)
    return np.concatenate(firsts), np.concatenate(seconds), np.concatenate(numbers)


def _parts_of(count: int, many: int, tried: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return likely numbers of items tried of labels with one count, and how many of the labels have each."""
    middle, reach = int(tried * count), int(REACH * math.sqrt(tried * (1 - tried) * count)) + 20
    values = np.arange(max(0, middle - reach), min(count, middle + reach) + 1)
    # From one value to the next the odds change by (r − a)/(a + 1)·q/(1 − q).
    odds = (count - values[:-1]) / (values[:-1] + 1.0) * (tried / (1 - tried))
    logs = np.append(0.0, np.cumsum(np.log(odds)))
    pmf = np.exp(logs - logs.max())
    return values, draw_numbers(pmf / pmf.sum(), min(many, LARGEST), rng)


def _ranked(first: Ints, second: Ints, numbers: Ints) -> tuple[Floats, Floats, int]:
    """Return ranks by the first part, what they cover of the items tried, and how many these are."""
    seen = (first > 0) & (numbers > 0)
    items = int(second @ numbers)
    counts, own, many = first[seen], second[seen], numbers[seen]
    order = np.argsort(-counts, kind="stable")
    counts, own, many = counts[order], own[order], many[order]
    last = np.flatnonzero(np.diff(counts, append=0))
    ranks, covered = np.cumsum(many)[last], np.cumsum(own * many)[last]
    return np.append(0.0, ranks), np.append(0.0, covered), items
