"""The page of a release of cumulative windows: every number is the release's, and what must be said is said."""

import re
from collections.abc import Callable
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from markupsafe import escape

from anonhist.formats.tables import csv_text
from anonhist.mechanisms.window_release import release_cumulative
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.windows import CumulativeCounts
from anonhist.releases.cumulative import CumulativeRelease
from anonhist.report import plot, write_report
from anonhist.report.windows import drawn_thresholds, shown_days
from anonhist.report.wording import interval
from anonhist_testing.sources import SeededSource

EVIL = "<script>alert('1')</script>\"&"
KEY = "0123456789abcdef" * 2
UNITS: dict[str, tuple[PrivacyUnit, str | None]] = {
    "item": (PrivacyUnit.item(), None),
    "users": (PrivacyUnit.user(max_items=3), KEY),
    "labels": (PrivacyUnit.label(max_count=50), None),
}
COMMAND = "anonhist release 'a <b> & \"c\".csv' --cumulative-by 'day(t)' --report out.html"


@cache
def release_of(name: str, days: int = 5, thresholds: int = 3, epsilon: int = 2) -> CumulativeRelease:
    unit, key = UNITS[name]
    named = tuple(f"{day:03} {EVIL}" for day in range(days))
    increments = np.full((thresholds, days), 40)
    counts = CumulativeCounts(tuple(range(1, thresholds + 1)), named, increments, unit=unit, order_key=key)
    return release_cumulative(counts, epsilon=epsilon, source=SeededSource(5))


def written(release: CumulativeRelease, folder: Path, **options: Any) -> str:
    write_report(release, folder / "reach.html", **options)
    return (folder / "reach.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", list(UNITS))
def test_the_page_is_whole_and_says_what_was_promised(name: str, tmp_path: Path, whole: Callable[[str], None]) -> None:
    release = release_of(name)
    page = written(release, tmp_path, command=COMMAND, data_name="a <b>.csv", title="Reach & more")
    whole(page)
    assert "<h1>Reach &amp; more</h1>" in page
    assert f"<pre>{escape(COMMAND)}</pre>" in re.sub("</?span>", "", page)
    assert "changes the probability of any result for all days together by at most a factor of 7.39" in page
    assert escape(str(release.guarantee)) in page
    assert f"Mechanism: <b>{release.mechanism.name}</b>. {escape(release.reason)}" in page
    assert "this is one release, whose noise was drawn once" in page
    assert ("of each user are counted in the whole release. Errors and intervals do not cover" in page) == (
        name == "users"
    )
    assert "<script" not in page


def test_every_number_is_that_of_the_release(tmp_path: Path) -> None:
    release = release_of("labels")
    page = written(release, tmp_path)
    body = re.search(r'<table class="groups">.*?<tbody>(.*?)</tbody>', page, flags=re.DOTALL)
    assert body is not None
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in body[1].split("<tr>")[1:]]
    assert [unescape(row[0]) for row in rows] == list(release.days)
    for row, day in zip(rows, release.days, strict=True):
        told = [release[day, k] for k in release.thresholds]
        assert row[1:] == [f"{each.value:,.0f} <span>{interval(*each.interval)}</span>" for each in told]
    assert unquote(unescape(page)).count(csv_text(release)) == 1


@pytest.mark.full
def test_long_releases_stay_short_pages(tmp_path: Path) -> None:
    release = release_of("labels", days=300, thresholds=40)
    page = written(release, tmp_path)
    assert "Files of the release have 238 more days." in page
    assert "34 more thresholds are in the table" in page
    assert len(page) < 2_000_000
    days = shown_days(release, 62)
    assert (len(days), days[0], days[-1]) == (62, release.days[0], release.days[-1])
    assert drawn_thresholds(release) == [1, 9, 17, 24, 32, 40]


@pytest.mark.parametrize("days", [1, 2, 40])
def test_a_line_is_drawn_for_each_threshold(days: int) -> None:
    axes = plot(release_of("item", days=days)).axes[0]
    assert [line.get_label() for line in axes.lines] == ["1 or more", "2 or more", "3 or more"]
    assert all(len(np.asarray(line.get_ydata())) == days for line in axes.lines)
    assert axes.get_ylim()[0] == 0
    # There is room for two names of days that are this long.
    assert len(axes.get_xticks()) == min(2, days)


def test_an_epsilon_that_protects_nobody_is_warned_of(tmp_path: Path) -> None:
    assert 'role="alert"' in written(release_of("item", epsilon=40), tmp_path)
