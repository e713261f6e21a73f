"""The page of a comparison: the warning first, every number in its table, and plots that show what was measured."""

import math
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import escape
from matplotlib.backends.backend_agg import FigureCanvasAgg

from anonhist.errors import OutputError, UsageError, spell_out
from anonhist.mechanisms import MECHANISM_NAMES, METRICS, Comparison, ComparisonRow, Skipped
from anonhist.mechanisms.comparison import NOT_PRIVATE
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.report import comparison as comparison_figures
from anonhist.report import comparison as page_module
from anonhist.report import write_report
from anonhist.report.comparison import advice, cell, comparison_figure, notes, ranking, scale, units

SORTED_L1 = METRICS[0]
TAKEN = (
    "Taken from the data: `public_items` = 50,000, `public_cap` = 9. "
    "For a release, use numbers that are known without looking at the data."
)


def make_comparison(rows: list[tuple[str, str, float, float]], **other: Any) -> Comparison:
    """Make a comparison of one metric by hand: (mechanism, epsilon, mean, standard error) each."""
    from fractions import Fraction

    return Comparison(
        rows=tuple(ComparisonRow(name, Fraction(at), "sorted_l1", mean, error, 9) for name, at, mean, error in rows),
        **{
            "skipped": (),
            "picked": (),
            "taken": (),
            "items": 10,
            "labels": 4,
            "unit": PrivacyUnit.item(),
            "relation": NeighboringRelation.ADD_OR_REMOVE,
            "repeats": 9,
            **other,
        },
    )


@pytest.mark.slow
def test_the_warning_comes_before_any_number(comparison_page: str) -> None:
    text = comparison_page.partition("</style>")[2]
    assert text.index(escape(NOT_PRIVATE)) < text.index('class="numbers"') < text.index("<svg") < text.index("<table")
    assert '<p class="warning" role="alert">' in text


@pytest.mark.slow
def test_it_is_whole_by_itself(comparison_page: str, whole: Callable[[str], None]) -> None:
    whole(comparison_page)


@pytest.mark.slow
def test_it_can_be_read_without_seeing_it(comparison: Comparison, comparison_page: str, reader_of: Any) -> None:
    read = reader_of(comparison_page)
    assert read.texts["title"][0] == "Mechanisms side by side"
    assert len(read.all("figure")) == len(read.all("figcaption")) == len(METRICS)
    assert len({each["aria-label"] for each in read.all("svg")}) == len(METRICS)
    heads = [each for each in read.all("th") if each["scope"] == "col"]
    assert len(heads) == len(METRICS) * (1 + len(comparison.epsilons))
    assert all("tabindex" in each for each in read.all("div") if each.get("class") == "scrolled")


@pytest.mark.slow
def test_every_number_stands_in_its_table(comparison: Comparison, comparison_page: str) -> None:
    a_table = r'<h3>([^<]*)</h3>\s*<div class="scrolled".*?<tbody>(.*?)</tbody>'
    tables = re.findall(a_table, comparison_page, re.DOTALL)
    assert [title for title, _ in tables] == [f"{metric.title}, in {units()[metric.name]}" for metric in METRICS]
    for metric, (_, body) in zip(METRICS, tables, strict=True):
        rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)]
        shown = {row[0]: [unescape(re.sub(r"<[^>]*>", "", each)) for each in row[1:]] for row in rows}
        assert shown == {
            name: [cell(comparison, name, epsilon, metric.name) for epsilon in comparison.epsilons]
            for name in comparison.mechanisms
        }
        assert body.count('class="best"') == sum(
            len(comparison.best(epsilon, metric.name)) for epsilon in comparison.epsilons
        )


def test_cells_say_mean_error_and_whether_it_is_best() -> None:
    found = make_comparison([("auto", "1", 15.26, 0.43), ("privhist", "1", 40.0, 2.0), ("privhist", "2", 3.0, 0.0)])
    (one, two) = found.epsilons
    assert cell(found, "auto", one, "sorted_l1") == "15.26 ± 0.43 *"
    assert cell(found, "privhist", one, "sorted_l1") == "40.0 ± 2.0"
    assert cell(found, "auto", two, "sorted_l1") == "–"
    assert (scale("guessing"), scale("sorted_l1")) == (100, 1)
    assert units()["guessing"] == "% of items"


