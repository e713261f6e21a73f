"""The page of a release of groups: every group is in it, each number the release's, and what must be said is said."""

import re
import time
from collections.abc import Callable
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from markupsafe import escape

from anonhist.errors import UsageError
from anonhist.formats.tables import csv_text
from anonhist.mechanisms import PrevalenceMechanism
from anonhist.mechanisms.grouping import FindGroups, release_groups
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.grouped import GroupedProfile
from anonhist.releases.grouped import GroupedRelease
from anonhist.report import write_report
from anonhist.report.groups import cells_of, levels_for, not_covered
from anonhist.report.wording import interval
from anonhist_testing.sources import SeededSource

EVIL = "<script>alert('1')</script>\"&"
KEY = "0123456789abcdef" * 2
LONG = "a name of a campaign that nobody would put into one line of a table"
COUNTS = np.maximum(1, (300 / np.arange(1, 200) ** 0.9).astype(np.int64))
PROFILES = {
    (EVIL, "1"): Profile.from_counts(COUNTS),
    (LONG, None): Profile.from_counts(COUNTS[:40]),
    ("ü", "2"): Profile.from_counts([2]),
    ("winter", "2"): Profile([], []),
}
UNITS: dict[str, tuple[PrivacyUnit, dict[str, Any]]] = {
    "item": (PrivacyUnit.item(), {}),
    "found": (PrivacyUnit.item(), {"finding": FindGroups("0.25", "1e-9")}),
    "users": (PrivacyUnit.user(max_items=3), {"order_key": KEY}),
    "users in groups": (PrivacyUnit.user(max_items=3, groups=2), {"order_key": KEY}),
    "labels": (PrivacyUnit.label(max_count=20, groups=2), {"order_key": KEY}),
}
COMMAND = "anonhist release 'a <b> & \"c\".csv' --by campaign --report out.html"


@cache
def release_of(name: str, simulations: int = 4) -> GroupedRelease:
    unit, given = UNITS[name]
    grouped = GroupedProfile((f"campaign {EVIL}", "day"), PROFILES, unit=unit, **given)
    return release_groups(grouped, epsilon=2, simulations=simulations, source=SeededSource(5))


def many_groups(number: int, epsilon: int = 1) -> GroupedRelease:
    profiles = {(f"c{at // 25:02}", f"d{at % 25:02}"): Profile.from_counts(COUNTS[at % 50 :]) for at in range(number)}
    grouped = GroupedProfile(("campaign", "day"), profiles, unit=PrivacyUnit.item())
    return release_groups(grouped, epsilon=epsilon, simulations=2, source=SeededSource(6))


def written(release: GroupedRelease, folder: Path, **options: Any) -> str:
    write_report(release, folder / "groups.html", **options)
    return (folder / "groups.html").read_text(encoding="utf-8")


@pytest.fixture(params=UNITS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def rows_of(page: str) -> list[list[str]]:
    """Return the cells of the table of groups, the ends of an interval after the number that it is of."""
    body = re.search(r'<table class="groups">.*?<tbody>(.*?)</tbody>', page, flags=re.DOTALL)
    assert body is not None
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in body[1].split("<tr>")[1:]]
    return [[unescape(part) for cell in row for part in cell.removesuffix("</span>").split("<span>")] for row in rows]


@pytest.mark.full
@pytest.mark.first(2)
def test_the_page_is_whole_and_says_what_was_promised(name: str, tmp_path: Path, whole: Callable[[str], None]) -> None:
    release = release_of(name)
    page = written(release, tmp_path, command=COMMAND, data_name="a <b>.csv", title="Reach & more")
    whole(page)
    assert "<h1>Reach &amp; more</h1>" in page
    assert "Data: a &lt;b&gt;.csv. " in page
    assert f"<pre>{escape(COMMAND)}</pre>" in re.sub("</?span>", "", page)
    factor = "9.49 (plus δ ≤ 10⁻⁹)" if name == "found" else "7.39"
    assert f"changes the probability of any result for all groups together by at most a factor of {factor}" in page
    assert escape(str(release.guarantee)) in page
    assert f"Mechanism: <b>{release.mechanism.name}</b>. {escape(release.reason)}" in page
    assert "Errors come from 4 new runs of the mechanism on the released profile of each group" in page
    assert "spends the budget once more" in page
    assert "<script" not in page


@pytest.mark.first(2)
def test_every_number_is_that_of_the_release(name: str, tmp_path: Path) -> None:
    release = release_of(name)
    levels = levels_for(release)
    assert len(levels) in range(2, 5)
    page = written(release, tmp_path)
    heads = re.findall(r"<th scope=\"col\">(.*?)</th>", page)
    assert heads == ["all", *(f"{level:,} or more" for level in levels)]
    rows = rows_of(page)
    assert [row[:2] for row in rows] == [[EVIL, "1"], [LONG, "(missing)"], ["ü", "2"], ["winter", "2"]]
    for row, each in zip(rows, release.values(), strict=True):
        reached = [each.num_items(), *(each.k_plus(level) for level in (1, *levels))]
        ends = [text for found in reached for text in (f"{found.value:,.0f}", interval(*found.interval))]
        marked = "* " if each.mostly_noise else ""
        assert each.error.sorted_l1 is not None
        assert each.error.expected_range is not None
        # Where nearly all is noise, its range is all that is known of an error.
        expected = f"{each.error.sorted_l1.value:,.0f}"
        if each.error_is_vague:
            expected = interval(*each.error.expected_range)
        assert row[2:] == [f"{marked}{ends[0]}", *ends[1:], expected]
    assert unquote(unescape(page)).count(csv_text(release)) == 1


