"""Nested totals near 2⁶³: what is too large is refused before noise, and sums of noisy groups are clipped."""

from pathlib import Path
from typing import Any

import pytest

from anonhist.catalogue import Levels
from anonhist.errors import DataError, UsageError
from anonhist.formats.files import read as read_file
from anonhist.mechanisms.grouping import release_groups
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.profiles.grouped import GroupedProfile, total_of
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource, TapeSource


def large(first: Profile, second: Profile) -> GroupedProfile:
    return GroupedProfile(("g",), {("a",): first, ("b",): second}, unit=PrivacyUnit.item(), levels=Levels.NESTED)


def test_true_totals_of_more_items_than_can_be_counted_are_refused_before_noise() -> None:
    grouped = large(Profile([2**62], [1]), Profile([2**62], [1]))
    with pytest.raises(DataError, match="2\\^63"):
        release_groups(grouped, epsilon=1, source=TapeSource([]))
    # Without that refusal the first draw would end the tape.
    with pytest.raises(UsageError, match="tape"):
        release_groups(large(Profile([2**62], [1]), Profile([2**62 - 1], [1])), epsilon=1, source=TapeSource([]))


@pytest.mark.full
@each_of("mechanism", ["frobenius", "partition", "prevalence"])
def test_sums_of_released_groups_never_fail(mechanism: str, tmp_path: Path) -> None:
    if mechanism == "prevalence":
        grouped, cap = large(Profile([1], [2**62]), Profile([1], [2**62 - 1])), {"public_cap": 3}
    else:
        grouped, cap = large(Profile([2**62], [1]), Profile([2**62 - 1], [1])), {}
    clipped = 0
    for seed in range(6):
        release: Any = release_groups(
            grouped,
            epsilon=2,
            mechanism=mechanism,  # type: ignore[arg-type]
            source=SeededSource(seed),
            simulations=2,
            **cap,  # type: ignore[arg-type]
        )
        beyond = sum(each.profile.n for each in release.values()) > MAX_ITEMS
        assert not beyond or release[()].profile.n == MAX_ITEMS
        release = release.with_error()
        release.save(tmp_path / "large.json", overwrite=True)
        back: Any = read_file(tmp_path / "large.json")
        assert back[()].profile == release[()].profile
        assert str(back[()].k_plus(1)) == str(release[()].k_plus(1))
        clipped += beyond
    assert clipped


@each_of(
    ("parts", "total"),
    [
        ([([2**62], [1])] * 2, {2**62 - 1: 1, 2**62: 1}),
        ([([MAX_ITEMS], [1]), ([3], [2])], {3: 2, MAX_ITEMS - 6: 1}),
        ([([1], [2**62])] * 2, {1: MAX_ITEMS}),
        ([([1], [MAX_ITEMS])] * 3, {1: MAX_ITEMS}),
        ([([1, 2], [2**62 - 10, 5]), ([1], [2**62 + 1])], {1: MAX_ITEMS - 6, 2: 3}),
    ],
)
def test_totals_are_clipped_at_what_can_be_counted(
    parts: list[tuple[list[int], list[int]]], total: dict[int, int]
) -> None:
    found = total_of(Profile(*part) for part in parts)
    assert found.n == MAX_ITEMS
    assert found == Profile.from_prevalences(total)
