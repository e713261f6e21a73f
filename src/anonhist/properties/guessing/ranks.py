"""The most frequent labels of a profile, run by run of equal counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from anonhist.errors import UsageError
from anonhist.properties.unseen import undersampling_warning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Weights

_FEW = 10


@dataclass(frozen=True, eq=False)
class MostFrequent:
    """The μ most frequent labels of n items, ties broken anyhow.

    Attributes
    ----------
    n
        Number of items.
    labels
        μ, from 1 to the number of labels.
    items
        How many items they cover.
    least
        τ, the count of the least frequent of them.
    following
        The count of the next label, 0 if there is none.
    counts, prevalences : ndarray of int64
        Their counts, descending, and how many of them have each.
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
        """Take so many labels, or all that there are.

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
        """Take as few labels as cover this share of all items, compared exactly.

        Examples
        --------
        >>> from anonhist.profiles import Profile
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
        """Return ``(j − τ)_+/n``, the derivatives of λ_μ, μ fixed: a label more takes the place of the last.

        τ is half-way from the last label to the next. Of all labels λ_μ is 1, and what is returned is how it falls
        where others come: τ is the last count.
        """
        return self._above((self.least + self.following) / 2 if self.following else float(self.least))

    def above_or_all(self) -> Weights:
        """Return the same, but of all labels what belongs to λ_μ = 1 for ever: τ is 0."""
        return self.above() if self.following else self._above(0.0)

    def _above(self, threshold: float) -> Weights:
        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.asarray(np.maximum(counts - threshold, 0.0) / self.n)

        return weights

    def above_each(self) -> Weights:
        """Return ``Σ_{b<μ} (j − τ_b)_+/n``, derivatives of ``Σ_{b<μ} λ_b``, τ_b half-way from label b to the next."""
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
        """Warn if chance affects which labels are the most frequent, or if much has not been seen.

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


def exact_share(share: object) -> Fraction:
    """Return α, refusing what is no number above 0 and up to 1; a float means its shortest decimal.

    Examples
    --------
    >>> exact_share(0.1)
    Fraction(1, 10)
    """
    if isinstance(share, bool) or not isinstance(share, int | float | Fraction) or not 0 < share <= 1:
        message = f"`share` must be a number above 0 and up to 1, such as 0.5, not {share!r:.80}."
        raise UsageError(message)
    return share if isinstance(share, Fraction) else Fraction(repr(float(share)))
