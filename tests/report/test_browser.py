"""The page in a real browser: it opens without a network, fits a narrow window, and shows something."""

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from numpy.typing import NDArray

from anonhist.accounting import Balance, Budget, Verification
from anonhist.mechanisms.window_release import release_cumulative, release_cumulative_groups
from anonhist.profiles.windows import CumulativeCounts, GroupedCumulativeCounts
from anonhist.report import write_report
from anonhist.report.budget import write_budget
from anonhist.report.shown import Sheet
from anonhist_testing.chromium import BROWSER, Chromium, Page

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="Chromium is not installed: the page is not opened in a browser"
)

# Appended to a copy of the page, whose own policy forbids scripts: the browser measures, the title tells.
MEASURE = """<script>
// Some browsers refuse a window this narrow; the page does not ask how wide it is, so it may be told.
const inside = 400;
document.documentElement.style.width = inside + "px";
const wide = [...document.querySelectorAll("body *:not(svg *, .scrolled *)")].filter(each =>
  each.getBoundingClientRect().right > inside + 1 || each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0);
const drawings = [...document.querySelectorAll("figure svg")].map(each => each.getBoundingClientRect().width);
document.title = JSON.stringify([wide.map(each => each.outerHTML.slice(0, 200)), drawings]);
</script>"""


@pytest.fixture
def page(chromium: Chromium) -> Iterator[Page]:
    with chromium.page() as page:
        yield page


def dom(page: Page, path: Path) -> str:
    """Return what a browser makes of a file."""
    page.open(path.as_uri())
    found: str = page.run("document.documentElement.outerHTML")
    return found


def picture(page: Page, path: Path, scheme: str) -> NDArray[np.float64]:
    """Return the pixels of a file, shape (1700, 1000, 3), from 0 for black to 1 for white."""
    page.resize(1000, 1700)
    page.prefer(color_scheme=scheme)
    page.open(path.as_uri())
    return np.asarray(imread(BytesIO(page.picture((0, 0, 1000, 1700)))), dtype=np.float64)[:, :, :3]


def add_measuring(text: str) -> str:
    """Return a page that measures itself, its policy against scripts taken away."""
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy".*?>', flags=re.DOTALL)
    assert policy.search(text)
    return policy.sub("", text).replace("</body>", f"{MEASURE}</body>")


def measure_page(page: Page, path: Path) -> tuple[list[str], list[float]]:
    """Return what sticks out of a narrow window, and how wide the drawings are."""
    page.resize(400, 3000)
    page.open(path.as_uri())
    wide, drawings = json.loads(page.run("document.title"))
    return wide, drawings


@pytest.fixture
def open_page(page_named: Callable[[str], str], tmp_path: Path) -> Callable[[str], Path]:
    def write(name: str) -> Path:
        path = tmp_path / "report.html"
        path.write_text(page_named(name), encoding="utf-8")
        return path

    return write


@pytest.mark.full
def test_the_browser_finds_all_there_is(open_page: Callable[[str], Path], page: Page) -> None:
    seen = dom(page, open_page("label"))
    assert "<title>How often things occur, without saying which things</title>" in seen
    assert (seen.count("<svg"), seen.count("<table"), seen.count("</figcaption>")) == (2, 2, 2)
    assert "<script" not in seen
    cells = [unescape(cell) for cell in re.findall(r'<th scope="row">(.*?)</th>', seen)]
    assert cells.count("30 or more") == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["item", "user", "empty", "largest"])
def test_nothing_sticks_out_of_a_narrow_window(open_page: Callable[[str], Path], name: str, page: Page) -> None:
    path = open_page(name)
    path.write_text(add_measuring(path.read_text(encoding="utf-8")), encoding="utf-8")
    wide, drawings = measure_page(page, path)
    # Tables of numbers beyond reason are scrolled, each by itself; all others fit.
    assert [each for each in wide if name != "largest" or not each.startswith('<div tabindex="0"')] == []
    assert len(drawings) == 3
    assert min(drawings) > 300


@pytest.mark.full
def test_no_long_name_of_a_budget_sticks_out_of_a_narrow_window(tmp_path: Path, page: Page) -> None:
    path, name = tmp_path / "budget.html", "x" * 100
    sheet = Sheet(path, data_name=name, command=f"anonhist budget show {name}")
    problems = (f"What the ledger says is spent of {name!r} is not the sum of its entries.",)
    write_budget(Balance(Budget(name, "user", epsilon=2), ()), sheet, verification=Verification(1, 0, problems))
    path.write_text(add_measuring(path.read_text(encoding="utf-8")), encoding="utf-8")
    assert measure_page(page, path)[0] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["all", "no data", "large"])
def test_no_comparison_sticks_out_of_a_narrow_window(
    compared_page: Callable[[str], str], tmp_path: Path, name: str, page: Page
) -> None:
    path = tmp_path / "compare.html"
    path.write_text(add_measuring(compared_page(name)), encoding="utf-8")
    wide, drawings = measure_page(page, path)
    # Tables of many budgets are scrolled, each by itself.
    assert [each for each in wide if not each.startswith('<div class="scrolled"')] == []
    assert len(drawings) == 7
    assert min(drawings) > 300


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rarefaction", "guessing", "hill", "nothing"])
def test_no_curve_sticks_out_of_a_narrow_window(
    curve_page: Callable[[str], str], tmp_path: Path, name: str, page: Page
) -> None:
    path = tmp_path / "curve.html"
    path.write_text(add_measuring(curve_page(name)), encoding="utf-8")
    wide, drawings = measure_page(page, path)
    # The table of a release, with its two parts of the error, is scrolled.
    assert [each for each in wide if not each.startswith('<div class="scrolled"')] == []
    assert len(drawings) == 1
    assert min(drawings) > 300


