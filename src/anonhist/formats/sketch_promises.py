"""What releases of version 1 promised of sketches, and what can be said of them today."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anonhist.errors import DataError
from anonhist.privacy import PrivacyUnit
from anonhist.sketches.promise import ARITHMETIC

if TYPE_CHECKING:
    from fractions import Fraction

    from anonhist.privacy import Guarantee
    from anonhist.sketches.noise import NoiseDistribution

# Shares that add up to exactly one noise cannot be told from a noise of one sketch there.
_UNKNOWN_SHARES = (
    "each sketch had noise of its own, or the adversary is an outsider and the parties that shared noise were honest "
    "and took part (version 1 of the file does not say which)"
)
_UNKNOWN_USERS = "no user had items in two sketches that shared noise"


def promise_of_version_1(guarantee: Guarantee) -> Guarantee:
    """Return a guarantee of version 1 with the conditions that it left out.

    A user of merged sketches may be in each of them, and so many it names in its steps.
    """
    if guarantee.unit.max_items is None:
        return replace(guarantee, conditions=(_UNKNOWN_SHARES,))
    sketches = sum(1 if purpose == "one sketch" else int(purpose.split()[0]) for purpose, _ in guarantee.spending)
    unit = PrivacyUnit.user(max_items=guarantee.unit.max_items, sketches=max(1, sketches))
    return replace(guarantee, unit=unit, conditions=(_UNKNOWN_SHARES, _UNKNOWN_USERS))


def check_promise_of_version_1(guarantee: Guarantee, distribution: NoiseDistribution) -> None:
    """Refuse a guarantee of version 1 that a sketch with this noise does not give.

    A distribution says of shares of noise how much they are together, not in how many sessions: at least one, and no
    more than they are enough for.

    Raises
    ------
    DataError
        With what is wrong in one clause.
    """
    if guarantee.delta or guarantee.arithmetic != ARITHMETIC or guarantee.unit.max_count is not None:
        raise DataError("the guarantee's unit, delta or arithmetic is not that of a sketch")
    steps = guarantee.unit.max_distance * guarantee.relation.distance
    least: dict[Fraction, int] = {}
    most: dict[Fraction, int] = {}
    for gamma, shape in distribution.parts:
        if shape < 1:
            raise DataError("a part of the noise is missing, so that nothing is promised")
        least[gamma] = least.get(gamma, 0) + 1
        most[gamma] = most.get(gamma, 0) + int(shape)
    if guarantee.unit.max_items is None or not guarantee.spending:
        is_alone = guarantee.unit.max_items is None or sum(least.values()) == 1
        if guarantee.spending or not is_alone or guarantee.epsilon != max(least) * steps:
            raise DataError("the guarantee's epsilon is not that of such noise")
        return
    if len(guarantee.spending) != len(least):
        raise DataError("the guarantee's steps are not the parts of the noise")
    for gamma, (purpose, spent) in zip(sorted(least), guarantee.spending, strict=True):
        often = spent / (gamma * steps)
        told = "one sketch" if often == 1 else f"{often} sketches"
        if often.denominator > 1 or not least[gamma] <= often <= most[gamma] or purpose != told:
            raise DataError("the guarantee's steps are not the parts of the noise")
