"""Losses of releases as events of dp-accounting, for its accountants."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from anonhist.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable


def event_of(epsilons: Iterable[Fraction]) -> Any:
    """Return one event for all releases together, each with its ε and δ = 0.

    An event of one release is the discrete Laplace mechanism with rate ε and sensitivity 1. Its losses are ε, with
    probability 1/(1 + e^−ε), and −ε: those of the worst mechanism with this ε. Those of the continuous Laplace
    mechanism are smaller, and so is what accountants say of it. Each ε is rounded upward to a float.

    Parameters
    ----------
    epsilons
        ε of each release.

    Raises
    ------
    MissingExtraError
        If dp-accounting is not installed.
    """
    try:
        from dp_accounting import dp_event
    except ImportError:
        raise MissingExtraError(
            "Events are those of dp-accounting; install it with: pip install 'anonhist[accounting]'."
        ) from None

    events = [
        one if count == 1 else dp_event.SelfComposedDpEvent(one, count)
        for epsilon, count in Counter(epsilons).items()
        for one in [dp_event.DiscreteLaplaceDpEvent(noise_parameter=_rounded_up(epsilon), sensitivity=1)]
    ]
    return events[0] if len(events) == 1 else dp_event.ComposedDpEvent(events)


def _rounded_up(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
