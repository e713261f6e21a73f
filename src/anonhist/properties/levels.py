"""How sure an interval is meant to be."""

from __future__ import annotations

import math
from statistics import NormalDist

from anonhist.errors import UsageError


def quantile(level: float) -> float:
    """Return z with ``P(|N(0, 1)| ≤ z) = level``.

    Examples
    --------
    >>> round(quantile(0.95), 6)
    1.959964
    """
    # From the lower tail: near 1, floats have no room for what is left.
    return -NormalDist().inv_cdf((1 - level) / 2)


def check_level(level: object) -> None:
    """Refuse what is not a probability strictly between 0 and 1.

    Raises
    ------
    UsageError
        If it is none.
    """
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        message = f"The level of an interval must be a number between 0 and 1, such as 0.95, not {level!r:.80}."
        raise UsageError(message)


def largest_mean(count: float, z: float) -> float:
    """Return ``x + z²/2 + z·sqrt(x + z²/4)``: the largest mean of a Poisson variable that x is no surprise for.

    Examples
    --------
    >>> round(largest_mean(0, 1.96), 2), round(largest_mean(100, 1.96), 1)
    (3.84, 121.6)
    """
    return count + z**2 / 2 + z * math.sqrt(count + z**2 / 4)
