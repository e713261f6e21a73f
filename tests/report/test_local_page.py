"""The page and the figure of an estimate of frequencies: every number is the estimate's."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import escape
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from anonhist.local import KRR, FrequencyEstimate
from anonhist.local.estimate import NormalLimits
from anonhist.local.page import drawn, facts, label_text, most_frequent, row_texts, share, write_frequencies
from anonhist.report import plot, write_report
from anonhist.report.figures import BLUE
from anonhist.report.shown import Sheet

Named = Callable[[str], Any]
COLORS = ("ink", "accent", "paper")


def _rows(page: str) -> list[list[str]]:
    bodies = re.findall(r"<tbody>(.*?)</tbody>", page, re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", "".join(bodies))
    return [
        [unescape(cell).replace("\xa0", " ") for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows
    ]


def test_the_table_holds_the_most_frequent_values(local_estimate: Named, local_page: Named) -> None:
    estimate, page = local_estimate("many"), local_page("many")
    rows = _rows(page)
    assert rows[0] == ["value 0", "30.00%", "29.21 to 30.79%", "30.00%", "yes"]
    found = int(estimate.significant.sum())
    assert len(rows) == found + 100
    assert rows == [[*row_texts(estimate, place)] for place in most_frequent(estimate, found + 100)]
    assert f"{300 - found - 100} less frequent values are not shown" in page
    # Those that may be zero are folded away.
    assert [row[-1] for row in rows] == ["yes"] * found + [""] * 100
    first, _, folded = page.partition(f"<summary>{300 - found} other values, each perhaps zero</summary>")
    assert (first.count("<tbody>"), folded.count("<tbody>")) == (1, 1)


def test_what_was_promised_and_what_not_is_told(local_page: Named, local_estimate: Named) -> None:
    page, estimate = local_page("many"), local_estimate("many")
    assert escape(str(estimate.guarantee)) in page
    assert "changes the probability of the report they send by at most a factor of 7.39." in page
    assert "If devices randomized their own values, nobody else saw the true ones." in page
    assert "Anyone who answers more than once" in page
    assert "<b>40,000</b><span>people reported" in page
    assert f"<b>{estimate.significant.sum()} of 300</b>" in page
    assert "values are significantly above zero (Holm: chance of any false finding at most 5%)." in page
    assert "the distribution nearest to the shares" in page


def test_other_values_and_notes_are_told_where_there_are_some(local_page: Named) -> None:
    page = local_page("candidates")
    assert "<b>31.5% (29.3\u00a0to\u00a033.7%)</b><span>of the people have other values" in page
    assert "<b>Note.</b> It stopped early." in page
    for name in ("Other values", "another value", "<b>Note"):
        assert name not in local_page("many")


def test_labels_are_text_and_nothing_else(local_page: Named) -> None:
    page = local_page("candidates")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\x1b" not in page
    labels = [row[0] for row in _rows(page)]
    assert "a\\x1b[2J" in labels
    assert "猫" in labels
    assert max(map(len, labels)) == 60
    # In the drawing as well, as text that a browser has signs for.
    assert re.search(r"<text[^>]*>猫</text>", page)


@pytest.mark.slow
def test_shuffling_is_told_where_it_is_promised(tmp_path: Path, local_estimate: Named) -> None:
    estimate = local_estimate("one")
    central = replace(estimate.guarantee, epsilon=Fraction(1, 8), delta=Fraction(1, 10**6))
    write_frequencies(estimate, Sheet(tmp_path / "a.html"), shuffled=central)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    said, _, exact = page.partition("<summary>The exact statement for shuffled reports</summary>")
    assert "the probability of any result by at most a factor of 1.134 (plus δ ≤ 10⁻⁶)." in said
    assert escape(str(central)) in exact
    assert escape(str(central)) not in said
    write_report(estimate, tmp_path / "b.html")
    page = (tmp_path / "b.html").read_text(encoding="utf-8")
    assert "shuffled" not in page
    assert "Make one like it" not in page


def test_the_figure_draws_shares_and_intervals(local_estimate: Named) -> None:
    estimate = local_estimate("many")
    axes = plot(estimate).axes[0]
    widths = sorted((bar.get_width() for bar in axes.patches), reverse=True)
    order = drawn(estimate)
    assert len(order) == int(estimate.significant.sum()) + 5
    np.testing.assert_allclose(widths, 100 * estimate.raw[order])
    assert [text.get_text() for text in axes.get_yticklabels()] == [estimate.labels[place] for place in order]
    ends = np.array([line[:, 0] for line in axes.collections[0].get_segments()])
    np.testing.assert_allclose(ends, 100 * estimate.intervals[order])
    # The first is above.
    bottom, top = axes.get_ylim()
    assert bottom > top


def _luminance(color: NDArray[np.float64]) -> float:
    linear = np.where(color <= 0.03928, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def test_intervals_are_seen_over_the_bars_of_light_and_dark_pages(local_estimate: Named, local_page: Named) -> None:
    bar = plot(local_estimate("many")).axes[0].patches[0]
    assert bar.get_facecolor()[:3] == to_rgb(BLUE)  # which is the accent on a page
    themes = re.findall(r":root \{(.*?)\}", local_page("many"), re.DOTALL)
    assert len(themes) == 2
    for theme in themes:
        ink, accent, paper = (np.array(to_rgb(re.findall(f"--{name}: (#\\w+)", theme)[0])) for name in COLORS)
        over = _luminance(bar.get_alpha() * accent + (1 - bar.get_alpha()) * paper)
        high, low = sorted((_luminance(ink), over), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 3  # WCAG 2.1, 1.4.11


@pytest.mark.slow
def test_dollars_begin_no_formula(make_estimate: Callable[..., FrequencyEstimate]) -> None:
    figure = plot(make_estimate(("$x^$", r"a_$\frac$")))
    FigureCanvasAgg(figure).draw()
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["$x^$", r"a_$\frac$"]


def test_values_below_zero_are_told_as_zero_but_for_what_was_decoded(
    make_estimate: Callable[..., FrequencyEstimate],
) -> None:
    estimate = make_estimate(("a", "b"))
    raw, errors = np.array([0.5, -0.02]), np.array([0.01, 0.05])
    estimate = replace(
        estimate,
        frequencies=raw,
        raw=raw,
        decoder="unbiased",
        standard_errors=errors,
        limits=NormalLimits(raw, errors),
    )
    assert row_texts(estimate, 1) == ("b", "0.0%", "0.0 to 7.8%", "-2.0%", "yes")
    assert plot(estimate).axes[0].get_xlim()[0] == 0


def test_a_share_lies_in_its_interval_whatever_was_decoded(make_estimate: Callable[..., FrequencyEstimate]) -> None:
    # The share was that of the decoder, beside an interval of another estimate.
    estimate = replace(make_estimate(("a", "b")), frequencies=np.array([0.9, 0.1]))
    for place in range(2):
        _, share_text, interval, decoded, _ = row_texts(estimate, place)
        low, shown, high = (
            float(text.split()[0].removesuffix("%")) for text in (interval, share_text, interval.split(" to ")[1])
        )
        assert low < shown < high
        assert decoded == f"{100 * estimate.frequencies[place]:.2f}%"


def test_values_are_ordered_by_their_raw_estimates(make_estimate: Callable[..., FrequencyEstimate]) -> None:
    estimate = make_estimate(("a", "b", "c", "d"))
    estimate = replace(estimate, frequencies=np.array([0, 0.9, 0.1, 0]), raw=np.array([-0.1, 0.8, -0.2, -0.1]))
    assert most_frequent(estimate, 9) == [1, 0, 3, 2]
    assert most_frequent(estimate, 1) == [1]


@pytest.mark.slow
def test_an_estimate_made_from_reports_is_shown(tmp_path: Path) -> None:
    survey = KRR(alphabet=["yes", "no"], epsilon=1)
    estimate = survey.estimate(survey.tally(survey.randomize(["yes"] * 30)))
    write_report(estimate, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert {row[0] for row in _rows(page)} == {"yes", "no"}
    assert (
        "50:50 about which of two answers a person gave can become at most 73.2% sure. This is moderate protection."
        in page
    )
    assert 'class="warning"' not in page


@pytest.mark.slow
def test_an_epsilon_that_protects_nobody_is_warned_of(tmp_path: Path) -> None:
    survey = KRR(alphabet=["yes", "no"], epsilon=12)
    write_report(survey.estimate(survey.tally(survey.randomize(["yes"] * 30))), tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert 'class="warning"' in page
    assert "practically no protection" in page


def test_words_hold_at_the_ends() -> None:
    assert share(0.0, 0.0) == "0.00%"
    assert share(1.0, 3.0) == "100%"
    assert label_text("a\nb\u202ec") == "a\\nb\\u202ec"


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "benjamini-hochberg"])
def test_every_correction_has_its_words(correction: str, make_estimate: Callable[..., FrequencyEstimate]) -> None:
    told = dict(facts(replace(make_estimate(("a",)), correction=correction)))["Above zero"]
    assert f"({correction.title().replace('-', '–')}: " in told
    assert ("expected share" in told) == (correction == "benjamini-hochberg")
