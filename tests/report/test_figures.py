"""The figures: what they draw, how it is labelled, and that drawing changes nothing else."""

import re
import subprocess
import sys
from collections.abc import Callable
from html import unescape
from itertools import pairwise
from typing import Literal

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from anonhist.mechanisms import FrobeniusMechanism
from anonhist.profiles import Profile
from anonhist.releases import Release
from anonhist.report import guessing_figure, k_plus_figure, plot
from anonhist.report.figures import BLUE, inline_svg, prevalences_figure, scale_of_counts, thin

Draw = Callable[[Release], Figure]
LABELS = {
    plot: ("count", "labels with exactly this count"),
    k_plus_figure: ("count", "labels with at least this count"),
    guessing_figure: ("most frequent labels (β)", "share of items covered"),
}
draws = pytest.mark.parametrize("draw", LABELS, ids=lambda draw: draw.__name__)


def line_of(figure: Figure) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    (line,) = figure.axes[0].lines
    return np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)


def boxes_of(axes: Axes, axis: Axis, side: Literal["x", "y"]) -> list[tuple[float, float]]:
    """Return from where to where each label of an axis reaches along it, in pixels, for marks inside the window."""
    low, high = sorted(axis.get_view_interval())
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    labels = [tick.label1 for tick in ticks if low <= tick.get_loc() <= high and tick.label1.get_text()]
    boxes = [label.get_window_extent(axes.figure.canvas.get_renderer()) for label in labels]
    return sorted((getattr(box, f"{side}0"), getattr(box, f"{side}1")) for box in boxes)


@pytest.mark.slow
@draws
def test_everything_is_named_no_two_labels_of_an_axis_overlap_and_nothing_global_changes(
    release: Release, draw: Draw
) -> None:
    before = dict(mpl.rcParams)
    figure = draw(release)
    assert isinstance(figure, Figure)
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == LABELS[draw]
    if len(release.profile):
        (legend,) = figure.legends
        assert legend.get_texts()[0].get_text() == "95% interval"
        assert len(legend.get_texts()) == 2
    else:
        assert not figure.legends
        assert [text.get_text() for text in axes.texts] == ["the released profile is empty"]
    FigureCanvasAgg(figure).draw()
    for boxes in (boxes_of(axes, axes.xaxis, "x"), boxes_of(axes, axes.yaxis, "y")):
        assert len(boxes) >= min(2, len(release.profile) + 1) or not len(release.profile)
        assert all(end <= start for (_, end), (start, _) in pairwise(boxes))
    # Our own names of powers of ten stand at both axes, not Matplotlib's.
    names = [label.get_text() for axis in (axes.xaxis, axes.yaxis) for label in axis.get_ticklabels(which="both")]
    assert not [name for name in names if "mathdefault" in name]
    assert dict(mpl.rcParams) == before


@pytest.mark.slow
@draws
def test_drawing_for_a_page_changes_nothing_global(named: Callable[[str], Release], draw: Draw) -> None:
    release, before = named("item"), dict(mpl.rcParams)
    inline_svg(lambda: draw(release), name="x", description="y")
    assert dict(mpl.rcParams) == before


