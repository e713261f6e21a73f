"""How a guarantee is converted: to other neighbors, to another δ, and to events of dp-accounting.

A guarantee for one unit and relation covers another if the neighbors of the second are at most k steps of the first
apart: ε becomes k·ε, and δ becomes δ·(1 + e^ε + … + e^((k − 1)ε)). docs/proofs/composition.md proves which k is right,
and when none exists.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

from anonhist.errors import MissingExtraError, UsageError
from anonhist.privacy.unit import NeighboringRelation, PrivacyUnit

_ADD_OR_REMOVE, _SUBSTITUTE = NeighboringRelation
# The parts that a unit consists of: changing one part is removing the unit and adding it back changed.
_PARTS = {"user": "item", "label": "item", "node": "edge"}
# Beyond this, e^ε is useless: any δ that parameters allow would exceed 1.
_LARGEST_POWER = 2000
_DIGITS, _KEPT = 250, 20


class Conversion(NamedTuple):
    """How a guarantee is converted: k ``steps``, and what must hold for the data (None if nothing must).

    Neighbors of the new unit are at most k steps apart, each between neighbors of the old one.
    """

    steps: int
    assumption: str | None = None


class Neighbors(NamedTuple):
    """The neighboring data sets between which a guarantee holds."""

    unit: PrivacyUnit
    relation: NeighboringRelation

    def __str__(self) -> str:
        change = "added or removed" if self.relation is _ADD_OR_REMOVE else "replaced"
        return f"{self.unit} {change}"


def convert(given: Neighbors, wanted: Neighbors) -> Conversion:
    """Return how a guarantee is converted to other neighbors, or refuse in one sentence."""
    if given == wanted:
        return Conversion(1)
    if given.relation is _SUBSTITUTE and (wanted.relation is _ADD_OR_REMOVE or wanted.unit.kind != given.unit.kind):
        raise UsageError(
            f"A guarantee for {given} does not hold for {wanted}: the number of {given.unit.kind}s may differ there."
        )
    same_relation = given.relation is wanted.relation
    of_unit = _convert_unit(given.unit, wanted.unit)
    return of_unit if same_relation else of_unit._replace(steps=2 * of_unit.steps)


def _convert_unit(given: PrivacyUnit, wanted: PrivacyUnit) -> Conversion:
    """Return the steps between data sets that differ by one unit more or less."""
    if given.kind == wanted.kind:
        if not _includes(given, wanted):
            raise UsageError(f"A guarantee for {given} does not hold for {wanted}: convert it to a smaller bound.")
        return Conversion(1)
    if _PARTS.get(given.kind) == wanted.kind:
        return Conversion(2)
    if given.kind == "item" and wanted.kind in ("user", "label"):
        most = wanted.max_distance
        return Conversion(most, f"no {wanted.kind} has more than {most:,} item{'s' if most > 1 else ''}")
    raise UsageError(f"A guarantee for {given.one} says nothing about {wanted.one}; release for the same unit.")


def as_kind(unit: PrivacyUnit, kind: str) -> PrivacyUnit:
    """Return what a guarantee for a unit is converted to if all units of a kind count, whatever their bounds."""
    if unit.kind == kind:
        return unit
    if _PARTS.get(unit.kind) == kind:
        return PrivacyUnit.item() if kind == "item" else PrivacyUnit.edge()
    raise UsageError("Make the release for the unit of the budget.")


def _includes(given: PrivacyUnit, wanted: PrivacyUnit) -> bool:
    """Whether every unit of the wanted kind and bound is also one of the given kind and bound."""
    if given.kind == "label":
        return given.groups == 1 or 1 < wanted.groups <= given.groups
    if given.kind != "user":
        return True
    if (given.groups > 1, given.sketches > 1) == (wanted.groups > 1, wanted.sketches > 1):
        return given.bound >= wanted.bound and given.groups >= wanted.groups and given.sketches >= wanted.sketches
    return _most_in_all(given) >= wanted.max_distance


def _most_in_all(unit: PrivacyUnit) -> int:
    """Return j: a user with j items anywhere has at most the bound in each place, in no more places than allowed."""
    return min(unit.bound, unit.groups) if unit.groups > 1 else unit.bound


def common_neighbors(several: Iterable[Neighbors]) -> Neighbors:
    """Return neighbors to which all convert without an assumption about the data, or refuse in one sentence.

    Users are converted to the smallest bound, and users and labels to items if one guarantee is for items. If one
    relation is substitution, the common relation is substitution.
    """
    # Parts first: users and labels alone have no common unit, but together with items they do.
    distinct = sorted(dict.fromkeys(several), key=lambda each: each.unit.kind not in _PARTS.values())
    relations = {each.relation for each in distinct}
    wanted = Neighbors(
        reduce(_common_unit, (each.unit for each in distinct)),
        _SUBSTITUTE if _SUBSTITUTE in relations else _ADD_OR_REMOVE,
    )
    for each in distinct:
        convert(each, wanted)
    return wanted


def _common_unit(one: PrivacyUnit, other: PrivacyUnit) -> PrivacyUnit:
    if one == other:
        return one
    if one.kind != other.kind:
        for part, whole in ((one, other), (other, one)):
            if _PARTS.get(whole.kind) == part.kind:
                return part
        raise UsageError(
            f"A guarantee for {one.one} and one for {other.one} do not add up: neither says anything about the other "
            "unit; make both releases for the same one."
        )
    if one.kind == "user":
        if one.groups == other.groups and one.sketches == other.sketches:
            return PrivacyUnit.user(max_items=min(one.bound, other.bound), sketches=one.sketches, groups=one.groups)
        return PrivacyUnit.user(max_items=min(_most_in_all(one), _most_in_all(other)))
    if one.kind == "label":
        groups = min((each.groups for each in (one, other) if each.groups > 1), default=1)
        return PrivacyUnit.label(max_count=max(one.bound, other.bound), groups=groups)
    return max(one, other, key=lambda unit: unit.bound)


def delta_after(steps: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return δ·(1 + e^ε + … + e^((k − 1)ε)), rounded upward to 20 digits: the δ of k steps of (ε, δ).

    A result of 1 or more promises nothing, and is refused.
    """
    if delta == 0 or steps == 1:
        return delta
    if epsilon * (steps - 1) <= _LARGEST_POWER:
        # (e^(kε) − 1)/(e^ε − 1): above rounded upward, below downward.
        above = _exponential(steps * epsilon, ROUND_CEILING) - 1
        below = _exponential(epsilon, ROUND_FLOOR) - 1
        total = _rounded_up(delta * above / below)
        if total < 1:
            return total
    raise UsageError(
        f"{steps:,} steps with this ε and δ add up to a δ of 1 or more, which protects nobody: make a release for the "
        "larger unit."
    )


