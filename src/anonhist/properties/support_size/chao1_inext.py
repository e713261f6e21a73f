"""Chao's lower bound of the support size as iNEXT and SpadeR compute it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point
from anonhist.properties.unseen import chao_unseen, without_repeats

if TYPE_CHECKING:
    from anonhist.profiles import Profile


@dataclass(frozen=True)
class Chao1Inext:
    """``S = S_obs + c·φ_1²/(2·φ_2)`` with ``c = (n − 1)/n``; ``S_obs + c·φ_1·(φ_1 − 1)/2`` if φ_2 is 0.

    The variance is theirs: with s = φ_1, d = φ_2 and q = s/d, ``d·(c·q²/2 + c²·q³ + c²·q⁴/4)``; if d is 0
    ``c·s(s−1)/2 + c²·s(2s−1)²/4 − c²·s⁴/(4S)``; if S is S_obs
    ``Σ_r φ_r·(e^−r − e^−2r) − (Σ_r r·φ_r·e^−r)²/n`` (Chiu et al. 2014). For one label it is 1, for n singletons
    ``n + (n − 1)²/2``.

    References
    ----------
    .. [1] A. Chao, "Nonparametric estimation of the number of classes in a population", Scandinavian Journal of
           Statistics 11 (1984), 265–270.
    .. [2] C.-H. Chiu, Y.-T. Wang, B. A. Walther, A. Chao, "An improved nonparametric lower bound of species richness
           via a modified Good–Turing frequency formula", Biometrics 70 (2014), 671–682.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> Chao1Inext().point(Profile.from_counts([2, 1, 1])).value
    4.5
    """

    name: ClassVar[str] = "chao1-inext"
    assumes: ClassVar[str] = "labels not seen are about as frequent as those seen once; otherwise the value is too low"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        once, twice = float(profile.prevalence(1)), float(profile.prevalence(2))
        value, finite = profile.num_labels + chao_unseen(profile), (profile.n - 1) / profile.n
        if once and twice:
            variance = _variance(once, twice, finite)
        elif once > 1:
            variance = _variance_without_doubletons(once, value, finite)
        else:
            variance = _sampling_variance(profile)
        return Point(value, standard_error=math.sqrt(max(variance, 0.0)), warnings=without_repeats(profile))


def _variance(s: float, d: float, c: float) -> float:
    """Return the variance of Chiu et al. (2014) where s labels were seen once and d twice; ``c = (n − 1)/n``."""
    q = s / d
    return d * (c * q**2 / 2 + c**2 * (q**3 + q**4 / 4))


def _variance_without_doubletons(s: float, value: float, c: float) -> float:
    """Return the same where s labels were seen once, none twice, and there are S = ``value``."""
    return c * s * (s - 1) / 2 + c**2 * (s * (2 * s - 1) ** 2 / 4 - s**4 / (4 * value))


def _sampling_variance(profile: Profile) -> float:
    """Return the same where no labels seem to be missing: the variance of S_obs, mean counts being those seen."""
    counts = profile.counts.astype(np.float64)
    lost = profile.prevalences * np.exp(-counts)
    return float(lost @ -np.expm1(-counts)) - float(counts @ lost) ** 2 / profile.n
