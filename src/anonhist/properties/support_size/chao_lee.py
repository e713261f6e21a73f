"""The estimate of Chao and Lee: labels seen over the sample coverage, plus a term for unequal frequencies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.profiles.counts import MAX_ITEMS
from anonhist.properties.estimator import Point
from anonhist.properties.support_size.chao1 import Chao1
from anonhist.properties.support_size.coverage_sums import CoverageSums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile

# At this multiple of Chao1, a few frequent labels determine the estimate.
_FAR = 2.0


@dataclass(frozen=True)
class ChaoLee:
    """``S = S_obs/C + (n·(1 − C)/C)·γ²`` with ``C = 1 − φ_1/n`` ([1]_, eq. 2.14).

    ``γ² = max((S_obs/C)·Σ_r r(r − 1)φ_r/(n(n − 1)) − 1, 0)`` estimates the squared coefficient of variation of the
    probabilities. If all labels are singletons, so that C is 0, it is :class:`Chao1`, with a warning. So for one label
    seen often it is 1, for n singletons ``n + n(n − 1)/2``.

    Attributes
    ----------
    spread
        Whether to multiply γ² by ``1 + n(1 − C)·Σ_r r(r − 1)φ_r/(n(n − 1)C)``, eq. 2.15 of the same paper, for large
        coefficients of variation.

    References
    ----------
    .. [1] A. Chao, S.-M. Lee, "Estimating the number of classes via sample coverage", Journal of the American
           Statistical Association 87 (1992), 210–217, eq. 2.14 and 2.15.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_counts([12, 3, 2, 1, 1])
    >>> round(ChaoLee().point(profile).value, 6), round(ChaoLee(spread=True).point(profile).value, 6)
    (8.466359, 11.099936)
    """

    spread: bool = False

    name: ClassVar[str] = "chao-lee"
    assumes: ClassVar[str] = "the frequencies of labels not seen vary about as much as those of labels seen"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        sums = CoverageSums.of(profile, rare=MAX_ITEMS, spread=self.spread)
        if not sums.repeated:
            return without_coverage(
                profile, "The estimated coverage is 0, so Chao–Lee is not defined: the value is Chao1's."
            )

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.where(counts > 0, sums.gradient(counts, with_items=False), 0.0)

        warnings: tuple[str, ...] = ()
        if sums.value > _FAR * Chao1().point(profile).value:
            warnings = ("Frequencies vary too much for this method: use chao1 or ace.",)
        return Point(sums.value, weights, warnings=warnings)


def without_coverage(profile: Profile, why: str) -> Point:
    """Return the Chao1 estimate, with a warning that says why."""
    point = Chao1().point(profile)
    return replace(point, warnings=(why, *point.warnings))
