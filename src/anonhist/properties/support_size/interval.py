"""From an estimate of the support size to an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.properties.intervals import LabelsInterval, quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.profiles import Profile


def unbiased(n: int) -> float:
    """Return 0 for any number of items: the estimator is taken to have no bias worth a mention."""
    del n
    return 0.0


@dataclass(frozen=True)
class SupportSizeInterval:
    """Log-normal interval; where nothing seems to be missing, that of a Poisson number of labels missed.

    Where the value is ``S_obs``, it is ``S_obs`` to ``(S_obs + z·error)/(1 − P)``, each label missed with probability
    ``P = exp(−n/S_obs)`` (EstimateS, eq. 14; its lower end may lie above the value, this one does not). The log-normal
    interval collapses where the error is hundreds of times the labels not seen, so it never ends below
    ``value + z·error``.

    Attributes
    ----------
    most
        How many labels there can be at most.
    bias
        Of n: by which share b the labels not seen may at worst be misjudged on average. Their ends are divided by
        ``1 + b`` and ``1 − b``.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> low, high = SupportSizeInterval().of(Profile([2], [5]), 5.0, 0.7, level=0.95, scale=1.0)
    >>> round(low, 3), round(high, 3)
    (5.0, 7.369)
    """

    most: float = math.inf
    bias: Callable[[int], float] = unbiased

    def of(self, profile: Profile, value: float, error: float, *, level: float, scale: float) -> tuple[float, float]:
        """Return the ends; the value always lies between them."""
        seen, half = float(profile.num_labels), quantile(level) * error
        if value > seen:
            low, high = LabelsInterval().of(profile, value, error, level=level, scale=scale)
            high = max(high, value + half)
            bias = self.bias(profile.n)
            low = seen + (low - seen) / (1 + bias)
            high = seen + (high - seen) / (1 - bias) if bias < 1 else math.inf
        else:
            low, high = value, (value + half) / (1 - missed(profile))
        low = min(low, value, max(self.most, seen))
        return low, max(value, min(high, self.most))

    def of_nothing(self, *, scale: float) -> tuple[float, float]:
        """Return 0 to the most there can be."""
        return LabelsInterval(self.most).of_nothing(scale=scale)


def missed(profile: Profile) -> float:
    """Return the probability ``exp(−n/S_obs)`` that a label is missed, all about as frequent.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(missed(Profile.from_counts([2, 2])), 6)
    0.135335
    """
    return math.exp(-profile.n / profile.num_labels)
