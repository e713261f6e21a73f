"""Lower bounds on a mechanism's true epsilon, from its outputs on one pair of neighbors."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Audit:
    """The bound that a number of draws prove.

    Attributes
    ----------
    epsilon_bound
        With probability at least ``1 − false_alarm_rate`` the mechanism is not ε-private for any ε below this.
    hits, misses
        How often the event happened on the first and on the second data set.
    """

    epsilon_bound: float
    hits: int
    misses: int


def audit(*, hits: int, other_hits: int, draws: int, false_alarm_rate: float, delta: float = 0.0) -> Audit:
    """Bound ε from below: ``P(E|x) ≤ e^ε P(E|x') + δ`` must hold for the counted event.

    Clopper–Pearson bounds, each with half of the false-alarm rate, bound the probability on x from below and the one on
    x' from above.

    Parameters
    ----------
    hits, other_hits
        The numbers of draws on x, and on x', in which the event happened.
    draws
        The number of draws on each.
    false_alarm_rate
        The probability that the bound exceeds the true ε.
    delta
        The δ to allow for.
    """
    from scipy.stats import beta

    share = false_alarm_rate / 2
    low = float(beta.ppf(share, hits, draws - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - share, other_hits + 1, draws - other_hits)) if other_hits < draws else 1.0
    bound = math.log(max(low - delta, 1e-300) / high)
    return Audit(bound, hits, other_hits)