@pytest.mark.full
@pytest.mark.parametrize("name", ["many", "candidates"])
def test_no_estimate_sticks_out_of_a_narrow_window(
    local_page: Callable[[str], str], tmp_path: Path, name: str, page: Page
) -> None:
    path = tmp_path / "estimate.html"
    path.write_text(add_measuring(local_page(name)), encoding="utf-8")
    wide, drawings = measure_page(page, path)
    # A table with long labels is scrolled.
    assert [each for each in wide if not each.startswith('<div class="scrolled"')] == []
    assert len(drawings) == 1
    assert min(drawings) > 300


@pytest.mark.slow
@pytest.mark.parametrize("number", [3, 30])
def test_no_groups_stick_out_of_a_narrow_window(
    groups_page: Callable[[int], str], tmp_path: Path, number: int, page: Page
) -> None:
    path = tmp_path / "groups.html"
    path.write_text(add_measuring(groups_page(number)), encoding="utf-8")
    wide, drawings = measure_page(page, path)
    # The table is scrolled.
    assert [each for each in wide if not each.startswith('<div class="scrolled"')] == []
    # Below the legend, two are side by side.
    legend, *drawings = drawings
    assert legend > 300
    assert len(drawings) == min(number, 24)
    assert all(150 < each < 200 for each in drawings)


@pytest.mark.slow
def test_no_column_of_groups_is_cut_off_on_paper(groups_page: Callable[[int], str], tmp_path: Path, page: Page) -> None:
    path = tmp_path / "groups.html"
    # As wide as A4 between margins of a centimeter.
    printed = (
        add_measuring(groups_page(3)).replace("@media print", "@media all").replace("inside = 400", "inside = 718")
    )
    path.write_text(printed, encoding="utf-8")
    assert measure_page(page, path)[0] == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [None, 1, 3])
def test_no_windows_stick_out_of_a_narrow_window(number: int | None, tmp_path: Path, page: Page) -> None:
    days = tuple(f"2026-11-{day:02}" for day in range(1, 15))
    counts = CumulativeCounts((1, 1000, 10**9), days, np.full((3, 14), 40))
    path = tmp_path / "windows.html"
    if number is None:
        write_report(release_cumulative(counts, epsilon=2), path)
    else:
        groups = GroupedCumulativeCounts(("campaign",), {(f"{at} {'x' * 200}",): counts for at in range(number)})
        write_report(release_cumulative_groups(groups, epsilon=2), path)
    path.write_text(add_measuring(path.read_text(encoding="utf-8")), encoding="utf-8")
    wide, drawings = measure_page(page, path)
    # The table is scrolled.
    assert [each for each in wide if not each.startswith('<div class="scrolled"')] == []
    # What names the lines of all panels is as wide as the page, and two panels are side by side.
    assert drawings[0] > 300
    assert len(drawings) == 1 + (number or 0)
    assert all(150 < each < 200 for each in drawings[1:])


@pytest.mark.full
def test_long_names_leave_room_for_the_numbers_in_a_narrow_window(
    local_page: Callable[[str], str], tmp_path: Path, page: Page
) -> None:
    path = tmp_path / "estimate.html"
    measured = add_measuring(local_page("candidates")).replace("figure svg", "tbody th")
    path.write_text(measured, encoding="utf-8")
    _, names = measure_page(page, path)
    assert max(names) < 200


@pytest.mark.slow
def test_a_comparison_is_drawn_light_and_dark(compared_page: Callable[[str], str], tmp_path: Path, page: Page) -> None:
    path = tmp_path / "compare.html"
    path.write_text(compared_page("all"), encoding="utf-8")
    for scheme in ("light", "dark"):
        seen = picture(page, path, scheme)
        assert (np.median(seen) < 0.2) == (scheme == "dark")
        # The lines of several mechanisms are there: orange, green and violet, beside the blue.
        red, green, blue = seen[:, :, 0], seen[:, :, 1], seen[:, :, 2]
        for hue in (red - blue, green - red, blue - green):
            assert (hue > 0.2).mean() > 0.0002


@pytest.mark.full
def test_its_own_policy_stops_scripts(open_page: Callable[[str], Path], page: Page) -> None:
    path = open_page("empty")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("</body>", f"{MEASURE}</body>"), encoding="utf-8")
    assert "<title>How often things occur, without saying which things</title>" in dom(page, path)


@pytest.mark.slow
def test_light_and_dark_are_drawn(open_page: Callable[[str], Path], page: Page) -> None:
    light, dark = (picture(page, open_page("item"), scheme) for scheme in ("light", "dark"))
    assert light.shape == dark.shape == (1700, 1000, 3)
    assert np.median(light) == 1.0
    assert np.median(dark) < 0.2
    for seen in (light, dark):
        # Text, axes and curves: more than a blank page has, less than a page gone wrong.
        paper = np.median(seen, axis=(0, 1))
        inked = (np.abs(seen - paper).max(axis=2) > 0.3).mean()
        assert 0.01 < inked < 0.3
        # The accent is blue in both: the curves are there, not only text.
        blue = (seen[:, :, 2] - seen[:, :, 0] > 0.3).mean()
        assert blue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("name", ["node", "empty", "public", "edge and truth"])
def test_no_degrees_stick_out_of_a_narrow_window(
    degrees_page: Callable[[str], str], tmp_path: Path, name: str, page: Page
) -> None:
    path = tmp_path / "degrees.html"
    path.write_text(add_measuring(degrees_page(name)), encoding="utf-8")
    wide, drawings = measure_page(page, path)
    assert wide == []
    assert len(drawings) == 2
    assert min(drawings) > 300
