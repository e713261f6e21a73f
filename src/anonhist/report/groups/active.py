"""What somebody pays who is active in every period, where groups are days, weeks or months."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from anonhist.privacy import is_in_groups, short_decimal
from anonhist.report.wording import many

if TYPE_CHECKING:
    from anonhist.releases.grouped import GroupedRelease

# A grouping column of dates says so, or its values do.
_NAMED = re.compile(r"(day|week|month)\(.+\)")
_VALUES = {"day": re.compile(r"\d{4}-\d{2}-\d{2}"), "month": re.compile(r"\d{4}-\d{2}")}


def active_person(release: GroupedRelease) -> str:
    """Say what the release costs somebody who is in every period; empty where no column is of periods.

    Examples
    --------
    >>> import anonhist as ah
    >>> from anonhist.profiles.grouped import GroupedProfile
    >>> days = {(f"2026-11-0{day}",): ah.Profile.from_counts([3, 1]) for day in range(1, 6)}
    >>> week = ah.PrivacyUnit.label(max_count=9, groups=3)
    >>> made = ah.release_groups(GroupedProfile(("day(seen)",), days, unit=week), epsilon=1)
    >>> active_person(made)[:69]
    'A label that occurs every day pays ε = 1 once, for the whole release,'
    >>> made = ah.release_groups(GroupedProfile(("day(seen)",), days, unit=ah.PrivacyUnit.item()), epsilon=1)
    >>> print(active_person(made))
    The promise is for one item: somebody with an item on each of the 5 days pays ε = 5 for these.
    """
    found = _periods(release)
    if found is None:
        return ""
    period, number = found
    unit, epsilon = release.guarantee.unit, release.guarantee.epsilon
    if unit.max_items is None and unit.max_count is None:
        return (
            f"The promise is for one item: somebody with an item {'on' if period == 'day' else 'in'} each of the "
            f"{many(number, period)} pays ε = {short_decimal(epsilon * number)} for these."
        )
    if unit.max_items is not None and not is_in_groups(unit):
        kept = f"with at most {many(unit.max_items, 'item')} in all groups together"
    else:
        kept = f"in at most {many(unit.groups, 'group')}"
    is_user = unit.max_items is not None
    whose, it = ("A user who is active", "they count") if is_user else ("A label that occurs", "it counts")
    return (
        f"{whose} every {period} pays ε = {short_decimal(epsilon)} once, for the whole release, and not for each "
        f"{period}; {it} {kept}."
    )


def _periods(release: GroupedRelease) -> tuple[str, int] | None:
    """Return the period of the first grouping column of periods, and how many there are; None if there are not two."""
    for at, column in enumerate(release.by):
        names = {group[at] for group in release if group[at] is not None}
        said = _NAMED.fullmatch(column)
        alike = [period for period, form in _VALUES.items() if all(form.fullmatch(name or "") for name in names)]
        if len(names) > 1 and (said or alike):
            return (said[1] if said else alike[0]), len(names)
    return None
