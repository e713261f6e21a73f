"""The min-entropy: the surprise of the most frequent label."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from anonhist.profiles import Profile
from anonhist.properties.apply import apply
from anonhist.properties.entropy.entropy import entropy_unit
from anonhist.properties.estimate import Estimate
from anonhist.properties.estimator import Point, Resimulated
from anonhist.properties.intervals import LowerEnd

_CLEAR = 2.0
_BY_CHANCE = "the label that leads in a sample leads partly by chance"


@dataclass(frozen=True)
class MinEntropy:
    """``−ln(r_max/n)`` in nats, with standard error ``sqrt((1 − p)/(n·p))``, ``p = r_max/n``.

    Too low, since the largest of several counts is so partly by chance: by at most about ``1/(n·p)`` if one label is
    clearly the most frequent, by far more if many are about as frequent. For one label it is 0, for n singletons ln n.

    References
    ----------
    .. [1] A. Rényi, "On measures of entropy and information", Proceedings of the Fourth Berkeley Symposium on
           Mathematical Statistics and Probability 1 (1961), 547–561.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(MinEntropy().point(Profile.from_counts([4, 3, 1])).value, 6)
    0.693147
    """

    name: ClassVar[str] = "plug-in"
    assumes: ClassVar[str] = "one label is clearly the most frequent; otherwise the value is too low"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        n, largest = float(profile.n), float(profile.counts[-1])
        # A share that is 1 only by rounding must not make the error 0.
        others = profile.n - int(profile.counts[-1])
        error = math.sqrt(others / n / largest)
        value = -math.log1p(-others / n) if largest > n / 2 else math.log(n / largest)
        return Point(abs(value), standard_error=error, warnings=_tie_warning(profile))


def _tie_warning(profile: Profile) -> tuple[str, ...]:
    largest = float(profile.counts[-1])
    if profile.prevalences[-1] == 1:
        if len(profile) == 1:
            return ()
        second = float(profile.counts[-2])
        if largest - second >= _CLEAR * math.sqrt(largest + second):
            return ()
    return ("Several labels are about as frequent as the most frequent one: the value is too low.",)


def min_entropy(data: Profile | Resimulated, *, base: float = math.e, level: float = 0.95) -> Estimate:
    """Estimate the min-entropy ``H_∞ = −ln max_x p_x``: how hard the single best guess is.

    The largest share of a sample is too high on average for every distribution, so there is only a lower end.

    Parameters
    ----------
    data
        A profile or a release. For a release, the interval also covers privacy noise.
    base
        Base of the logarithm, > 1: 2 for bits, e (default) for nats.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If a number is out of range.

    References
    ----------
    .. [1] A. Rényi, "On measures of entropy and information", Proceedings of the Fourth Berkeley Symposium on
           Mathematical Statistics and Probability 1 (1961), 547–561.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(min_entropy(Profile.from_counts([400, 200, 200]), base=2))
    at least 0.900028 bits (95 % confidence), estimate 1: the label that leads in a sample leads partly by chance
    """
    unit, scale = entropy_unit(base)
    interval = LowerEnd(MinEntropy(), _BY_CHANCE)
    return apply(data, MinEntropy(), interval, level=level, unit=unit, scale=scale)
