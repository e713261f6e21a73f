"""The common form of Chao–Lee and ACE: labels seen over their coverage, plus a term for unequal frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True)
class CoverageSums:
    """``S = (a + s·γ²)/C`` with ``C = 1 − s/m``, ``R = q/(m·(m − 1))`` and ``γ² = max(a·R/C − 1, 0)`` [1]_.

    Attributes
    ----------
    once
        s, the number of labels seen once.
    labels
        a, the number of labels.
    repeated
        Items of labels seen more than once, ``m − s``, above 0: then C is not 0, and m at least 2.
    pairs
        ``q = Σ r(r − 1)·φ_r``.
    spread
        Whether γ² is multiplied by ``1 + s·R/C``, against its bias if frequencies differ much.

    References
    ----------
    .. [1] A. Chao, S.-M. Lee, "Estimating the number of classes via sample coverage", Journal of the American
           Statistical Association 87 (1992), 210–217, eq. 2.14 and 2.15.
    """

    once: float
    labels: float
    repeated: float
    pairs: float
    spread: bool = False

    @classmethod
    def of(cls, profile: Profile, *, rare: int, spread: bool = False) -> Self:
        """Sum over all labels with counts up to ``rare``; for singletons alone, ``repeated`` is 0."""
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
        """The coverage ``C = 1 − s/m`` of Good and Turing."""
        return self.repeated / self.items

    @property
    def value(self) -> float:
        """The estimate S: equation 2.14 of Chao and Lee (1992), or 2.15 with ``spread``."""
        return (self.labels + self.once * self._excess * self._stretch) / self.coverage

    def gradient(self, counts: NDArray[np.int64], *, with_items: bool) -> NDArray[np.float64]:
        """Return the derivatives of S by the number of labels with count j ≥ 1, with m changing too, or kept fixed."""
        s, a, m, c, r = self.once, self.labels, self.items, self.coverage, self._repeats
        excess, stretch = self._excess, self._stretch
        straight, bent = 1.0 if excess else 0.0, 1.0 if self.spread else 0.0
        # Derivatives of γ² (stretched) by each of its arguments, then of S with C fixed; γ² = 0 stays 0.
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
        """The share R of pairs of items with the same label."""
        return self.pairs / self.items / (self.items - 1)

    @property
    def _excess(self) -> float:
        """The squared coefficient of variation γ² of equation 2.14."""
        return max(self.labels * self._repeats / self.coverage - 1, 0.0)

    @property
    def _stretch(self) -> float:
        """What equation 2.15 multiplies γ² by."""
        return 1 + self.once * self._repeats / self.coverage if self.spread else 1.0
