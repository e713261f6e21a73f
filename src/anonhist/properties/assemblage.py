"""An estimate of the population, unseen labels included: the distribution that sampling errors are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.properties.unseen import chao_unseen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True, eq=False)
class Assemblage:
    """A discrete distribution, stored as groups of labels of equal probability.

    Attributes
    ----------
    probabilities : ndarray of float64, shape (t + 1,)
        Probability of each label of a group; the last group is the unseen labels.
    labels : ndarray of float64, shape (t + 1,)
        Number of labels in each group; whole, except for the last.

    References
    ----------
    .. [1] A. Chao, T. C. Hsieh, R. L. Chazdon, R. K. Colwell, N. J. Gotelli, "Unveiling the species-rank abundance
           distribution by generalizing the Good–Turing sample coverage theory", Ecology 96 (2015), 1189–1201.
    """

    probabilities: NDArray[np.float64]
    labels: NDArray[np.float64]

    @property
    def entropy(self) -> float:
        """Shannon entropy, in nats."""
        p = self.probabilities[self.probabilities > 0]
        return -float(self.labels[self.probabilities > 0] @ (p * np.log(p)))

    def coverage(self, draws: int) -> float:
        """Return the expected number of distinct labels in m draws, ``Σ_x (1 − (1 − p_x)^m)``."""
        return -float(self.labels @ np.expm1(draws * np.log1p(-np.minimum(self.probabilities, 1.0 - 1e-16))))

    @classmethod
    def of(cls, profile: Profile) -> Assemblage:
        """Estimate the population behind a profile of n ≥ 1 items, as iNEXT does for its bootstrap (Chao et al. 2015).

        Unseen labels share the probability ``1 − C``, where C is the estimated sample coverage. A label of count r
        keeps ``(r/n)·(1 − W·(1 − r/n)^n)``, with W such that all probabilities add up to 1. The number of unseen labels
        is Chao's lower bound.

        Examples
        --------
        >>> from anonhist.profiles import Profile
        >>> found = Assemblage.of(Profile.from_counts([5, 3, 1, 1]))
        >>> round(float(found.probabilities @ found.labels), 12), float(found.labels[-1])
        (1.0, 1.0)
        """
        n = float(profile.n)
        once, unseen = float(profile.prevalence(1)), float(np.ceil(chao_unseen(profile)))
        missing = 0.0 if unseen == 0 else once / n * (n * unseen / (n * unseen + once))
        share = profile.counts / n
        lost = share * np.exp(n * np.log1p(-np.minimum(share, 1.0 - 1e-16)))
        total = float(profile.prevalences @ lost)
        weight = missing / total if total > 0 else 0.0
        # Of singletons alone, W would take more from the labels than they have.
        seen = np.maximum(share - weight * lost, 0.0)
        probabilities = np.append(seen, missing / unseen if unseen else 0.0)
        labels = np.append(profile.prevalences.astype(np.float64), unseen)
        return cls(probabilities / float(probabilities @ labels), labels)
