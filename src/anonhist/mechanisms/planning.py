"""Expected errors before any data are touched."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.mechanisms.automatic import choose
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit, parse_epsilon
from anonhist.profiles import Profile
from anonhist.releases import Estimate, simulate_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

_SIMULATIONS = 8
LARGEST_PLAN = 10**15


@dataclass(frozen=True)
class PlanRow:
    """What a release would cost in accuracy.

    Attributes
    ----------
    epsilon
        The budget.
    mechanism
        Name of the mechanism that would be picked.
    items
        Number of items planned for.
    sorted_l1
        Expected sorted ℓ1 error, in items.
    relative_error
        ``sorted_l1 / items``.
    """

    epsilon: Fraction
    mechanism: str
    items: int
    sorted_l1: Estimate
    relative_error: float


def plan(
    *,
    epsilons: Sequence[EpsilonLike],
    items: int | None = None,
    shape: str | Profile = "zipf",
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    simulations: int = _SIMULATIONS,
    rng: np.random.Generator | None = None,
) -> tuple[PlanRow, ...]:
    """Simulate releases of public data of a given size and shape.

    Parameters
    ----------
    epsilons
        Budgets to plan for.
    items
        n, from 1 to 10^15; may be left out where ``shape`` is a profile.
    shape
        ``"zipf"``: the k-th most frequent label occurs about C/k times. ``"worst"``: counts 1, 2, 3, …, each once,
        which has the most distinct counts a profile of n items can have. Or a released profile, scaled to ``items``.
    unit, relation
        As in :func:`release`; the item unit by default.
    simulations
        Runs per row.
    rng
        Simulation randomness.

    Examples
    --------
    >>> row, = plan(epsilons=["2"], items=1000, rng=np.random.default_rng(0))
    >>> row.mechanism
    'partition'
    """
    if isinstance(shape, Profile):
        profile = shape if items is None else _scaled(shape, _checked(items))
    elif items is None:
        raise UsageError("items is missing: say how many items to plan for, such as items=10**6.")
    elif shape == "zipf":
        profile = zipf_profile(_checked(items))
    elif shape == "worst":
        profile = staircase_profile(_checked(items))
    else:
        message = f"shape must be 'zipf', 'worst' or a released profile, not {shape!r}."
        raise UsageError(message)
    protected = unit or profile.unit
    generator = rng or np.random.default_rng()
    rows = []
    for epsilon in epsilons:
        mechanism, _ = choose(epsilon=epsilon, unit=protected, relation=relation, expected_items=max(1, profile.n))
        error = simulate_error(profile, mechanism, simulations=simulations, rng=generator)
        relative = error.sorted_l1.value / max(1, profile.n)
        rows.append(PlanRow(parse_epsilon(epsilon), mechanism.name, profile.n, error.sorted_l1, relative))
    return tuple(rows)


def zipf_profile(items: int) -> Profile:
    """Return a profile of about ``items`` items in which the k-th most frequent label occurs ⌊C/k⌋ times.

    Examples
    --------
    >>> zipf_profile(27)
    Profile(n=27, num_labels=10, {1: 5, 2: 2, 3: 1, 5: 1, 10: 1})
    """
    low, high = 1, items
    while low < high:
        middle = (low + high + 1) // 2
        if _zipf(middle).n <= items:
            low = middle
        else:
            high = middle - 1
    return _zipf(low)


def _zipf(top: int) -> Profile:
    # Labels up to √top one by one, the counts below by how many k have ⌊top/k⌋ = r.
    root = math.isqrt(top)
    rows = top // np.arange(1, root + 1, dtype=np.int64)
    counts = np.arange(1, int(rows[-1]) if root else 1, dtype=np.int64)
    prevalences = top // counts - top // (counts + 1)
    pairs = [*zip(rows.tolist(), [1] * root, strict=True), *zip(counts.tolist(), prevalences.tolist(), strict=True)]
    return Profile.from_prevalences([pair for pair in pairs if pair[1]])


def staircase_profile(items: int) -> Profile:
    """Return a profile of at most ``items`` items with counts 1, 2, 3, …, each of one label.

    Examples
    --------
    >>> staircase_profile(7)
    Profile(n=6, num_labels=3, {1: 1, 2: 1, 3: 1})
    """
    steps = (math.isqrt(8 * items + 1) - 1) // 2
    return Profile(np.arange(1, steps + 1), np.ones(steps, dtype=np.int64))


def _scaled(shape: Profile, items: int) -> Profile:
    """Keep the counts, scale how many labels have each; every count keeps at least one label."""
    if not shape.n:
        raise UsageError("The released profile is empty: there is no shape to plan by; use shape='zipf'.")
    scaled = [max(1, phi * items // shape.n) for phi in shape.prevalences.tolist()]
    return Profile(shape.counts, scaled, unit=shape.unit)


def _checked(items: int) -> int:
    if isinstance(items, bool) or int(items) != items or not 1 <= items <= LARGEST_PLAN:
        message = f"items must be a whole number from 1 to 10^15, not {items!r}."
        raise UsageError(message)
    return int(items)
