"""What a sketch promises, read off the parts of its noise."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING

from anonhist.errors import DataError, UsageError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon
from anonhist.randomness.arguments import SMALLEST_GAMMA
from anonhist.sketches.noise import NoiseComponent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.privacy import EpsilonLike

ARITHMETIC = "noise is exact and added to whole numbers, so floating point costs nothing"


def checked_unit(unit: object) -> PrivacyUnit:
    """Refuse a unit that a sketch cannot protect."""
    if not isinstance(unit, PrivacyUnit):
        message = f"unit must be a PrivacyUnit, such as PrivacyUnit.user(max_items=5), not {unit!r:.80}."
        raise UsageError(message)
    if unit.kind == "label":
        raise UsageError("A sketch protects items or users; it cannot cap counts, which protecting labels would need.")
    if unit.kind == "node":
        raise UsageError("A sketch does not bound how many edges a node has: protect nodes with release_degrees.")
    return unit


def checked_relation(relation: object) -> NeighboringRelation:
    """Refuse what is no relation."""
    if not isinstance(relation, NeighboringRelation):
        message = f"relation must be a NeighboringRelation, such as ADD_OR_REMOVE, not {relation!r:.80}."
        raise UsageError(message)
    return relation


def rate_of(epsilon: EpsilonLike, unit: PrivacyUnit, relation: NeighboringRelation) -> Fraction:
    """Return γ, what one step of one counter may cost: ``ε/(max_distance·steps)``.

    Examples
    --------
    >>> rate_of(1, PrivacyUnit.user(max_items=5), NeighboringRelation.SUBSTITUTE)
    Fraction(1, 10)
    """
    exact, steps = parse_epsilon(epsilon), unit.max_distance * relation.steps
    if exact < steps * SMALLEST_GAMMA:
        message = f"epsilon must be at least {steps:,}·2^-40 (about {float(steps * SMALLEST_GAMMA):.1e}) for {unit}."
        raise UsageError(message)
    return exact / steps


def checked_parts(noise: Iterable[NoiseComponent]) -> tuple[NoiseComponent, ...]:
    """Return parts of noise in their order, or refuse those that do not belong into one sketch."""
    parts = tuple(noise)
    if not parts or not all(isinstance(part, NoiseComponent) for part in parts):
        raise DataError("A sketch has one part of noise at least.")
    if len({part.identity for part in parts}) < len(parts):
        raise DataError("A sketch has no part of its noise twice.")
    for _, shares in _sessions(parts):
        if len({(share.gamma, share.shape) for share in shares}) > 1:
            raise DataError(
                "Shares of one session must have one epsilon and one number of honest parties; give each its own name."
            )
    return tuple(sorted(parts))


def promise(unit: PrivacyUnit, relation: NeighboringRelation, noise: Iterable[NoiseComponent]) -> Guarantee:
    """Return the guarantee of a sketch whose noise consists of these parts.

    Items are in one part each, so the largest epsilon counts. Users may be in all, so the epsilons add up. Shares of
    one session are one part.

    Raises
    ------
    UsageError
        If the shares of a session do not yet add up to the whole.
    """
    parts = list(noise)
    rates = [part.gamma for part in parts if part.shape == 1]
    for _, shares in _sessions(parts):
        honest, merged = shares[0].shape.denominator, len(shares)
        if merged < honest:
            message = (
                f"This sketch is not private: it holds {merged} of at least {honest} shares of its noise; add up those "
                "of the other parties first, under secure aggregation."
            )
            raise UsageError(message)
        rates.append(shares[0].gamma)
    steps = unit.max_distance * relation.steps
    if unit.kind == "item" or len(rates) == 1:
        return Guarantee(unit, relation, max(rates) * steps, Fraction(0), ARITHMETIC)
    spending = tuple(
        ("one sketch" if often == 1 else f"{often} sketches", rate * steps * often)
        for rate, often in sorted(Counter(rates).items())
    )
    return Guarantee(unit, relation, sum(rates, Fraction(0)) * steps, Fraction(0), ARITHMETIC, spending)


def _sessions(noise: Iterable[NoiseComponent]) -> list[tuple[str, list[NoiseComponent]]]:
    shares = sorted((part for part in noise if part.shape < 1), key=lambda part: part.session)
    return [(session, list(group)) for session, group in groupby(shares, key=lambda part: part.session)]
