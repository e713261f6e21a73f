"""From a value and its standard error to an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Protocol

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.profiles import Profile


class Interval(Protocol):
    """A way to make intervals for one property."""

    def of(self, profile: Profile, value: float, error: float, *, level: float, scale: float) -> tuple[float, float]:
        """Return the ends for a value with a standard error, both multiplied by ``scale`` already."""

    def of_nothing(self, *, scale: float) -> tuple[float, float]:
        """Return all that the property can be."""


@dataclass(frozen=True)
class NormalInterval:
    """``value ± z·error``, cut where the property ends.

    Attributes
    ----------
    least, most
        What the property lies between, before it is scaled.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> low, high = NormalInterval(0.0, 1.0).of(Profile([1], [1]), 0.5, 0.1, level=0.95, scale=1.0)
    >>> round(low, 3), round(high, 3)
    (0.304, 0.696)
    """

    least: float = -math.inf
    most: float = math.inf

    def of(self, profile: Profile, value: float, error: float, *, level: float, scale: float) -> tuple[float, float]:
        """Return the ends; the value always lies between them."""
        del profile
        half = quantile(level) * error
        low, high = max(value - half, scale * self.least), min(value + half, scale * self.most)
        return min(low, value), max(high, value)

    def of_nothing(self, *, scale: float) -> tuple[float, float]:
        """Return the ends of the property."""
        return scale * self.least, scale * self.most


@dataclass(frozen=True)
class LabelsInterval:
    """Log-normal interval for a number of labels: the labels not seen, ``T = value − S_obs``, have a log-normal error.

    ``S_obs + T/K`` to ``S_obs + T·K`` with ``K = exp(z·sqrt(ln(1 + (error/T)²)))`` (Chao 1987, eq. 8): it never says
    less than was seen. K grows far slower than the error, and where that is hundreds of times T, ``T·K`` falls behind:
    so the upper end is ``value + z·error`` at least. Where T is 0, ``S_obs`` to ``S_obs + z·error``.

    Attributes
    ----------
    most
        How many labels there can be at most.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> low, high = LabelsInterval().of(Profile([1, 2], [4, 2]), 8.0, 2.0, level=0.95, scale=1.0)
    >>> round(low, 3), round(high, 3)
    (6.391, 16.226)
    """

    most: float = math.inf

    def of(self, profile: Profile, value: float, error: float, *, level: float, scale: float) -> tuple[float, float]:
        """Return the ends; the value always lies between them."""
        del scale
        seen = float(profile.num_labels)
        unseen, z = value - seen, quantile(level)
        if unseen <= 0:
            low, high = seen, seen + z * error
        else:
            ratio = math.exp(z * _log_normal_error(error / unseen))
            low, high = seen + unseen / ratio, max(seen + unseen * ratio, value + z * error)
        return min(low, value), max(value, min(high, self.most))

    def of_nothing(self, *, scale: float) -> tuple[float, float]:
        """Return 0 to the most there can be."""
        return 0.0, scale * self.most


def quantile(level: float) -> float:
    """Return z with ``P(|N(0, 1)| ≤ z) = level``.

    Examples
    --------
    >>> round(quantile(0.95), 6)
    1.959964
    """
    # From the lower tail: near 1, floats have no room for what is left.
    return -NormalDist().inv_cdf((1 - level) / 2)


def _log_normal_error(ratio: float) -> float:
    """Return ``sqrt(ln(1 + x²))``, the standard error of the logarithm, without the square of what is large."""
    return math.sqrt(math.log1p(ratio**2) if ratio < 1 else 2 * math.log(math.hypot(1, ratio)))


def check_level(level: object) -> None:
    """Refuse what is not a probability strictly between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        message = f"The level of an interval must be a number between 0 and 1, such as 0.95, not {level!r:.80}."
        raise UsageError(message)
