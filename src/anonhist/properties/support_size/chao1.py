"""Chao's lower bound of the support size, from labels seen once and twice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.properties.estimator import Point
from anonhist.properties.unseen import without_repeats

if TYPE_CHECKING:
    from anonhist.profiles import Profile


@dataclass(frozen=True)
class Chao1:
    """``S = S_obs + φ_1·(φ_1 − 1)/(2·(φ_2 + 1))``, a bias-corrected form of Chao's lower bound.

    It is that of [2]_; the bound itself is ``S_obs + φ_1²/(2·φ_2)`` ([1]_, eq. 6). Its variance is that of EstimateS
    [3]_: with s = φ_1, d = φ_2, ``s(s−1)/(2(d+1)) + s(2s−1)²/(4(d+1)²) + s²d(s−1)²/(4(d+1)⁴)`` (eq. 6); if no label
    was seen twice, ``s(s−1)/2 + s(2s−1)²/4 − s⁴/(4S)`` (eq. 7); if none was seen once, ``S_obs·P·(1 − P)`` with
    ``P = exp(−n/S_obs)`` (eq. 8). For one label it is 1, for n singletons ``n + n(n−1)/2``.

    References
    ----------
    .. [1] A. Chao, "Nonparametric estimation of the number of classes in a population", Scandinavian Journal of
           Statistics 11 (1984), 265–270, eq. 6.
    .. [2] A. Chao, "Species estimation and applications", *Encyclopedia of Statistical Sciences*, 2nd edition, 2005.
    .. [3] R. K. Colwell, *EstimateS 8.2 user's guide*, 2009, appendix B, eq. 6 to 8.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> Chao1().point(Profile.from_counts([2, 1, 1])).value
    3.5
    """

    name: ClassVar[str] = "chao1"
    assumes: ClassVar[str] = "labels not seen are about as frequent as those seen once; otherwise the value is too low"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        once, twice = float(profile.prevalence(1)), float(profile.prevalence(2))
        value = profile.num_labels + once * (once - 1) / (2 * (twice + 1))
        error = math.sqrt(_variance(once, twice, value, profile))
        return Point(value, standard_error=error, warnings=without_repeats(profile))


def _variance(once: float, twice: float, value: float, profile: Profile) -> float:
    """Return the variance by the equation of EstimateS that applies."""
    if not once:
        return _variance_without_singletons(profile.n, profile.num_labels)
    return _variance_without_doubletons(once, value) if not twice else _variance_bias_corrected(once, twice)


def _variance_bias_corrected(s: float, d: float) -> float:
    """Return equation 6 of EstimateS; s labels were seen once, d twice."""
    more = d + 1
    return s * (s - 1) / (2 * more) + s * (2 * s - 1) ** 2 / (4 * more**2) + s**2 * d * (s - 1) ** 2 / (4 * more**4)


def _variance_without_doubletons(s: float, value: float) -> float:
    """Return equation 7 of EstimateS, at least 0; s labels were seen once, and there are S = ``value``."""
    return max(s * (s - 1) / 2 + s * (2 * s - 1) ** 2 / 4 - s**4 / (4 * value), 0.0)


def _variance_without_singletons(n: int, seen: int) -> float:
    """Return equation 8 of EstimateS; ``seen`` labels have n items."""
    missed = math.exp(-n / seen)
    return seen * missed * (1 - missed)