def _exponential(power: Fraction, rounding: str) -> Fraction:
    """Return e^power, rounded in one direction: the power is rounded that way, and the nearest result moved."""
    context = Context(prec=_DIGITS, rounding=rounding)
    nearest = context.exp(context.divide(Decimal(power.numerator), Decimal(power.denominator)))
    return Fraction(nearest.next_plus(context) if rounding == ROUND_CEILING else nearest.next_minus(context))


def _rounded_up(value: Fraction) -> Fraction:
    context = Context(prec=_KEPT, rounding=ROUND_CEILING)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


ROUNDING = (
    "losses are composed as distributions by dp-accounting, rounded upward on a grid, with a margin in δ for its "
    "floating-point rounding"
)
# The coarsest grid, and the largest number of grid points for the losses of all releases together.
_COARSEST = Fraction(1, 10**4)
_MOST_POINTS = 10**6
_EPSILON_STEPS = 10**6
# Part of δ, per release: the Fourier transforms of dp-accounting err by 2·10⁻¹⁷ for each (test_loss_distribution.py).
_MARGIN = Fraction(1, 2**50)


def epsilon_at(losses: Iterable[tuple[Fraction, Fraction]], delta: Fraction) -> Fraction:
    """Return ε of all releases together at a δ, rounded upward to six decimals; at most the plain sum, if that holds.

    The worst mechanism with an (ε, δ) has the losses ε, −ε and infinity (Kairouz and others 2015), and the losses of
    several are their convolution, on a grid that contains every ε, unless it would be too fine. A δ below the least
    that the releases have is refused.
    """
    times = Counter(losses)
    plain = sum((epsilon * count for (epsilon, _), count in times.items()), Fraction(0))
    is_covered = delta >= sum((each * count for (_, each), count in times.items()), Fraction(0))
    composed = _compose(times, _grid([epsilon for epsilon, _ in times], plain))
    asked = delta - times.total() * _MARGIN
    found: float = composed.get_epsilon_for_delta(_float_below(asked)) if asked > 0 else math.inf
    if math.isfinite(found):
        upper = Fraction(math.ceil(Fraction(found) * _EPSILON_STEPS) or 1, _EPSILON_STEPS)
        return min(upper, plain) if is_covered else upper
    if is_covered:
        return plain
    raise UsageError("`delta` must be larger than the δ of these releases together, however large ε is.")


def _compose(times: Counter[tuple[Fraction, Fraction]], grid: Fraction) -> Any:
    try:
        from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    except ImportError:
        raise MissingExtraError(
            "Losses are composed by dp-accounting; install it with: pip install 'anonhist[accounting]'."
        ) from None

    total: Any = None
    for (epsilon, delta), count in times.items():
        # Rounded upward exactly: dp-accounting's from_privacy_parameters divides floats, which may take one more step.
        rounded = {
            math.ceil(epsilon / grid): float(1 - delta) / (1 + math.exp(-epsilon)),
            -math.floor(epsilon / grid): float(1 - delta) * math.exp(-epsilon) / (1 + math.exp(-epsilon)),
        }
        one = PrivacyLossDistribution.create_from_rounded_probability(rounded, float(delta), float(grid))
        one = one.self_compose(count)
        total = one if total is None else total.compose(one)
    return total


def _grid(epsilons: list[Fraction], plain: Fraction) -> Fraction:
    """Return the grid width: one that divides every ε, unless that needs too many points."""
    below = math.lcm(*(each.denominator for each in epsilons))
    divisor = Fraction(math.gcd(*(each.numerator * (below // each.denominator) for each in epsilons)), below)
    exact = divisor / math.ceil(divisor / _COARSEST)
    return max(exact, plain / _MOST_POINTS)


def _float_below(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)


def event_of(epsilons: Iterable[Fraction]) -> Any:
    """Return one event for all releases together, each with its ε and δ = 0.

    An event of one release is the discrete Laplace mechanism with rate ε and sensitivity 1. Its losses are ε, with
    probability 1/(1 + e^−ε), and −ε: those of the worst mechanism with this ε. The losses of the continuous Laplace
    mechanism are smaller, and so are the accountants' results for it. Each ε is rounded upward to a float.
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
        for one in [dp_event.DiscreteLaplaceDpEvent(noise_parameter=_float_above(epsilon), sensitivity=1)]
    ]
    return events[0] if len(events) == 1 else dp_event.ComposedDpEvent(events)


def _float_above(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
