"""The figure of released degrees: what it draws, and that the truth in it is told apart from the release."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from anonhist.graphs import Degrees, EdgePolicy, EdgePrivacy, release_degrees
from anonhist.graphs.degree_data import DegreeData
from anonhist.graphs.degree_numbers import degree_ccdf
from anonhist.graphs.page import NOT_PRIVATE, ccdf_figure
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.releases import Release
from anonhist.report import k_plus_figure, plot
from anonhist.report.figures import ALARM, prevalences_figure
from anonhist_testing.sources import SeededSource

ReleaseOf = Callable[[str], Release]
NAMES = ("edge", "public", "node", "empty", "one", "huge")


def legend_of(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def line_of(axes: Axes, place: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    line = axes.lines[place]
    return np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_released_degrees_are_plotted_as_shares_of_nodes(released_degrees: ReleaseOf, name: str) -> None:
    figure = plot(released_degrees(name))
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("degree", "share of nodes with at least this degree")
    assert legend_of(figure) == ([] if name == "empty" else ["95% interval", "released"])
    FigureCanvasAgg(figure).draw()
    for axis, side in ((axes.xaxis, "x"), (axes.yaxis, "y")):
        low, high = sorted(axis.get_view_interval())
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        labels = [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]
        boxes = [each.get_window_extent() for each in labels if each.get_text()]
        ends = sorted((getattr(box, f"{side}0"), getattr(box, f"{side}1")) for box in boxes)
        assert len(ends) >= (0 if name == "empty" else 2)
        assert all(end <= start for (_, end), (start, _) in pairwise(ends))


@pytest.mark.slow
def test_shares_of_few_nodes_are_named_between_all_and_none() -> None:
    degrees = Degrees(Profile.from_counts([8, 4, 4, 3, 2, 2, 1, 1, 1], unit=PrivacyUnit.edge()), EdgePolicy())
    few = release_degrees(degrees, privacy=EdgePrivacy(), epsilon=9, simulations=2, source=SeededSource(7))
    names = [label.get_text() for label in plot(few).axes[0].get_yticklabels(which="both")]
    assert {"0", "50%", "100%"} <= set(names)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["edge", "public", "node"])
def test_the_curve_is_what_was_released(released_degrees: ReleaseOf, name: str) -> None:
    released = released_degrees(name)
    x, y = line_of(plot(released).axes[0])
    levels = x[:-1].astype(np.int64)
    nodes = released.profile.num_labels + (released.zeros or 0)
    shares = released.profile.cumulative_prevalence(levels) / nodes
    np.testing.assert_allclose(y[:-1], np.maximum(shares, 0.5 / nodes))
    # Where edges were left out, nothing is drawn beyond the bound.
    assert x[-1] == (7 if name == "node" else 1.25 * x[-2])


def test_the_band_holds_the_curve(released_degrees: ReleaseOf) -> None:
    released = released_degrees("edge")
    (axes,) = plot(released).axes
    curve = degree_ccdf(released)
    path = axes.collections[0].get_paths()[0].vertices
    heights = np.asarray(path)[:, 1]
    assert heights.max() == 1.0
    assert set(np.round(curve.high, 12)) <= set(np.round(heights, 12))


def test_the_band_is_drawn_wherever_it_changes(true_degrees: Profile) -> None:
    degrees = Degrees(true_degrees, EdgePolicy())
    released = release_degrees(
        degrees, privacy=EdgePrivacy(), epsilon=1, mechanism="frobenius", simulations=2, source=SeededSource(7)
    )
    assert released.evidence is not None
    axes = plot(released).axes[0]
    drawn, ends = line_of(axes)[0], released.evidence.band.ends
    last = int(released.profile.counts[-1])
    assert set(ends[ends <= last] + 1) <= set(drawn)
    # More than where the curve falls.
    assert drawn.size > degree_ccdf(released).x.size + 1
    at = drawn[:-1].astype(np.int64)
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert set(np.round(degree_ccdf(released, at=at).high, 12)) <= set(np.round(heights, 12))


@pytest.mark.slow
def test_the_truth_has_its_own_dash_and_color_and_the_figure_says_so(
    released_degrees: ReleaseOf, true_degrees: Profile
) -> None:
    figure = ccdf_figure(released_degrees("edge"), not_private_truth=DegreeData.of(true_degrees))
    (axes,) = figure.axes
    assert legend_of(figure) == ["95% interval", "released", "true degrees (not private)"]
    ours, truth = axes.lines
    assert truth.get_color() == ALARM != ours.get_color()
    assert truth.get_linestyle() != ours.get_linestyle()
    assert axes.get_title(loc="left") == NOT_PRIVATE
    x, y = line_of(axes, 1)
    exact = true_degrees.cumulative_prevalence(x[:-1].astype(np.int64)) / true_degrees.num_labels
    np.testing.assert_allclose(y[:-1], np.maximum(exact, y.min()))
    assert ccdf_figure(released_degrees("edge")).axes[0].get_title(loc="left") == ""


@pytest.mark.slow
def test_release_and_truth_are_shares_of_the_same_nodes(released_degrees: ReleaseOf, true_degrees: Profile) -> None:
    public = released_degrees("public")
    listed = DegreeData.of(Degrees(true_degrees, EdgePolicy(), num_nodes=150))
    for truth, both in ((listed, 120 / 150), (DegreeData.of(true_degrees), 1.0)):
        axes = ccdf_figure(public, not_private_truth=truth).axes[0]
        starts = [line_of(axes, place)[1][0] for place in (0, 1)]
        assert starts == pytest.approx([both, both], abs=0.05)
    # Alone, the release is a share of all its nodes.
    assert line_of(plot(public).axes[0])[1][0] == public.profile.num_labels / 150


def test_the_truth_is_drawn_beside_an_empty_release(released_degrees: ReleaseOf, true_degrees: Profile) -> None:
    figure = ccdf_figure(released_degrees("empty"), not_private_truth=DegreeData.of(true_degrees))
    assert legend_of(figure) == ["true degrees (not private)"]


def test_other_figures_of_a_graph_speak_of_nodes(released_degrees: ReleaseOf) -> None:
    for draw, told in ((prevalences_figure, "exactly"), (k_plus_figure, "at least")):
        (axes,) = draw(released_degrees("edge")).axes
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("degree", f"nodes with {told} this degree")
