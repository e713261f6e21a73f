"""A bound that is chosen once for all groups: by which rows, what a release of them states, and what is refused."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import anonhist as ah
from anonhist.errors import UsageError
from anonhist.mechanisms.bound_choosing import PreparedChoice
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.chosen_bound import ChosenBound
from anonhist.releases.grouped import GroupedRelease

ASKED = ChosenBound(2, 60, "0.1", candidates=(1, 2, 4))
# In each of two groups, users have 0 or 1, 2, 3, 4, 5 rows; the rows of a third group do not count.
ROWS = pl.DataFrame(
    [
        (f"u{user}", f"v{at % 3}", country)
        for country, shift in (("DE", 0), ("FR", 1), ("US", 2))
        for user in range(12)
        for at in range((user + shift) % 6)
    ],
    schema=["user", "label", "country"],
    orient="row",
)
SAID: dict[str, Any] = {"label": "label", "user": "user", "by": "country", "groups": ["DE", "FR"]}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[int, int]]:
    found: list[Mapping[int, int]] = []

    def draw(choice: PreparedChoice, sizes: Mapping[int, int], **_: Any) -> PrivacyUnit:
        found.append(sizes)
        return choice.units[1]

    monkeypatch.setattr(PreparedChoice, "draw", draw)
    return found


def test_rows_of_listed_groups_are_weighed_together_or_in_each(drawn: list[Mapping[int, int]]) -> None:
    together = ah.read_groups(ROWS, max_per_user=ASKED, **SAID)
    in_each = ah.read_groups(ROWS, max_per_user=ASKED, max_groups_per_user=2, **SAID)
    # Users have 1, 3, 5, 7, 9 and 5 rows in both groups, and 0 to 5 in each.
    assert drawn[0] == {1: 2, 3: 2, 4: 8}
    assert drawn[1] == {1: 4, 2: 4, 3: 4, 4: 8}
    assert (together.unit, in_each.unit) == (
        PrivacyUnit.user(max_items=2),
        PrivacyUnit.user(max_items=2, groups=2),
    )
    assert sum(profile.n for profile in together.values()) == 2 * (1 + 5 * 2)
    assert sum(profile.n for profile in in_each.values()) == 2 * 2 * (1 + 4 * 2)


@pytest.mark.parametrize("groups", [None, 1, 2])
def test_a_release_states_both_parts_and_files_keep_them(groups: int | None, tmp_path: Path) -> None:
    read = ah.read_groups(ROWS, max_per_user=ASKED, max_groups_per_user=groups, **SAID)
    released = ah.release_groups(read, epsilon=2, simulations=0)
    assert released.guarantee.epsilon == 2
    assert released.guarantee.spending[0] == ("choosing how many items of each user count", Fraction(1, 5))
    assert released.guarantee.unit == read.unit
    ah.write(released, tmp_path / "a.json")
    again = ah.read(tmp_path / "a.json")
    assert isinstance(again, GroupedRelease)
    assert again.guarantee == released.guarantee
    assert again.mechanism == released.mechanism


def test_only_the_release_that_was_asked_for_is_made() -> None:
    read = ah.read_groups(ROWS, max_per_user=ASKED, **SAID)
    with pytest.raises(UsageError, match="another release"):
        ah.release_groups(read, epsilon=1)
    with pytest.raises(UsageError, match="chose how many items"):
        ah.mechanisms.FrobeniusMechanism(1, read.unit).release(read["DE"])


@pytest.mark.parametrize(
    "given",
    [{"levels": "crossing"}, {"count_units": True}, {"groups": ah.FindGroups(1, "0.001")}],
    ids=["levels", "units", "found"],
)
def test_what_needs_a_given_bound_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="listed groups without crossing levels"):
        ah.read_groups(ROWS, max_per_user=ASKED, **(SAID | given))
