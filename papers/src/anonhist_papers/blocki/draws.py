"""Errors of the exponential mechanism, and of others beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anonhist as ah
from anonhist.mechanisms import choose
from anonhist_papers.blocki.exponential import ExponentialMechanism

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    import numpy as np

    from anonhist.mechanisms import CentralMechanism

# The largest number that the relaxed mechanism takes: no draw here has as many items.
NOTHING_CUT = 2**40
PUBLISHED, EXACT, OURS, HAY = "exponential, c = ε/2", "exponential, exact c", "our default", "isotonic (Hay et al.)"


def relaxed(epsilon: float | Fraction, *, public_items: int) -> ah.mechanisms.RelaxedPartitionMechanism:
    """Make the relaxed mechanism.

    Examples
    --------
    >>> relaxed(1.0, public_items=16).family.c
    0.5
    """
    budget = repr(epsilon) if isinstance(epsilon, float) else epsilon
    return ah.mechanisms.RelaxedPartitionMechanism(budget, public_items=public_items)


def mechanism(name: str, epsilon: float, profile: ah.Profile) -> CentralMechanism:
    """Make a mechanism by its name in these figures, with its public numbers.

    Examples
    --------
    >>> mechanism(HAY, 1.0, ah.Profile.from_counts([5, 3])).name
    'isotonic'
    """
    budget = repr(epsilon)
    make: dict[str, Callable[[], CentralMechanism]] = {
        PUBLISHED: lambda: relaxed(epsilon, public_items=NOTHING_CUT),
        EXACT: lambda: ExponentialMechanism.at(budget),
        OURS: lambda: choose(epsilon=budget, unit=ah.PrivacyUnit.item())[0],
        HAY: lambda: ah.mechanisms.IsotonicMechanism(budget, public_labels=profile.num_labels),
    }
    return make[name]()


def runs(name: str, epsilon: float, profile: ah.Profile, trials: int, rng: np.random.Generator) -> Sequence[ah.Profile]:
    """Return simulated runs of a mechanism on public data."""
    return mechanism(name, epsilon, profile).simulate(profile, size=trials, rng=rng)


def l1_errors(name: str, epsilon: float, profile: ah.Profile, trials: int, rng: np.random.Generator) -> Sequence[float]:
    """Return the ℓ1 errors of simulated runs."""
    found = runs(name, epsilon, profile, trials, rng)
    return [float(ah.properties.sorted_l1(profile, each)) for each in found]
