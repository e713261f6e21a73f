"""Chao's lower bound of the support size, from labels seen once and twice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.properties.estimator import Point
from anonhist.properties.support_size.singletons import without_repeats

if TYPE_CHECKING:
    from anonhist.profiles import Profile


@dataclass(frozen=True)
class Chao1:
    """``S = S_obs + φ_1·(φ_1 − 1)/(2·(φ_2 + 1))``, the bias-corrected form (Chao 2005).

    Its variance is that of EstimateS: with s = φ_1, d = φ_2,
    ``s(s−1)/(2(d+1)) + s(2s−1)²/(4(d+1)²) + s²d(s−1)²/(4(d+1)⁴)`` (eq. 6); where no label was seen twice
    ``s(s−1)/2 + s(2s−1)²/4 − s⁴/(4S)`` (eq. 7); where none was seen once ``S_obs·P·(1 − P)`` with
    ``P = exp(−n/S_obs)`` (eq. 8). Of one label it is 1, of n singletons ``n + n(n−1)/2``.

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
    if not once:
        missed = math.exp(-profile.n / profile.num_labels)
        return profile.num_labels * missed * (1 - missed)
    if not twice:
        return max(once * (once - 1) / 2 + once * (2 * once - 1) ** 2 / 4 - once**4 / (4 * value), 0.0)
    more = twice + 1
    return (
        once * (once - 1) / (2 * more)
        + once * (2 * once - 1) ** 2 / (4 * more**2)
        + once**2 * twice * (once - 1) ** 2 / (4 * more**4)
    )
