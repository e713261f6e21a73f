"""What somebody pays who is active every day is said wherever groups are days."""

import pytest

from anonhist.mechanisms.grouping import release_groups
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.grouped import GroupedProfile
from anonhist.report.groups import active_person, remarks_of

ITEM = PrivacyUnit.item()
DAYS = [("spring", "2026-11-01"), ("spring", "2026-11-02"), ("fall", "2026-11-02"), ("fall", None)]


def _said(by: tuple[str, ...], groups: list[tuple[str | None, ...]], unit: PrivacyUnit) -> str:
    profiles = {group: Profile.from_counts([3, 1]) for group in groups}
    release = release_groups(GroupedProfile(by, profiles, unit=unit), epsilon="0.5", simulations=0)
    told = active_person(release)
    assert (told in remarks_of(release, next(iter(release.values())).error)) is bool(told)
    return told


@pytest.mark.full
@pytest.mark.parametrize(
    ("unit", "says"),
    [
        (ITEM, "somebody with an item on each of the 2 days pays ε = 1 for these."),
        (
            PrivacyUnit.user(max_items=4),
            "not for each day; they count with at most 4 items in all groups together.",
        ),
        (PrivacyUnit.user(max_items=4, groups=3), "A user who is active every day pays ε = 0.5 once"),
        (PrivacyUnit.label(max_count=4, groups=3), "A label that occurs every day pays ε = 0.5 once"),
    ],
)
def test_it_is_said_for_each_unit(unit: PrivacyUnit, says: str) -> None:
    assert says in _said(("campaign", "seen"), [*DAYS], unit)


@pytest.mark.parametrize(
    ("by", "groups", "period"),
    [
        ("month(seen)", ["2026-11", "2026-12"], "month"),
        ("seen", ["2026-11", "2026-12"], "month"),
        ("week(seen)", ["2026-11-02", "2026-11-09"], "week"),
        ("seen", ["2026-11-02", "2026-11-09"], "day"),
        ("seen", ["2026-11-02"], None),
        ("seen", ["2026-11-02", "later"], None),
        ("country", ["DE", "FR"], None),
    ],
)
def test_periods_are_known_by_their_column_or_their_values(by: str, groups: list[str], period: str | None) -> None:
    told = _said((by,), [(name,) for name in groups], ITEM)
    assert (f"each of the 2 {period}s" in told) if period else told == ""
