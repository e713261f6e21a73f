"""The entropy of Grassberger: logarithms of counts replaced by terms with less bias."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.properties.estimator import Point
from anonhist.properties.unseen import undersampling_warning

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True)
class Grassberger:
    """``H = Σ_r φ_r·(r/n)·(ln n − G(r))``, at least 0, in nats (Grassberger 2003, eq. 35).

    ``G(r) = ψ(r) + ½·(−1)^r·(ψ((r+1)/2) − ψ(r/2)) = ψ(⌊r/2⌋ + ½) + ln 2``, ψ the digamma function. For n items of
    one label it is ``max(ln n − G(n), 0)``: about 1/n for odd n, 1.27 for a single item. For n singletons it is
    ``ln n + γ + ln 2``, γ Euler's constant.

    The steps of its weights alternate in sign with each count.

    References
    ----------
    .. [1] P. Grassberger, "Entropy estimates from insufficient samplings", arXiv:physics/0307138 (2003), eq. 35.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(Grassberger().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.656657
    """

    name: ClassVar[str] = "grassberger"
    assumes: ClassVar[str] = "nearly all labels have been seen"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        n = float(profile.n)

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return counts / n * (math.log(n) - _logarithm(counts))

        value = float(weights(profile.counts) @ profile.prevalences)
        return Point(max(0.0, value), weights, warnings=undersampling_warning(profile))


def _logarithm(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return G, in the closed form of the recursion ``G(2m+1) = G(2m) = G(2m−2) + 2/(2m−1)``: no alternating signs."""
    from scipy.special import psi

    found: NDArray[np.float64] = psi(counts // 2 + 0.5) + math.log(2)
    return found
