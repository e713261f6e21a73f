"""The mechanisms of a comparison: each at each budget, with public numbers, or the reason why it is skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.catalogue.mechanisms import PUBLIC_NUMBERS
from anonhist.errors import UsageError
from anonhist.mechanisms.basis.setting import whole_items
from anonhist.mechanisms.names import mechanism_class, named_mechanism
from anonhist.mechanisms.releasing import choose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from anonhist.mechanisms.basis.skeletons import CentralMechanism
    from anonhist.privacy import NeighboringRelation, PrivacyUnit
    from anonhist.profiles import Profile


def check_public_numbers(given: Mapping[str, object], names: Sequence[str]) -> dict[str, int]:
    """Return the public numbers that were given.

    Raises
    ------
    UsageError
        If one is no whole number, or none of the mechanisms needs it.
    """
    needed = _required_numbers(names)
    known = {option: whole_items(number, name=option) for option, number in given.items() if number is not None}
    foreign = sorted(known.keys() - needed)
    if foreign:
        message = f"`{foreign[0]}` belongs to none of the mechanisms that are compared: leave it out."
        raise UsageError(message)
    return known


def public_numbers_of(
    truth: Profile, unit: PrivacyUnit, known: Mapping[str, int], names: Sequence[str]
) -> dict[str, int]:
    """Return the other public numbers that these mechanisms need, from the data: labels exactly, others rounded up."""
    found = {
        "public_items": _round_up(truth.n),
        "public_labels": max(1, truth.num_labels),
        "public_cap": _round_up(int(truth.counts[-1]) if len(truth) else 1),
    }
    if unit.max_count is not None:
        del found["public_cap"]  # everybody knows the unit's
    return {
        option: number for option, number in found.items() if option in _required_numbers(names) and option not in known
    }


def _required_numbers(names: Sequence[str]) -> set[str]:
    taken = {option for name in names if name != "auto" for option in mechanism_class(name).own_options()}
    return taken.intersection(PUBLIC_NUMBERS)


def _round_up(number: int) -> int:
    """Return the least of 1, 2, 5, 10, 20, … that is not smaller.

    Examples
    --------
    >>> [_round_up(number) for number in (0, 1, 3, 10, 11, 290_729, 32_603_388)]
    [1, 1, 5, 10, 20, 500000, 50000000]
    """
    power = int("1" + "0" * (len(str(number)) - 1))
    return next(round_ for round_ in (power, 2 * power, 5 * power, 10 * power) if round_ >= number)


def entrants_of(
    budgets: Sequence[Fraction],
    names: Sequence[str],
    unit: PrivacyUnit,
    relation: NeighboringRelation,
    options: Mapping[str, Any],
    *,
    items: int,
) -> tuple[list[tuple[str, CentralMechanism]], list[tuple[str, Fraction, str]]]:
    """Make each mechanism at each budget, or note why it does not apply."""
    entrants, skipped = [], []
    for epsilon in budgets:
        for name in names:
            try:
                entrants.append((name, _entrant(name, epsilon, unit, relation, options, items=items)))
            except UsageError as error:
                skipped.append((name, epsilon, error.sentence))
    return entrants, skipped


def _entrant(
    name: str,
    epsilon: Fraction,
    unit: PrivacyUnit,
    relation: NeighboringRelation,
    options: Mapping[str, Any],
    *,
    items: int,
) -> CentralMechanism:
    if name == "auto":
        return choose(epsilon=epsilon, unit=unit, relation=relation)[0]
    kind = mechanism_class(name)
    if kind.most_items is not None and items > kind.most_items:
        message = f"It takes at most {kind.most_items:,} items; the data have {items:,}."
        raise UsageError(message)
    taken = kind.own_options()
    own = {option: options[option] for option in taken if option in options}
    if unit.max_count is not None and "public_cap" in taken:
        # The unit's largest count is the cap: only mechanisms that need a cap get it as an option.
        cap = own.pop("public_cap", unit.max_count)
        own |= {"public_cap": cap} if taken["public_cap"] else {}
    return named_mechanism(name, epsilon, unit, relation, own)
