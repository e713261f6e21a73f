"""The page and the figure of a curve: every number is the curve's, and what is not private is called so first."""

import re
from collections.abc import Callable
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import escape
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from anonhist.errors import UsageError
from anonhist.mechanisms import FrobeniusMechanism
from anonhist.profiles import Profile
from anonhist.properties.by_name import PROPERTIES
from anonhist.properties.curve import Curve
from anonhist.properties.guessing_curve import guessing_curve
from anonhist.properties.orders import hill_curve
from anonhist.properties.support_coverage import rarefaction_curve
from anonhist.releases import Release
from anonhist.report import plot, write_report
from anonhist.report.curve import NOT_PRIVATE, facts, interval_text, notes, shown_points, value_text, view_of, x_text

TREES = Profile.from_counts([max(1, 900 // rank) for rank in range(1, 200)])
SKEWED = Profile([1, 2, 50_000], [90_000, 9_000, 3])
PROFILES = {
    "trees": TREES,
    "skewed": SKEWED,
    "one label": Profile([7], [1]),
    "one item": Profile([1], [1]),
    "singletons": Profile([1], [9]),
    "large": Profile([1, 10**12], [3, 10**3]),
}
draws = pytest.mark.parametrize("draw", [rarefaction_curve, guessing_curve, hill_curve])


def _rng() -> np.random.Generator:
    return np.random.default_rng(7)


@cache
def _curve(draw: Callable[..., Curve], name: str) -> Curve:
    return draw(PROFILES[name], rng=_rng(), bootstraps=5)


def _page(curve: Curve, folder: Path, **options: Any) -> str:
    write_report(curve, folder / "curve.html", **options)
    return (folder / "curve.html").read_text(encoding="utf-8").partition("</style>")[2]


def _table(page: str) -> list[list[str]]:
    (body,) = re.findall(r"<tbody>(.*?)</tbody>", page, re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [[unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


@pytest.fixture
def trees_release(make_release: Callable[..., Release]) -> Release:
    return make_release(TREES, FrobeniusMechanism("0.1"))


@pytest.mark.slow
def test_what_is_not_private_is_called_so_before_any_number(tmp_path: Path) -> None:
    page = _page(_curve(rarefaction_curve, "trees"), tmp_path)
    warning = page.index(f'<p class="warning" role="alert"><b>Warning.</b> {escape(NOT_PRIVATE)}')
    assert warning < page.index('class="numbers"') < page.index("<svg") < page.index("<table")
    assert "What was promised" not in page
    assert "privacy noise" not in page


@pytest.mark.slow
def test_of_a_release_the_page_tells_the_promise_and_the_parts_of_the_error(
    trees_release: Release, tmp_path: Path
) -> None:
    curve = rarefaction_curve(trees_release, points=12, rng=_rng(), bootstraps=5)
    page = _page(curve, tmp_path)
    assert 'class="warning"' not in page
    assert f"<summary>The exact statement</summary><p>{escape(str(trees_release.guarantee))}</p>" in page
    assert "Anyone with several items" in page
    (sampling, noise) = (errors for _, errors in curve.parts)
    for row, at in zip(_table(page), shown_points(curve), strict=True):
        for cell, errors in zip(row[2:4], (sampling, noise), strict=True):
            assert float(cell.replace(",", "")) == pytest.approx(errors[at], rel=0.06, abs=1e-9)
    worst = int(np.argmax(curve.standard_error))
    assert f"largest at {x_text(curve, worst)} draws: " in page
    assert dict(facts(curve))["Promise"] == str(trees_release.guarantee)


@pytest.mark.slow
@draws
@pytest.mark.parametrize("name", ["trees", "skewed"])
def test_every_number_of_the_table_is_that_of_the_curve(draw: Any, name: str, tmp_path: Path) -> None:
    curve = _curve(draw, name)
    scale = 100.0 if curve.value_name == "share" else 1.0
    rows = _table(_page(curve, tmp_path))
    assert 6 <= len(rows) <= 15
    for row, at in zip(rows, shown_points(curve), strict=True):
        numbers = [float(text.replace(",", "").removesuffix("%")) for text in (*row[:2], *row[2].split(" to "))]
        error = scale * float(curve.standard_error[at])
        assert numbers[0] == curve.x[at]
        expected = [scale * float(values[at]) for values in (curve.value, curve.low, curve.high)]
        # Digits are cut where the error allows two of them, whole ones never.
        assert numbers[1:] == pytest.approx(expected, abs=max(0.051 * error, 1e-4 if not error else 0.0), rel=1e-9)
        if len(row) > 3:
            assert row[3] == curve.kinds[at]
    told = [fact for _, fact in facts(curve)]
    assert told[0].startswith(curve.method)
    assert told[1].startswith(curve.assumes)


@pytest.mark.slow
def test_points_are_near_round_numbers_and_hold_what_matters() -> None:
    curve = _curve(rarefaction_curve, "trees")
    at = shown_points(curve)
    assert {0, curve.kinds.index("observed"), len(curve) - 1} <= set(at)
    assert 6 <= len(at) <= 14
    hill = _curve(hill_curve, "trees")
    assert [x_text(hill, place) for place in shown_points(hill)] == ["0", "0.5", "1", "1.5", "2", "2.5", "3"]
    guessing = guessing_curve(SKEWED, points=10**4, rng=_rng(), bootstraps=5)
    shown = [x_text(guessing, place) for place in shown_points(guessing)]
    assert shown[:4] == ["1", "10", "100", "1,000"]
    assert shown[-1] == "99,003"


def _lines(figure: Figure) -> dict[str, tuple[list[float], list[float], str]]:
    return {
        str(line.get_label()): (list(line.get_xdata()), list(line.get_ydata()), str(line.get_linestyle()))
        for line in figure.axes[0].lines
    }


def test_the_line_is_solid_up_to_the_ring_and_dashed_beyond() -> None:
    curve = rarefaction_curve(TREES, points=12, rng=_rng(), bootstraps=5)
    ring = curve.kinds.index("observed")
    lines = _lines(plot(curve))
    assert list(lines) == ["interpolated", "extrapolated", "observed"]
    assert lines["interpolated"] == (curve.x[: ring + 1].tolist(), curve.value[: ring + 1].tolist(), "-")
    assert lines["extrapolated"] == (curve.x[ring:].tolist(), curve.value[ring:].tolist(), "--")
    assert lines["observed"][:2] == ([TREES.n], [TREES.num_labels])


def test_the_band_is_the_interval() -> None:
    curve = rarefaction_curve(TREES, points=12, rng=_rng(), bootstraps=5, level=0.8)
    axes = plot(curve).axes[0]
    (band,) = axes.collections
    assert band.get_label() == "80% interval (sampling, no bias)"
    seen = {tuple(point) for point in band.get_paths()[0].vertices.tolist()}
    for ends in (curve.low, curve.high):
        assert set(zip(curve.x.tolist(), ends.tolist(), strict=True)) <= seen


@pytest.mark.slow
def test_scales_are_those_that_people_expect() -> None:
    drawn = {draw: plot(_curve(draw, "trees")).axes[0] for draw in (rarefaction_curve, guessing_curve, hill_curve)}
    scales = {draw.__name__: (axes.get_xscale(), axes.get_yscale()) for draw, axes in drawn.items()}
    assert scales == {
        "rarefaction_curve": ("linear", "linear"),
        "guessing_curve": ("log", "linear"),
        "hill_curve": ("linear", "linear"),
    }
    far = plot(_curve(hill_curve, "skewed")).axes[0]
    assert (far.get_xscale(), far.get_yscale()) == ("linear", "log")
    assert "(log scale)" in far.get_ylabel()


@pytest.mark.slow
@draws
@pytest.mark.parametrize("name", PROFILES)
def test_all_that_is_drawn_lies_inside_and_no_labels_of_an_axis_overlap(draw: Any, name: str) -> None:
    curve = _curve(draw, name)
    figure = plot(curve)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    axes = figure.axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert left <= curve.x[0] <= curve.x[-1] <= right
    assert bottom <= curve.value.min() <= curve.high.max() <= top
    for axis, side in ((axes.xaxis, "x"), (axes.yaxis, "y")):
        low, high = axis.get_view_interval()
        ticks = [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        boxes = sorted(
            (getattr(box, f"{side}0"), getattr(box, f"{side}1"))
            for box in (label.get_window_extent(canvas.get_renderer()) for label in ticks if label.get_text())
        )
        assert boxes
        assert all(boxes[place][1] <= boxes[place + 1][0] for place in range(len(boxes) - 1))


def test_one_point_has_an_interval_too() -> None:
    curve = hill_curve(TREES, orders=[2], rng=_rng(), bootstraps=5)
    axes = plot(curve).axes[0]
    (bar,) = axes.collections
    assert bar.get_segments()[0].tolist() == [[2, curve.low[0]], [2, curve.high[0]]]  # type: ignore[attr-defined]
    assert axes.lines[0].get_marker() == "o"


@draws
def test_an_empty_profile_is_said_to_be_empty(draw: Any, tmp_path: Path) -> None:
    curve = draw(Profile([], []), rng=_rng(), bootstraps=5)
    assert [text.get_text() for text in plot(curve).axes[0].texts] == ["the profile is empty"]
    assert "There is no interval: the profile is empty." in _page(curve, tmp_path)


@pytest.mark.slow
def test_warnings_are_on_the_page(tmp_path: Path) -> None:
    curve = rarefaction_curve(TREES, draws=9 * TREES.n, method="inext", rng=_rng(), bootstraps=5)
    assert "<b>Note.</b> Beyond 2n draws, the curve is too low." in _page(curve, tmp_path)


@pytest.mark.slow
def test_hill_numbers_that_rise_are_called_doubtful() -> None:
    rising = _curve(hill_curve, "singletons")
    assert np.diff(rising.value).max() > 0
    assert notes(rising)[-1].startswith("Hill numbers of any distribution fall with their order")
    assert notes(_curve(hill_curve, "trees")) == (rising.bias,)
    assert "lower bound" in rising.bias


def test_values_keep_their_whole_digits_and_two_of_the_error() -> None:
    x = np.arange(3.0)
    value, error = np.array([1234567.0, 12.34567, 3.0]), np.array([54321.0, 0.0123, 1e-17])
    curve = Curve("places", "things", x, value, error, value - error, value + error, ("estimated",) * 3, "by hand")
    assert [value_text(curve, at) for at in range(3)] == ["1,234,567", "12.346", "3"]
    assert [interval_text(curve, at) for at in range(3)] == ["1,180,246 to 1,288,888", "12.333 to 12.358", "3 to 3"]
    assert plot(curve).axes[0].get_ylabel() == "things"


@pytest.mark.slow
def test_the_command_is_on_the_page_as_text(tmp_path: Path) -> None:
    page = _page(_curve(hill_curve, "trees"), tmp_path, command="anonhist curve hill '<b>.csv'")
    assert "<pre>anonhist curve hill &#39;&lt;b&gt;.csv&#39;</pre>" in page


@pytest.mark.slow
def test_what_is_neither_release_nor_curve_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"A release, a curve, .* is needed, .* not a Profile"):
        plot(TREES)  # type: ignore[arg-type]
    with pytest.raises(
        UsageError,
        match="a curve, an estimate of frequencies, a comparison or a balance is needed",
    ):
        write_report(TREES, tmp_path / "x.html")  # type: ignore[arg-type]
    curve = _curve(hill_curve, "trees")
    with pytest.raises(UsageError, match=r"\.html"):
        write_report(curve, tmp_path / "x.pdf")
    write_report(curve, tmp_path / "x.html")
    with pytest.raises(UsageError, match="exists already"):
        write_report(curve, tmp_path / "x.html")
    write_report(curve, tmp_path / "x.html", overwrite=True)


def test_what_an_account_is_stands_at_the_shares_of_accounts() -> None:
    """A log has several items of an account: without a bound on them its shares are of items."""
    curve = guessing_curve(SKEWED, points=4, rng=_rng(), bootstraps=3)
    assert "each item is one account" in curve.assumes
    assert "count one item of each user" in view_of(curve).reading
    for name in ("guessing-success", "work-factor", "guesswork"):
        told = {"guesses": 2} if name == "guessing-success" else {"share": 0.5}
        assert "each item is one account" in PROPERTIES[name].estimate(SKEWED, **told).assumes