@pytest.mark.full
def test_each_group_is_drawn_on_the_same_scales(tmp_path: Path, reader_of: Callable[[str], Any]) -> None:
    page = written(release_of("labels"), tmp_path)
    drawings = reader_of(page).all("svg")
    # One legend is for all of them.
    assert len(drawings) == len({each["aria-label"] for each in drawings}) == 1 + len(PROFILES)
    assert all(each["role"] == "img" for each in drawings)
    captions = [re.sub("<[^>]*>", "", each) for each in re.findall("<figcaption>(.*?)</figcaption>", page)]
    assert [unescape(each) for each in captions] == [f"{EVIL}, 1", f"{LONG}, (missing)", "ü, 2", "winter, 2"]
    assert "<title>labels with 20 items or more: " in page
    assert "which has" not in page


@pytest.mark.full
def test_what_the_promise_leaves_out_is_said(tmp_path: Path) -> None:
    pages = {name: written(release_of(name), tmp_path, overwrite=True) for name in UNITS}
    for name, page in pages.items():
        public, found = (
            "Which groups there are: the list of groups is public." in page,
            "small groups are missing" in page,
        )
        assert (public, found) == (name != "found", name == "found"), name
    assert "The groups were found in the data, privately, with ε = 0.25 and δ ≤ 10⁻⁹ of the whole" in pages["found"]
    assert "Only groups of many items are found" in pages["found"]
    rest = (
        f"Errors and intervals do not cover what this leaves out. The order key {KEY} chose what is counted or, with "
        "an order column, decided ties. With an excess share of 0.05, a release also estimates that"
    )
    assert f"At most 3 items of each user are counted in the whole release. {rest}" in pages["users"]
    in_groups = f"is counted in at most 2 groups, with at most {{}} items in each. {rest}"
    assert f"Each user {in_groups.format(3)}" in pages["users in groups"]
    assert f"Each label {in_groups.format(20)}" in pages["labels"]
    assert "What all users of a small group have in common: the promise is for one user." in pages["users"]
    assert "chosen with" not in pages["item"]


@pytest.mark.full
def test_without_simulations_no_error_is_told(tmp_path: Path) -> None:
    release = release_of("item", simulations=0)
    page = written(release, tmp_path)
    assert "No errors were simulated (0 simulations)" in page
    assert "mostly noise" not in page
    assert [row[-1] for row in rows_of(page)] == ["–"] * len(PROFILES)


@pytest.mark.slow
def test_five_hundred_groups_stay_readable(tmp_path: Path, whole: Callable[[str], None]) -> None:
    release = many_groups(500)
    began = time.process_time()
    page = written(release, tmp_path)
    assert time.process_time() - began < 60
    whole(page)
    assert len(page.encode()) < 5_000_000
    assert len(rows_of(page)) == 500
    assert page.count("<figure>") == 24
    assert "These are the first 24 groups, in the order of the table, which has 476 more." in page
    assert "The numbers of all counts are in the files of the release." in page
    assert "0 of 500" in page


@pytest.mark.full
def test_more_groups_are_in_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonhist.report.groups.MOST_LISTED", 3)
    page = written(release_of("item"), tmp_path)
    assert len(rows_of(page)) == 3
    assert "Files of the release have 1 more group." in page


def test_a_column_that_no_table_can_have_is_shown_all_the_same(tmp_path: Path) -> None:
    grouped = GroupedProfile(("count",), {("7",): PROFILES["ü", "2"]}, unit=PrivacyUnit.item())
    release = release_groups(grouped, epsilon=2, simulations=2)
    page = written(release, tmp_path)
    assert "download=" not in page
    assert "These are differentially private profiles of 1 group by count, under one promise." in page


def test_levels_suit_most_groups() -> None:
    def levels(largest: list[int], unit: PrivacyUnit) -> list[int]:
        made = PrevalenceMechanism(40, unit, public_cap=None if unit.max_count else 10**4)
        profiles = {(f"{at}",): Profile.from_counts([count, count]) for at, count in enumerate(largest)}
        return levels_for(GroupedRelease(("g",), {group: made.release(each) for group, each in profiles.items()}))

    item = PrivacyUnit.item()
    assert levels([1, 1, 900], item) == []
    assert levels([3, 3, 900], item) == [2, 3]
    assert levels([1, 900, 900], item) == [2, 5, 20, 100]
    assert levels([1, 1], PrivacyUnit.label(max_count=7)) == [2, 3, 5, 7]
    assert levels([1], PrivacyUnit.label(max_count=1)) == []


def test_cells_say_where_nothing_is_known() -> None:
    release = release_of("item", simulations=0)["winter", "2"]
    assert cells_of(release, ())[-1] == ("–", "")


def test_a_release_of_groups_has_no_truth(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="applies only to releases of degrees"):
        write_report(release_of("item"), tmp_path / "x.html", not_private_truth=PROFILES["ü", "2"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("unit", [PrivacyUnit.user(max_items=3), PrivacyUnit.label(max_count=5, groups=2)])
def test_what_this_program_limited_is_no_gap(unit: PrivacyUnit) -> None:
    def gaps(key: str | None) -> str:
        grouped = GroupedProfile(("g",), {("a",): Profile.from_counts([2])}, unit=unit, order_key=key)
        return " ".join(not_covered(release_groups(grouped, epsilon=1, simulations=2)))

    assert "must have been limited" in gaps(None)
    assert "must have been limited" not in gaps(KEY)
