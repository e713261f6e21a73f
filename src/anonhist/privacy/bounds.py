"""What intervals leave out where units were bounded before noise was added: the one sentence that says so."""

from __future__ import annotations

from anonhist.privacy.unit import PrivacyUnit

_NOT_COVERED = "Errors and intervals do not cover what this leaves out."


def left_out(unit: PrivacyUnit, *, most: int | None = None) -> str:
    """Say how units were bounded and that no interval covers what that left out; empty where nothing was bounded.

    It follows from public numbers alone, so it is the same whether or not anything was left out.

    Parameters
    ----------
    unit
        Whom a release protects.
    most
        How many items or edges of each unit count, if it is known and not that of the unit.

    Examples
    --------
    >>> print(left_out(PrivacyUnit.user(max_items=5)))
    At most 5 items of each user are counted in the whole release. Errors and intervals do not cover what this leaves
    out.
    >>> left_out(PrivacyUnit.label(max_count=20, groups=3)).partition(". ")[0]
    'Each label is counted in at most 3 groups, with at most 20 items in each'
    >>> left_out(PrivacyUnit.item())
    ''
    """
    bounded = _bounded(unit, most)
    return f"{bounded} {_NOT_COVERED}" if bounded else ""


def none_left_out(unit: PrivacyUnit) -> str:
    """Say what intervals take for granted where items or groups are bounded, as a clause; empty where they are not.

    Counts of labels are capped, which intervals cover.

    Examples
    --------
    >>> none_left_out(PrivacyUnit.label(max_count=20, groups=3))
    'labels in more than 3 groups had none left out'
    >>> none_left_out(PrivacyUnit.user(max_items=5, groups=2))
    'users with more than 5 items in a group, or in more than 2 groups, had none left out'
    """
    groups = f"in more than {_many(unit.groups, 'group')}" if is_in_groups(unit) else ""
    if unit.max_items is not None:
        where = f" in a group, or {groups}," if groups else ""
        return f"users with more than {_many(unit.max_items, 'item')}{where} had none left out"
    return f"labels {groups} had none left out" if groups and unit.max_count is not None else ""


def is_in_groups(unit: PrivacyUnit) -> bool:
    """Return whether the number of groups of each unit was bounded.

    Examples
    --------
    >>> is_in_groups(PrivacyUnit.user(max_items=5, groups=2)), is_in_groups(PrivacyUnit.user(max_items=5))
    (True, False)
    """
    return unit.groups > 1 or unit.is_in_groups


def _bounded(unit: PrivacyUnit, most: int | None) -> str:
    if unit.needs_bounded_degrees:
        if most is None:
            return "Edges of nodes with too many are not counted."
        return f"At most {_many(most, 'edge')} of each node {'is' if most == 1 else 'are'} counted."
    if unit.max_items is unit.max_count is None:
        return ""
    bound = unit.bound if most is None else most
    items = _many(bound, "item")
    if is_in_groups(unit):
        there = "there" if unit.groups == 1 else "in each"
        return f"Each {unit.kind} is counted in at most {_many(unit.groups, 'group')}, with at most {items} {there}."
    where = "the whole release" if unit.sketches == 1 else "each sketch"
    return f"At most {items} of each {unit.kind} {'is' if bound == 1 else 'are'} counted in {where}."


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
