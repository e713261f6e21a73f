"""The page of cumulative windows of groups: every number is the release's, and what must be said is said."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from markupsafe import escape

from anonhist.formats.tables import csv_text
from anonhist.mechanisms.window_release import release_cumulative_groups
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.windows import CumulativeCounts, GroupedCumulativeCounts
from anonhist.releases.cumulative import GroupedCumulativeRelease
from anonhist.report import write_report
from anonhist.report.groups import names_of
from anonhist.report.wording import interval

EVIL = "<script>alert('1')</script>\"&"
KEY = "0123456789abcdef" * 2
UNITS = {
    "item": (PrivacyUnit.item(), None),
    "users": (PrivacyUnit.user(max_items=3, groups=2), KEY),
    "labels": (PrivacyUnit.label(max_count=50, groups=2), KEY),
}


def release_of(name: str, groups: int = 3, days: int = 4) -> GroupedCumulativeRelease:
    unit, key = UNITS[name]
    named = tuple(f"{day:03}" for day in range(days))
    counts = {
        (None if at == 0 else f"{at:03} {EVIL}",): CumulativeCounts(
            (1, 3), named, np.full((2, days), 40 * at), unit=unit, order_key=key
        )
        for at in range(groups)
    }
    return release_cumulative_groups(GroupedCumulativeCounts(("campaign",), counts), epsilon=2)


def written(release: GroupedCumulativeRelease, folder: Path) -> str:
    write_report(release, folder / "reach.html")
    return (folder / "reach.html").read_text(encoding="utf-8")


@pytest.mark.full
@pytest.mark.parametrize("name", list(UNITS))
def test_the_page_is_whole_and_has_every_number(name: str, tmp_path: Path, whole: Callable[[str], None]) -> None:
    release = release_of(name)
    page = written(release, tmp_path)
    whole(page)
    assert "<script" not in page
    assert escape(str(release.guarantee)) in page
    assert "any result for all groups and days together by at most a factor of 7.39" in page
    assert "Which groups, days and thresholds there are: they are public." in page
    assert ("Each user is counted in at most 2 groups, with at most 3 items in each. Errors" in page) == (
        name == "users"
    )
    assert ("Each label is counted in at most 2 groups, with at most " in page) == (name == "labels")
    first, *others = re.findall(r'<table class="groups">.*?<tbody>(.*?)</tbody>', page, flags=re.DOTALL)
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in first.split("<tr>")[1:]]
    assert [unescape(row[0]) for row in rows] == [names_of(group)[0] for group in release]
    for row, each, days in zip(rows, release.values(), others, strict=True):
        told = [each[release.days[-1], k] for k in release.thresholds]
        assert row[1:] == [f"{found.value:,.0f} <span>{interval(*found.interval)}</span>" for found in told]
        assert days.count("<tr>") == len(release.days)
        assert "".join(f"<td>{cell}</td>" for cell in row[1:]) in days
    assert page.count("<figure><figcaption><span>") == 3
    assert unquote(unescape(page)).count(csv_text(release)) == 1


@pytest.mark.slow
def test_many_groups_stay_a_short_page(tmp_path: Path) -> None:
    page = written(release_of("labels", groups=500), tmp_path)
    assert "These are the first 24 groups, in the order of the table, which has 476 more." in page
    assert len(page) < 5_000_000
