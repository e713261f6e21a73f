"""Who takes part in a comparison: each mechanism at each budget, with public numbers, or the reason why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.mechanisms.automatic import choose
from anonhist.mechanisms.names import MECHANISMS, CentralMechanism, named_mechanism
from anonhist.mechanisms.relaxed_partition import LARGEST_NUMBER
from anonhist.mechanisms.setting import whole_items

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from anonhist.privacy import NeighboringRelation, PrivacyUnit
    from anonhist.profiles import Profile


def public_numbers(
    truth: Profile, unit: PrivacyUnit, given: Mapping[str, int | None], names: Sequence[str]
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the public numbers that these mechanisms need, and those of them that come from the data.

    Raises
    ------
    UsageError
        If a given one is no whole number, or none of the mechanisms needs it.
    """
    needed = {option for name in names if name != "auto" for option in MECHANISMS[name].own_options()}
    foreign = [option for option, number in given.items() if number is not None and option not in needed]
    if foreign:
        message = f"{foreign[0]} belongs to none of the mechanisms that are compared: leave it out."
        raise UsageError(message)
    found = {
        "public_items": _rounded_up(truth.n),
        "public_labels": max(1, truth.num_labels),
        "public_cap": _rounded_up(int(truth.counts[-1]) if len(truth) else 1),
    }
    known = {option: whole_items(number, name=option) for option, number in given.items() if number is not None}
    if unit.kind == "label":
        known.setdefault("public_cap", unit.bound)
    taken = {option: number for option, number in found.items() if option in needed and option not in known}
    return {**known, **taken}, taken


def _rounded_up(number: int) -> int:
    """Return the least of 1, 2, 5, 10, 20, … that is not smaller.

    Examples
    --------
    >>> [_rounded_up(number) for number in (0, 1, 3, 10, 11, 290_729, 32_603_388)]
    [1, 1, 5, 10, 20, 500000, 50000000]
    """
    power = int("1" + "0" * (len(str(number)) - 1))
    return next(round_ for round_ in (power, 2 * power, 5 * power, 10 * power) if round_ >= number)


def entrants_of(
    budgets: Sequence[Fraction],
    names: Sequence[str],
    unit: PrivacyUnit,
    relation: NeighboringRelation,
    options: Mapping[str, int],
    *,
    items: int,
) -> tuple[list[tuple[str, CentralMechanism]], list[tuple[str, Fraction, str]]]:
    """Make each mechanism at each budget, or note why there is none."""
    entrants, skipped = [], []
    for epsilon in budgets:
        for name in names:
            try:
                entrants.append((name, _entrant(name, epsilon, unit, relation, options, items=items)))
            except UsageError as error:
                skipped.append((name, epsilon, str(error)))
    return entrants, skipped


def _entrant(
    name: str,
    epsilon: Fraction,
    unit: PrivacyUnit,
    relation: NeighboringRelation,
    options: Mapping[str, int],
    *,
    items: int,
) -> CentralMechanism:
    if name == "auto":
        return choose(epsilon=epsilon, unit=unit, relation=relation)[0]
    if name == "relaxed-partition" and items > LARGEST_NUMBER:
        message = f"It is made for at most {LARGEST_NUMBER:,} items, and there are {items:,}."
        raise UsageError(message)
    own = MECHANISMS[name].own_options()
    if name == "prevalence" and unit.kind == "label":
        own = {}  # the unit's largest count is its cap
    return named_mechanism(
        name, epsilon, unit, relation, {option: options[option] for option in own if option in options}
    )