@pytest.mark.slow
def test_pyplot_is_never_loaded() -> None:
    program = (
        "import sys, anonhist as ah, tempfile, pathlib\n"
        "release = ah.release(ah.Profile.from_counts([5, 3, 3, 1]), epsilon=1)\n"
        "assert 'matplotlib' not in sys.modules\n"
        "ah.plot(release)\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    ah.write_report(release, pathlib.Path(folder) / 'out.html')\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_settings_of_the_user_do_not_reach_the_page(named: Callable[[str], Release]) -> None:
    release = named("item")
    plain = inline_svg(lambda: plot(release), name="x", description="y")
    with mpl.rc_context({"font.size": 30, "lines.linewidth": 9, "svg.fonttype": "none", "axes.facecolor": "red"}):
        assert inline_svg(lambda: plot(release), name="x", description="y") == plain


@pytest.mark.slow
def test_prevalences_and_their_intervals_are_drawn(named: Callable[[str], Release]) -> None:
    release = named("user")
    figure = plot(release)
    x, y = line_of(figure)
    assert x.tolist() == release.profile.counts.tolist()
    assert y.tolist() == release.profile.prevalences.tolist()
    (bars,) = (each for each in figure.axes[0].collections if isinstance(each, LineCollection))
    for bar, count in zip(bars.get_segments(), release.profile.counts.tolist(), strict=True):
        low, high = release.prevalence(count).interval
        bottom = figure.axes[0].get_yticks()[0]
        assert bar[:, 0].tolist() == [count, count]
        assert bar[:, 1].tolist() == pytest.approx([max(low, bottom), high])


@pytest.mark.slow
def test_the_k_plus_curve_holds_its_value_up_to_the_next_level(make_release: Callable[..., Release]) -> None:
    # More levels than are drawn, then two far apart: the value between them is that of what is above.
    counts = [*range(1, 1500), 10**5, 10**7]
    release = make_release(Profile(counts, [3] * len(counts)), FrobeniusMechanism(1))
    figure = k_plus_figure(release)
    assert figure.axes[0].lines[0].get_drawstyle() == "steps-post"
    x, y = line_of(figure)
    assert len(x) < 450
    assert y[: len(x) - 2] == pytest.approx(release.profile.cumulative_prevalence(x[: len(x) - 2].astype(int)))
    for between in (2_000, 10**5 - 1, 10**5 + 7, 10**6, 10**7 - 1):
        drawn = y[np.searchsorted(x, between, side="right") - 1]
        assert drawn == release.profile.k_plus(between)


@pytest.mark.slow
def test_the_k_plus_curve_of_labels_ends_where_counts_were_taken_together(named: Callable[[str], Release]) -> None:
    x, y = line_of(k_plus_figure(named("label")))
    assert y[-2:].tolist() == [150, 150]
    assert x[-2] == 30
    assert line_of(k_plus_figure(named("user")))[1][-1] < 1


@pytest.mark.slow
def test_bands_are_the_intervals(named: Callable[[str], Release]) -> None:
    release = named("user")
    (band,) = k_plus_figure(release).axes[0].collections
    seen = {tuple(point) for point in band.get_paths()[0].vertices.tolist()}
    levels = release.error.levels
    low, high = release.error.k_plus_interval(release.profile, levels)
    assert {(float(level), end) for level, end in zip(levels, high, strict=True)} <= seen
    assert {(float(level), end) for level, end in zip(levels[1:], high[:-1], strict=True)} <= seen  # up to the next
    kept = low >= 1
    assert kept.any()
    assert {(float(level), end) for level, end in zip(levels[kept], low[kept], strict=True)} <= seen


@pytest.mark.parametrize("size", [1, 2, 400, 401, 5000, 100_000])
def test_thinning_keeps_the_ends_and_the_shape(size: int) -> None:
    positions = np.unique((np.arange(1, size + 1) ** 1.5).astype(np.int64))
    at = thin(positions)
    assert (at[0], at[-1]) == (0, positions.size - 1)
    assert (np.diff(at) > 0).all()
    assert at.size <= 401
    if size <= 400:
        assert at.size == positions.size
    else:
        steps = np.diff(np.log(positions[at].astype(float)))[100:]
        assert steps.max() < 3 * np.log(positions[-1]) / 400


def test_thinning_near_the_end_of_int64() -> None:
    positions = np.append(np.arange(1, 1000), [2**63 - 2, 2**63 - 1])
    at = thin(positions)
    assert at[-1] >= positions.size - 2
    assert (np.diff(at) > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("largest", "names", "between"),
    [
        (2.5, ["1"], ["2", "3", "4", "6", "8"]),
        (99.0, ["1", "10"], []),
        (40_000.0, ["1", "10", "100", "1,000", "10,000"], []),
        (184_389.0, ["1", "100", "10,000"], []),
        (3e7, ["1", "100", "10,000", "1,000,000"], []),
        (3e8, [f"$10^{{{power}}}$" for power in range(9)], []),
        (9e18, [f"$10^{{{power}}}$" for power in range(0, 19, 2)], []),
    ],
)
def test_scales_are_marked_in_words_that_need_no_log_paper(
    largest: float, names: list[str], between: list[str]
) -> None:
    axes = Figure().add_subplot()
    axes.set_xscale("log")
    scale_of_counts(axes.xaxis, largest)
    assert [label.get_text() for label in axes.get_xticklabels()] == names
    assert [label.get_text() for label in axes.get_xticklabels(minor=True) if label.get_text()] == between


@pytest.mark.slow
@pytest.mark.parametrize("labels", [30, 6_309, 180_000, 10**9, 2**60])
def test_none_and_one_are_both_named(labels: int, make_release: Callable[..., Release]) -> None:
    release = make_release(Profile([1, 2, 900], [labels, 3, 1]), FrobeniusMechanism(1))
    for figure in (prevalences_figure(release), k_plus_figure(release)):
        figure.set_dpi(72)  # that of a page
        FigureCanvasAgg(figure).draw()
        ticks = figure.axes[0].yaxis.get_major_ticks()
        named = [tick.label1.get_text() for tick in ticks if tick.label1.get_visible()]
        assert named[0] == "0"
        assert named[1] in {"1", "$10^{0}$"}


def test_text_that_looks_like_a_name_or_a_color_is_drawn_as_it_is() -> None:
    texts = ("#0b6e99", 'id="x"', 'href="#b', "url(#a)")

    def draw() -> Figure:
        figure = Figure()
        for at, text in enumerate(texts):
            figure.text(0.1, 0.2 * at, text, color=BLUE)
        return figure

    drawn = str(inline_svg(draw, name="labels", description="labels", keep_text=True))
    told = [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", drawn)]
    assert told == list(texts)
    assert "var(--accent)" in drawn
    assert BLUE not in re.sub(r">[^<]*<", "><", drawn)
