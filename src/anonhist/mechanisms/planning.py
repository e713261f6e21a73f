"""Expected errors of releases, computed before any data are touched."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, overload

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.kinds import Printed, Tabular
from anonhist.mechanisms.picking import choose
from anonhist.mechanisms.setting import whole_items
from anonhist.numeric.arrays import Floats
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit, parse_epsilon, parse_whole_number
from anonhist.privacy.parameters import MOST_SIMULATIONS
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate
from anonhist.releases import simulate_error

Shape = Literal["zipf", "worst"]
_SIMULATIONS = 8
LARGEST_PLAN = 10**15


@frozen
class PlanRow:
    """The predicted accuracy of a release.

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


@dataclass(frozen=True, repr=False)
class Plan(Printed, Tabular):
    """Predictions of :func:`plan`, one row per budget, to loop over, or as a data frame.

    Attributes
    ----------
    rows
        One row per budget, in the given order.

    Examples
    --------
    >>> predicted = plan(epsilons=["2", "4"], items=1000, rng=np.random.default_rng(0))
    >>> len(predicted), predicted[0].mechanism, predicted.to_arrow().column_names[:3]
    (2, 'partition', ['epsilon', 'mechanism', 'items'])
    """

    known_as = "plan"
    rows: tuple[PlanRow, ...]

    def __iter__(self) -> Iterator[PlanRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> PlanRow:
        return self.rows[place]


@overload
def plan(
    *,
    epsilons: Iterable[EpsilonLike],
    items: int,
    shape: Shape | Profile = "zipf",
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = ...,
    simulations: int = ...,
    rng: np.random.Generator | None = None,
) -> Plan: ...


@overload
def plan(
    *,
    epsilons: Iterable[EpsilonLike],
    items: int | None = None,
    shape: Profile,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = ...,
    simulations: int = ...,
    rng: np.random.Generator | None = None,
) -> Plan: ...


def plan(
    *,
    epsilons: Iterable[EpsilonLike],
    items: int | None = None,
    shape: Shape | Profile = "zipf",
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    simulations: int = _SIMULATIONS,
    rng: np.random.Generator | None = None,
) -> Plan:
    """Simulate releases of public data of a given size and shape.

    Parameters
    ----------
    epsilons
        Budgets to plan for.
    items
        n, from 1 to 10¹⁵; optional if ``shape`` is a profile.
    shape
        ``"zipf"``: the k-th most frequent label occurs about C/k times. ``"worst"``: counts 1, 2, 3, …, each once,
        the most distinct counts possible with n items. Or a released profile, scaled to ``items``.
    unit, relation
        As in :func:`release`; the item unit by default.
    simulations
        Runs per row, from 2 to 1,000; 0 is not allowed here.
    rng
        Simulation randomness.

    Returns
    -------
    Plan
        One row per budget, in the order given. With label privacy, errors refer to the capped counts.

    Raises
    ------
    UsageError
        If a budget, the number of items, the shape or the unit is impossible.

    Examples
    --------
    >>> row, = plan(epsilons=["2"], items=1000, rng=np.random.default_rng(0))
    >>> row.mechanism
    'partition'
    """
    if isinstance(shape, Profile):
        profile = shape if items is None else _scale(shape, whole_items(items, name="items", most=LARGEST_PLAN))
    elif items is None:
        raise UsageError("`items` is missing: give the number of items to plan for, such as `items=1_000_000`.")
    elif shape == "zipf":
        profile = zipf_profile(items)
    elif shape == "worst":
        profile = staircase_profile(items)
    else:
        raise UsageError(f"`shape` must be 'zipf', 'worst' or a released profile, not {shape!r}.")
    protected = profile.unit if unit is None else unit
    # This simulates public shapes: no private data depend on this generator.
    generator = rng or np.random.default_rng()
    if isinstance(epsilons, str) or not isinstance(epsilons, Iterable):
        raise UsageError("epsilons must be a list of budgets, such as [0.1, 1].")
    runs = parse_whole_number(simulations, name="simulations", least=2, most=MOST_SIMULATIONS)
    rows = []
    for epsilon in epsilons:
        mechanism, _ = choose(epsilon=epsilon, unit=protected, relation=relation, expected_items=max(1, profile.n))
        error = simulate_error(mechanism.admit(profile), mechanism, simulations=runs, rng=generator)
        if error.sorted_l1 is not None:  # Always set, with two runs or more.
            relative = error.sorted_l1.value / max(1, profile.n)
            rows.append(PlanRow(parse_epsilon(epsilon), mechanism.name, profile.n, error.sorted_l1, relative))
    return Plan(tuple(rows))


def zipf_profile(items: int) -> Profile:
    """Return a profile of about ``items`` items in which the k-th most frequent label occurs ⌊C/k⌋ times.

    C is the largest whole number for which n is at most ``items``; n is smaller by less than the number of divisors of
    C + 1. It takes O(√C) memory.

    Parameters
    ----------
    items
        From 1 to 10¹⁵.

    Raises
    ------
    UsageError
        If ``items`` is not a whole number in that range.

    Examples
    --------
    >>> zipf_profile(27)
    Profile(n=27, num_labels=10, {1: 5, 2: 2, 3: 1, 5: 1, 10: 1})
    """
    number = whole_items(items, name="items", most=LARGEST_PLAN)
    low, high = 1, 2
    while _zipf_items(high) <= number:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _zipf_items(middle) <= number else (low, middle)
    # Labels up to √C one by one; for smaller counts r, the number of k with ⌊C/k⌋ = r.
    root = math.isqrt(low)
    rows = low // np.arange(root, 0, -1, dtype=np.int64)
    counts = np.arange(1, rows[0], dtype=np.int64)
    prevalences = low // counts - low // (counts + 1)
    present = prevalences > 0
    return Profile(
        np.concatenate((counts[present], rows)), np.concatenate((prevalences[present], np.ones(root, dtype=np.int64)))
    )


def _zipf_items(top: int) -> int:
    """Return ``Σ_{k ≤ top} ⌊top/k⌋``, by Dirichlet's hyperbola: pairs (k, j) with k·j ≤ top, split at √top."""
    root = math.isqrt(top)
    return 2 * int((top // np.arange(1, root + 1, dtype=np.int64)).sum()) - root**2


def staircase_profile(items: int) -> Profile:
    """Return a profile of at most ``items`` items with counts 1, 2, 3, …, each of one label; O(√items) memory.

    Parameters
    ----------
    items
        From 1 to 10¹⁵.

    Raises
    ------
    UsageError
        If ``items`` is not a whole number in that range.

    Examples
    --------
    >>> staircase_profile(7)
    Profile(n=6, num_labels=3, {1: 1, 2: 1, 3: 1})
    """
    number = whole_items(items, name="items", most=LARGEST_PLAN)
    steps = (math.isqrt(8 * number + 1) - 1) // 2
    return Profile(np.arange(1, steps + 1), np.ones(steps, dtype=np.int64))


def _scale(shape: Profile, items: int) -> Profile:
    """Keep the counts and scale their prevalences; every count keeps at least one label."""
    if not shape.n:
        raise UsageError("The released profile is empty, so it has no shape to plan with: use `shape='zipf'`.")
    scaled = [max(1, phi * items // shape.n) for phi in shape.prevalences.tolist()]
    return Profile(shape.counts, scaled, unit=shape.unit)


# Bisections: each halves the remaining range.
_STEPS = 50
# Added before rounding down, because a power may fall below a whole number by a rounding error.
_NUDGE = 1e-9


def power_law_profile(items: int, labels: int) -> Profile:
    """Return a profile of this many items and labels: the k-th most frequent of L labels occurs ``⌊T/k^s⌋`` times.

    It is Zipf's law, s = 1, if that leaves no label out; T follows from the number of items. For fewer items s is
    smaller, and the last label occurs once: T = L^s, with s = 0 for as many items as labels. The most frequent label
    gets the items that rounding leaves over. The number of items is from L to 10¹⁵.
    """
    if not 1 <= labels <= items:
        raise UsageError("The number of labels must be at least 1, and at most the number of items.")
    if _total(_power_law(labels, 1.0, float(labels))) <= items:
        low = _largest(float(labels), float(items), lambda top: _power_law(labels, 1.0, top), items)
        found = _power_law(labels, 1.0, low)
    else:
        low = _largest(0.0, 1.0, lambda exponent: _power_law(labels, exponent, labels**exponent), items)
        found = _power_law(labels, low, labels**low)
    prevalences: dict[int, int] = {}
    for count, number in zip(*(side.astype(np.int64).tolist() for side in found), strict=True):
        prevalences[count] = prevalences.get(count, 0) + number
    top = max(prevalences)
    left = items - sum(count * number for count, number in prevalences.items())
    prevalences[top] -= 1
    prevalences[top + left] = prevalences.get(top + left, 0) + 1
    return Profile.from_prevalences({count: number for count, number in prevalences.items() if number})


def _largest(low: float, high: float, shape: Callable[[float], tuple[Floats, Floats]], items: int) -> float:
    """Return approximately the largest number in a range whose shape has at most this many items."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _total(shape(middle)) <= items else (low, middle)
    return low


def _total(shape: tuple[Floats, Floats]) -> float:
    return float(np.dot(*shape))


def _power_law(labels: int, exponent: float, top: float) -> tuple[Floats, Floats]:
    """Return counts and how many labels have each: for the first labels one by one, then count by count.

    A count may come twice.
    """
    if not exponent:
        return np.ones(1), np.full(1, float(labels))
    # Counts differ before about this position, and are smaller than the position beyond it.
    place = min(labels, math.ceil(top ** (1 / (exponent + 1))))
    first = np.floor(top / np.arange(1, place + 1) ** exponent + _NUDGE)
    counts = np.arange(1, first[-1] + 1) if place < labels else np.zeros(0)
    reaching = np.minimum(labels, np.floor((top / counts) ** (1 / exponent) + _NUDGE))
    reaching[:1] = labels  # regardless of rounding
    behind = np.maximum(reaching - place, 0)
    prevalences = behind - np.append(behind[1:], 0)[: behind.size]
    kept = prevalences > 0
    return np.concatenate((counts[kept], first)), np.concatenate((prevalences[kept], np.ones(place)))
