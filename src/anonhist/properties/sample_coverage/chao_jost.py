"""The sample coverage as in iNEXT, from labels seen once and twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.properties.estimator import Point
from anonhist.properties.sample_coverage.good_turing import esty_error, zero_error_warning

if TYPE_CHECKING:
    from anonhist.profiles import Profile


@dataclass(frozen=True)
class ChaoJost:
    """``C = 1 − (φ_1/n)·A`` with ``A = (n − 1)·φ_1/((n − 1)·φ_1 + 2·φ_2)`` ([1]_, eq. 4a).

    If φ_2 is 0, ``A = (n − 1)·(φ_1 − 1)/((n − 1)·(φ_1 − 1) + 2)``, as in iNEXT. It is
    exact up to the last division. It differs from Good–Turing by about ``2·φ_2/n²``, far less than the error of both,
    which is Esty's.

    For one label it is 1, or 0 if it was seen once; for n ≥ 2 singletons ``2/((n − 1)² + 2)``; for one singleton among
    labels seen more than twice it is 1.

    References
    ----------
    .. [1] A. Chao, L. Jost, "Coverage-based rarefaction and extrapolation: standardizing samples by completeness rather
           than size", Ecology 93 (2012), 2533–2547, eq. 4a.
    .. [2] W. W. Esty, "A normal limit law for a nonparametric estimator of the coverage of a random sample", Annals of
           Statistics 11 (1983), 905–912.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> ChaoJost().point(Profile.from_counts([2, 1, 1])).value
    0.625
    """

    name: ClassVar[str] = "chao-jost"
    assumes: ClassVar[str] = "items are drawn independently, and labels not seen are about as frequent as singletons"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        n, once, twice = profile.n, profile.prevalence(1), profile.prevalence(2)
        if n == 1 or not once:
            value = float(n > 1)
        else:
            above, below = ((n - 1) * once, 2 * twice) if twice else ((n - 1) * (once - 1), 2)
            value = (n * (above + below) - once * above) / (n * (above + below))
        return Point(value, standard_error=esty_error(profile), warnings=zero_error_warning(profile))
