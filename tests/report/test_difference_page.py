"""The page of two releases: every number is on it, it is whole by itself, and names are text."""

from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

import anonhist as ah
from anonhist.releases.difference import ReleaseDifference, compare_releases
from anonhist.report.difference import guessing_figure, notes, overlay_figure, rows_of, summary
from anonhist_testing.sources import SeededSource

FEW, MANY = ah.Profile.from_counts([9, 3, *[1] * 40]), ah.Profile.from_counts([90, *[3] * 300, *[1] * 900])


def compared(*data: ah.Profile, names: tuple[str, str] = ("june", "july"), **options: str) -> ReleaseDifference:
    pair = [
        ah.release(each, epsilon=2, simulations=4, source=SeededSource(seed)) for seed, each in enumerate(data, start=3)
    ]
    return compare_releases(*pair, names=names, **options)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize("of", ["data", "distribution"])
def test_the_page_has_every_number_and_is_whole(of: str, tmp_path: Path, whole: Callable[[str], None]) -> None:
    found = compared(FEW, MANY, names=("<b>", "a & b"), of=of)
    ah.write_report(found, tmp_path / "d.html")
    page = (tmp_path / "d.html").read_text(encoding="utf-8")
    whole(page)
    text = unescape(page).replace("\xa0", " ")
    assert summary(found) in text
    assert "a &amp; b minus &lt;b&gt;" in page
    for row in rows_of(found):
        assert all(cell in text for cell in row.cells[1:])
    for note in notes(found):
        assert note in text
    assert "ε = 2 + 2 = 4" in text


def test_both_curves_are_drawn_in_their_bands() -> None:
    found = compared(FEW, MANY)
    for draw in (overlay_figure, guessing_figure):
        figure = draw(found)
        lines = [line.get_label() for line in figure.axes[0].get_lines()]
        assert lines == ["june", "july"]
        assert len(figure.axes[0].collections) == 2
    assert ah.plot(found).axes[0].get_xlabel() == "count"


def test_nothing_can_be_drawn_beside_something() -> None:
    found = compared(ah.Profile([], []), MANY)
    overlay_figure(found)
    guessing_figure(found)
    assert summary(found)