@pytest.mark.slow
def test_notes_are_on_the_page(comparison: Comparison, comparison_page: str) -> None:
    for note in notes(comparison):
        assert f"<li>{escape(spell_out(note, lambda name, _: name.replace('_', ' ')))}</li>" in comparison_page
    assert "public_" not in comparison_page.partition("Make one like it")[0]
    assert comparison_page.count("<li>") == len(notes(comparison))


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            [
                ("auto", "1", 9.0, 1.0),
                ("frobenius", "1", 8.5, 1.0),
                ("auto", "2", 3.0, 0.1),
                ("isotonic", "2", 4.0, 0.1),
            ],
            "Use auto: its error is the lowest at every epsilon here",
        ),
        (
            [
                ("auto", "1", 9.0, 0.1),
                ("frobenius", "1", 5.0, 0.1),
                ("auto", "2", 3.0, 0.1),
                ("frobenius", "2", 4.0, 0.1),
            ],
            "Use frobenius at epsilon 1; auto at epsilon 2. For each, its error is the lowest there",
        ),
        (
            [("isotonic", "2", 2.0, 0.1), ("privhist", "2", 4.0, 0.1)],
            "Use isotonic: its error is the lowest at every epsilon here",
        ),
    ],
)
def test_it_says_plainly_what_to_use(rows: list[tuple[str, str, float, float]], told: str) -> None:
    assert advice(make_comparison(rows)) == f"{told} (sorted ℓ1), or not measurably higher."


@pytest.mark.slow
def test_what_to_use_stands_before_the_numbers(comparison: Comparison, comparison_page: str) -> None:
    told = escape(advice(comparison))
    assert comparison_page.index(told) < comparison_page.index("<svg") < comparison_page.index("<table")
    # Whoever points at an epsilon is told of every mechanism there, the lowest error first.
    epsilon = comparison.epsilons[0]
    means = [row for row in comparison.rows if (row.epsilon, row.metric) == (epsilon, SORTED_L1.name)]
    lines = ranking(comparison, epsilon, SORTED_L1).split("\n")[1:]
    assert [line.partition(":")[0] for line in lines] == [
        row.mechanism for row in sorted(means, key=lambda row: row.mean)
    ]
    assert escape("\n".join(lines)) in comparison_page


def test_notes_say_what_was_picked_taken_and_skipped() -> None:
    from fractions import Fraction

    half, two = Fraction(1, 2), Fraction(2)
    found = make_comparison(
        [("auto", "2", 1.0, 1.0)],
        picked=((half, "frobenius"), (two, "partition"), (Fraction(1), "frobenius")),
        taken=(("public_items", 50_000), ("public_cap", 9)),
        skipped=(Skipped("isotonic", (half, two), "It <i>does</i> not apply."),),
    )
    assert notes(found) == [
        "auto picked frobenius at epsilon 0.5, 1; partition at epsilon 2.",
        TAKEN,
        "Skipped isotonic at epsilon 0.5, 2: It <i>does</i> not apply.",
    ]
    assert notes(make_comparison([("privhist", "2", 1.0, 1.0)])) == []


