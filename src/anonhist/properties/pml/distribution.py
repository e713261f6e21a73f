"""The distribution that profile maximum likelihood finds: blocks of equally likely labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


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
    >>> from anonhist.properties.pml.approximate import approximate_pml
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
