"""The most frequent labels of a profile: the share of items they cover, and numbers of labels to compute it at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from anonhist.numeric.arrays import Floats, Ints
from anonhist.profiles import Profile
from anonhist.properties.estimate import undersampling_warning
from anonhist.properties.sampling import Weights


def covered_share(profile: Profile, labels: Ints) -> Floats:
    """Return ``λ_β = Σ_{i≤β} λ_i / n``, the share of items that the β most frequent labels cover.

    Beyond the number of labels the share is 1; for an empty profile it is 0.
    """
    if not len(profile):
        return np.zeros(labels.shape)
    ends = np.append(0, np.cumsum(profile.prevalences[::-1]))
    covered = np.append(0, np.cumsum((profile.counts * profile.prevalences)[::-1]))
    return np.interp(labels, ends, covered / profile.n)


def log_grid(largest: int, *, points: int) -> list[int]:
    """Return up to ``points`` whole numbers from 1 to ``largest`` ≥ 1, both included, evenly spaced on a log scale."""
    # The largest is added as an integer, because a float might be rounded.
    return sorted({*(min(largest, round(mark)) for mark in np.geomspace(1, largest, points).tolist()[:-1]), largest})


def round_grid(largest: int, *, points: int) -> list[int]:
    """Return the same grid, with each number except the last moved to a nearby 1, 2 or 5 times a power of ten."""
    reach = math.log10(largest) / (2 * (points - 1))
    below = (_to_round(mark, reach) for mark in np.geomspace(1, largest, points).tolist()[:-1])
    return sorted({*(min(largest, mark) for mark in below), largest})


def _to_round(mark: float, reach: float) -> int:
    """Return a power of ten within ``reach`` decades, else 2 or 5 times one, else the nearest whole number."""
    for digit in (1, 2, 5):
        decades = math.log10(mark / digit)
        power = round(decades)
        if power >= 0 and abs(decades - power) <= reach:
            return int(digit * 10**power)
    return round(mark)


_FEW = 10


@dataclass(frozen=True, eq=False)
class MostFrequent:
    """The μ most frequent labels of n items; ties are broken arbitrarily.

    They cover ``items`` items. The last of them has count ``least``, τ, and the next label has count ``following``, 0
    if there is none. ``counts`` descend; ``prevalences`` are the numbers of these labels with each count.
    """

    n: int
    labels: int
    items: int
    least: int
    following: int
    counts: Ints
    prevalences: Ints

    @classmethod
    def of_number(cls, profile: Profile, labels: int) -> Self:
        """Take this many labels, or all if there are fewer."""
        wanted = min(labels, profile.num_labels)
        counts, prevalences = profile.counts[::-1], profile.prevalences[::-1]
        ends = np.cumsum(prevalences)
        last = int(np.searchsorted(ends, wanted))
        own = prevalences[: last + 1].copy()
        own[-1] -= int(ends[last]) - wanted
        items = int(counts[: last + 1] @ own)
        after = last + int(own[-1] == prevalences[last])
        following = int(counts[after]) if after < counts.size else 0
        return cls(profile.n, wanted, items, int(counts[last]), following, counts[: last + 1], own)

    @classmethod
    def of_share(cls, profile: Profile, share: Fraction) -> Self:
        """Take the fewest labels that cover this share of all items, compared exactly."""
        needed = max(math.ceil(share * profile.n), 1)
        counts, prevalences = profile.counts[::-1], profile.prevalences[::-1]
        covered = np.cumsum(counts * prevalences)
        last = int(np.searchsorted(covered, needed))
        missing = int(covered[last]) - needed
        spared = missing // int(counts[last])
        return cls.of_number(profile, int(prevalences[: last + 1].sum()) - spared)

    @property
    def share(self) -> float:
        """``λ_μ``, the share of all items that they cover."""
        return self.items / self.n

    def guesses(self) -> float:
        """Return ``Σ_{i≤μ} i·p_i``, in closed form for each run of equal counts."""
        many = self.prevalences.astype(np.float64)
        before = np.append(0.0, np.cumsum(self.prevalences[:-1]))
        return float((self.counts / self.n) @ (many * before + many * (many + 1) / 2))

    def above(self) -> Weights:
        """Return ``(j − τ)_+/n``, the derivatives of λ_μ with μ fixed: an additional label replaces the last.

        τ is halfway between the counts of the last label and of the next. If these are all labels, λ_μ is 1; the
        derivatives then describe its decrease when labels are added, with τ the last count.
        """
        return self._above((self.least + self.following) / 2 if self.following else float(self.least))

    def above_or_all(self) -> Weights:
        """Return the same, but if these are all labels, the derivatives of a constant λ_μ = 1: τ is 0."""
        return self.above() if self.following else self._above(0.0)

    def _above(self, threshold: float) -> Weights:

        return lambda counts: np.maximum(counts - threshold, 0.0) / self.n

    def above_each(self) -> Weights:
        """Return ``Σ_{b<μ} (j − τ_b)_+/n``, derivatives of ``Σ_{b<μ} λ_b``, τ_b halfway between labels b and b + 1."""
        between = np.append((self.counts[:-1] + self.counts[1:]) / 2, 0.0)
        thresholds = np.column_stack([self.counts, between]).ravel()[::-1]
        ones = np.append(np.ones(between.size - 1), 0.0)
        many = np.column_stack([self.prevalences - 1.0, ones]).ravel()[::-1]
        labels = np.append(0.0, np.cumsum(many))
        items = np.append(0.0, np.cumsum(many * thresholds))

        def weights(counts: Ints) -> Floats:
            below = np.searchsorted(thresholds, counts)
            return np.asarray((counts * labels[below] - items[below]) / self.n)

        return weights

    def doubts(self, profile: Profile, *, wrong: str) -> tuple[str, ...]:
        """Warn if chance affects which labels are the most frequent, or if much is missing."""
        if self.labels == profile.num_labels and not undersampling_warning(profile):
            return ()
        if self.least >= _FEW:
            return ()
        times = "once" if self.least == 1 else f"{self.least} times"
        said = f"Some of these labels were seen only {times}: they are frequent partly by chance, which makes the value"
        return (f"{said} {wrong}.",)
