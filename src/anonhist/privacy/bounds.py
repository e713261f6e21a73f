"""What intervals leave out where units were bounded before noise was added: the one sentence that says so."""

from __future__ import annotations

from anonhist.privacy.unit import PrivacyUnit

_NOT_COVERED = "Errors and intervals do not cover what this leaves out."


def left_out(unit: PrivacyUnit, *, levels_cross: bool = False) -> str:
    """Say how units were bounded and that no interval covers what that left out; empty where nothing was bounded.

    It follows from public numbers alone, so it is the same whether or not anything was left out.

    Parameters
    ----------
    unit
        Whom a release protects.
    levels_cross
        Whether bounds hold for each level of groups by itself.

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
    bounded = _bounded(unit, levels_cross=levels_cross)
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
    return unit.groups > 1 or unit.in_one_group


def _bounded(unit: PrivacyUnit, *, levels_cross: bool) -> str:
    if unit.needs_bounded_degrees:
        if unit.max_degree is None:
            return "Edges of nodes with too many are not counted."
        return f"At most {_many(unit.max_degree, 'edge')} of each node {_are(unit.max_degree)} counted."
    if unit.max_items is unit.max_count is None:
        return ""
    items = _many(unit.bound, "item")
    if is_in_groups(unit):
        there = "there" if unit.groups == 1 else "in each"
        return f"Each {unit.kind} is counted in at most {_many(unit.groups, 'group')}, with at most {items} {there}."
    where = "each sketch" if unit.sketches > 1 else "each level" if levels_cross else "the whole release"
    return f"At most {items} of each {unit.kind} {_are(unit.bound)} counted in {where}."


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
