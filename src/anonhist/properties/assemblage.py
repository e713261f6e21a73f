"""An estimate of the population, labels not seen included: the distribution behind sampling errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True, eq=False)
class Assemblage:
    """A discrete distribution, labels of equal probability taken together.

    Attributes
    ----------
    probabilities : ndarray of float64, shape (t + 1,)
        Probability of each label of a group; the last group are labels not seen.
    labels : ndarray of float64, shape (t + 1,)
        How many labels each group has; a whole number but for the last.

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
        """Return the expected number of distinct labels in so many draws, ``Σ_x (1 − (1 − p_x)^m)``."""
        return -float(self.labels @ np.expm1(draws * np.log1p(-np.minimum(self.probabilities, 1.0 - 1e-16))))

    @classmethod
    def of(cls, profile: Profile) -> Assemblage:
        """Estimate it from a profile with at least one item, as iNEXT does for its bootstrap (Chao et al. 2015).

        The labels not seen share ``a = 1 − C``, C the estimated sample coverage; a label of count r keeps
        ``(r/n)·(1 − W·(1 − r/n)^n)``, W such that all adds up to 1. There are as many labels not seen as the lower
        bound of Chao says.

        Examples
        --------
        >>> from anonhist.profiles import Profile
        >>> found = Assemblage.of(Profile.from_counts([5, 3, 1, 1]))
        >>> round(float(found.probabilities @ found.labels), 12), float(found.labels[-1])
        (1.0, 1.0)
        """
        n = float(profile.n)
        once, twice = float(profile.prevalence(1)), float(profile.prevalence(2))
        unseen = float(np.ceil(_count_unseen(once, twice, n)))
        missing = 0.0 if unseen == 0 else once / n * (n * unseen / (n * unseen + once))
        share = profile.counts / n
        lost = share * np.exp(n * np.log1p(-np.minimum(share, 1.0 - 1e-16)))
        total = float(profile.prevalences @ lost)
        weight = missing / total if total > 0 else 0.0
        # With singletons alone, more would be taken from the labels than they have.
        seen = np.maximum(share - weight * lost, 0.0)
        probabilities = np.append(seen, missing / unseen if unseen else 0.0)
        labels = np.append(profile.prevalences.astype(np.float64), unseen)
        return cls(probabilities / float(probabilities @ labels), labels)


def _count_unseen(once: float, twice: float, n: float) -> float:
    if twice > 0:
        return (n - 1) / n * once**2 / (2 * twice)
    return (n - 1) / n * once * (once - 1) / 2