@pytest.mark.slow
def test_commands_are_escaped_or_left_out(
    compared: Callable[[str], Comparison],
    compared_page: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (
        "<pre>anonhist compare &#39;a &lt;b&gt; &amp; &#34;c&#34;.csv&#39; <span>--epsilon</span> 1"
        in compared_page("all")
    )
    monkeypatch.setattr(page_module, "inline_svg", lambda *_, **__: "")  # figures say nothing of commands
    write_report(compared("one budget"), tmp_path / "page.html")
    assert "<pre>" not in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_same_comparison_makes_the_same_page(
    compared: Callable[[str], Comparison], compared_page: Callable[[str], str], tmp_path: Path
) -> None:
    write_report(compared("labels"), tmp_path / "page.html", command="x")
    again = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert again.split("<h2>Make")[0] == compared_page("labels").split("<h2>Make")[0]


@pytest.mark.slow
def test_a_page_is_written_whole_and_not_twice(
    compared: Callable[[str], Comparison], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = compared("one budget")
    monkeypatch.setattr(page_module, "inline_svg", lambda *_, **__: "")  # figures have nothing to do with it
    with pytest.raises(UsageError, match=r"\.html"):
        write_report(found, tmp_path / "page.pdf")
    with pytest.raises(OutputError):
        write_report(found, tmp_path / "nowhere" / "page.html")
    path = tmp_path / "page.html"
    path.write_text("precious")
    with pytest.raises(UsageError, match="exists already"):
        write_report(found, path)
    assert path.read_text() == "precious"
    write_report(found, path, overwrite=True)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")

    def fail(*_: object) -> str:
        raise RuntimeError("half way")

    monkeypatch.setattr(page_module, "cell", fail)
    with pytest.raises(RuntimeError):
        write_report(found, tmp_path / "other.html")
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.slow
def test_lines_show_means_and_bars_two_standard_errors(compared: Callable[[str], Comparison]) -> None:
    found = compared("all")
    for metric in METRICS:
        (axes,) = comparison_figure(found, metric, legend=True).axes
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert axes.get_ylabel() == f"{metric.title}, in {units()[metric.name]}"
        assert [line.get_label() for line in axes.lines] == list(found.mechanisms)
        for line, bars in zip(axes.lines, axes.collections, strict=True):
            rows = [row for row in found.rows if (row.mechanism, row.metric) == (line.get_label(), metric.name)]
            ordered = sorted(rows, key=lambda row: row.epsilon)
            means = np.array([row.mean for row in ordered]) * scale(metric.name)
            seen = means > 0
            assert np.asarray(line.get_xdata()) == pytest.approx([float(row.epsilon) for row in ordered])
            assert np.asarray(line.get_ydata())[seen] == pytest.approx(means[seen])
            tops = [segment[1][1] for segment in bars.get_segments()]
            reach = means + 2 * scale(metric.name) * np.array([row.standard_error for row in ordered])
            assert np.array(tops)[seen] == pytest.approx(reach[seen])
            feet = np.array([segment[0][1] for segment in bars.get_segments()])
            assert (feet[seen] >= np.maximum(2 * means - reach, 0)[seen] * (1 - 1e-9)).all()


@pytest.mark.slow
def test_every_point_is_inside_and_every_budget_is_marked(comparison: Comparison) -> None:
    for metric in METRICS:
        figure = comparison_figure(comparison, metric, legend=False)
        (axes,) = figure.axes
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        for line in axes.lines:
            for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True):
                assert left < x < right
                assert low < y < high
        for bars in axes.collections:
            assert all(low <= end[1] <= high for segment in bars.get_segments() for end in segment)
        assert not figure.legends
        assert len(axes.get_yticks()) >= 1
        assert all(low <= mark <= high for mark in axes.get_yticks())


@pytest.mark.slow
def test_budgets_are_named_unless_they_would_run_together(compared: Callable[[str], Comparison]) -> None:
    def names(found: Comparison) -> list[str]:
        figure = comparison_figure(found, SORTED_L1, legend=False)
        FigureCanvasAgg(figure).draw()
        return [label.get_text() for label in figure.axes[0].get_xticklabels() if label.get_visible()]

    assert names(compared("all")) == ["0.2", "0.5", "1", "2"]
    assert names(compared("one budget")) == ["1/3"]
    assert names(compared("no data")) == ["0.1", "1", "40"]


def test_a_mean_of_zero_stands_at_the_foot() -> None:
    found = make_comparison([("auto", "1", 8.0, 1.0), ("privhist", "1", 0.0, 0.0), ("auto", "2", 0.0, 0.0)])
    (axes,) = comparison_figure(found, SORTED_L1, legend=False).axes
    assert axes.get_yticklabels()[0].get_text() == "0"
    foot = axes.get_yticks()[0]
    assert [list(line.get_ydata()) for line in axes.lines] == [[8.0, foot], [foot]]
    assert foot < 6.0
    nothing = make_comparison([("auto", "1", 8.0, 1.0), ("auto", "2", 4.0, 1.0)])
    (axes,) = comparison_figure(nothing, SORTED_L1, legend=False).axes
    assert "0" not in [label.get_text() for label in axes.get_yticklabels()]


@pytest.mark.parametrize(
    ("means", "marks"),
    [
        ((2.0, 60_000.0), ["10", "100", "1,000", "10,000"]),
        ((90.0, 2e7), ["100", "1,000", "10,000", "100,000", "1,000,000", "10,000,000"]),
        ((0.0005, 0.2), ["0.001", "0.01", "0.1"]),
        ((30.0, 60.0), ["30", "40", "50", "60"]),
        ((13.0, 70.0), ["20", "50"]),
        ((1.3, 1.31), ["1.2", "1.3", "1.4"]),
        ((1e-9, 1e9), ["$10^{-8}$", "$10^{-4}$", "$10^{0}$", "$10^{4}$", "$10^{8}$"]),
    ],
)
def test_scales_are_marked_in_few_words(means: tuple[float, float], marks: list[str]) -> None:
    found = make_comparison([("auto", "1", means[0], 0.0), ("auto", "2", means[1], 0.0)])
    (axes,) = comparison_figure(found, SORTED_L1, legend=False).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert set(marks) <= set(names)
    assert 1 <= len(names) <= 7


def test_lines_are_told_apart_without_color() -> None:
    found = make_comparison([(name, at, 5.0, 1.0) for name in MECHANISM_NAMES for at in ("1", "2")])
    figure = comparison_figure(found, SORTED_L1, legend=True)
    (axes,) = figure.axes
    # Auto and the first eight differ in each; of more, only the pair of mark and dashes does.
    first = axes.lines[:9]
    assert len({line.get_marker() for line in first}) == len(first) == 9
    assert len({(line.get_linestyle(), str(line._unscaled_dash_pattern)) for line in first}) == len(first)
    assert len({line.get_color() for line in first}) == len(first)
    # The same look, whoever else is drawn.
    (alone,) = comparison_figure(make_comparison([("isotonic", "1", 5.0, 1.0)]), SORTED_L1, legend=False).axes
    (one,) = alone.lines
    other = axes.lines[MECHANISM_NAMES.index("isotonic")]
    assert (one.get_marker(), one.get_color()) == (other.get_marker(), other.get_color())
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(MECHANISM_NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("many", [10, 65])
def test_more_mechanisms_than_marks_are_told_apart(monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    names = (*MECHANISM_NAMES, *(f"new-{number}" for number in range(many)))[:many]
    monkeypatch.setattr(comparison_figures, "MECHANISM_NAMES", names)
    found = make_comparison([(name, at, 5.0, 1.0) for name in names for at in ("1", "2")])
    (axes,) = comparison_figure(found, SORTED_L1, legend=True).axes
    looks = {(line.get_marker(), line.get_linestyle(), str(line._unscaled_dash_pattern)) for line in axes.lines}
    assert len(looks) == many


@pytest.mark.full
def test_every_color_of_a_line_has_a_dark_one(compared_page: Callable[[str], str]) -> None:
    page = compared_page("all")
    used = set(re.findall(r"var\((--series-\d)\)", page))
    assert len(used) == 7  # the first two are ink and accent
    light, dark = page.split("prefers-color-scheme: dark")
    for name in used:
        assert f"{name}: #" in light
        assert f"{name}: #" in dark
    assert not re.search(r"(fill|stroke): ?#[0-9a-f]{6}", page)


def test_heights_leave_room_for_the_names() -> None:
    many = make_comparison([(name, "1", 5.0, 1.0) for name in MECHANISM_NAMES])
    few = make_comparison([("auto", "1", 5.0, 1.0)])
    heights = [comparison_figure(each, SORTED_L1, legend=True).get_figheight() for each in (few, many)]
    assert heights[0] < heights[1]
    assert math.isclose(comparison_figure(many, SORTED_L1, legend=False).get_figheight(), 3.3)
