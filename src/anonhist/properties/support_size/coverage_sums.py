"""The form that Chao–Lee and ACE share: labels seen over their coverage, and more where frequencies differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True)
class CoverageSums:
    """``S = (a + s·γ²)/C`` with ``C = 1 − s/m``, ``R = q/(m·(m − 1))`` and ``γ² = max(a·R/C − 1, 0)``.

    Attributes
    ----------
    once
        s, labels seen once.
    labels
        a, labels.
    repeated
        Items of labels seen more than once, ``m − s``, above 0: then C is not 0, and m at least 2.
    pairs
        ``q = Σ r(r − 1)·φ_r``.
    spread
        Whether γ² is multiplied by ``1 + s·R/C``, against its bias where frequencies differ much.
    """

    once: float
    labels: float
    repeated: float
    pairs: float
    spread: bool = False

    @classmethod
    def of(cls, profile: Profile, *, rare: int, spread: bool = False) -> Self:
        """Sum over all labels with counts up to ``rare``; of singletons alone ``repeated`` is 0."""
        end = int(np.searchsorted(profile.counts, rare, side="right"))
        counts, prevalences = profile.counts[:end].astype(np.float64), profile.prevalences[:end]
        pairs = float((counts * (counts - 1)) @ prevalences)
        repeated = float(np.where(counts > 1, counts, 0.0) @ prevalences)
        return cls(float(profile.prevalence(1)), float(prevalences.sum()), repeated, pairs, spread)

    @property
    def items(self) -> float:
        """The number m of items."""
        return self.once + self.repeated

    @property
    def coverage(self) -> float:
        """The coverage C."""
        return self.repeated / self.items

    @property
    def value(self) -> float:
        """The estimate S."""
        return (self.labels + self.once * self._excess * self._stretch) / self.coverage

    def gradient(self, counts: NDArray[np.int64], *, with_items: bool) -> NDArray[np.float64]:
        """Return what one more label with each count j ≥ 1 adds to S; to m as well, or with m kept as it is."""
        s, a, m, c, r = self.once, self.labels, self.items, self.coverage, self._repeats
        excess, stretch = self._excess, self._stretch
        straight, bent = 1.0 if excess else 0.0, 1.0 if self.spread else 0.0
        # Derivatives of γ² (stretched) by each of its arguments, then of S, C held; γ² = 0 stays 0.
        of_labels = straight * r / c * stretch
        of_once = excess * bent * r / c
        of_repeats = straight * a / c * stretch + excess * bent * s / c
        of_coverage = -(straight * a * r * stretch + excess * bent * s * r) / c**2
        by_labels = (1 + s * of_labels) / c
        by_once = (excess * stretch + s * of_once) / c
        by_repeats = s * of_repeats / c
        by_coverage = s * of_coverage / c - self.value / c
        j = counts.astype(np.float64)
        added = by_labels + by_repeats * j * (j - 1) / m / (m - 1) + (by_once - by_coverage / m) * (counts == 1)
        if with_items:
            added += j * (by_coverage * s / m**2 - by_repeats * r * (1 / m + 1 / (m - 1)))
        return np.asarray(added, dtype=np.float64)

    @property
    def _repeats(self) -> float:
        return self.pairs / self.items / (self.items - 1)

    @property
    def _excess(self) -> float:
        return max(self.labels * self._repeats / self.coverage - 1, 0.0)

    @property
    def _stretch(self) -> float:
        return 1 + self.once * self._repeats / self.coverage if self.spread else 1.0
