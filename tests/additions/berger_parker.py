"""A property as docs/extending.md adds one: the share of the most frequent label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.properties.estimator import apply
from anonhist.properties.guessing_curve import GuessingSuccess, success_interval

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Resimulated


def berger_parker(data: Profile | Resimulated, *, level: float = 0.95) -> Estimate:
    """Estimate ``max_x p_x``, the dominance index of Berger and Parker."""
    return apply(data, GuessingSuccess(1), success_interval(1), level=level)
