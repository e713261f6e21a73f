"""The number of items, where it was released on its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonhist.properties.estimate import Estimate

if TYPE_CHECKING:
    from anonhist.privacy import Guarantee


def released_on_its_own(items: int, guarantee: Guarantee) -> Estimate:
    """Return n with a 95 % interval, where the first step of a guarantee was spent on it: its noise has a public rate.

    Two-sided geometric noise of rate γ is farther than B from zero with a chance of ``2p^(B+1)/(1 + p)``, p = e^(−γ).

    Examples
    --------
    >>> from anonhist.mechanisms import PrivHistMechanism
    >>> low, high = released_on_its_own(2000, PrivHistMechanism(1).guarantee).interval
    >>> high - low
    300.0
    """
    sensitivity = guarantee.unit.max_distance * guarantee.relation.distance
    rate = float(guarantee.spending[0][1] / sensitivity)
    reach = max(1, math.ceil(-math.log(0.025 * (1 + math.exp(-rate))) / rate) - 1)
    ends = max(0.0, float(items - reach)), float(items + reach)
    deviation = math.sqrt(2 * math.exp(-rate)) / -math.expm1(-rate)
    return Estimate(float(items), deviation, ends, "noise of a public rate", guarantee=guarantee)
