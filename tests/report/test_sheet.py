"""What whoever makes a page says of it: title, name of the data and command are text, whatever is in them."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from markupsafe import escape

from anonhist.errors import UsageError
from anonhist.formats.tables import csv_text
from anonhist.releases import Release
from anonhist.report import write_report
from anonhist.report.figures import Hover, canvas, inline_svg
from anonhist.report.shown import Sheet, download

HOSTILE = '</title></h1><script src="//a.org/x.js">1</script><img onerror=alert(1)> {{ 7*7 }}{% raw %} &amp; "quotes"'
Named = Callable[[str], Any]


def _written(folder: Path, **told: Any) -> str:
    sheet = Sheet(folder / "page.html", **told)
    sheet.check()
    sheet.write("anonhist.report/frame.html", headline="What it is", subtitle="In short.", warning="")
    page = (folder / "page.html").read_text(encoding="utf-8")
    return page.replace("</main>", '<p>main <a href="#a" id="a">a</a></p></main>')


def test_a_title_stands_first_and_the_rest_below_it(tmp_path: Path) -> None:
    page = _written(tmp_path, title="Passwords of 2026", data_name="logins.csv")
    assert "<title>Passwords of 2026</title>" in page
    assert "<h1>Passwords of 2026</h1>" in page
    assert "What it is. In short." in page
    today = datetime.now(UTC).date()
    # At midnight the page is of the day before.
    told = re.search(r"Data: logins\.csv\. Written on <time>(\d{4}-\d\d-\d\d)</time>, made with anonhist ", page)
    assert told is not None
    assert 0 <= (today - datetime.fromisoformat(told[1]).date()).days <= 1


def test_without_a_title_a_page_is_called_what_it_is(tmp_path: Path) -> None:
    page = _written(tmp_path)
    assert "<title>What it is</title>" in page
    assert "<h1>What it is</h1>" in page
    assert "Data:" not in page


@pytest.mark.parametrize("field", ["title", "data_name"])
def test_what_is_told_is_text_and_nothing_else(field: str, tmp_path: Path, whole: Callable[[str], None]) -> None:
    page = _written(tmp_path, **{field: HOSTILE})
    assert "<script" not in page
    assert "<img" not in page
    assert escape(HOSTILE) in page
    whole(page.replace("{{ 7*7 }}{% raw %}", ""))  # no template put anything in its place


def test_what_is_no_valid_text_is_shown_escaped(tmp_path: Path) -> None:
    assert r"logins \udcff" in _written(tmp_path, title="logins \udcff")


@pytest.mark.parametrize("title", ["", "  ", "x" * 201])
def test_a_title_has_some_text_but_not_a_page_of_it(title: str, local_estimate: Named, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="between 1 and 200 characters"):
        write_report(local_estimate("one"), tmp_path / "page.html", title=title)
    assert list(tmp_path.iterdir()) == []


def test_a_title_cannot_hide_that_a_page_is_not_private(tmp_path: Path) -> None:
    sheet = Sheet(tmp_path / "page.html", title="All is well")
    sheet.write(
        "anonhist.report/frame.html", headline="What it is", subtitle="In short.", warning="", banner="NOT PRIVATE"
    )
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>NOT PRIVATE – All is well</title>" in page
    assert page.index('<p class="banner" role="alert">NOT PRIVATE</p>') < page.index("<h1>")


def test_pages_take_title_and_name(local_estimate: Named, tmp_path: Path) -> None:
    write_report(local_estimate("one"), tmp_path / "page.html", title="Pets <3", data_name="pets & co.csv")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1>Pets &lt;3</h1>" in page
    assert "How frequent 1 value is among 40,000 people. " in page
    assert "Data: pets &amp; co.csv. " in page


def _downloaded(page: str) -> str:
    (link,) = re.findall(r'<a download="[a-z]+\.csv" href="data:text/csv;charset=utf-8,([^"]*)">', page)
    return unquote(unescape(link))


def test_pages_hold_their_numbers_as_csv(
    page_named: Callable[[str], str], named: Callable[[str], Release], local_page: Named, local_estimate: Named
) -> None:
    assert _downloaded(page_named("label")) == csv_text(named("label"))
    estimate = local_estimate("candidates")
    assert _downloaded(local_page("candidates")) == csv_text(estimate)


def test_very_many_numbers_stay_in_their_files() -> None:
    never: Any = None  # which is no table
    assert download(never, rows=10**6) == ""
    assert download(never, rows=0) == ""


def test_labels_are_text_in_a_download_too(make_estimate: Callable[..., Any]) -> None:
    link = download(make_estimate(('\udcff"<b>',)), rows=1)
    assert "%5Cudcff" in link
    assert "%3Cb%3E" in link


def _strips(drawing: str) -> list[tuple[float, float, str]]:
    found = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="[\d.]+"><title>(.*?)</title>', drawing)
    return [(float(x), float(x) + float(width), unescape(text)) for x, width, text in found]


def test_whoever_points_at_a_place_is_told_of_the_nearest() -> None:
    def draw() -> Any:
        figure, axes = canvas("y", "x")
        axes.set_xlim(0, 10)
        return figure

    hover = Hover([0, 5, 5.01, 8], ["zero", "<five>", "too near", "eight"])
    strips = _strips(inline_svg(draw, name="x", description="y", hover=hover))
    assert [text for _, _, text in strips] == ["zero", "<five>", "eight"]
    (left, first, _), (second, third, _), (fourth, right, _) = strips
    # Each strip ends half way to the next place.
    assert np.isclose([first, third], [second, fourth], atol=0.11).all()
    assert np.allclose([(first - left) / (right - left), (third - left) / (right - left)], [0.25, 0.65], atol=0.01)


@pytest.mark.full
def test_figures_tell_every_number_that_they_draw(page_named: Callable[[str], str]) -> None:
    page = unescape(page_named("label"))
    for told in ("labels with 30 items or more: 150; 95% interval", "labels with exactly 5 items: 8; 95% interval"):
        assert f"<title>{told}" in page
