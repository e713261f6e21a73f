"""The page: whole by itself, well formed, everything escaped, and saying what must be said."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import escape

from anonhist.errors import OutputError, UsageError
from anonhist.mechanisms import FrobeniusMechanism, PrivHistMechanism
from anonhist.profiles import Profile
from anonhist.releases import Release
from anonhist.report import Guessing, check_report_path, write_report
from anonhist.report import page as page_module
from anonhist.report.wording import interval as interval_text
from anonhist.sketches import HashedSketch
from anonhist_testing.sources import SeededSource


@pytest.fixture
def read(page: str, reader_of: Callable[[str], Any]) -> Any:
    return reader_of(page)


def tables_of(page: str) -> dict[str, list[list[str]]]:
    """Return the rows of each table by its heading, as text."""
    found = {}
    for heading, body in re.findall(r"<h3>([^<]*)</h3>\s*<table>.*?<tbody>(.*?)</tbody>", page, flags=re.DOTALL):
        rows = re.findall(r"<tr>(.*?)</tr>", body, flags=re.DOTALL)
        cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
        found[heading] = [[re.sub(r"<[^>]*>", "", cell) for cell in row] for row in cells]
    return found


@pytest.mark.slow
def test_is_whole_by_itself(page: str, whole: Callable[[str], None]) -> None:
    whole(page)


@pytest.mark.slow
def test_can_be_read_without_seeing_it(read: Any) -> None:
    assert read.all("html")[0]["lang"] == "en"
    assert read.texts["title"][0].strip()
    assert any(each.get("name") == "viewport" for each in read.all("meta"))
    drawings = read.all("svg")
    # Where counts were cut there is no guessing curve.
    many = 2 if "Anyone with several labels" in "".join(read.texts["li"]) else 3
    assert len(drawings) == len({each["aria-label"] for each in drawings}) == many
    assert all(each["role"] == "img" and len(each["aria-label"]) > 20 for each in drawings)
    assert len(read.all("figcaption")) == len(read.all("figure")) == many
    heads = [each for each in read.all("th") if each["scope"] == "col"]
    assert len(heads) == 3 * many
    assert all(each["scope"] in {"col", "row"} for each in read.all("th"))


@pytest.mark.slow
def test_says_what_was_promised_and_how_to_repeat_it(release: Release, page: str, command: str) -> None:
    assert escape(str(release.guarantee)) in page
    assert f"<pre>{escape(command)}</pre>" in re.sub("</?span>", "", page)
    assert "spends the budget once more" in page
    assert release.mechanism.name in page
    assert all(f"{name} = {escape(str(value))}" in page for name, value in release.mechanism.parameters.items())
    assert f"{release.profile.n:,}" in page
    assert f"{release.profile.num_labels:,}" in page
    assert f"Errors come from {release.error.simulations} new runs" in page


def test_everything_told_is_escaped(page: str, release: Release) -> None:
    assert "<script" not in page
    assert escape(release.reason) in page
    assert escape(release.library_version) in page


@pytest.mark.slow
def test_an_epsilon_that_protects_nobody_is_warned_of(named: Callable[[str], Release], page_of: Any) -> None:
    release = named("empty")
    for epsilon, is_warned in ((9, False), (10, True)):
        large = replace(release, guarantee=replace(release.guarantee, epsilon=Fraction(epsilon)))
        page = page_of(large, None)
        assert ('class="warning" role="alert"' in page) is is_warned
        assert "weak protection" in page


@pytest.mark.slow
def test_commands_are_escaped(named: Callable[[str], Release], page_of: Any, reader_of: Any) -> None:
    hostile = page_of(named("empty"), '</pre><script src="https://example.org/x.js"></script><img onerror=alert(1)>')
    assert "<script" not in hostile
    assert "<img" not in hostile
    reader_of(hostile)


@pytest.mark.slow
def test_arguments_that_are_no_text_are_shown_escaped(named: Callable[[str], Release], page_of: Any) -> None:
    assert r"report \udcff.html" in page_of(named("empty"), "report \udcff.html")


@pytest.mark.slow
def test_without_a_command_none_is_shown(named: Callable[[str], Release], page_of: Any) -> None:
    assert "<pre>" not in page_of(named("empty"), None)


@pytest.mark.slow
def test_tables_show_the_release(release: Release, page: str) -> None:
    tables = tables_of(page)
    is_cut = release.largest_count is not None
    assert list(tables) == ["k+ counts", "Prevalences", *([] if is_cut else ["Guessing curve"])]
    counts = release.profile.counts.tolist()[:12]
    assert len(tables["Prevalences"]) == len(counts)
    for row, count in zip(tables["Prevalences"], counts, strict=True):
        low, high = release.prevalence(count).interval
        assert row[0].removesuffix(" or more") == f"{count:,}"
        assert row[1:] == [f"{release.profile.prevalence(count):,}", f"{low:,.0f} to {high:,.0f}"]
    for name, labels, interval in tables["k+ counts"]:
        level = int(name.removesuffix(" or more").replace(",", ""))
        low, high = release.k_plus(level).interval
        assert labels == f"{release.profile.k_plus(level):,}"
        assert interval == f"{low:,.0f} to {high:,.0f}"
    most = release.profile.num_labels
    assert len(tables.get("Guessing curve", ())) == (len(str(most)) if most and not is_cut else 0)
    curve = Guessing.of(release)
    for labels, share, ends in tables.get("Guessing curve", ()):
        at = curve.labels.tolist().index(int(labels.replace(",", "")))
        low, high = (end[at] for end in curve.band)
        assert share == f"{100 * curve.share[at]:.2f}%"
        assert ends == f"{interval_text(100 * max(0.0, low), 100 * min(1.0, high), places=2)}%"


@pytest.mark.slow
def test_the_last_count_of_the_label_unit_means_or_more(page_named: Callable[[str], str]) -> None:
    page = page_named("label")
    tables = tables_of(page)
    assert tables["Prevalences"][-1][:2] == ["30 or more", "150"]
    assert tables["k+ counts"][-1][:2] == ["30 or more", "150"]
    assert "each label counted at most 30 times" in page
    assert "The count 30 stands for 30 or more." in page
    other = page_named("item")
    assert "stands for" not in other
    assert "counted at most" not in other
    assert tables_of(other)["Prevalences"][-1][0].isdigit()


@pytest.mark.full
def test_where_counts_were_cut_no_guessing_curve_is_shown(page_named: Callable[[str], str]) -> None:
    for name in ("label", "item"):
        page, is_label = page_named(name), name == "label"
        assert ("There is none: counts of 30 or more were taken together" in page) == is_label
        assert ("Guessing curve" in tables_of(page)) != is_label
        assert ("most frequent labels cover" in page) != is_label


@pytest.mark.full
@pytest.mark.parametrize(
    ("unit", "told"),
    [
        ("item", "for k items of one person ε is k times as large"),
        ("user", "More than 5 items of one user"),
        ("label", "for k labels of one person ε is k times as large"),
    ],
)
def test_says_what_is_not_covered(page_named: Callable[[str], str], unit: str, told: str) -> None:
    assert told in page_named(unit)


def test_says_what_intervals_do_not_hold(page_named: Callable[[str], str]) -> None:
    for name, bound in (("user", "5 items of each user"), ("label", "30 items of each label"), ("item", "")):
        told = f"At most {bound} are counted in the whole release. Errors and intervals do not cover what this leaves"
        assert (told in page_named(name)) == bool(bound)


@pytest.mark.full
def test_the_empty_profile_says_so(page_named: Callable[[str], str]) -> None:
    page = page_named("empty")
    tables = tables_of(page)
    assert tables["Prevalences"] == tables["Guessing curve"] == []
    assert [row[:2] for row in tables["k+ counts"]] == [["1 or more", "0"]]
    assert "<b>0</b>" in page
    words = re.findall(r"\w+", page.partition("<h2>What was released")[0].lower())
    assert not {"nan", "inf"} & set(words)


# Many counts, and none: other releases differ in numbers alone.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["item", "empty"])
def test_the_same_release_makes_the_same_page(release: Release, page: str, page_of: Callable[..., str]) -> None:
    assert page_of(release) == page


@pytest.mark.slow
def test_many_counts_make_no_large_page(make_release: Callable[..., Release], page_of: Any, reader_of: Any) -> None:
    class Still(FrobeniusMechanism):
        """Simulating 10^5 diagonals takes seconds; what is tested is the page."""

        def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
            assert isinstance(rng, np.random.Generator)
            return [profile] * size

    counts = np.arange(1, 100_001)
    profile = Profile(counts, 100_001 - counts)
    page = page_of(make_release(profile, Still(1)))
    assert "the first 12 of 100,000 released counts." in page
    assert len(page.encode()) < 2_000_000
    reader_of(page)


@pytest.mark.parametrize("ending", ["report.htm", "report", "report.html.txt", "report.json", ".html"])
def test_other_endings_are_refused(named: Callable[[str], Release], tmp_path: Path, ending: str) -> None:
    for refuse in (lambda path: write_report(named("empty"), path), check_report_path):
        with pytest.raises(UsageError, match=r"end its path in \.html"):
            refuse(tmp_path / ending)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_an_existing_page_is_replaced_only_when_asked(named: Callable[[str], Release], tmp_path: Path) -> None:
    release = named("empty")
    path = tmp_path / "report.HTML"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="exists"):
        write_report(release, path)
    assert path.read_text(encoding="utf-8") == "mine"
    write_report(release, str(path), overwrite=True)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [each.name for each in tmp_path.iterdir()] == ["report.HTML"]


def test_nothing_is_left_where_it_cannot_be_written(
    named: Callable[[str], Release], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = named("empty")
    with pytest.raises(OutputError):
        write_report(release, tmp_path / "no such folder" / "report.html")

    def fail(*_: object) -> str:
        raise RuntimeError("half way")

    monkeypatch.setattr(page_module, "_cards", fail)
    with pytest.raises(RuntimeError):
        write_report(release, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_number_of_items_released_on_its_own_is_shown(
    release: Release, page: str, page_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "number of its own" not in page
    # Errors of the curve are not looked at: those of the largest data would take long.
    curve = Guessing.of(release)
    monkeypatch.setattr(Guessing, "of", lambda _: curve)
    monkeypatch.setattr(page_module, "inline_svg", lambda *_, **__: "")  # nor are figures
    mechanism = PrivHistMechanism(1, release.guarantee.unit)
    counted = page_of(replace(release, items=123_456, mechanism=mechanism, guarantee=mechanism.guarantee))
    assert "<b>123,456</b>" in counted
    assert f", released as a number of its own; the profile has {release.profile.n:,}; 95" in counted
    low, high = replace(release, items=123_456, guarantee=mechanism.guarantee).num_items().interval
    # 1/ε₁ per cell is 50: two-sided geometric noise stays within 3 scales with 95%.
    assert high - 123_456 == pytest.approx(150 * mechanism.l1_sensitivity, rel=0.02)
    assert interval_text(low, high) in counted.replace("\xa0", " ")


@pytest.mark.full
def test_a_page_of_a_release_speaks_of_no_states_of_a_sketch(page: str) -> None:
    assert "between two states" not in page


@pytest.mark.slow
def test_a_page_of_a_sketch_says_that_reading_is_free_and_two_states_are_not(page_of: Any) -> None:
    sketch = HashedSketch(buckets=100, epsilon=1, key=b"week 47", source=SeededSource(7))
    sketch.update(f"label {number}" for number in range(40))
    told = page_of(sketch.reconstruct(simulations=2), command="anonhist sketch profile week.sketch")
    assert "costs nothing more" in told
    assert "spends the budget once more" not in told
    assert "between two states" in told
