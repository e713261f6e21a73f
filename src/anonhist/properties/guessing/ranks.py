"""The most frequent labels of a profile, in runs of equal counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from anonhist.properties.unseen import undersampling_warning

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Weights

_FEW = 10


@dataclass(frozen=True, eq=False)
class MostFrequent:
    """The μ most frequent labels of n items; ties are broken arbitrarily.

    Attributes
    ----------
    n
        Number of items.
    labels
        μ, from 1 to the number of labels.
    items
        Number of items they cover.
    least
        τ, the count of the least frequent of them.
    following
        The count of the next label, 0 if there is none.
    counts, prevalences : ndarray of int64
        Their counts, descending, and the number of them with each count.
    """

    n: int
    labels: int
    items: int
    least: int
    following: int
    counts: NDArray[np.int64]
    prevalences: NDArray[np.int64]

    @classmethod
    def of_number(cls, profile: Profile, labels: int) -> Self:
        """Take this many labels, or all if there are fewer.

        Examples
        --------
        >>> from anonhist.profiles import Profile
        >>> MostFrequent.of_number(Profile.from_counts([6, 3, 3, 1]), 2).items
        9
        """
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
        """Take the fewest labels that cover this share of all items, compared exactly.

        Examples
        --------
        >>> from anonhist.profiles import Profile
        >>> from fractions import Fraction
        >>> MostFrequent.of_share(Profile.from_counts([6, 3, 1]), Fraction("0.9")).labels
        2
        """
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
        derivatives are then those of how it falls when labels are added, with τ the last count.
        """
        return self._above((self.least + self.following) / 2 if self.following else float(self.least))

    def above_or_all(self) -> Weights:
        """Return the same, but for all labels the derivatives of a constant λ_μ = 1: τ is 0."""
        return self.above() if self.following else self._above(0.0)

    def _above(self, threshold: float) -> Weights:
        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.asarray(np.maximum(counts - threshold, 0.0) / self.n)

        return weights

    def above_each(self) -> Weights:
        """Return ``Σ_{b<μ} (j − τ_b)_+/n``, derivatives of ``Σ_{b<μ} λ_b``, τ_b halfway between labels b and b + 1."""
        between = np.append((self.counts[:-1] + self.counts[1:]) / 2, 0.0)
        thresholds = np.column_stack([self.counts, between]).ravel()[::-1]
        ones = np.append(np.ones(between.size - 1), 0.0)
        many = np.column_stack([self.prevalences - 1.0, ones]).ravel()[::-1]
        labels = np.append(0.0, np.cumsum(many))
        items = np.append(0.0, np.cumsum(many * thresholds))

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            below = np.searchsorted(thresholds, counts)
            return np.asarray((counts * labels[below] - items[below]) / self.n)

        return weights

    def doubts(self, profile: Profile, *, wrong: str) -> tuple[str, ...]:
        """Warn if chance affects which labels are the most frequent, or if much is missing.

        Parameters
        ----------
        wrong
            The direction of the bias.
        """
        if self.labels == profile.num_labels and not undersampling_warning(profile):
            return ()
        if self.least >= _FEW:
            return ()
        times = "once" if self.least == 1 else f"{self.least} times"
        return (f"Some of these labels were seen only {times}: they lead partly by chance, so the value is {wrong}.",)
