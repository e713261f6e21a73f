"""The abundance-based coverage estimate of the support size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point
from anonhist.properties.support_size.chao_lee import without_coverage
from anonhist.properties.support_size.coverage_sums import CoverageSums
from anonhist.properties.support_size.observed import is_seen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True)
class Ace:
    """``S = S_abundant + S_rare/C + (φ_1/C)·γ²``: Chao–Lee for the rare labels, the others counted.

    Equation 2.2 of [1]_. With ``n_rare = Σ_{r≤10} r·φ_r``, ``C = 1 − φ_1/n_rare`` and
    ``γ² = max((S_rare/C)·Σ_{r≤10} r(r − 1)φ_r/(n_rare·(n_rare − 1)) − 1, 0)``. Without rare labels it is S_obs; if all
    rare labels are singletons, so that C is 0, it is :class:`Chao1`, with a warning. So for one label it is 1, for n
    singletons ``n + n(n − 1)/2``.

    Attributes
    ----------
    rare
        The largest count of a rare label, at least 1.

    References
    ----------
    .. [1] A. Chao, W.-H. Hwang, Y.-C. Chen, C.-Y. Kuo, "Estimating the number of shared species in two communities",
           Statistica Sinica 10 (2000), 227–246, eq. 2.2.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(Ace().point(Profile.from_counts([12, 3, 2, 1, 1])).value, 6)
    6.786667
    """

    rare: int = 10

    name: ClassVar[str] = "ace"
    assumes: ClassVar[str] = (
        "the frequencies of labels not seen vary about as much as those of labels seen up to ten times"
    )

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        sums = CoverageSums.of(profile, rare=self.rare)
        if not sums.labels:
            return Point(float(profile.num_labels), is_seen)
        if not sums.repeated:
            why = "All rare labels were seen once, so ACE is not defined: the value is Chao1's."
            return without_coverage(profile, why)

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            of_rare = sums.gradient(np.minimum(counts, self.rare), with_items=True)
            return np.where(counts > self.rare, 1.0, np.where(counts > 0, of_rare, 0.0))

        return Point(profile.num_labels - sums.labels + sums.value, weights)
